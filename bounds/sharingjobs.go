package bounds

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"yardstick/internal/number"
	"yardstick/sched"
)

// sharer is what sharing schedules have of a job.
type sharer struct {
	work    *big.Rat // w_j in microseconds
	options []option // those that fit a GPU
	class   int      // jobs of one class have the same task, speeds and memory
}

// option is an accumulation.
type option struct {
	speed  *big.Rat // of the fastest one's, at most 1
	memory sched.Bytes
	row    int // of the interference table
}

// sharers are the jobs of an instance of the sharing model.
type sharers struct {
	in      *sched.Instance
	memory  sched.Bytes // of the largest GPU
	jobs    []sharer
	example []int // of each class, a job
	count   []int // of each class, how many jobs
}

func newSharers(in *sched.Instance) (*sharers, error) {
	if in.Model != sched.ModelSharing {
		return nil, fmt.Errorf("%w to the %s model: its jobs do not share GPUs", sched.ErrNotApplicable, in.Model)
	}
	s := &sharers{in: in, jobs: make([]sharer, len(in.Jobs))}
	for _, m := range in.Cluster.Servers {
		if m.GPUs > 0 {
			s.memory = max(s.memory, m.GPUMemory)
		}
	}
	classes := map[string]int{}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		var fitting []sched.Accumulation
		var rows []int
		key := binary.AppendUvarint(nil, uint64(j.Sharing.Task))
		for k, a := range j.Sharing.Accumulation {
			if a.Memory <= s.memory {
				fitting, rows = append(fitting, a), append(rows, j.Sharing.Row(k))
				key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(a.Iter)), uint64(a.Memory))
				key = binary.AppendUvarint(key, uint64(j.Sharing.Row(k)))
			}
		}
		if len(fitting) == 0 {
			return nil, fmt.Errorf("job %d fits no GPU of %v", i, s.memory)
		}
		class, known := classes[string(key)]
		if !known {
			class = len(s.example)
			classes[string(key)] = class
			s.example, s.count = append(s.example, i), append(s.count, 0)
		}
		s.count[class]++
		out := sharer{class: class}
		if known {
			out.options = s.jobs[s.example[class]].options
		}
		iter := fitting[0].Iter
		for _, a := range fitting {
			iter = min(iter, a.Iter)
		}
		for k, a := range fitting {
			if !known {
				out.options = append(out.options, option{big.NewRat(int64(iter), int64(a.Iter)), a.Memory, rows[k]})
			}
		}
		out.work = new(big.Rat).SetInt64(j.Iters)
		out.work.Mul(out.work, big.NewRat(int64(iter), 1000))
		if out.work.Cmp(integer64(sched.MaxTime)) > 0 {
			return nil, fmt.Errorf("job %d would run for more than %v", i, sched.MaxTime)
		}
		s.jobs[i] = out
	}
	return s, nil
}

func integer64(t sched.Time) *big.Rat { return new(big.Rat).SetInt64(int64(t)) }

// slowdown returns xi of a job with an option beside another with one.
func (s *sharers) slowdown(a, b *option) *big.Rat {
	return new(big.Rat).SetFloat64(s.in.Interference[a.row][b.row])
}

// rates are how fast two jobs progress together on a GPU.
type rates struct{ first, second *big.Rat }

// together returns the rates of two jobs for every pair of options that fit a
// GPU together.
func (s *sharers) together(j, k int) []rates {
	var out []rates
	for _, a := range s.jobs[j].options {
		for _, b := range s.jobs[k].options {
			if a.memory <= s.memory-b.memory { // the sum may overflow
				out = append(out, rates{new(big.Rat).Quo(a.speed, s.slowdown(&a, &b)), new(big.Rat).Quo(b.speed, s.slowdown(&b, &a))})
			}
		}
	}
	return out
}

// Limits of classes: for Theta_j, and for raising alpha_j.
const (
	maxClasses = 2_000
	maxRaised  = 100
)

// thetas returns Theta_j of the jobs of each class. Floating point finds the
// pairs of classes that may decide.
func (s *sharers) thetas() []*big.Rat {
	n := len(s.example)
	out := make([]*big.Rat, n)
	if n > maxClasses {
		coarse := s.coarse()
		for c, i := range s.example {
			for _, o := range s.jobs[i].options {
				if out[c] == nil || coarse[o.row].Cmp(out[c]) > 0 {
					out[c] = coarse[o.row]
				}
			}
		}
		return out
	}
	const slack = 1 - 1.0/(1<<40)
	quick := make([]float64, n)
	for a := range n {
		best, floor := big.NewRat(1, 1), 1.0
		for b := range n {
			quick[b] = s.quickly(s.example[a], s.example[b])
			if a == b && s.count[a] == 1 {
				quick[b] = 0
			}
			floor = max(floor, quick[b])
		}
		for b := range n {
			if quick[b] < floor*slack {
				continue
			}
			for _, r := range s.together(s.example[a], s.example[b]) {
				if sum := new(big.Rat).Add(r.first, r.second); sum.Cmp(best) > 0 {
					best = sum
				}
			}
		}
		out[a] = best
	}
	return out
}

// alphas returns alpha_j of the jobs of each class, rounded down: 1/Theta_j, or
// more, those of the classes with the most work first.
func (s *sharers) alphas() []*big.Rat {
	out := s.thetas()
	for c := range out {
		out[c] = new(big.Rat).Inv(out[c])
	}
	n := len(out)
	if n > maxRaised {
		return out
	}
	work, order := make([]float64, n), make([]int, n)
	for i := range s.jobs {
		w, _ := s.jobs[i].work.Float64()
		work[s.jobs[i].class] += w * float64(s.in.Jobs[i].Gang())
	}
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(work[b], work[a]) })
	for _, c := range order {
		if most := s.raise(c, out); most.Cmp(out[c]) > 0 {
			out[c] = most
		}
	}
	return out
}

// raise returns the most that alpha of a class may be beside those of the others:
// alpha_c ρ_c + alpha_k ρ_k ≤ 1.
func (s *sharers) raise(c int, alpha []*big.Rat) *big.Rat {
	one := big.NewRat(1, 1)
	most := big.NewRat(1, 1)
	for k := range alpha {
		if k == c && s.count[c] == 1 {
			continue
		}
		for _, r := range s.together(s.example[c], s.example[k]) {
			limit := new(big.Rat)
			if k == c {
				limit.Inv(limit.Add(r.first, r.second))
			} else {
				limit.Sub(one, limit.Mul(alpha[k], r.second))
				limit.Quo(limit, r.first)
			}
			if limit.Cmp(most) < 0 {
				most = limit
			}
		}
	}
	const grain = 1 << 40 // denominators would multiply
	whole := new(big.Int).Mul(most.Num(), big.NewInt(grain))
	return new(big.Rat).SetFrac(whole.Quo(whole, most.Denom()), big.NewInt(grain))
}

// quickly returns the largest sum of two jobs' rates, about, or 0.
func (s *sharers) quickly(j, k int) float64 {
	most := 0.0
	for _, a := range s.jobs[j].options {
		for _, b := range s.jobs[k].options {
			if a.memory <= s.memory-b.memory { // the sum may overflow
				x, _ := a.speed.Float64()
				y, _ := b.speed.Float64()
				most = max(most, x/s.in.Interference[a.row][b.row]+y/s.in.Interference[b.row][a.row])
			}
		}
	}
	return most
}

// coarse returns upper bounds on Theta_j by row of the interference table: each job that
// has an option of the row with its least memory at full speed.
func (s *sharers) coarse() []*big.Rat {
	n := len(s.in.Interference)
	least := make([][]sched.Bytes, n) // of each task, the two least of its jobs
	for i := range s.jobs {
		memory := s.jobs[i].options[0].memory
		for _, o := range s.jobs[i].options {
			memory = min(memory, o.memory)
		}
		var rows []int
		for _, o := range s.jobs[i].options {
			rows = append(rows, o.row)
		}
		slices.Sort(rows)
		for _, t := range slices.Compact(rows) {
			switch l := least[t]; {
			case len(l) < 2:
				least[t] = append(l, memory)
			case memory < max(l[0], l[1]):
				least[t] = []sched.Bytes{min(l[0], l[1]), memory}
			}
		}
	}
	best := make([]*big.Rat, n)
	for a := range n {
		best[a] = big.NewRat(1, 1)
		for b := range n {
			if len(least[a]) == 0 || len(least[b]) == 0 || a == b && len(least[a]) < 2 {
				continue
			}
			memory := min(least[a][0], least[a][len(least[a])-1]) + min(least[b][0], least[b][len(least[b])-1])
			if a == b {
				memory = least[a][0] + least[a][1]
			}
			if memory > s.memory {
				continue
			}
			sum := new(big.Rat).Inv(new(big.Rat).SetFloat64(s.in.Interference[a][b]))
			if sum.Add(sum, new(big.Rat).Inv(new(big.Rat).SetFloat64(s.in.Interference[b][a]))); sum.Cmp(best[a]) > 0 {
				best[a] = sum
			}
		}
	}
	return best
}

// scaleFor returns the largest power of two by which times up to the given one
// may be scaled.
func scaleFor(largest int64) int64 {
	const most = 40 // fractions of a microsecond finer than that serve nobody
	return 1 << min(most, bits.LeadingZeros64(uint64(largest))-2)
}

// workload returns the jobs on one machine, with sizes alpha_j g_j w_j/G. Time on
// it is scaled by the largest power of two that leaves room, and sizes are
// rounded down.
func (s *sharers) workload() (*workload, error) {
	largest := int64(1)
	for i := range s.jobs {
		w, _ := s.jobs[i].work.Float64()
		largest = max(largest, int64(s.in.Jobs[i].Release), int64(w)+1)
	}
	w := &workload{in: s.in, gpus: scaleFor(largest)}
	alpha, scale := s.alphas(), big.NewRat(w.gpus, int64(s.in.Cluster.GPUs()))
	for i := range s.jobs {
		j := &s.in.Jobs[i]
		size := big.NewRat(int64(j.Gang()), 1)
		size.Mul(size, s.jobs[i].work).Mul(size, scale).Mul(size, alpha[s.jobs[i].class])
		whole := new(big.Int).Quo(size.Num(), size.Denom())
		if whole.Sign() == 0 {
			return nil, fmt.Errorf("%w: job %d takes too little time beside what others take", sched.ErrNotApplicable, i)
		}
		w.length = append(w.length, sched.Time(number.Ceil(s.jobs[i].work).Num().Int64()))
		w.release = append(w.release, w.gpus*int64(j.Release))
		w.size = append(w.size, whole.Int64())
	}
	return w, nil
}
