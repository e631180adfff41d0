package cuts

import (
	"cmp"
	"math"
	"slices"

	"yardstick/sched"
)

// packing is the question how to fill prescribed parts with the replicas of a
// job's stages so that the largest stage time is least.
type packing struct {
	*table
	shares []sched.Share // by server, without stages
	sizeOf []int         // of each share: its server's class in table.sizes
	slots  []slot        // parts that are alike, the largest first
	slotOf []int         // of each share

	limit, total int // visits allowed for one threshold, and made in all
	try          attempt
}

// slot is the parts of one size on servers of one size.
type slot struct{ size, part, count int }

func newPacking(in *sched.Instance, id sched.JobID, shares []sched.Share) (*packing, error) {
	p := &packing{shares: shares}
	var sizes []sizeClass
	var most []int
	for _, c := range sizeClasses(&in.Cluster) { // those in use
		n := 0
		for _, sh := range shares {
			if in.Cluster.Servers[sh.Server].GPUs == c.gpus {
				n = max(n, sh.GPUs)
			}
		}
		if n > 0 {
			sizes, most = append(sizes, c), append(most, n)
		}
	}
	t, err := newTableOf(in, id, sizes, most)
	if err != nil {
		return nil, err
	}
	p.table = t
	count := map[[2]int]int{}
	for _, sh := range shares {
		gpus := in.Cluster.Servers[sh.Server].GPUs
		size := slices.IndexFunc(sizes, func(c sizeClass) bool { return c.gpus == gpus })
		p.sizeOf = append(p.sizeOf, size)
		count[[2]int{size, sh.GPUs}]++
	}
	for k, n := range count {
		p.slots = append(p.slots, slot{k[0], k[1], n})
	}
	slices.SortFunc(p.slots, func(a, b slot) int { return cmp.Or(b.part-a.part, a.size-b.size) })
	for i, sh := range shares {
		p.slotOf = append(p.slotOf, slices.IndexFunc(p.slots, func(s slot) bool { return s.size == p.sizeOf[i] && s.part == sh.GPUs }))
	}
	return p, nil
}

// lower returns the rank of a lower bound on alpha, the largest of three.
func (p *packing) lower() int32 {
	bound := p.lone()
	for s := range p.job.Stages {
		bound = max(bound, p.spread(s))
	}
	for _, sl := range p.slots {
		bound = max(bound, p.full(sl))
	}
	return bound
}

// spread bounds alpha by stage s: its k replicas take at least q parts, one of
// which holds at most floor(k/q) of them, at best beside as many of both
// neighbours as that part has room for.
func (p *packing) spread(s int) int32 {
	before, k, after := replicas(p.job, s-1), replicas(p.job, s), replicas(p.job, s+1)
	q, room := 0, 0
	for _, sl := range p.slots {
		for n := 0; n < sl.count && room < k; n++ {
			q, room = q+1, room+sl.part
		}
	}
	best := int32(math.MaxInt32)
	for _, sl := range p.slots {
		for x := 1; x <= min(k/q, sl.part); x++ {
			// A part that is full with a on one side has part − x − a left.
			for a := 0; a <= min(before, sl.part-x); a++ {
				best = min(best, p.rank(sl.size, s, a, x, min(after, sl.part-x-a)))
			}
		}
	}
	return best
}

// full bounds alpha by one part: the least bottleneck of any vector of exactly
// that many replicas, by dynamic programming along the pipeline. The state is
// the numbers of replicas of the last two stages and of all so far.
func (p *packing) full(sl slot) int32 {
	n := sl.part + 1
	const never = math.MaxInt32
	at := func(a, x, used int) int { return (a*n+x)*n + used }
	now := make([]int32, n*n*n)
	fresh := make([]int32, n*n*n)
	fill := func(v []int32) {
		for i := range v {
			v[i] = never
		}
	}
	fill(now)
	for x := 0; x <= min(sl.part, replicas(p.job, 0)); x++ {
		now[at(0, x, x)] = 0
	}
	// Stage s is judged once the number of stage s+1 is known.
	for s := range p.job.Stages {
		fill(fresh)
		for a := range n {
			for x := 0; a+x < n; x++ {
				for used := a + x; used < n; used++ {
					v := now[at(a, x, used)]
					if v == never {
						continue
					}
					for b := 0; b <= min(replicas(p.job, s+1), sl.part-used); b++ {
						w := v
						if x > 0 {
							w = max(w, p.rank(sl.size, s, a, x, b))
						}
						to := &fresh[at(x, b, used+b)]
						*to = min(*to, w)
					}
				}
			}
		}
		now, fresh = fresh, now
	}
	best := int32(never)
	for a := range n { // after the last stage b is zero
		best = min(best, now[at(a, 0, sl.part)])
	}
	return best
}

// lone bounds alpha by the parts of one GPU: each holds a replica alone, so
// that as many different replicas take their time alone.
func (p *packing) lone() int32 {
	parts := 0
	var sizes []int
	for _, sl := range p.slots {
		if sl.part == 1 {
			parts += sl.count
			sizes = append(sizes, sl.size)
		}
	}
	if parts == 0 {
		return 0
	}
	var alone []int32 // of each replica, on the server where it is fastest
	for s, st := range p.job.Stages {
		best := int32(math.MaxInt32)
		for _, size := range sizes {
			best = min(best, p.rank(size, s, 0, 1, 0))
		}
		for range st.Replicas {
			alone = append(alone, best)
		}
	}
	slices.Sort(alone)
	return alone[parts-1]
}

// maxIntervalStates bounds the dynamic program of intervals.
const maxIntervalStates = 500_000

// intervals returns the best placement that gives each part an interval of the
// replicas in the order of their stages, and false if there are too many ways
// to order the parts. A state is the number of parts used of each slot.
func (p *packing) intervals() (sched.Placement, bool) {
	states := 1
	for _, sl := range p.slots {
		if states *= sl.count + 1; states > maxIntervalStates {
			return sched.Placement{}, false
		}
	}
	const never = math.MaxInt32
	value, choice := make([]int32, states), make([]int16, states)
	used := make([]int, len(p.slots))
	content := make([]int, len(p.job.Stages))
	known := map[[2]int]int32{} // (slot, begin of the interval)
	end := 0                    // of the last interval
	for state := range states {
		if state > 0 { // count on, as an odometer does
			k := 0
			for used[k] == p.slots[k].count {
				end -= used[k] * p.slots[k].part
				used[k] = 0
				k++
			}
			used[k]++
			end += p.slots[k].part
			value[state] = never
		}
		radix := 1
		for k, sl := range p.slots {
			if used[k] > 0 && value[state-radix] < value[state] {
				key := [2]int{k, end - sl.part}
				w, ok := known[key]
				if !ok {
					p.interval(content, end-sl.part, end)
					w = p.worst(sl.size, content)
					known[key] = w
				}
				if v := max(value[state-radix], w); v < value[state] {
					value[state], choice[state] = v, int16(k)
				}
			}
			radix *= sl.count + 1
		}
	}
	contents := make([][][]int, len(p.slots))
	for state := states - 1; state > 0; {
		k := int(choice[state])
		p.interval(content, end-p.slots[k].part, end)
		contents[k] = append(contents[k], slices.Clone(content))
		end -= p.slots[k].part
		state -= p.radix(k)
	}
	return p.assemble(contents), true
}

// radix returns the weight of slot k in the number of a state of intervals.
func (p *packing) radix(k int) int {
	r := 1
	for _, sl := range p.slots[:k] {
		r *= sl.count + 1
	}
	return r
}

// interval sets content to the replicas begin to end − 1 in the order of their
// stages.
func (p *packing) interval(content []int, begin, end int) {
	first := 0
	for s, st := range p.job.Stages {
		last := first + st.Replicas
		content[s] = max(0, min(end, last)-max(begin, first))
		first = last
	}
}
