// Package catalogue has the methods by name. Its table is the only place where a name
// selects a method of bench run, solve and simulate; the table of Placements is the only
// one for bench place.
package catalogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench"
	"yardstick/bench/errata"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/bounds/theorems"
	formulation "yardstick/formulate/elastic"
	"yardstick/formulate/interval"
	"yardstick/formulate/placement"
	"yardstick/formulate/timeindexed"
	"yardstick/heuristics/asrpt"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/forest"
	"yardstick/heuristics/listsched"
	"yardstick/heuristics/predict"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/exhaustive/sharing"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// The constructors are here and in the files named for the models.

// methods maps every method's name to its constructor.
func methods() map[string]func(suite.MethodRef) (bench.Method, error) {
	return map[string]func(suite.MethodRef) (bench.Method, error){
		"fifo":                   listPolicy(listsched.FIFO),
		"sjf":                    listPolicy(listsched.SJF),
		"list":                   orderedPolicy,
		"srsf":                   srsfPolicy,
		"preemptive-list":        preemptiveList,
		"dlas":                   dlasPolicy,
		"spjf":                   publishedPolicy(listsched.SPJF),
		"spwf":                   publishedPolicy(listsched.SPWF),
		"wcs-duration":           publishedPolicy(listsched.WCSDuration),
		"wcs-workload":           publishedPolicy(listsched.WCSWorkload),
		"wcs-subtime":            publishedPolicy(listsched.WCSSubTime),
		ExternalName:             externalPolicy,
		"a-srpt":                 asrptPolicy(false),
		"a-srpt-perfect":         asrptPolicy(true),
		"one-hot-alpha":          programPolicy(placement.OneHotAlpha),
		"count-cut":              programPolicy(placement.CountCut),
		"srtf":                   lazerPolicy(false),
		"lazer":                  lazerPolicy(true),
		"periodic":               periodicPolicy("60s"),
		"periodic-60":            periodicPolicy("60s"),
		"periodic-360":           periodicPolicy("360s"),
		"periodic-600":           periodicPolicy("600s"),
		"sjf-bsbf":               bsbfPolicy,
		"sjf-ffs":                ffsPolicy,
		"sharing-fifo":           sharingFIFO,
		"sharing-sjf":            sharingSJF,
		"tiresias-las":           tiresiasPolicy,
		"pollux-like":            polluxPolicy,
		"elastic-fifo":           elasticFIFO,
		"elastic-drf":            plainPolicy("1", func(uint64) sim.Policy { return elastic.DRF() }),
		"elastic-antman":         plainPolicy("1", elastic.AntMan),
		"elastic-tiresias":       plainPolicy("1", func(uint64) sim.Policy { return elastic.Tiresias() }),
		"primal-dual":            primalDual,
		"elastic-optimum":        search("1", elasticOptimum),
		"a-maxweight":            aMaxWeight,
		"elastic-density":        elasticDensity,
		"elastic-prices":         elasticPrices,
		"elastic-conf":           lowerBound(elasticConf),
		"elastic-aggregate":      lowerBound(elasticAggregate),
		"elastic-deadlines":      elasticDeadlines,
		"elastic-intervals":      elasticIntervals,
		"elastic-tariff":         elasticTariff,
		"elastic-alone":          elasticClosed(formulation.Alone),
		"elastic-mean-busy-time": elasticClosed(formulation.MeanBusyTime),
		"exhaustive":             search("3", gangSearch),
		"sharing-search":         search("1", sharing.Solve),
		"sharing-program":        search("1", sharingProgram),
		"bout-dp":                boutSearch,
		"bouts":                  boutProgram,
		"time-indexed":           timeIndexedMethod,
		"lns":                    windowSearch,
		"bracket":                bracketMethod,
		"recorded":               recorded,
		"lb0":                    lowerBound(bench.Closed(bounds.LB0)),
		"srpt":                   lowerBound(bench.Closed(bounds.SRPT)),
		"srpt-ranked":            lowerBound(bench.Closed(bounds.Ranked)),
		"mean-busy-time":         lowerBound(bench.Closed(bounds.MeanBusyTime)),
		"area":                   lowerBound(bench.Closed(bounds.Area)),
		"energy":                 lowerBound(bench.Closed(bounds.Energy)),
		"packing":                lowerBound(bench.Closed(bounds.Packing)),
		"theta-lb0":              lowerBound(bench.Closed(bounds.ThetaLB0)),
		"theta-srpt":             lowerBound(bench.Closed(bounds.ThetaSRPT)),
		"theta-srpt-ranked":      lowerBound(bench.Closed(bounds.ThetaRanked)),
		"theta-area":             lowerBound(bench.Closed(bounds.ThetaArea)),
		"theta-eei":              lowerBound(bench.Closed(bounds.ThetaEEI)),
		"theta-hybrid":           lowerBound(thetaHybrid),
		"malleable-lb0":          lowerBound(bench.Closed(bounds.MalleableLB0)),
		"malleable-srpt-ranked":  lowerBound(bench.Closed(bounds.MalleableRanked)),
		"malleable-eei":          lowerBound(bench.Closed(bounds.MalleableEEI)),
		"malleable-area":         lowerBound(bench.Closed(bounds.MalleableArea)),
		"pair-lp":                lowerBound(pairLP),
		"srpt-dff":               lowerBound(bench.Closed(bounds.PackedSRPT)),
		"eei-dff":                lowerBound(bench.Closed(bounds.PackedBusyTime)),
		"grid-lp":                lowerBound(gridLP),
		"hybrid":                 lowerBound(hybrid),
		"lagrangian":             lagrangian,
		"knapsack":               knapsack,
		"pti":                    intervalBound(interval.PTI),
		"npti":                   intervalBound(interval.NPTI),
		"conf":                   intervalBound(interval.CONF),
	}
}

// Names lists every method's name, in order.
func Names() []string { return slices.Sorted(maps.Keys(methods())) }

// NamesOf lists the names of the methods of these kinds, in order.
func NamesOf(kinds ...bench.Kind) (names []string) {
	for _, name := range Names() {
		if m, err := Resolve(suite.MethodRef{Name: name}); err == nil && slices.Contains(kinds, m.Kind()) {
			names = append(names, name)
		}
	}
	return names
}

// Resolve turns a reference into a method, or says which names there are.
func Resolve(ref suite.MethodRef) (bench.Method, error) {
	all := methods()
	make, ok := all[ref.Name]
	if !ok {
		if slices.Contains(PlacementNames(), ref.Name) {
			return nil, fmt.Errorf("method %q places one job and makes no schedule: bench place runs it", ref.Name)
		}
		names := Names()
		if best := suite.Nearest(ref.Name, names); best != "" {
			return nil, fmt.Errorf("method %q is unknown: the nearest is %q; docs/policies.md has them all", ref.Name, best)
		}
		return nil, fmt.Errorf("method %q is unknown: %s", ref.Name, strings.Join(names, ", "))
	}
	if ref.As != "" && ref.Name != ExternalName {
		return nil, &suite.Error{Path: "as", OfKey: true, Err: fmt.Errorf("method %s: as names the rows of the method %s only", ref.Name, ExternalName)}
	}
	if all[ref.As] != nil {
		return nil, &suite.Error{Path: "as", Err: fmt.Errorf("method %s: as is %q, which is another method's name: choose a name of its own", ref.Name, ref.As)}
	}
	m, err := make(ref)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", ref.Name, err)
	}
	return m, nil
}

// params reads a reference's parameters one by one and finds those left over.
type params struct {
	values map[string]string
	known  []string // names
	usual  []string // names with the values that they have where they are not given
	err    error
}

func readParams(ref suite.MethodRef) *params { return &params{values: ref.Params} }

// get returns the parameter's value, or fallback if it is not given. No value of
// a parameter stands for not giving it: what is not given is the fallback, which can
// be given too.
func (p *params) get(name, fallback string) string {
	if !slices.Contains(p.known, name) {
		p.known, p.usual = append(p.known, name), append(p.usual, name+"="+fallback)
	}
	if v, ok := p.values[name]; ok {
		return v
	}
	return fallback
}

// refuse notes the first error of a value.
func (p *params) refuse(name string, err error) {
	if p.err == nil {
		p.err = &suite.Error{Path: "params." + name, Err: fmt.Errorf("%s: %w", name, err)}
	}
}

// text reads the parameter into something that parses itself.
func (p *params) text(name, fallback string, into interface{ UnmarshalText([]byte) error }) {
	if err := into.UnmarshalText([]byte(p.get(name, fallback))); err != nil {
		p.refuse(name, err)
	}
}

// flag reads a parameter that is true or false, and false if it is not given.
func (p *params) flag(name string) bool {
	v, err := strconv.ParseBool(p.get(name, "false"))
	if err != nil {
		p.refuse(name, errors.New("it must be true or false"))
	}
	return v
}

// count reads a parameter that is a whole number of at least the given one.
func (p *params) count(name string, fallback, least int) int {
	n, err := strconv.Atoi(p.get(name, strconv.Itoa(fallback)))
	if err != nil || n < least {
		p.refuse(name, fmt.Errorf("it must be a whole number, at least %d", least))
	}
	return n
}

// choice reads a parameter that is one of some words, and the first of them if it is
// not given.
func (p *params) choice(name string, words ...string) string {
	word := p.get(name, words[0])
	if !slices.Contains(words, word) {
		p.refuse(name, fmt.Errorf("it must be one of %s", strings.Join(words, ", ")))
	}
	return word
}

// kind reads a parameter that is one of some execution classes, and the first of them
// if it is not given.
func (p *params) kind(name string, kinds ...sched.Kind) sched.Kind {
	var names []string
	for _, k := range kinds {
		names = append(names, sched.Class{Kind: k}.String())
	}
	i := slices.Index(names, p.get(name, names[0]))
	if i < 0 {
		p.refuse(name, fmt.Errorf("it must be one of %s", strings.Join(names, ", ")))
		return kinds[0]
	}
	return kinds[i]
}

// time reads a parameter that is a time of at least the given one.
func (p *params) time(name, fallback string, least sched.Time) sched.Time {
	var t sched.Time
	p.text(name, fallback, &t)
	if t < least {
		p.refuse(name, fmt.Errorf("it must be at least %v", least))
	}
	return t
}

// finish returns the first error, an unknown parameter included.
func (p *params) finish() error {
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if p.err == nil && !slices.Contains(p.known, name) {
			p.err = &suite.Error{Path: "params." + name, OfKey: true,
				Err: fmt.Errorf("parameter %q is unknown here: %s", name, cmp.Or(strings.Join(p.usual, ", "), "there are none"))}
		}
	}
	return p.err
}

func lowerBound(f bench.BoundFunc) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		return bench.LowerBound(ref, "1", f), readParams(ref).finish()
	}
}

func hybrid(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
	b, err := bounds.Hybrid(ctx, p.Instance, o, bounds.HybridOptions{})
	return b, searched(ctx), err
}

// searched says how a search for a bound ended that keeps the best it has found
// when its context ends.
func searched(ctx context.Context) milp.Termination {
	return unless(ctx.Err() != nil)
}

// lagrangian reads how much work the bound may take, and of which class it is.
func lagrangian(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := bounds.LagrangianOptions{Iterations: p.count("iterations", bounds.LagrangianIterations, 1), Slots: p.count("slots", bounds.LagrangianSlots, 1),
		Effort: p.count("effort", 0, 0), Class: p.kind("class", sched.N, sched.P0, sched.Fluid)}
	return bench.Configured(bench.LowerBound(ref, "1", func(ctx context.Context, problem bench.Problem, objective sched.Objective) (bounds.Bound, milp.Termination, error) {
		d, err := bounds.Lagrangian(ctx, problem.Instance, objective, o)
		if err != nil {
			return bounds.Bound{}, "", err
		}
		return d.Bound, unless(d.Interrupted), nil
	}), o), p.finish()
}

// knapsack does so for prices by job.
func knapsack(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	o := bounds.KnapsackOptions{Iterations: p.count("iterations", bounds.KnapsackIterations, 1), Slots: p.count("slots", bounds.KnapsackSlots, 1),
		Effort: p.count("effort", 0, 0), Class: p.kind("class", sched.N, sched.P0)}
	return bench.Configured(bench.LowerBound(ref, "1", func(ctx context.Context, problem bench.Problem, objective sched.Objective) (bounds.Bound, milp.Termination, error) {
		d, err := bounds.Knapsack(ctx, problem.Instance, objective, o)
		if err != nil {
			return bounds.Bound{}, "", err
		}
		return d.Bound, unless(d.Interrupted), nil
	}), o), p.finish()
}

// unless says how a search for a bound ended.
func unless(interrupted bool) milp.Termination {
	if interrupted {
		return milp.Interrupted
	}
	return milp.Optimal
}

// intervalBound makes a bound by a linear program over the time axis.
func intervalBound(relaxation interval.Relaxation) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		return bench.LowerBound(ref, "1", func(ctx context.Context, p bench.Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
			r, err := relaxation.Bound(ctx, p.Instance, o, p.Programs.Watch(lpsolve.LP{}), milp.Limits{Time: p.Limits.Solve}, interval.Options{})
			if err != nil {
				return bounds.Bound{}, "", err
			}
			return r.Bound, ended(r.LP), nil
		}), readParams(ref).finish()
	}
}

// ended says why a linear program stopped. Where there was none to solve, the
// bound is a closed one.
func ended(lp *milp.Result) milp.Termination {
	if lp == nil {
		return milp.Optimal
	}
	return lp.Termination
}

// search makes an exact method without parameters.
func search(version string, solve bench.ExactFunc) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		return bench.Search(ref, version, solve), readParams(ref).finish()
	}
}

// timeIndexedMethod solves by our certified branch and bound unless the
// parameter solver says lpsolve-mip.
func timeIndexedMethod(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	var slot sched.Time // 0 is the formulation's choice, of the instance and the objective
	if p.get("slot", "auto") != "auto" {
		slot = p.time("slot", "auto", 1)
	}
	name := p.get("solver", "branch")
	program := timeindexed.Starts
	p.text("program", program.String(), &program)
	if err := p.finish(); err != nil {
		return nil, err
	}
	solver, err := Solver(name)
	if err != nil {
		return nil, &suite.Error{Path: "params.solver", Err: err}
	}
	return bench.Configured(bench.Search(ref, "2", func(ctx context.Context, in *sched.Instance, o sched.Objective, l exact.Limits) (*exact.Result, error) {
		if err := timeIndexable(in, o, slot); err != nil {
			return nil, err
		}
		return timeindexed.Solve(ctx, in, o, solver, timeindexed.Options{Slot: slot, Program: program, Limits: l})
	}), name, slot, program), nil
}

// timeIndexable returns an error if there is no time-indexed program, or it would be
// hopeless.
func timeIndexable(in *sched.Instance, objective sched.Objective, slot sched.Time) error {
	const most = 5_000_000 // nonzeros; lp_solve takes minutes for the linear program alone
	if slot == 0 {
		var err error
		if slot, err = timeindexed.DefaultSlot(in, objective); err != nil {
			return err
		}
	}
	_, _, nonzeros, err := timeindexed.Size(in, objective, slot)
	if err == nil && nonzeros > most {
		err = fmt.Errorf("timeindexed: instance %q: %w: with slots of %v the program has %d nonzeros, more than %d: choose longer slots",
			in.Name, sched.ErrNotApplicable, slot, nonzeros, most)
	}
	return err
}

// Solvers lists the names of the solvers of integer programs.
func Solvers() []string { return []string{"branch", "lpsolve-mip"} }

// Solver returns the solver of a name, which runs in this process. In a run that is
// the child that the cell is in.
func Solver(name string) (milp.Solver, error) {
	switch name {
	case "branch":
		return branch.New(lpsolve.LP{}), nil
	case "lpsolve-mip":
		return lpsolve.MIP{}, nil
	}
	return nil, fmt.Errorf("solver %q is unknown: %s", name, strings.Join(Solvers(), ", "))
}

// always makes a policy that is the same whatever the problem.
func always(policy func() sim.Policy) func(context.Context, bench.Problem) (sim.Policy, error) {
	return func(context.Context, bench.Problem) (sim.Policy, error) { return policy(), nil }
}

// plainPolicy makes a policy without parameters, whose random choices are drawn by the
// instance's seed. The version changes whenever its schedules may.
func plainPolicy(version string, policy func(seed uint64) sim.Policy) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		return bench.Policy(ref, version, bench.Replayed{New: seeded(policy)}), readParams(ref).finish()
	}
}

func seeded(policy func(seed uint64) sim.Policy) func(context.Context, bench.Problem) (sim.Policy, error) {
	return func(_ context.Context, p bench.Problem) (sim.Policy, error) { return policy(p.Seed), nil }
}

// listPolicy makes a list-scheduling policy with its blocking and placement
// rules.
func listPolicy(policy func(listsched.Options) *listsched.Policy) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		p := readParams(ref)
		var o listsched.Options
		p.text("blocking", "strict", &o.Blocking)
		p.text("placement", "pool", &o.Placement)
		if err := p.finish(); err != nil {
			return nil, err
		}
		ref.Params = map[string]string{"blocking": o.Blocking.String(), "placement": o.Placement.String()}
		return bench.Configured(bench.Policy(ref, "1", bench.Replayed{New: always(func() sim.Policy { return policy(o) })}), o), nil
	}
}

// orderedPolicy makes list scheduling in an order.
func orderedPolicy(ref suite.MethodRef) (bench.Method, error) {
	p := readParams(ref)
	var order listsched.Order
	var o listsched.Options
	p.text("order", order.String(), &order)
	p.text("blocking", o.Blocking.String(), &o.Blocking)
	p.text("placement", o.Placement.String(), &o.Placement)
	replayed, predictions := p.predictor(predict.Perfect)
	if err := p.finish(); err != nil {
		return nil, err
	}
	replayed.New = always(func() sim.Policy { return listsched.Ordered(order, o) })
	return bench.Configured(bench.Policy(ref, "1", replayed), order, o, predictions), nil
}

// publishedPolicy makes one of the A-SRPT paper's baselines, which predict as
// A-SRPT does.
func publishedPolicy(policy func(listsched.Options) *listsched.Policy) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		p := readParams(ref)
		o := listsched.Published()
		p.text("placement", o.Placement.String(), &o.Placement)
		p.text("layout", o.Layout.String(), &o.Layout)
		replayed, predictions := p.predictor(predict.Forest)
		if err := p.finish(); err != nil {
			return nil, err
		}
		replayed.New = always(func() sim.Policy { return policy(o) })
		return bench.Configured(bench.Policy(ref, "2", replayed), o, predictions), nil
	}
}

// asrptPolicy makes A-SRPT, or A-SRPT-Perfect, which knows the numbers of
// iterations.
func asrptPolicy(perfect bool) func(suite.MethodRef) (bench.Method, error) {
	return func(ref suite.MethodRef) (bench.Method, error) {
		p := readParams(ref)
		o := p.asrptOptions()
		p.text("layout", o.Layout.String(), &o.Layout)
		replayed := bench.Replayed{New: always(func() sim.Policy { return asrpt.Perfect(o) })}
		var predictions predict.Options
		if !perfect {
			replayed, predictions = p.predictor(predict.Forest)
			replayed.New = always(func() sim.Policy { return asrpt.New(o) })
		}
		if err := p.finish(); err != nil {
			return nil, err
		}
		if err := o.Validate(); err != nil {
			return nil, err
		}
		replayed.Theorems = &bench.Theorems{Objective: sched.TotalCompletion, Headline: theorems.Headline,
			Evaluate: func(v *verify.Verified, r *bench.Replay, opt theorems.Interval) ([]theorems.Result, error) {
				return errata.Theorems(v, o, r.Predicted(len(v.Instance().Jobs)), opt)
			}}
		return bench.Configured(bench.Policy(ref, "1", replayed), o, predictions), nil
	}
}

// asrptOptions reads those that every form of A-SRPT has.
func (p *params) asrptOptions() asrpt.Options {
	o := asrpt.Options{Comm: new(big.Rat), Tau: new(big.Rat)}
	p.text("comm", "3/2", o.Comm)
	p.text("tau", "1", o.Tau)
	p.text("ties", o.Ties.String(), &o.Ties)
	p.text("slowest", o.Slowest.String(), &o.Slowest)
	p.text("reference", o.Reference.String(), &o.Reference)
	o.IdleStart = p.flag("idle-start")
	return o
}

// predictor reads what a policy's predictions come from: predictor, and what
// goes with it.
func (p *params) predictor(fallback predict.Model) (bench.Replayed, predict.Options) {
	o := predict.Options{}
	p.text("predictor", fallback.String(), &o.Model)
	switch o.Model {
	case predict.Perfect:
		return bench.Replayed{}, o
	case predict.Forest:
		o.Trees = p.count("trees", forest.Trees, 1)
		o.Gang = p.flag("gang")
	default:
		p.text("by", o.By.String(), &o.By)
	}
	o.Retraining.Completions = p.count("retrain-after", 0, 0) // 0 is never
	o.Retraining.Period = p.time("retrain-every", "0s", 0)    // 0s is never
	return bench.Replayed{Predictor: o.Model.String(), NewPredictor: o.New}, o
}
