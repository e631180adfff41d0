package asrpt

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// Options are the rules of the policy. The zero value is the published
// algorithm with the parameters that the fields name.
type Options struct {
	// Comm is COMM_HEAVY: a job whose alpha_max is at least so many times its
	// alpha~ is consolidated, and waits for GPUs on which its alpha is at most
	// so many times alpha~. Nil means 3/2, the paper's value.
	Comm *big.Rat
	// Tau is tau: such a job waits for at most tau times its virtual size. Nil
	// means 1; the paper does not give its value.
	Tau *big.Rat
	// Ties says which of two jobs with equal remaining virtual sizes, or equal
	// virtual completions, goes first.
	Ties Ties
	// AllReduce is the shape of the graph that Heavy-Edge cuts, here and in
	// alpha~.
	AllReduce heavyedge.AllReduce
	// Layout says how replicas are put on the GPUs selected.
	Layout Layout
	// Place, if not nil, comes before Layout: it puts the only job of an instance on
	// parts[i] GPUs of servers[i]. Where it returns sched.ErrNotApplicable, Layout does.
	Place func(in *sched.Instance, servers, parts []int) (sched.Placement, error)
	// Slowest says which alpha_max is compared with alpha~.
	Slowest Slowest
	// Reference says what alpha~ is.
	Reference Reference
	// IdleStart starts the job that the virtual machine is serving whenever no
	// job is on the cluster and none is queued, and takes it off the virtual
	// machine. Not in the source: it keeps a job whose length is overestimated
	// from leaving the whole cluster idle, and departs from the order of
	// virtual completions, hence from the proof of Theorem 1.
	IdleStart bool
}

// Ties is a rule for jobs that are otherwise equal.
type Ties uint8

// The rules for ties.
const (
	ByIndex   Ties = iota // the lower index
	ByRelease             // the earlier release, then the lower index
)

var tieNames = []string{"index", "release"}

func (t Ties) String() string { return tieNames[t] }

// MarshalText implements encoding.TextMarshaler.
func (t Ties) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Ties) UnmarshalText(text []byte) error {
	i, err := indexOf("rule for ties", tieNames, text)
	*t = Ties(i)
	return err
}

// Layout is how the replicas of a gang are put on the GPUs selected.
type Layout uint8

// The layouts.
const (
	HeavyEdge Layout = iota // the published heuristic
	// Optimal takes a placement of least alpha for the numbers of GPUs
	// selected (BestAlpha of package cuts); where that search stops at its limit, the
	// best one found, and where it cannot begin, Heavy-Edge's.
	Optimal
)

var layoutNames = []string{"heavy-edge", "optimal"}

func (l Layout) String() string { return layoutNames[l] }

// MarshalText implements encoding.TextMarshaler.
func (l Layout) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Layout) UnmarshalText(text []byte) error {
	i, err := indexOf("layout", layoutNames, text)
	*l = Layout(i)
	return err
}

// Slowest is a definition of alpha_max.
type Slowest uint8

// The definitions of alpha_max.
const (
	Spread   Slowest = iota // every replica on a server of its own, as the paper computes it
	Attained                // the greatest over all placements in the empty cluster
)

var slowestNames = []string{"spread", "attained"}

func (s Slowest) String() string { return slowestNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Slowest) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Slowest) UnmarshalText(text []byte) error {
	i, err := indexOf("alpha_max", slowestNames, text)
	*s = Slowest(i)
	return err
}

// Reference is a definition of alpha~, the iteration time that virtual sizes are
// made of and that placements are measured against.
type Reference uint8

// The definitions of alpha~.
const (
	Fewest Reference = iota // of Heavy-Edge on the fewest servers, full but the last, as the paper has it
	// Least is alpha_min, the least over all placements in the empty cluster (of
	// those found, where that search stops at its limit). Not in the source,
	// which calls its own estimate the minimum; see docs/theorems.md.
	Least
)

var referenceNames = []string{"fewest", "least"}

func (r Reference) String() string { return referenceNames[r] }

// MarshalText implements encoding.TextMarshaler.
func (r Reference) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Reference) UnmarshalText(text []byte) error {
	i, err := indexOf("reference", referenceNames, text)
	*r = Reference(i)
	return err
}

func indexOf(what string, names []string, text []byte) (int, error) {
	i := slices.Index(names, string(text))
	if i < 0 {
		return 0, fmt.Errorf("%s %q is unknown: %v", what, text, names)
	}
	return i, nil
}

// Validate returns an error if a parameter is out of range.
func (o Options) Validate() error {
	switch {
	case o.Comm != nil && o.Comm.Sign() <= 0:
		return fmt.Errorf("asrpt: COMM_HEAVY is %v: it must be positive", o.Comm)
	case o.Tau != nil && o.Tau.Sign() < 0:
		return fmt.Errorf("asrpt: tau is %v: it must not be negative", o.Tau)
	case o.AllReduce > heavyedge.Tree, o.Ties > ByRelease, o.Layout > Optimal, o.Slowest > Attained, o.Reference > Least:
		return errors.New("asrpt: an option has a value that is not among its constants")
	}
	return nil
}

// String returns the options as they are written in results.
func (o Options) String() string {
	o = o.filled()
	reduce := "ring"
	if o.AllReduce == heavyedge.Tree {
		reduce = "tree"
	}
	return fmt.Sprintf("comm=%s tau=%s ties=%v allreduce=%s layout=%v alpha-max=%v alpha~=%v idle-start=%t",
		o.Comm.RatString(), o.Tau.RatString(), o.Ties, reduce, o.Layout, o.Slowest, o.Reference, o.IdleStart)
}

// filled returns the options with the values that nil stands for.
func (o Options) filled() Options {
	if o.Comm == nil {
		o.Comm = big.NewRat(3, 2)
	}
	if o.Tau == nil {
		o.Tau = big.NewRat(1, 1)
	}
	return o
}
