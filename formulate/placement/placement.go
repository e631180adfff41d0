// Package placement states, as mixed-integer programs, how to put the replicas
// of one job on servers with prescribed numbers of GPUs: for the least cut of
// its communication graph (NaiveCut, CountCut) and for the least time per
// iteration (OneHotAlpha). The two objectives differ: a least cut need not be
// fastest.
//
// All data of a program are integers, so that bounds can be proven in exact
// arithmetic. Where the true weights are multiples of one unit that is not too
// small, the program is Exact. Elsewhere weights are rounded down to a grid, and
// the program is a Relaxation: its optimum times Unit is still a lower bound.
// Decoded placements are always placements of the job; evaluate them by
// [sched.Instance.IterTime] or [partition.CutWeight].
package placement

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/formulate"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

// Program is a formulation of one placement.
type Program struct {
	Model    *milp.Model
	Relation formulate.Relation // Exact or Relaxation
	// Unit is what an objective of 1 stands for: bytes of cut per iteration, or
	// seconds per iteration.
	Unit *big.Rat
	// Decode turns a feasible point into the placement it stands for.
	Decode func(x []float64) (sched.Placement, error)
}

// Lower returns what the result proves or claims about the job: no placement on
// these parts has a smaller cut, or time. It returns nil where there is no
// bound, or the program is infeasible: then whole replicas cannot fill the parts.
func (p *Program) Lower(r *milp.Result) (*big.Rat, milp.Evidence) {
	v := new(big.Rat)
	if r.Dual == milp.None || math.IsInf(r.DualBound, 0) || v.SetFloat64(r.DualBound) == nil {
		return nil, milp.None
	}
	return v.Mul(v, p.Unit), r.Dual
}

// greatest bounds the objective of a program, and with it every coefficient.
// The linear programs are solved in floating point: with coefficients of 10^9
// beside ones, lp_solve was seen to lose its basis at every node.
const greatest = 1 << 20

// request is a job and the parts that it must fill.
type request struct {
	in            *sched.Instance
	id            sched.JobID
	job           *sched.Job
	links         [][]sched.Link
	servers, gpus []int // ascending servers, and the GPUs to use of each
}

func newRequest(in *sched.Instance, id sched.JobID, servers, parts []int) (*request, error) {
	r := &request{in: in, id: id, job: &in.Jobs[id]}
	fail := func(what string, args ...any) (*request, error) {
		return nil, fmt.Errorf("placement: job %d: %s", id, fmt.Sprintf(what, args...))
	}
	if !r.job.OnlyStages() {
		return fail("it has no gang of fixed stages")
	}
	r.links = r.job.Links()
	if len(servers) != len(parts) {
		return fail("%d servers for %d parts", len(servers), len(parts))
	}
	order := make([]int, len(servers))
	total := 0
	for i := range order {
		order[i] = i
		total += parts[i]
	}
	slices.SortFunc(order, func(a, b int) int { return servers[a] - servers[b] })
	for _, i := range order {
		m, n := servers[i], parts[i]
		switch {
		case m < 0 || m >= len(in.Cluster.Servers) || n < 1 || n > in.Cluster.Servers[m].GPUs:
			return fail("a part of %d GPUs does not fit server %d", n, m)
		case len(r.servers) > 0 && r.servers[len(r.servers)-1] == m:
			return fail("server %d is listed twice", m)
		}
		r.servers, r.gpus = append(r.servers, m), append(r.gpus, n)
	}
	if total != r.job.Gang() {
		return fail("parts %v hold %d GPUs of a gang of %d", parts, total, r.job.Gang())
	}
	return r, nil
}

// size returns the GPUs that part m's server has in all.
func (r *request) size(m int) int { return r.in.Cluster.Servers[r.servers[m]].GPUs }

// most returns how many replicas of stage s part m can hold.
func (r *request) most(m, s int) int {
	return min(r.gpus[m]/r.job.Slices(s), r.job.Stages[s].Replicas)
}

// placement returns the placement with counts[m][s] replicas.
func (r *request) placement(counts [][]int) (sched.Placement, error) {
	var p sched.Placement
	left := make([]int, len(r.job.Stages))
	for s, st := range r.job.Stages {
		left[s] = st.Replicas
	}
	for m, c := range counts {
		used := 0
		for s, x := range c {
			used += x * r.job.Slices(s)
			left[s] -= x
		}
		if used != r.gpus[m] {
			return p, fmt.Errorf("placement: the point puts %d GPUs' replicas on a part of %d", used, r.gpus[m])
		}
		p.Shares = append(p.Shares, sched.Share{Server: r.servers[m], GPUs: used, Stages: c})
	}
	for _, n := range left {
		if n != 0 {
			return p, errors.New("placement: the point does not place every replica once")
		}
	}
	return p, nil
}

// grid returns a unit of which all values are multiples, if total is at most
// greatest of them, and otherwise the unit of which total is greatest.
func grid(values []*big.Rat, total *big.Rat) (unit *big.Rat, exact bool) {
	num, den := new(big.Int), big.NewInt(1)
	for _, v := range values { // gcd of fractions: gcd of numerators over lcm of denominators
		g := new(big.Int).GCD(nil, nil, den, v.Denom())
		den.Mul(den, g.Quo(v.Denom(), g))
	}
	for _, v := range values {
		scaled := new(big.Int).Mul(v.Num(), new(big.Int).Quo(den, v.Denom()))
		num.GCD(nil, nil, num, scaled.Abs(scaled))
	}
	if num.Sign() == 0 { // nothing has weight
		return big.NewRat(1, 1), true
	}
	unit = new(big.Rat).SetFrac(num, den)
	if new(big.Rat).Quo(total, unit).Cmp(big.NewRat(greatest, 1)) <= 0 {
		return unit, true
	}
	return new(big.Rat).Mul(total, big.NewRat(1, greatest)), false
}

// down and up return a value in units, rounded.
func down(v, unit *big.Rat) float64 {
	q := new(big.Rat).Quo(v, unit)
	n := new(big.Int).Div(q.Num(), q.Denom()) // Euclidean: floor, as denominators are positive
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

func up(v, unit *big.Rat) float64 { return -down(new(big.Rat).Neg(v), unit) }

// relation returns what a program is whose data are exact or not.
func relation(exact bool) formulate.Relation {
	if exact {
		return formulate.Exact
	}
	return formulate.Relaxation
}
