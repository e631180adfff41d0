package colgen

import (
	"container/heap"
	"context"
	"errors"
	"math"

	"yardstick/solvers/milp"
)

// Problem is an integer program over columns that a pricer knows, with the
// branchings that keep it able to price.
type Problem[Node, Solution any] interface {
	// Root is the node that holds every solution.
	Root() Node
	// Rows states a node's master program, without entries, and the constant of
	// its objective. Nodes have the same rows, but for senses and right-hand
	// sides.
	Rows(Node) (rows []milp.Row, constant float64)
	// Start gives the columns to begin with: they must make the master program
	// of the node feasible, at a cost beyond all solutions where nothing else
	// does.
	Start(Node) []Column
	// Allowed reports whether a column generated elsewhere belongs to a node.
	Allowed(Node, *Column) bool
	// Pricer prices columns of the node. Its bounds hold for the solutions of
	// the node.
	Pricer(Node) Pricer
	// Candidate turns a point of a node's master program into a solution that
	// the problem has checked, by rounding for instance. objective must not be
	// below that of the solution. It is called at every node, and may give up once
	// the context has ended.
	Candidate(ctx context.Context, n Node, columns []Column, x []float64) (s Solution, objective float64, ok bool)
	// Branch splits a node: each of its solutions must be in one of the
	// children. None means that the point is integral, so that there is nothing
	// to split by.
	Branch(n Node, columns []Column, x []float64) ([]Node, error)
}

// TreeOptions direct Solve.
type TreeOptions struct {
	Limits milp.Limits
	// IntegralCost declares that every solution has an integral objective, so
	// that bounds may be rounded up.
	IntegralCost bool
	// Progress is called whenever the bound or the incumbent has changed.
	Progress func(bound, incumbent float64, nodes int)
}

// Optimum is what Solve knows in the end.
type Optimum[Solution any] struct {
	Termination milp.Termination
	Found       bool     // whether there is an incumbent
	Solution    Solution // the incumbent
	Objective   float64  // of the incumbent; +Inf without one
	DualBound   float64  // no solution is below it; +Inf if there is none
	Nodes       int
	Columns     int // generated in all
	Rounds      int // master programs solved
	Root        *Result
}

// Solve minimises by best-first branch and price. A node is dropped only if
// the bound that the pricer vouches for reaches the incumbent's objective.
//
// Termination is Optimal if the bound has reached the objective, or, where an
// integral point leaves nothing to split by, is within a relative 1e-9 of it:
// the interval is what is proven.
//
// A node whose master program the solver fails at weakens the bound at worst.
//
// Errors: those of Generate and of the problem.
func Solve[Node, Solution any](ctx context.Context, solver milp.LPSolver, p Problem[Node, Solution], o TreeOptions) (*Optimum[Solution], error) {
	limited := ctx
	if o.Limits.Time > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, o.Limits.Time)
		defer cancel()
	}
	s := &search[Node, Solution]{ctx: limited, solver: solver, problem: p, options: o, known: map[string]bool{}, leaf: math.Inf(1)}
	s.best.Objective = math.Inf(1)
	heap.Push(&s.open, &open[Node]{node: p.Root(), bound: math.Inf(-1)})
	err := s.run()
	switch {
	case err == errLimit:
		s.best.Termination = milp.NodeLimit
	case limited.Err() != nil && ctx.Err() == nil:
		s.best.Termination = milp.TimeLimit
	case limited.Err() != nil:
		s.best.Termination = milp.Interrupted
	case err != nil:
		return nil, err
	case !s.best.Found && math.IsInf(s.leaf, 1):
		s.best.Termination = milp.Infeasible
	case s.best.Found && s.best.Objective-s.bound() <= 1e-9*math.Abs(s.best.Objective):
		s.best.Termination = milp.Optimal
	default:
		s.best.Termination = milp.Numerical // a node that could not be split
	}
	s.best.DualBound = s.bound()
	s.best.Columns = len(s.pool)
	return &s.best, nil
}

// errLimit ends the search at the limit of nodes.
var errLimit = errors.New("colgen: limit of nodes")

type search[Node, Solution any] struct {
	ctx     context.Context
	solver  milp.LPSolver
	problem Problem[Node, Solution]
	options TreeOptions

	open   queue[Node]
	pushed int
	pool   []Column        // generated anywhere
	known  map[string]bool // the pool's columns, by content
	leaf   float64         // least bound of the nodes that could not be split
	best   Optimum[Solution]
	last   [2]float64 // bound and objective last shown
}

// bound returns what is proven: the least bound of what is open or could not
// be split, and no more than the incumbent.
func (s *search[Node, Solution]) bound() float64 {
	b := min(s.leaf, s.best.Objective)
	if len(s.open) > 0 {
		b = min(b, s.open[0].bound)
	}
	return b
}

func (s *search[Node, Solution]) run() error {
	for len(s.open) > 0 {
		s.show()
		if s.open[0].bound >= s.best.Objective {
			s.open = nil
			break
		}
		if s.options.Limits.Nodes > 0 && s.best.Nodes == s.options.Limits.Nodes {
			return errLimit
		}
		if err := s.expand(s.open[0]); err != nil {
			return err
		}
	}
	s.show()
	return nil
}

// expand solves the best open node and replaces it by its children. A node
// whose solve is cut short stays open, so that its bound counts. One whose master
// program the solver could not finish, for numerical reasons, is split by the last
// point known, which need not be optimal for that; without any it stays as it is,
// with its bound.
func (s *search[Node, Solution]) expand(n *open[Node]) error {
	columns := s.problem.Start(n.node)
	for i := range s.pool {
		if s.problem.Allowed(n.node, &s.pool[i]) {
			columns = append(columns, s.pool[i])
		}
	}
	given := len(columns)
	rows, constant := s.problem.Rows(n.node)
	r, err := Generate(s.ctx, s.solver, rows, constant, columns, s.problem.Pricer(n.node), milp.Limits{})
	if err != nil {
		return err
	}
	s.best.Rounds += r.Rounds
	if s.best.Root == nil {
		s.best.Root = r
	}
	n.bound = max(n.bound, s.round(r.DualBound))
	heap.Fix(&s.open, n.index)
	s.remember(r.Columns[given:])
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if r.X != nil {
		if c, objective, ok := s.problem.Candidate(s.ctx, n.node, r.Columns, r.X); ok && objective < s.best.Objective {
			s.best.Found, s.best.Solution, s.best.Objective = true, c, objective
		}
	}
	if err := s.ctx.Err(); err != nil { // the candidate may be missing for that alone: the node stays open
		return err
	}
	s.best.Nodes++
	heap.Remove(&s.open, n.index)
	if r.X == nil { // the solver failed at once
		s.leaf = min(s.leaf, n.bound)
		return nil
	}
	if n.bound >= s.best.Objective {
		return nil
	}
	children, err := s.problem.Branch(n.node, r.Columns, r.X)
	if err != nil {
		return err
	}
	if len(children) == 0 {
		s.leaf = min(s.leaf, n.bound)
	}
	for _, c := range children {
		s.pushed++
		heap.Push(&s.open, &open[Node]{node: c, bound: n.bound, order: s.pushed})
	}
	return nil
}

// remember adds columns to the pool.
func (s *search[Node, Solution]) remember(columns []Column) {
	for _, c := range columns {
		if key := c.key(); !s.known[key] {
			s.known[key] = true
			s.pool = append(s.pool, c)
		}
	}
}

// round rounds a bound up to the next value that an objective can take.
func (s *search[Node, Solution]) round(bound float64) float64 {
	if s.options.IntegralCost && math.Abs(bound) < 1<<53 {
		return math.Ceil(bound)
	}
	return bound
}

func (s *search[Node, Solution]) show() {
	if now := [2]float64{s.bound(), s.best.Objective}; s.options.Progress != nil && now != s.last {
		s.last = now
		s.options.Progress(now[0], now[1], s.best.Nodes)
	}
}

// open is a node that was not expanded yet.
type open[Node any] struct {
	node  Node
	bound float64 // its parent's
	order int     // later ones first among equals: a plunge
	index int     // in the queue
}

// queue is a heap, the least bound first.
type queue[Node any] []*open[Node]

func (q queue[Node]) Len() int { return len(q) }
func (q queue[Node]) Less(i, j int) bool {
	return q[i].bound < q[j].bound || q[i].bound == q[j].bound && q[i].order > q[j].order
}
func (q queue[Node]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *queue[Node]) Push(x any) {
	n := x.(*open[Node])
	n.index = len(*q)
	*q = append(*q, n)
}
func (q *queue[Node]) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
