package bench

import (
	"context"
	"math/big"
	"time"

	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/solvers/exact"
	"yardstick/solvers/milp"
)

// Kind says what a method knows and what it proves.
type Kind string

// The kinds of method.
const (
	Online  Kind = "online"  // a policy, replayed event by event
	Offline Kind = "offline" // sees the whole instance, does not aim at its optimum
	Exact   Kind = "exact"   // sees the whole instance, returns a schedule and a proven bound
	Bound   Kind = "bound"   // returns a proven bound and no schedule
)

// Method is what every row of a result comes from.
type Method interface {
	Ref() suite.MethodRef
	Version() string // changes when the method's results may
	Kind() Kind
	// Run returns one outcome per objective of the problem. Not finding a
	// schedule is an outcome; an error means that the method could not run.
	Run(context.Context, Problem) ([]Outcome, error)
}

// Problem is one instance with the objectives to solve it for.
type Problem struct {
	Instance   *sched.Instance
	Objectives []sched.Objective
	Limits     suite.Limits
	Seed       uint64 // of the instance; shared by all its methods
	// Programs notes the linear programs that a method opens by the solvers that it
	// watches, for Outcome.Solves; methods set it for themselves.
	Programs *exact.Log
}

// Outcome is what a method found for one objective. Schedules are claims until
// the runner has verified them; bounds are proven where they are made.
type Outcome struct {
	Schedule    *sched.Schedule // nil if none was found
	Termination milp.Termination
	Bounds      []bounds.Bound
	// ClaimedOptimum is the optimal value that a solver reports without
	// proof; nil if it reports none.
	ClaimedOptimum *big.Rat
	Solves         []Solve
	Proof          *Proof  // of the optimum, for strangers; nil if none was asked for
	Replay         *Replay // of online methods
	Message        string  // what the user should know: why there is no schedule or no bound
}

// Solve records one run of a solver on one model.
type Solve struct {
	Formulation, Relation, Solver, SolverVersion string
	Rows, Columns, Nonzeros, Integers            int
	Opened, Solved, Generated                    int // of linear programs: how many of the name there were, how often one was solved, columns added
	Result                                       milp.Result
}

// Proof is what came of making a proof, for strangers to check, that an outcome is the
// optimum. Without a Certificate the message says why there is none.
type Proof struct {
	Format               string // tree.Format or tree.FormatOnServers
	Problem, Certificate []byte
	Nodes                int
	Termination          milp.Termination
	Wall, CPU            time.Duration
	Message              string
}

// Replay records how a policy's simulation went.
type Replay struct {
	Clairvoyant              bool
	Decisions                int64
	DecisionP50, DecisionP99 time.Duration
	Predictor                string // name of what predicted; "" if the truth was told
	Predictions              []sim.Prediction
	Rounds                   *Rounds // of policies that solve a problem again and again in rounds, such as A_online
	Deferrals                *Deferrals
}

// Deferrals is how good the choices of a policy were that predicts for how long to defer
// preemptions. Means are over the choices whose outcome is known.
type Deferrals struct {
	Choices  int // with an outcome, since the predictor has had its first samples
	Deferred int // of these, those that deferred at all
	// Promised and Realised are the mean improvement over preempting at once, in seconds:
	// as predicted, and as it came out.
	Promised, Realised float64
	// Explained is the share of the variance of what was predicted that the prediction
	// explains: 1 if it is always right, below 0 if it is worse than the mean; nil where
	// there is no variance.
	Explained *float64
	Within    float64 // share of outcomes within the intervals of 95 %
}

// Rounds is what the theorems about a policy that works in rounds need to know.
type Rounds struct {
	Alpha int  // the most problems that any round solved, or as many as were asked for
	Kept  bool // every round scheduled at least the weight that is possible by its deadline
}

// Terminations beside those of package milp.
const (
	Completed milp.Termination = "COMPLETED" // a policy or a heuristic ran to its end
)
