package catalogue

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/predict"
	"yardstick/heuristics/ranked"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// srsfPolicy makes shortest remaining service first.
func srsfPolicy(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	var rule sim.Rule
	p.text("placement", rule.String(), &rule)
	replayed, predictions := p.predictor(predict.Perfect)
	replayed.New = always(func() sim.Policy { return ranked.SRSF(rule) })
	return bench.Configured(bench.Policy(ref, "1", replayed), rule, predictions), p.finish()
}

// preemptiveList makes list scheduling in an order, preempting whenever that changes.
func preemptiveList(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	var order ranked.Order
	var rule sim.Rule
	p.text("order", order.String(), &order)
	p.text("placement", rule.String(), &rule)
	replayed, predictions := p.predictor(predict.Perfect)
	if err := p.finish(); err != nil {
		return nil, err
	}
	replayed.New = always(func() sim.Policy { return ranked.New(order, rule) })
	return bench.Configured(bench.Policy(ref, "1", replayed), order, rule, predictions), nil
}

// The ways to attain service, and the knob of DLAS that promotes nobody.
const (
	gpuTime  = "gpu-time"
	timeOnly = "time"
	never    = "never"
)

// dlasPolicy makes discretised least attained service at every event.
func dlasPolicy(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := ranked.DefaultLAS()
	var texts []string
	for _, t := range o.Thresholds {
		texts = append(texts, t.String())
	}
	o.Thresholds = p.thresholds("thresholds", strings.Join(texts, "/"))
	switch service := p.get("service", gpuTime); service {
	case gpuTime:
	case timeOnly:
		o.TimeOnly = true
	default:
		p.refuse("service", fmt.Errorf("%q is unknown: %s, %s", service, gpuTime, timeOnly))
	}
	if knob := p.get("promote", never); knob != never {
		o.Promote = new(big.Rat)
		if _, ok := o.Promote.SetString(knob); !ok {
			p.refuse("promote", errors.New("it must be a positive number such as 8 or 1/2, or never"))
		}
	}
	p.text("placement", o.Placement.String(), &o.Placement)
	if err := p.finish(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return bench.Configured(bench.Policy(ref, "1", bench.Replayed{New: always(func() sim.Policy { return ranked.DLAS(o) })}), o), nil
}

// thresholds reads a list of times, separated by slashes.
func (p *params) thresholds(name, fallback string) (list []sched.Time) {
	for _, text := range strings.Split(p.get(name, fallback), "/") {
		var t sched.Time
		if err := t.UnmarshalText([]byte(text)); err != nil {
			p.refuse(name, fmt.Errorf("%w; thresholds are separated by slashes, such as 1h/5h", err))
		}
		list = append(list, t)
	}
	return list
}

// Column returns the column of the job list that a method orders jobs by, "" if none.
func Column(ref suite.MethodRef) string {
	var o listsched.Order
	if o.UnmarshalText([]byte(ref.Params["order"])) != nil {
		return ""
	}
	return o.Column()
}
