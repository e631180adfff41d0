package bench

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// Replayed is an online policy with what predicts the lengths of its jobs.
type Replayed struct {
	// New makes a fresh policy for a run. Of the instance it may use what the
	// policy is told anyway: the cluster, the table of interference and the past.
	New func(context.Context, Problem) (sim.Policy, error)
	// Predictor names what NewPredictor makes from an instance's history and
	// seed. Without it the policy is told the truth.
	Predictor    string
	NewPredictor func(in *sched.Instance, seed uint64) (sim.Predictor, error)
	// Theorems is what is published about the policy; nil if nothing is.
	Theorems *Theorems
	// Deferred says, after a run, how good the policy's deferrals were; nil where it has
	// none that predict.
	Deferred func(sim.Policy) *Deferrals
	// Suits says what instances the policy cannot be replayed on, where that can be said
	// without New: a policy that is a [Program] starts when it runs. Nil asks a new policy.
	Suits func(*sched.Instance) error
	// Broken is why the policy cannot run at all, such as a file of its program that is not
	// there: its cells fail with it, and others run. Nil if nothing is known to be wrong.
	Broken error
	// Program says that New makes a [Program], whose author may know instances by heart.
	Program bool
	// Runs is how often an instance is replayed, to see that the decisions are the same
	// every time; 0 is once.
	Runs int
}

// Program is a policy that runs outside of this process. A value serves one run.
type Program interface {
	sim.Policy
	// End ends the program after a run, whose error may be nil, and returns that error
	// or what else is wrong, with what is known of the program.
	End(error) error
	// Protections says what keeps the program from doing harm.
	Protections() string
}

// inRounds is what a policy that works in rounds says of them after a run.
type inRounds interface {
	Alpha() (alpha int, kept bool) // as in Rounds
}

// Policy returns the method that replays an instance under an online policy.
func Policy(ref suite.MethodRef, version string, p Replayed) Method {
	return &policyMethod{ref: ref, version: version, policy: p}
}

type policyMethod struct {
	ref     suite.MethodRef
	version string
	policy  Replayed
	configuration
}

// configuration is what a method was made with, as text.
type configuration struct {
	text  string
	files []string
}

func (s *configuration) configure(text string)   { s.text = text }
func (s *configuration) readFrom(files []string) { s.files = files }
func (s *configuration) sources() []string       { return s.files }

// Configured notes what a method was made with: the values that its parameters
// have, whether they were given or not.
func Configured(m Method, values ...any) Method {
	if c, ok := m.(interface{ configure(string) }); ok {
		c.configure(fmt.Sprintf("%+v", values))
	}
	return m
}

// ReadFrom notes the files that a method was made from.
func ReadFrom(m Method, files ...string) Method {
	if c, ok := m.(interface{ readFrom([]string) }); ok {
		c.readFrom(files)
	}
	return m
}

func (m *policyMethod) Ref() suite.MethodRef { return m.ref }
func (m *policyMethod) Version() string      { return m.version }
func (m *policyMethod) Kind() Kind           { return Online }

// IsProgram reports whether a method is a policy that runs outside of this process.
func IsProgram(m Method) bool {
	p, ok := m.(*policyMethod)
	return ok && p.policy.Program
}

// Broken returns why a method cannot run on any instance, or nil.
func Broken(m Method) error {
	if p, ok := m.(*policyMethod); ok {
		return p.policy.Broken
	}
	return nil
}

// Suits returns an error, of one line, if the method is a policy that cannot be
// replayed on instances like this one. Other methods say themselves what they
// apply to.
func Suits(m Method, in *sched.Instance) error {
	if p, ok := m.(*policyMethod); ok {
		return p.suits(in)
	}
	return nil
}

// filesOf returns the files that a method was made from.
func filesOf(m Method) []string {
	if c, ok := m.(interface{ sources() []string }); ok {
		return c.sources()
	}
	return nil
}

// TheoremsOf returns what is published about the policy that a method replays; nil
// if the method is none, or nothing is.
func TheoremsOf(m Method) *Theorems {
	if p, ok := m.(*policyMethod); ok {
		return p.policy.Theorems
	}
	return nil
}

func (m *policyMethod) suits(in *sched.Instance) error {
	if m.policy.Suits != nil {
		return m.policy.Suits(in)
	}
	policy, err := m.policy.New(context.Background(), Problem{Instance: in})
	if err != nil {
		return err
	}
	return sim.Suits(in, policy, in.Slot > 0)
}

func (m *policyMethod) Run(ctx context.Context, p Problem) ([]Outcome, error) {
	out, err := m.replay(ctx, p)
	for k := 1; k < m.policy.Runs && err == nil && out.Schedule != nil; k++ {
		var again Outcome
		if again, err = m.replay(ctx, p); err == nil {
			err = SameDecisions(out.Schedule, again.Schedule)
		}
	}
	if err != nil {
		return nil, err
	}
	all := slices.Repeat([]Outcome{out}, len(p.Objectives))
	for i := 1; i < len(all); i++ {
		all[i].Solves = nil // recorded once
	}
	return all, nil
}

// SameDecisions returns an error if two runs of a policy on one instance differ.
func SameDecisions(a, b *sched.Schedule) error {
	for i := range min(len(a.Segments), len(b.Segments)) {
		if x, y := &a.Segments[i], &b.Segments[i]; !reflect.DeepEqual(x, y) {
			return fmt.Errorf("two runs of the policy on one instance differ: in one %s, in the other %s; it must depend on nothing but what it is told and its seed", inWords(x), inWords(y))
		}
	}
	if len(a.Segments) != len(b.Segments) || a.Class != b.Class {
		return fmt.Errorf("two runs of the policy on one instance differ: class %v with %d phases of jobs, and class %v with %d", a.Class, len(a.Segments), b.Class, len(b.Segments))
	}
	return nil
}

// inWords says what a segment is.
func inWords(s *sched.Segment) string {
	var on []string
	for i := range s.Place.Shares {
		on = append(on, strconv.Itoa(s.Place.Shares[i].Server))
	}
	return fmt.Sprintf("job %d is on %d GPUs of server %s from %v for %v", s.Job, s.Place.GPUs(), strings.Join(on, ", "), s.Start, s.End-s.Start)
}

// replay runs the policy once.
func (m *policyMethod) replay(ctx context.Context, p Problem) (Outcome, error) {
	if m.policy.Broken != nil {
		return Outcome{}, m.policy.Broken
	}
	p.Programs = &exact.Log{}
	start := time.Now()
	o := sim.Options{Clock: func() time.Duration { return time.Since(start) }, Slotted: p.Instance.Slot > 0}
	policy, err := m.policy.New(ctx, p)
	if err != nil {
		return skip(err)
	}
	program, outside := policy.(Program)
	if m.policy.NewPredictor != nil {
		o.Predictor, err = m.policy.NewPredictor(p.Instance, p.Seed)
	}
	var r *sim.Result
	if err == nil {
		r, err = sim.Run(ctx, p.Instance, policy, o)
	}
	if outside {
		err = program.End(err)
	}
	if err != nil {
		return skip(err)
	}
	replay := &Replay{Clairvoyant: r.Clairvoyant, Decisions: r.Decisions, DecisionP50: r.DecisionP50, DecisionP99: r.DecisionP99,
		Predictor: m.policy.Predictor, Predictions: r.Predictions}
	if p, ok := policy.(inRounds); ok {
		replay.Rounds = &Rounds{}
		replay.Rounds.Alpha, replay.Rounds.Kept = p.Alpha()
	}
	if m.policy.Deferred != nil {
		replay.Deferrals = m.policy.Deferred(policy)
	}
	out := Outcome{Schedule: r.Schedule, Termination: Completed, Replay: replay, Solves: solves(m.ref, p.Programs.Programs())}
	if outside {
		out.Message = "kept in by " + program.Protections()
	}
	return out, nil
}

// LowerBound returns the method that computes one bound, an upper one where the
// objective is maximised.
func LowerBound(ref suite.MethodRef, version string, bound BoundFunc) Method {
	return &boundMethod{ref: ref, version: version, bound: bound}
}

// BoundFunc computes a bound on one objective and says why it stopped: a limit
// may have shaped the value. sched.ErrNotApplicable says that it has none for the
// objective or the instance.
type BoundFunc func(context.Context, Problem, sched.Objective) (bounds.Bound, milp.Termination, error)

// Closed is a bound that is computed at once.
func Closed(bound func(*sched.Instance, sched.Objective) (bounds.Bound, error)) BoundFunc {
	return func(_ context.Context, p Problem, o sched.Objective) (bounds.Bound, milp.Termination, error) {
		b, err := bound(p.Instance, o)
		return b, milp.Optimal, err
	}
}

type boundMethod struct {
	ref     suite.MethodRef
	version string
	bound   BoundFunc
	configuration
}

func (m *boundMethod) Ref() suite.MethodRef { return m.ref }
func (m *boundMethod) Version() string      { return m.version }
func (m *boundMethod) Kind() Kind           { return Bound }

func (m *boundMethod) Run(ctx context.Context, p Problem) ([]Outcome, error) {
	out := make([]Outcome, len(p.Objectives))
	for i, objective := range p.Objectives {
		p.Programs = &exact.Log{}
		b, termination, err := m.bound(ctx, p, objective)
		out[i] = Outcome{Termination: termination, Bounds: []bounds.Bound{b}}
		if err != nil {
			if out[i], err = skip(err); err != nil {
				return nil, err
			}
		}
		out[i].Solves = solves(m.ref, p.Programs.Programs())
	}
	return out, nil
}

// skip is what becomes of a method that fails: where it does not apply it is skipped,
// for the reason that the error gives.
func skip(err error) (Outcome, error) {
	if errors.Is(err, sched.ErrNotApplicable) {
		return Outcome{Termination: milp.Skipped, Message: err.Error()}, nil
	}
	return Outcome{}, err
}

// searchMethod returns a schedule for one objective, or a proven bound, or both.
// Objectives that differ by a constant of the instance are solved once.
type searchMethod struct {
	ref     suite.MethodRef
	version string
	kind    Kind
	solve   func(context.Context, Problem, sched.Objective) (Outcome, error)
	configuration
}

func (m *searchMethod) Ref() suite.MethodRef { return m.ref }
func (m *searchMethod) Version() string      { return m.version }
func (m *searchMethod) Kind() Kind           { return m.kind }

func (m *searchMethod) Run(ctx context.Context, p Problem) ([]Outcome, error) {
	out := make([]Outcome, len(p.Objectives))
	solved := map[sched.Objective]Outcome{}
	for i, objective := range p.Objectives {
		base := objective.Base()
		o, ok := solved[base]
		if !ok {
			var err error
			p.Programs = &exact.Log{}
			if o, err = m.solve(ctx, p, base); err != nil {
				if o, err = skip(err); err != nil {
					return nil, err
				}
			}
			o.Solves = append(o.Solves, solves(m.ref, p.Programs.Programs())...)
			solved[base] = o
		} else {
			o.Solves = nil // recorded once
		}
		out[i] = shift(o, p.Instance, base, objective)
	}
	return out, nil
}

// shift restates an outcome for base as one for objective.
func shift(o Outcome, in *sched.Instance, base, objective sched.Objective) Outcome {
	if base == objective {
		return o
	}
	shifted := make([]bounds.Bound, len(o.Bounds))
	for i, b := range o.Bounds {
		b.Objective, b.Value = objective, objective.FromBase(in, b.Value)
		shifted[i] = b
	}
	o.Bounds = shifted
	if o.ClaimedOptimum != nil {
		o.ClaimedOptimum = objective.FromBase(in, o.ClaimedOptimum)
	}
	return o
}

// ExactFunc solves an instance exactly for one objective, or as far as its limits
// allow. It is not asked for objectives that differ from another by a constant of the
// instance.
type ExactFunc func(context.Context, *sched.Instance, sched.Objective, exact.Limits) (*exact.Result, error)

// Search returns an exact method: every one of them is made of a function here.
func Search(ref suite.MethodRef, version string, solve ExactFunc) Method {
	return &searchMethod{ref: ref, version: version, kind: Exact, solve: func(ctx context.Context, p Problem, objective sched.Objective) (Outcome, error) {
		r, err := solve(ctx, p.Instance, objective, exact.Limits{Nodes: p.Limits.Nodes, Time: p.Limits.Solve})
		if err != nil {
			return Outcome{}, err
		}
		o := Outcome{Schedule: r.Schedule, Termination: r.Termination}
		if r.Bound != nil {
			o.Bounds = []bounds.Bound{{Name: ref.Name, Class: r.Class, Objective: objective, Value: r.Bound}}
		}
		if r.Claimed != nil && r.Cost != nil && r.Claimed.Cmp(r.Cost) == 0 {
			o.ClaimedOptimum = r.Claimed
		}
		o.Solves = solves(ref, r.Programs)
		return o, nil
	}}
}

// solves are the records of a method's programs.
func solves(ref suite.MethodRef, programs []exact.Program) []Solve {
	var list []Solve
	for _, x := range programs {
		name := ref.Name
		if x.Name != "" && x.Name != name {
			name += "/" + x.Name
		}
		list = append(list, Solve{Formulation: name, Relation: x.Relation, Solver: x.Solver,
			Rows: x.Rows, Columns: x.Cols, Nonzeros: x.Nonzeros, Integers: x.Integers, Opened: x.Opened, Solved: x.Solved, Generated: x.Generated, Result: *x.Result})
	}
	return list
}

// Heuristic returns a method that sees the whole instance and does not aim at
// the optimum; it may prove a bound all the same. Like an ExactFunc, it is asked for
// one objective of those that differ by a constant.
func Heuristic(ref suite.MethodRef, version string, solve func(context.Context, Problem, sched.Objective) (Outcome, error)) Method {
	return &searchMethod{ref: ref, version: version, kind: Offline, solve: solve}
}
