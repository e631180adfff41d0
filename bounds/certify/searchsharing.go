package certify

import (
	"encoding/binary"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Schedules in slots of jobs that may share GPUs in pairs (Ss). A job starts at a
// slot boundary on a set of GPUs with an accumulation, keeps both, and leaves at the
// end of the slot in which its work is done. GPUs of one memory with the same
// holders are alike.
//
// If a job has less left, or is faster, and all starts stay, then no job ends
// later: each then meets fewer others. So some best schedule starts a job only at
// its release, or when one of its GPUs was held in the slot before, as otherwise
// it could start a slot earlier, alone. And an accumulation is not needed where
// another is no slower and needs no more memory, or is no slower and fits beside
// every partner.

const (
	mostShared = 64 // GPUs
	finely     = 30 // binary digits of a slot, in bounds
)

// shareJob is a job in slots.
type shareJob struct {
	release int64
	gang    int
	task    int
	options []shareOption
	twin    int // an earlier job that differs in nothing, or −1
}

type shareOption struct {
	memory int64
	work   *big.Rat // slots, alone
	part   *big.Rat // of the fastest option's speed
}

// shareState is a moment between two slots.
type shareState struct {
	left   [searchJobs]*big.Rat // nil of jobs that do not run
	option [searchJobs]int
	phase  [searchJobs]phase // waits, runsNow, isDone
	on     [searchJobs]set
	before set // GPUs that were held in the last slot
}

type shareSearch struct {
	*target
	c        *Checker
	slot     int64
	memory   []int64 // of each GPU
	jobs     []shareJob
	capacity int64 // GPUs times Theta, rounded up, in units of 2^-finely
	pool     pool
	passed   int // slots on the way to the one at hand
	nodes    int
	known    memo
	err      error
}

func (c *Checker) searchSharing(d *document, t *target) error {
	s := &shareSearch{target: t, c: c, slot: int64(c.in.Slot), known: memo{}}
	for _, m := range c.in.Cluster.Servers {
		for range m.GPUs {
			s.memory = append(s.memory, int64(m.GPUMemory))
		}
	}
	if len(s.memory) > mostShared {
		return tooHard("%d GPUs are too many to search", len(s.memory))
	}
	for i := range c.in.Jobs {
		if len(c.in.Jobs[i].Sharing.Rows) > 0 {
			return tooHard("the interference of job %d depends on its accumulation", i)
		}
	}
	jobs, memory, err := c.sharers()
	if err != nil {
		return err
	}
	theta := big.NewRat(1, 1)
	for i := range jobs {
		for l := range i {
			for _, m := range c.meetings(&jobs[i], &jobs[l], memory) {
				if sum := m.first.Add(m.first, m.second); sum.Cmp(theta) > 0 {
					theta = sum
				}
			}
		}
		s.jobs = append(s.jobs, s.newJob(i, memory))
	}
	all := new(big.Int).Lsh(big.NewInt(int64(len(s.memory))), finely)
	s.capacity = small(roundUp(theta.Mul(theta, new(big.Rat).SetInt(all))).Num())
	state := &shareState{}
	now := s.jobs[0].release
	for _, j := range s.jobs {
		now = min(now, j.release)
	}
	s.at(now, state, 0)
	return s.err
}

func (s *shareSearch) newJob(i int, memory int64) shareJob {
	x := &s.c.in.Jobs[i]
	j := shareJob{release: up(int64(x.Release), s.slot), gang: x.Gang(), task: x.Sharing.Task, twin: -1}
	partner := int64(0) // the most memory that another job may need
	for k := range s.c.in.Jobs {
		for _, a := range s.c.in.Jobs[k].Sharing.Accumulation {
			if k != i && int64(a.Memory) <= memory {
				partner = max(partner, int64(a.Memory))
			}
		}
	}
	least := slices.Min(s.memory)
	list := slices.Clone(x.Sharing.Accumulation)
	slices.SortStableFunc(list, func(a, b sched.Accumulation) int { return sign(int64(a.Iter), int64(b.Iter)) })
	var fastest sched.Duration
	for _, a := range list {
		if int64(a.Memory) > memory {
			continue
		}
		if fastest == 0 {
			fastest = a.Iter
		}
		work := big.NewRat(int64(a.Iter), 1000)
		work.Mul(work, big.NewRat(x.Iters, s.slot))
		replaced := slices.ContainsFunc(j.options, func(o shareOption) bool {
			return o.memory <= int64(a.Memory) || o.memory <= sub(least, partner)
		})
		if !replaced {
			j.options = append(j.options, shareOption{int64(a.Memory), work, big.NewRat(int64(fastest), int64(a.Iter))})
		}
	}
	for k := range i {
		o := &s.jobs[k]
		same := func(a, b shareOption) bool { return a.memory == b.memory && a.work.Cmp(b.work) == 0 }
		if o.release == j.release && o.gang == j.gang && o.task == j.task && s.weight[k] == s.weight[i] && slices.EqualFunc(o.options, j.options, same) {
			j.twin = k
		}
	}
	return j
}

// at looks at a slot.
func (s *shareSearch) at(now int64, v *shareState, cost int64) {
	if s.err != nil {
		return
	}
	if s.nodes++; s.nodes > searchNodes/10 {
		s.err = tooHard("the search takes more than %d nodes", searchNodes/10)
		return
	}
	if s.passed++; s.passed > searchSlots/4 {
		s.err = tooHard("the search takes more than %d slots", searchSlots/4)
		return
	}
	defer func() { s.passed-- }()
	var needs [searchJobs]need
	n := 0
	for i := range s.jobs {
		j := &s.jobs[i]
		if v.phase[i] == isDone {
			continue
		}
		length, work := j.options[0].work, j.options[0].work
		if v.phase[i] == runsNow {
			length = v.left[i]
			work = new(big.Rat).Mul(length, j.options[v.option[i]].part)
		}
		fine := floor(new(big.Rat).Mul(work, big.NewRat(int64(j.gang), 1)), finely)
		needs[n] = need{i, j.release, small(roundUp(length).Num()), small(fine), 0}
		n++
	}
	if n == 0 {
		if cost <= s.most {
			s.err = s.cheaper()
		}
		return
	}
	s.pool.reset(now, s.capacity, nil)
	if s.pool.least(s.target, cost, now, needs[:n]) > s.most || s.seen(now, v, cost) {
		return
	}
	s.choose(now, 0, v, cost)
}

func (s *shareSearch) seen(now int64, v *shareState, cost int64) bool {
	key := binary.AppendVarint(nil, now)
	for i := range s.jobs {
		key = binary.AppendVarint(append(key, byte(v.phase[i])), int64(v.option[i]))
		if v.phase[i] == runsNow {
			left := v.left[i].RatString()
			key = append(binary.AppendUvarint(key, uint64(len(left))), left...)
		}
	}
	kinds := make([]string, len(s.memory)) // GPUs in any order
	for g := range kinds {
		kinds[g] = string(s.gpuKey(g, v))
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		key = append(key, k...)
	}
	return s.known.seen(key, cost)
}

// gpuKey tells GPUs apart: memory, holders, and whether they were held before.
func (s *shareSearch) gpuKey(g int, v *shareState) []byte {
	holders := set(0)
	for i := range s.jobs {
		if v.on[i].has(g) {
			holders = holders.with(i)
		}
	}
	key := binary.BigEndian.AppendUint64(nil, uint64(s.memory[g]))
	key = binary.BigEndian.AppendUint64(key, uint64(holders))
	if v.before.has(g) {
		return append(key, 1)
	}
	return append(key, 0)
}

// choose decides about the starts of the jobs from i on.
func (s *shareSearch) choose(now int64, i int, v *shareState, cost int64) {
	for i < len(s.jobs) && (v.phase[i] != waits || s.jobs[i].release > now) {
		i++
	}
	if s.err != nil {
		return
	}
	if i == len(s.jobs) {
		s.advance(now, v, cost)
		return
	}
	j := &s.jobs[i]
	if j.twin < 0 || v.phase[j.twin] != waits {
		for o := range j.options {
			s.place(now, i, o, v, cost)
		}
	}
	s.choose(now, i+1, v, cost)
}

// place starts a job with an option on GPUs, in every way that matters.
func (s *shareSearch) place(now int64, i, option int, v *shareState, cost int64) {
	j := &s.jobs[i]
	type group struct {
		key  string
		gpus []int
	}
	var groups []group
	for g := range s.memory {
		if !s.fits(g, j.options[option].memory, v) {
			continue
		}
		key := string(s.gpuKey(g, v))
		k := slices.IndexFunc(groups, func(x group) bool { return x.key == key })
		if k < 0 {
			groups, k = append(groups, group{key: key}), len(groups)
		}
		groups[k].gpus = append(groups[k].gpus, g)
	}
	var extend func(k, left int, on set)
	extend = func(k, left int, on set) {
		if left == 0 {
			if now > j.release && on&v.before == 0 || s.err != nil {
				return
			}
			next := *v
			next.phase[i], next.option[i], next.on[i], next.left[i] = runsNow, option, on, j.options[option].work
			s.choose(now, i+1, &next, cost)
			return
		}
		if k == len(groups) {
			return
		}
		for x := min(left, len(groups[k].gpus)); x >= 0; x-- {
			more := on
			for _, g := range groups[k].gpus[:x] {
				more = more.with(g)
			}
			extend(k+1, left-x, more)
		}
	}
	extend(0, j.gang, 0)
}

// fits reports whether a GPU has room for one job more.
func (s *shareSearch) fits(g int, memory int64, v *shareState) bool {
	holders, room := 0, s.memory[g]
	for i := range s.jobs {
		if v.on[i].has(g) {
			holders++
			room = sub(room, s.jobs[i].options[v.option[i]].memory)
		}
	}
	return holders < 2 && memory <= room
}

// advance lets the slot pass.
func (s *shareSearch) advance(now int64, v *shareState, cost int64) {
	next := *v
	next.before = 0
	for i := range s.jobs {
		if v.phase[i] != runsNow {
			continue
		}
		next.before |= v.on[i]
		xi := 1.0
		for k := range s.jobs {
			if k != i && v.phase[k] == runsNow && v.on[i]&v.on[k] != 0 {
				xi = max(xi, s.c.in.Interference[s.jobs[i].task][s.jobs[k].task])
			}
		}
		done := new(big.Rat).SetFloat64(xi)
		next.left[i] = new(big.Rat).Sub(v.left[i], done.Inv(done))
		if next.left[i].Sign() <= 0 {
			next.phase[i], next.on[i], next.left[i], next.option[i] = isDone, 0, nil, 0
			if cost = s.with(cost, i, add(now, 1)); cost > s.most {
				return
			}
		}
	}
	if next.before == 0 { // nothing runs: on to the next release, or to none
		first := int64(-1)
		for i := range s.jobs {
			if r := s.jobs[i].release; next.phase[i] == waits && r > now && (first < 0 || r < first) {
				first = r
			}
		}
		if first < 0 {
			return
		}
		s.at(first, &next, cost)
		return
	}
	s.at(add(now, 1), &next, cost)
}
