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
// A value is excluded only by a proof that its program has no point. A limit
// ends the bisection and leaves the interval as it is.
func (s *search) bottleneck(st *step) error {
	g := st.grid
	starts := s.p.onGrid(g, startOrder(s.best.stays))
	known := g.cost(s.p, starts)
	if !g.up {
		known = s.best.cost // its own discretisation costs no more
	}
	values := s.p.makespans(g, timeOf(known))
	low, high := 0, len(values)-1 // the optimum on the grid is in values[low..high]
	if !g.up {
		low, _ = slices.BinarySearch(values, timeOf(s.lower))
	}
	for low < high && !s.closed() {
		mid := (low + high) / 2
		feasible, decided, err := s.within(st, values[mid])
		if err != nil {
			return err
		}
		if !decided {
			return nil
		}
		if feasible {
			high = mid
			continue
		}
		low = mid + 1
		if !g.up { // every schedule has a discretised makespan, and it is not below this
			s.raise(values[low])
		}
	}
	return nil
}

// within asks whether all jobs can complete by the given time on the grid.
func (s *search) within(st *step, until sched.Time) (feasible, decided bool, err error) {
	limit := make([]sched.Time, len(s.p.jobs))
	for i := range limit {
		limit[i] = until
	}
	for {
		m, err := s.p.build(st.grid, limit, s.clashing(), false)
		if err != nil {
			return false, false, err
		}
		if m.empty {
			return false, true, nil
		}
		r, err := s.solve(st, fmt.Sprintf("%s C≤%v", st.name, until), m, nil)
		if err != nil {
			return false, false, err
		}
		if r.X == nil {
			return false, r.Termination == milp.Infeasible && r.Dual == milp.Proven, nil
		}
		if again := s.use(st, m, r); !again {
			return true, true, nil
		}
	}
}

// raise sets the proven lower bound to t if that is more.
func (s *search) raise(t sched.Time) {
	if v := new(big.Rat).SetInt64(int64(t)); v.Cmp(s.lower) > 0 {
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
