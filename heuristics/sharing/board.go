package sharing

import (
	"math/big"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// none marks an empty place of a GPU.
const none = -1

// active is a job on the cluster.
type active struct {
	id     sched.JobID
	task   int   // row of the interference table, as it is placed
	iters  int64 // predicted
	option sched.Accumulation
	gpus   []int32 // numbers over all servers, ascending
	alone  int     // how many of them hold no other job

	// left is what the job needed alone at the time from, in microseconds. It
	// falls at the rate pace from then on, and not before: from may be the end
	// of a load to come.
	left, pace float64
	from       sched.Time
	total      float64

	group, at int32 // among its group's members, while alone > 0
}

// remaining returns what the job needs alone, in microseconds.
func (a *active) remaining(now sched.Time) float64 {
	if now <= a.from {
		return a.left
	}
	return max(0, a.left-float64(float64(now-a.from)*a.pace))
}

// group is the jobs of one row of the interference table that leave as much memory of their GPUs and hold
// at least one alone: to a waiting job they differ by what they have to go only.
type group struct {
	task    int
	room    sched.Bytes
	members []int32 // indices of active jobs
	alone   int     // GPUs with one job
}

type groupKey struct {
	task int
	room sched.Bytes
}

// board is who is where.
type board struct {
	xi     [][]float64
	memory sched.Bytes // of every GPU
	base   []int32     // the number of each server's first GPU
	server []int32     // of each GPU
	on     [][2]int32  // of each GPU: who holds it, or none
	free   int         // GPUs that nobody holds

	jobs     []active
	spare    []int32
	indexOf  map[sched.JobID]int32
	groups   []group
	groupOf  map[groupKey]int32
	partners []int32 // scratch
}

// leastMemory returns the least memory of a GPU.
func leastMemory(hardware sched.Cluster) sched.Bytes {
	least := sched.Bytes(-1)
	for _, s := range hardware.Servers {
		if s.GPUs > 0 && (least < 0 || s.GPUMemory < least) {
			least = s.GPUMemory
		}
	}
	return least
}

func newBoard(hardware sched.Cluster, xi [][]float64) *board {
	b := &board{xi: xi, indexOf: map[sched.JobID]int32{}, groupOf: map[groupKey]int32{}}
	b.memory = leastMemory(hardware)
	for m, s := range hardware.Servers {
		b.base = append(b.base, int32(len(b.on)))
		for range s.GPUs {
			b.on, b.server = append(b.on, [2]int32{none, none}), append(b.server, int32(m))
		}
	}
	b.free = len(b.on)
	return b
}

// enter puts a job on GPUs, ascending, that hold at most one other.
func (b *board) enter(now, load sched.Time, w *waiting, option option, gpus []int32) {
	i := b.newIndex()
	total := float64(w.iters) * float64(option.Iter) / 1000
	b.jobs[i] = active{id: w.id, task: option.row, iters: w.iters, option: option.Accumulation, gpus: gpus, left: total, total: total, pace: 1, from: now + load,
		group: b.groupFor(groupKey{option.row, b.memory - option.Memory})}
	b.indexOf[w.id] = i
	b.partners = b.partners[:0]
	for _, g := range gpus {
		if b.on[g][0] == none {
			b.on[g][0] = i
			b.free--
			b.addAlone(i, 1)
			continue
		}
		b.on[g][1] = i
		b.addAlone(b.on[g][0], -1)
		b.partners = append(b.partners, b.on[g][0])
	}
	b.repace(now, i)
	b.repacePartners(now)
}

// leave takes a completed job off its GPUs.
func (b *board) leave(now sched.Time, id sched.JobID) (gang int) {
	i := b.indexOf[id]
	delete(b.indexOf, id)
	b.partners = b.partners[:0]
	for _, g := range b.jobs[i].gpus {
		if b.on[g][0] == i {
			b.on[g][0] = b.on[g][1]
		}
		b.on[g][1] = none
		if other := b.on[g][0]; other != none {
			b.addAlone(other, 1)
			b.partners = append(b.partners, other)
			continue
		}
		b.addAlone(i, -1)
		b.free++
	}
	gang = len(b.jobs[i].gpus)
	b.jobs[i] = active{}
	b.spare = append(b.spare, i)
	b.repacePartners(now)
	return gang
}

func (b *board) newIndex() int32 {
	if n := len(b.spare); n > 0 {
		i := b.spare[n-1]
		b.spare = b.spare[:n-1]
		return i
	}
	b.jobs = append(b.jobs, active{})
	return int32(len(b.jobs) - 1)
}

func (b *board) groupFor(k groupKey) int32 {
	g, ok := b.groupOf[k]
	if !ok {
		g = int32(len(b.groups))
		b.groups = append(b.groups, group{task: k.task, room: k.room})
		b.groupOf[k] = g
	}
	return g
}

// addAlone changes the number of GPUs that a job holds alone.
func (b *board) addAlone(i int32, n int) {
	a := &b.jobs[i]
	g := &b.groups[a.group]
	before := a.alone
	a.alone += n
	g.alone += n
	switch {
	case before == 0:
		a.at = int32(len(g.members))
		g.members = append(g.members, i)
	case a.alone == 0:
		last := g.members[len(g.members)-1]
		g.members[a.at] = last
		b.jobs[last].at = a.at
		g.members = g.members[:len(g.members)-1]
	}
}

func (b *board) repacePartners(now sched.Time) {
	slices.Sort(b.partners)
	for _, i := range slices.Compact(b.partners) {
		b.repace(now, i)
	}
}

// repace sets a job's pace to that of its most disturbed GPU.
func (b *board) repace(now sched.Time, i int32) {
	a := &b.jobs[i]
	xi := 1.0
	for _, g := range a.gpus {
		other := b.on[g][0]
		if other == i {
			other = b.on[g][1]
		}
		if other != none {
			xi = max(xi, b.xi[a.task][b.jobs[other].task])
		}
	}
	if pace := 1 / xi; pace != a.pace {
		a.left, a.from, a.pace = a.remaining(now), max(now, a.from), pace
	}
}

// exactly returns what an active job needs alone, in microseconds.
func (a *active) exactly(v *sim.View) (*big.Rat, error) {
	done, err := v.Progress(a.id)
	if err != nil {
		return nil, err
	}
	left := new(big.Rat).SetInt64(a.iters)
	if left.Sub(left, done).Sign() < 0 { // longer than predicted
		return new(big.Rat), nil
	}
	return left.Mul(left, big.NewRat(int64(a.option.Iter), 1000)), nil
}

// placement returns the placement on some GPUs, which it sorts.
func (b *board) placement(gpus []int32, steps int) sched.Placement {
	slices.Sort(gpus)
	p := sched.Placement{Config: &sched.Config{Accumulation: steps}}
	devices := make([]int, len(gpus))
	for i := 0; i < len(gpus); {
		server := b.server[gpus[i]]
		first := i
		for ; i < len(gpus) && b.server[gpus[i]] == server; i++ {
			devices[i] = int(gpus[i] - b.base[server])
		}
		p.Shares = append(p.Shares, sched.Share{Server: int(server), GPUs: i - first, Devices: devices[first:i:i]})
	}
	return p
}

// numbers appends the numbers of the GPUs of shares.
func (b *board) numbers(list []int32, shares []sched.Share) []int32 {
	for i := range shares {
		for _, d := range shares[i].Devices {
			list = append(list, b.base[shares[i].Server]+int32(d))
		}
	}
	return list
}
