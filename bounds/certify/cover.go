package certify

import (
	"encoding/binary"
	"math/big"
	"slices"

	"yardstick/sched"
)

// atLeast proves that a job trains for at least so many microseconds on every
// placement: that an iteration takes more than (micros − 1)/iterations. What has
// been proven of an iteration holds for all jobs of a kind.
//
// There are searches for a faster placement, first with a server for every
// replica, which refutes most of what can be refuted, then with the servers that
// there are.
func (t *times) atLeast(j *sched.Job, micros int64) error {
	key, limit := kind(j), iteration(j, micros)
	if known := t.longer[key]; known != nil && limit.Cmp(known) <= 0 {
		return nil
	}
	b := stagesOf(t.in, j)
	plenty := make([]size, len(t.sizes))
	for z := range plenty {
		plenty[z] = size{t.sizes[z].gpus, sum(b.replicas)}
	}
	err := b.refute(plenty, limit)
	if err != nil && slices.ContainsFunc(t.sizes, func(z size) bool { return z.count < sum(b.replicas) }) {
		err = b.refute(t.sizes, limit)
	}
	if err == nil {
		t.longer[key] = limit
	}
	return err
}

// iteration returns the longest time of an iteration, in seconds, with which a job
// trains for less than so many microseconds, at least one.
func iteration(j *sched.Job, micros int64) *big.Rat {
	limit := big.NewRat(sub(micros, 1), 1_000_000)
	return limit.Quo(limit, big.NewRat(j.Iters, 1))
}

func sum(list []int) int {
	total := 0
	for _, x := range list {
		total += x
	}
	return total
}

// coverSteps limits a search for a placement, and a list of contents.
const coverSteps = 2_000_000

// refute returns nil if on no servers out of these an iteration takes at most so
// many seconds.
func (b *stages) refute(sizes []size, limit *big.Rat) error {
	s := &cover{stages: b, limit: limit, left: slices.Clone(b.replicas), failed: map[string]bool{}, steps: coverSteps}
	s.about, _ = limit.Float64()
	spare := 0
	for _, z := range sizes {
		spare = add(spare, mul(z.gpus, z.count))
	}
	for s, k := range b.replicas {
		spare = sub(spare, mul(k, b.width[s]))
	}
	for _, z := range sizes {
		list, err := s.contents(z, spare)
		if err != nil {
			return err
		}
		s.fill, s.free = append(s.fill, list), append(s.free, z.count)
	}
	switch found := s.search(); {
	case s.steps < 0:
		return tooHard("more than %d steps are needed", coverSteps)
	case found:
		return refuted("a faster placement exists")
	}
	return nil
}

// cover searches for servers that hold all replicas, each fast enough: servers are
// filled one after the other, always the first replica left among the next one's.
type cover struct {
	*stages
	limit *big.Rat // of a stage, in seconds
	about float64

	fill   [][][][]int // for each size of server and each stage, what one may hold with this as its first stage
	free   []int       // for each size of server, how many are free
	left   []int       // replicas by stage
	failed map[string]bool
	steps  int
}

// filler lists what one server may hold.
type filler struct {
	*cover
	gpus, spare int
	split       bool  // there is a server for every replica
	counts      []int // replicas of the stages up to the last that is decided
	most        []int // and as many as fit of those after it
	out         [][][]int
	steps       int
}

// contents lists, by their first stage, what a server may hold with every stage
// fast enough there. It leaves out what leaves more than the spare GPUs free. With
// a server for every replica it also leaves out what falls apart into stages that
// exchange nothing, as these run alike on servers of their own.
func (s *cover) contents(z size, spare int) ([][][]int, error) {
	n := len(s.replicas)
	f := &filler{cover: s, gpus: z.gpus, spare: spare, split: z.count >= sum(s.replicas),
		counts: make([]int, n), most: make([]int, n), out: make([][][]int, n), steps: coverSteps / 10}
	for first := range n {
		f.extend(first, first, z.gpus)
	}
	if f.steps < 0 {
		return nil, tooHard("a server can be filled in more than %d ways", coverSteps/10)
	}
	return f.out, nil
}

// extend puts replicas of a stage beside those of earlier ones, and then of later
// ones beside these.
func (f *filler) extend(first, stage, room int) {
	for x := 1; x <= f.replicas[stage] && mul(x, f.width[stage]) <= room; x++ {
		if f.steps--; f.steps < 0 {
			break
		}
		f.counts[stage] = x
		rest := room - mul(x, f.width[stage])
		if !f.promising(stage, rest) {
			continue
		}
		if rest <= f.spare && f.fast(f.counts, len(f.counts)) && (!f.split || f.connected(first)) {
			f.out[first] = append(f.out[first], slices.Clone(f.counts))
		}
		for next := stage + 1; next < len(f.counts); next++ {
			if f.split {
				near := f.reach(first, next)
				if !slices.Contains(near[next:], true) {
					break
				}
				if !near[next] {
					continue
				}
			}
			f.extend(first, next, rest)
		}
	}
	f.counts[stage] = 0
}

// promising reports whether all stages up to this one may be fast enough. A stage
// is the faster the more of its neighbours' replicas are beside it, as inter ≤
// intra: of stages not decided yet, as many are taken as fit.
func (f *filler) promising(stage, room int) bool {
	copy(f.most, f.counts)
	for u := stage + 1; u < len(f.most); u++ {
		f.most[u] = min(f.replicas[u], room/f.width[u])
	}
	return f.fast(f.most, stage+1)
}

// fast reports whether those of the first n stages that are there keep the limit.
func (f *filler) fast(counts []int, n int) bool {
	for s := range n {
		if f.counts[s] == 0 {
			continue
		}
		const sure = 1.0 / (1 << 30)
		terms := f.beta(s, counts, f.gpus)
		switch about := roughly(terms); {
		case about > f.about*(1+sure):
			return false
		case about < f.about*(1-sure):
		case exactly(terms).Cmp(f.limit) > 0:
			return false
		}
	}
	return true
}

// reach marks the stages with which the first one is connected through stages
// that are there or from some stage on.
func (f *filler) reach(first, from int) []bool {
	mark := make([]bool, len(f.counts))
	mark[first] = true
	for open := []int{first}; len(open) > 0; {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		for _, u := range f.near[s] {
			if !mark[u] && (u >= from || f.counts[u] > 0) {
				mark[u] = true
				open = append(open, u)
			}
		}
	}
	return mark
}

// connected reports whether all that is there exchanges bytes with each other, over
// other stages there.
func (f *filler) connected(first int) bool {
	near := f.reach(first, len(f.counts))
	for s, x := range f.counts {
		if x > 0 && !near[s] {
			return false
		}
	}
	return true
}

// search reports whether the servers that are free can hold the replicas left.
func (s *cover) search() bool {
	first := slices.IndexFunc(s.left, func(x int) bool { return x > 0 })
	if first < 0 {
		return true
	}
	key := s.key()
	if s.failed[key] {
		return false
	}
	for z, list := range s.fill {
		if s.free[z] == 0 {
			continue
		}
		for _, counts := range list[first] {
			if s.steps--; s.steps < 0 {
				return false
			}
			if !s.take(counts) {
				continue
			}
			s.free[z]--
			found := s.search()
			s.free[z]++
			for u, x := range counts {
				s.left[u] += x
			}
			if found {
				return true
			}
		}
	}
	s.failed[key] = true
	return false
}

// key tells states apart. More servers than replicas left are of no use.
func (s *cover) key() string {
	replicas := uint64(sum(s.left))
	key := make([]byte, 0, 128)
	for _, x := range s.left {
		key = binary.AppendUvarint(key, uint64(x))
	}
	for _, n := range s.free {
		key = binary.AppendUvarint(key, min(uint64(n), replicas))
	}
	return string(key)
}

// take takes the replicas off what is left, if there are as many.
func (s *cover) take(counts []int) bool {
	for u, x := range counts {
		if x > s.left[u] {
			return false
		}
	}
	for u, x := range counts {
		s.left[u] -= x
	}
	return true
}
