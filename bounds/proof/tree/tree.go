// Package tree proves that no schedule of a problem costs less than some value, by a tree
// of all schedules that are shifted to the left, whose leaves are closed by prices of
// GPUs. What it writes is checked by check_tree.py, which is short enough to be read, and
// by package treecheck, which shares no code with this one.
//
// # The tree
//
// A node is a time, the jobs that run then and those that wait. It asks for the first
// waiting job, in some order of all jobs, that may start now: it starts now, or it does
// not. When no job is left to be asked for, time goes on to the next release of a waiting
// job or end of a running one. A job may start now only at its release, or if it did not
// fit just before: some best schedule is shifted to the left so far that all of its jobs
// do (docs/proofs.md has the proof).
//
// # Prices
//
// Let λ_j ≥ 0 be what job j pays per unit of time that it runs, and κ the most that jobs pay
// which fit together. All jobs that run or wait at a node pay no more than κ from now on, so
// that every schedule of the node costs at least
//
//	Σ_started w·C + Σ_running Λ_j(now, end) + Σ_waiting min_{t ≥ e} [w·(t + p) + Λ_j(t, t + p)] − ∫_now^∞ κ
//
// where Λ_j(a, b) is the integral of λ_j, and e the earliest start that the node leaves to the
// job. Either all GPUs have one price λ, so that λ_j = g·λ and capacity·λ serves as κ, or each
// job has its own prices, and κ is a knapsack's value. Prices are integers over a common scale K, so that nothing is rounded in the
// comparison. The makespan is not a sum of costs: there weights are 0, starts end in time
// for the value to be undercut, and what is left over must be positive.
//
// Prices come from subgradient steps at some of the nodes. They are tried at all others:
// a few dozen close most of a tree.
package tree

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"yardstick/bounds/proof"
	"yardstick/internal/number"
	"yardstick/sched"
)

//go:embed check_tree.py
var checker []byte

//go:embed check_servers.py
var serversChecker []byte

// Checkers returns the programs that check certificates, Python 3.8 or later, by name:
// that of one pool, and the one on servers, which uses it.
func Checkers() map[string][]byte {
	return map[string][]byte{CheckerName: checker, ServersCheckerName: serversChecker}
}

// Limits end a search for a proof. They count work, so that results do not depend on the
// machine. The zero value sets none.
type Limits struct {
	Nodes     int // nodes of the tree that are asked for an answer
	OnServers int // of a tree on servers, if not Nodes
}

// Certificate is a proof.
type Certificate struct {
	Problem *proof.Problem
	Claim   proof.Claim
	Nodes   int // answers
	Prices  int // vectors of prices
	Text    []byte
}

// Prove proves a claim. If the claim has starts and the search finds cheaper ones, it goes
// on with these: the claim of the certificate is then of a lower value, and true. The
// starts of the claim also serve a bound: prices end with them.
//
// Errors: sched.ErrNotApplicable if numbers are too large; proof.ErrLimit; a
// *proof.CheaperError if a bound is claimed that some schedule undercuts; the claim's
// starts are no schedule, or cost something else; the context's.
func Prove(ctx context.Context, p *proof.Problem, claim proof.Claim, limits Limits) (*Certificate, error) {
	if claim.Starts != nil {
		cost, err := evaluate(p, claim)
		if err != nil {
			return nil, err
		}
		if cost.Cmp(claim.Value) != 0 {
			return nil, fmt.Errorf("proof: the schedule costs %v, and not %v as claimed", cost, claim.Value)
		}
	}
	if claim.Value.Sign() < 0 {
		return nil, fmt.Errorf("proof: %w to a bound below 0, which is none", sched.ErrNotApplicable)
	}
	s, err := newSearch(ctx, p, claim, limits)
	if err != nil {
		return nil, err
	}
	for again := true; again; {
		s.reset()
		err := s.tree()
		if err != nil && !errors.Is(err, errAgain) {
			return nil, err
		} else {
			again = err != nil
		}
	}
	return s.certificate(), nil
}

// Optimum proves the optimum of an instance, beginning with a schedule of it that has the
// given cost: on one pool of GPUs with least running times, and where the optimum there is
// below that cost because jobs are slower on servers, on these. It returns the value that
// it has proven to be the optimum.
//
// Errors: those of Prove, proof.New and proof.NewOnServers.
func Optimum(ctx context.Context, in *sched.Instance, obj sched.Objective, s *sched.Schedule, cost *big.Rat, limits Limits) (*Certificate, *big.Rat, error) {
	p, err := proof.New(in, obj, in.Class())
	if err != nil {
		return nil, nil, err
	}
	var claim proof.Claim
	if claim.Starts, err = p.Starts(s); err != nil {
		return nil, nil, err
	}
	if claim.Value, err = p.Evaluate(claim.Starts); err != nil {
		return nil, nil, err
	}
	// A cheaper start on the pool shows at once that the pool does not decide.
	if !p.Placed || p.Value(claim.Value).Cmp(cost) == 0 {
		c, err := Prove(ctx, p, claim, limits)
		if err != nil && !p.Placed {
			return nil, nil, err
		}
		if err == nil && (!p.Placed || p.Value(c.Claim.Value).Cmp(cost) == 0) {
			return c, p.Value(c.Claim.Value), nil
		}
	}
	if limits.OnServers > 0 {
		limits.Nodes = limits.OnServers
	}
	c, err := OnServers(ctx, in, obj, s, limits)
	if err != nil {
		return nil, nil, err
	}
	return c, c.Problem.Value(c.Claim.Value), nil
}

// OnServers proves the optimum of an instance on its servers, beginning with a schedule.
//
// Errors: those of Prove and proof.NewOnServers.
func OnServers(ctx context.Context, in *sched.Instance, obj sched.Objective, s *sched.Schedule, limits Limits) (*Certificate, error) {
	p, err := proof.NewOnServers(in, obj, in.Class())
	if err != nil {
		return nil, err
	}
	var claim proof.Claim
	if claim.Starts, claim.Held, err = p.Places(s); err != nil {
		return nil, err
	}
	if claim.Value, err = p.EvaluateOn(claim.Starts, claim.Held); err != nil {
		return nil, err
	}
	return Prove(ctx, p, claim, limits)
}

// evaluate returns the cost of the schedule of a claim.
func evaluate(p *proof.Problem, claim proof.Claim) (*big.Int, error) {
	if p.Servers != nil {
		return p.EvaluateOn(claim.Starts, claim.Held)
	}
	return p.Evaluate(claim.Starts)
}

// tree goes through the whole tree.
func (s *search) tree() error {
	if s.p.Servers != nil {
		return s.spread(s.rootOn())
	}
	return s.node(s.root())
}

// certificate writes the answers of the tree, and the prices that they name, those that
// are named most often first.
func (s *search) certificate() *Certificate {
	used := map[*prices]int{}
	for _, v := range s.answers {
		if v != nil {
			used[v]++
		}
	}
	var list []*prices
	for _, v := range s.made {
		if used[v] > 0 {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b *prices) int { return cmp.Compare(used[b], used[a]) })
	var b bytes.Buffer
	kind, starts := "bound", ""
	if s.claim.Starts != nil {
		kind, starts = "optimum", join(s.claim.Starts)
	}
	header, places := "yardstick-tree 2", ""
	if s.p.Servers != nil {
		header = "yardstick-tree-on-servers 2"
		places = "places " + join(slices.Concat(s.claim.Held...)) + "\n"
	}
	fmt.Fprintf(&b, "%s\nproblem %s\nclaim %s\nvalue %v\nscale %d\norder %s\nstarts %s\n%sprices %d\n",
		header, s.p.Hash(), kind, s.claim.Value, s.scale, join(s.order), starts, places, len(list))
	name := map[*prices]int{nil: 0}
	for k, v := range list {
		name[v] = k + 1
		b.WriteString(v.text())
		b.WriteByte('\n')
	}
	const perLine = 64
	for line := range slices.Chunk(s.answers, perLine) {
		for i, v := range line {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.Itoa(name[v]))
		}
		b.WriteByte('\n')
	}
	b.WriteString("end\n")
	return &Certificate{Problem: s.p, Claim: s.claim, Nodes: len(s.answers), Prices: len(list), Text: b.Bytes()}
}

// join returns integers with a space between them.
func join[T int | int64](list []T) string {
	var b []byte
	for i, v := range list {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return string(b)
}

// order returns the jobs in the order in which nodes ask for them: by Smith's ratio of
// weight to work, or longest first for the makespan.
func order(p *proof.Problem) []int {
	list := make([]int, len(p.Jobs))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(x, y int) int {
		a, b := &p.Jobs[x], &p.Jobs[y]
		if p.Makespan {
			return cmp.Compare(b.Duration, a.Duration)
		}
		left := number.Product(uint64(a.Weight), uint64(b.Duration)).Big()
		right := number.Product(uint64(b.Weight), uint64(a.Duration)).Big()
		return right.Mul(right, big.NewInt(a.Gang)).Cmp(left.Mul(left, big.NewInt(b.Gang)))
	})
	return list
}

//go:embed readme.md
var readme string

//go:embed servers.md
var serversReadme string

// Format names proofs of this kind, and the others are files of one.
const (
	Format          = "tree"
	FormatOnServers = "tree on servers"
	CertificateName = "optimum.cert"
	CheckerName     = "check_tree.py"

	ServersCheckerName = "check_servers.py"
)

// Format returns the name of the format: Format or FormatOnServers.
func (c *Certificate) Format() string {
	if c.Problem.Servers != nil {
		return FormatOnServers
	}
	return Format
}

// Section returns the certificate, its checker and how to use it.
func (c *Certificate) Section() proof.Section {
	s := proof.Section{Claim: c.Claim, Files: map[string][]byte{CertificateName: c.Text, CheckerName: checker}, Readme: readme}
	if c.Problem.Servers != nil {
		s.Files[ServersCheckerName] = serversChecker
		s.Readme += "\n" + serversReadme
	}
	return s
}
