package timeindexed

import (
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
	"yardstick/solvers/milp"
)

// bottleneck minimises the makespan on a grid by bisection over the values
// that it can take. For each, the program is asked for any point in which all
// jobs complete by then; windows get short, so that its linear program is far
// stronger than one with a variable for the makespan.
//
// A value is excluded from the proven lower bound only by a proof that its
// program has no point. Where a limit leaves a value undecided, the bisection
// goes on below it, for the sake of the lower bound. Where a solver only claims
// that there is no point, what follows is a claim too.
func (s *search) bottleneck(st *step) error {
	g := st.grid
	values := s.p.makespans(g, timeOf(s.known(g)))
	low, high := 0, len(values)-1 // the optimum on the grid is at least values[low]
	if !g.up {
		low, _ = slices.BinarySearch(values, timeOf(s.lower))
	}
	evidence := milp.Proven
	for low < high && !s.closed() {
		mid := (low + high) / 2
		feasible, how, err := s.within(st, values[mid])
		switch {
		case err != nil:
			return err
		case feasible || how == milp.None && !g.up:
			high = mid
			continue
		case how == milp.None:
			return nil
		case how == milp.Claimed:
			evidence = milp.Claimed
		}
		low = mid + 1
		if !g.up { // every schedule has a discretised makespan, and it is not below this
			s.raise(values[low], evidence)
		}
	}
	return nil
}

// within asks whether all jobs can complete by the given time on the grid. If
// not, it returns the evidence, which is None if the question is open.
func (s *search) within(st *step, until sched.Time) (feasible bool, how milp.Evidence, err error) {
	limit := make([]sched.Time, len(s.p.jobs))
	for i := range limit {
		limit[i] = until
	}
	for {
		m, err := s.build(st.grid, limit, false)
		if err != nil {
			return false, milp.None, err
		}
		if m.empty {
			return false, milp.Proven, nil
		}
		r, err := s.solve(st, fmt.Sprintf("%s C≤%v", st.name, until), m, nil)
		switch {
		case err != nil:
			return false, milp.None, err
		case r.Termination == milp.Infeasible:
			return false, r.Dual, nil
		case r.X == nil:
			return false, milp.None, nil
		}
		if again := s.use(st, m, r); !again {
			return true, milp.None, nil
		}
	}
}

// raise notes that no schedule completes before t.
func (s *search) raise(t sched.Time, how milp.Evidence) {
	v := new(big.Rat).SetInt64(int64(t))
	if how == milp.Claimed {
		s.claimed = v
	} else if v.Cmp(s.lower) > 0 {
		s.lower = v
	}
}

// timeOf returns a makespan as the integer that it is.
func timeOf(v *big.Rat) sched.Time { return sched.Time(v.Num().Int64()) }

// makespans lists the values up to known that the makespan can take on the
// grid, in increasing order; the last is at most known.
func (p *problem) makespans(g grid, known sched.Time) []sched.Time {
	var out []sched.Time
	for i := range p.jobs {
		j := &p.jobs[i]
		for _, c := range j.choices {
			for s := g.firstSlot(j.release); ; s++ {
				t := g.begin(j.release, s) + c.time
				if t > known {
					break
				}
				out = append(out, t)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
