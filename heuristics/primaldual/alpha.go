package primaldual

import (
	"fmt"
	"math"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/sched"
)

// PaperAlpha returns the alpha of Theorem 5,
//
//	⌊(log w(J) − log w_min)/(log γ − log(γ − 1))⌋ + 1,   γ = 2·log2 λ,
//
// for all jobs, before they are released, in floating point. λ must be at least 2,
// such as that of [PaperTariff].
func PaperAlpha(in *sched.Instance, lambda float64) int {
	total, least := 0.0, math.Inf(1)
	for i := range in.Jobs {
		total, least = total+in.Jobs[i].Weight, min(least, in.Jobs[i].Weight)
	}
	gamma := 2 * math.Log2(lambda)
	return int(math.Log(total/least)/-math.Log1p(-1/gamma)) + 1
}

// PaperTariff returns the prices of Eq. (11) for all jobs, before they are released:
// the paper has one F, and so one λ, that the algorithm and its theorems share. The
// given number of slots is T, that of the system's time span, or [SerialSlots] if
// it is 0. The factor multiplies F; 0 stands for 1.
//
// Errors: no job has a schedule that ends by T.
func PaperTariff(in *sched.Instance, slots int64, factor float64) (*Tariff, error) {
	model := pricing.New(in)
	if slots == 0 {
		slots = serialSlots(model)
	}
	survey := newSurvey(model)
	rates := newRates(Printed)
	if factor != 0 {
		rates.factor = factor
	}
	able := false
	for i := range in.Jobs {
		if d, ok := survey.of(sched.JobID(i), slots); ok {
			rates.add(in.Jobs[i].Weight, &d)
			able = true
		}
	}
	if !able {
		return nil, fmt.Errorf("primaldual: no job of instance %q can complete in %d slots", in.Name, slots)
	}
	t := rates.tariff(in, slots)
	return &t, nil
}

// SerialSlots returns the number of slots in which all jobs can be done one
// after the other, each as fast as it runs: the paper's T where nothing else is
// given.
func SerialSlots(in *sched.Instance) int64 { return serialSlots(pricing.New(in)) }

func serialSlots(m *pricing.Model) int64 {
	last, sum := int64(0), int64(0)
	for id, configs := range m.Configs {
		last = max(last, m.In.FirstSlot(sched.JobID(id)))
		shortest := int64(0)
		for i := range configs {
			if shortest == 0 || configs[i].Slots < shortest {
				shortest = configs[i].Slots
			}
		}
		sum += shortest
	}
	return last + sum
}
