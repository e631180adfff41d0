package score

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"yardstick/sched"
)

// mostEdges is how large a network may be to be solved, unless the options say otherwise;
// mostServed is how many jobs are looked at in all pieces of time together by the quick way.
const (
	mostEdges  = 5_000_000
	mostServed = 1_000_000_000
)

// completions decides whether there is a fluid schedule, class F(1), in which every job is
// done by its end.
//
// Let time be cut at all releases, ends and changes of capacity. Job j can be given up to
// g_j·|k| GPU-time in each piece of time k between its release and its end, a piece has
// G·|k|, and job j needs g_j·d_j. A fluid schedule exists if and only if the maximum flow
// from jobs to pieces meets all needs: rates may be taken constant within a piece. By the
// duality of flows and cuts it does not if and only if some set T of pieces is overfull,
//
//	Σ_j g_j·max(0, d_j − time of j outside T) > Σ_{k in T} G_k·|k|,
//
// and such a set is what a violation shows.
//
// Source: W. A. Horn, Some simple scheduling algorithms (1974), for machines; here jobs
// take g_j of them at a time.
func (k *checker) completions() error {
	found, err := k.overfull()
	if err != nil {
		return err
	}
	if slack := k.options.Tolerance; found != nil && slack > 0 {
		// With all jobs shorter by the tolerance; so they count in the bound.
		for j := range k.Jobs {
			k.Jobs[j].Length = max(1, k.Jobs[j].Length-slack)
		}
		k.Shortened = len(k.Jobs)
		if found, err = k.overfull(); err != nil {
			return err
		}
	}
	if found != nil {
		k.bad.add(RuleFluid, -1, found.from, "no fluid schedule has these ends: within %v, in %v of time, %d jobs need %s GPU-seconds, and there are %s: jobs were resized or shared GPUs, or the capacity or the lengths are others",
			found.until-found.from, found.length, found.jobs, gpuSeconds(found.need), gpuSeconds(found.have))
		return nil
	}
	k.Class = sched.Class{Kind: sched.Fluid}
	return nil
}

// gpuSeconds shows thousandths of GPUs times microseconds.
func gpuSeconds(v *big.Int) string {
	return new(big.Rat).SetFrac(v, big.NewInt(Milli*1e6)).FloatString(3)
}

// overfullSet is a set of pieces of time in which jobs need more than there is.
type overfullSet struct {
	from, until, length sched.Time
	jobs                int
	need, have          *big.Int // thousandths of GPUs times microseconds
}

// overfull returns a set of pieces of time that is overfull, or nil if there is none. Of
// networks that are too large it looks at some intervals alone, and says so (Necessary).
func (k *checker) overfull() (*overfullSet, error) {
	p, err := newPool(&k.Checked)
	if err != nil {
		return nil, err
	}
	n := newNetwork(p, k.steps())
	edges := cmp.Or(k.options.Edges, mostEdges)
	var set []bool
	switch {
	case n.greedy():
		return nil, nil
	case n.edges() <= edges:
		set = n.maximum()
	default:
		set = n.windows(max(4, edges/len(n.jobs)))
		k.Necessary = set == nil
	}
	if set == nil {
		return nil, nil
	}
	return n.witness(p, set)
}

// task is a job in a network: it may be given length·gpus in the pieces first to last−1.
type task struct {
	first, last       int
	gpus, length, due int64
}

// network is jobs, pieces of time, and what each piece gives to each job.
type network struct {
	jobs  []task
	cut   []int64 // the pieces are [cut[k], cut[k+1])
	room  []int64 // GPU-time that a piece has
	left  []int64 // of it, what no job has
	need  []int64 // GPU-time that a job still needs
	begin []int   // of the flows of a job
	flow  []int64
	at    [][]int32 // the jobs that may be served in a piece
	level []int32   // of jobs, then of pieces, in a search
	next  []int     // where the search of a job or a piece goes on
}

func newNetwork(p *pool, steps []Step) *network {
	n := &network{jobs: make([]task, len(p.ends)), need: make([]int64, len(p.ends))}
	for j := range p.ends {
		n.cut = append(n.cut, int64(p.in.Jobs[j].Release), int64(p.ends[j]))
	}
	for _, s := range steps {
		n.cut = append(n.cut, int64((s.At-p.origin)/p.tick))
	}
	slices.Sort(n.cut)
	n.cut = slices.Compact(n.cut)
	for j := range n.jobs {
		job := &p.in.Jobs[j]
		t := &n.jobs[j]
		t.first, _ = slices.BinarySearch(n.cut, int64(job.Release))
		t.last, _ = slices.BinarySearch(n.cut, int64(p.ends[j]))
		t.gpus, t.length, t.due = int64(job.Stages[0].Replicas), int64(job.Stages[0].Compute/1000), int64(p.ends[j])
		n.need[j] = t.gpus * t.length
	}
	full := p.gpus
	for k := range len(n.cut) - 1 {
		for len(steps) > 0 && int64((steps[0].At-p.origin)/p.tick) <= n.cut[k] {
			full, steps = steps[0].GPUs/p.share, steps[1:]
		}
		n.room = append(n.room, full*(n.cut[k+1]-n.cut[k]))
	}
	return n
}

// edges returns how many pairs there are of a job and a piece that it may be served in.
func (n *network) edges() (sum int) {
	for j := range n.jobs {
		sum += n.jobs[j].last - n.jobs[j].first
	}
	return sum
}

// greedy serves what must be served first: in every piece, what each job cannot make up
// for later, and then the jobs in order of their ends. It reports whether all jobs are
// done by their ends, which proves that they can be; if not, or if that takes too long, they
// may be able to.
func (n *network) greedy() bool {
	order := make([]int32, len(n.jobs))
	for j := range order {
		order[j] = int32(j)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(n.jobs[a].first, n.jobs[b].first) })
	need := slices.Clone(n.need)
	var active []int32 // in order of ends
	served := 0
	for k, room := range n.room {
		if served += len(active); served > mostServed {
			return false
		}
		for len(order) > 0 && n.jobs[order[0]].first == k {
			at, _ := slices.BinarySearchFunc(active, order[0], func(a, b int32) int { return cmp.Or(cmp.Compare(n.jobs[a].due, n.jobs[b].due), cmp.Compare(a, b)) })
			active = slices.Insert(active, at, order[0])
			order = order[1:]
		}
		length := n.cut[k+1] - n.cut[k]
		for _, j := range active {
			t := &n.jobs[j]
			must := max(0, need[j]-t.gpus*(t.due-n.cut[k+1]))
			if must > t.gpus*length || must > room {
				return false
			}
			room -= must
		}
		kept := active[:0]
		for _, j := range active {
			t := &n.jobs[j]
			must := max(0, need[j]-t.gpus*(t.due-n.cut[k+1]))
			more := min(t.gpus*length-must, need[j]-must, room)
			room -= more
			if need[j] -= must + more; need[j] > 0 {
				kept = append(kept, j)
			}
		}
		active = kept
	}
	return len(active) == 0
}

// maximum finds a maximum flow and returns nil if it meets all needs, and else the pieces
// on the jobs' side of a least cut.
//
// Source: E. A. Dinic, Algorithm for solution of a problem of maximum flow in networks
// with power estimation (1970).
func (n *network) maximum() []bool {
	n.left = slices.Clone(n.room)
	n.at = make([][]int32, len(n.room))
	for j := range n.jobs {
		n.begin = append(n.begin, len(n.flow))
		n.flow = append(n.flow, make([]int64, n.jobs[j].last-n.jobs[j].first)...)
		for k := n.jobs[j].first; k < n.jobs[j].last; k++ {
			n.at[k] = append(n.at[k], int32(j))
		}
	}
	n.level = make([]int32, len(n.jobs)+len(n.room))
	n.next = make([]int, len(n.level))
	for n.levels() {
		for j := range n.jobs {
			n.next[j] = n.jobs[j].first
		}
		clear(n.next[len(n.jobs):])
		for j := range n.jobs {
			if n.need[j] > 0 {
				n.need[j] -= n.push(j, n.need[j])
			}
		}
	}
	if !slices.ContainsFunc(n.need, func(v int64) bool { return v > 0 }) {
		return nil
	}
	set := make([]bool, len(n.room))
	for k := range set {
		set[k] = n.level[len(n.jobs)+k] >= 0
	}
	return set
}

// levels numbers jobs and pieces by how far they are from the jobs that need more, and
// reports whether there is a piece among them with something left.
func (n *network) levels() (found bool) {
	for i := range n.level {
		n.level[i] = -1
	}
	var queue []int
	for j := range n.jobs {
		if n.need[j] > 0 {
			n.level[j] = 0
			queue = append(queue, j)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		reach := func(to int) {
			if n.level[to] < 0 {
				n.level[to] = n.level[i] + 1
				queue = append(queue, to)
			}
		}
		if i < len(n.jobs) {
			for k := n.jobs[i].first; k < n.jobs[i].last; k++ {
				if n.spare(i, k) > 0 {
					reach(len(n.jobs) + k)
				}
			}
			continue
		}
		k := i - len(n.jobs)
		found = found || n.left[k] > 0
		for _, j := range n.at[k] {
			if *n.given(int(j), k) > 0 {
				reach(int(j))
			}
		}
	}
	return found
}

// given is what a piece gives to a job, spare what it could give besides if it had it.
func (n *network) given(j, k int) *int64 { return &n.flow[n.begin[j]+k-n.jobs[j].first] }
func (n *network) spare(j, k int) int64 {
	return n.jobs[j].gpus*(n.cut[k+1]-n.cut[k]) - *n.given(j, k)
}

// push sends at most so much from a job on to pieces one level further, and returns how
// much of it arrived.
func (n *network) push(j int, amount int64) (sent int64) {
	for ; n.next[j] < n.jobs[j].last; n.next[j]++ {
		k := n.next[j]
		if n.level[len(n.jobs)+k] != n.level[j]+1 {
			continue
		}
		if v := min(amount-sent, n.spare(j, k)); v > 0 {
			v = n.drain(k, v)
			*n.given(j, k) += v
			if sent += v; sent == amount {
				break
			}
		}
	}
	return sent
}

// drain takes so much into a piece: into what is left of it, or from jobs one level
// further, which find it elsewhere.
func (n *network) drain(k int, amount int64) (sent int64) {
	sent = min(amount, n.left[k])
	n.left[k] -= sent
	node := len(n.jobs) + k
	for ; sent < amount && n.next[node] < len(n.at[k]); n.next[node]++ {
		j := int(n.at[k][n.next[node]])
		if n.level[j] != n.level[node]+1 {
			continue
		}
		if v := min(amount-sent, *n.given(j, k)); v > 0 {
			v = n.push(j, v)
			*n.given(j, k) -= v
			if sent += v; sent == amount {
				break
			}
		}
	}
	return sent
}

// windows looks for an overfull interval of time that begins at one of so many releases,
// and returns its pieces, or nil if none is.
//
// In [a, b) job j needs what it cannot have outside: from max(r_j, a) plus its slack on,
// g_j for each unit of b up to its end. So the need is piecewise linear in b.
func (n *network) windows(most int) []bool {
	type event struct{ at, slope int64 }
	var events []event
	every := max(1, len(n.jobs)/most)
	for i := 0; i < len(n.jobs); i += every {
		a := n.cut[n.jobs[i].first]
		events = events[:0]
		for j := range n.jobs {
			t := &n.jobs[j]
			release := n.cut[t.first]
			if from := max(release, a) + t.due - release - t.length; from < t.due {
				events = append(events, event{from, t.gpus}, event{t.due, -t.gpus})
			}
		}
		slices.SortFunc(events, func(x, y event) int { return cmp.Compare(x.at, y.at) })
		first := n.jobs[i].first
		have, until := newCounter(), first // room in [a, b)
		need, slope, now := newCounter(), int64(0), a
		for _, e := range events {
			for until < len(n.room) && n.cut[until+1] <= e.at {
				have.add(n.room[until], 1)
				until++
			}
			need.add(slope, e.at-now)
			slope, now = slope+e.slope, e.at
			if e.slope < 0 && need.exceeds(have) { // e.at is a job's end, where a piece ends
				set := make([]bool, len(n.room))
				for k := first; k < until; k++ {
					set[k] = true
				}
				return set
			}
		}
	}
	return nil
}

// counter adds up products of numbers that are not negative, in 128 bits.
type counter struct{ high, low uint64 }

func newCounter() *counter { return &counter{} }

func (c *counter) add(a, b int64) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	c.low, carry = bits.Add64(c.low, low, 0)
	c.high += high + carry
}

func (c *counter) exceeds(d *counter) bool {
	return c.high > d.high || c.high == d.high && c.low > d.low
}

// witness adds up what jobs need in a set of pieces and what these have. That the former
// is more proves that the ends cannot be met, however the set was found.
func (n *network) witness(p *pool, set []bool) (*overfullSet, error) {
	before := make([]int64, len(set)+1) // the time in the set before each piece
	w := &overfullSet{need: new(big.Int), have: new(big.Int), from: -1}
	for k, in := range set {
		before[k+1] = before[k]
		if in {
			before[k+1] += n.cut[k+1] - n.cut[k]
			w.have.Add(w.have, big.NewInt(n.room[k]))
			if w.from < 0 {
				w.from = sched.Time(n.cut[k])
			}
			w.until = sched.Time(n.cut[k+1])
		}
	}
	w.length = sched.Time(before[len(set)])
	for j := range n.jobs {
		t := &n.jobs[j]
		outside := t.due - n.cut[t.first] - (before[t.last] - before[t.first])
		if must := t.length - outside; must > 0 {
			w.jobs++
			w.need.Add(w.need, new(big.Int).Mul(big.NewInt(t.gpus), big.NewInt(must)))
		}
	}
	if w.need.Cmp(w.have) <= 0 {
		return nil, fmt.Errorf("score: internal error: a set of times is said to be overfull and is not (need %v, have %v)", w.need, w.have)
	}
	unit := big.NewInt(p.share * int64(p.tick))
	w.need.Mul(w.need, unit)
	w.have.Mul(w.have, unit)
	w.from, w.until, w.length = w.from*p.tick+p.origin, w.until*p.tick+p.origin, w.length*p.tick
	return w, nil
}
