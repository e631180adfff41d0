package asrpt_test

import (
	"cmp"
	"math/big"
	"slices"
	"testing"

	"yardstick/heuristics/asrpt"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
	"yardstick/solvers/partition"
)

// reference is A-SRPT written down step by step, without heaps, views or
// events: all virtual completions first, then the queue in their order.
type reference struct {
	t         *testing.T
	in        *sched.Instance
	o         asrpt.Options
	comm, tau *big.Rat
	predicted []int64

	tilde, size []*big.Rat
	segments    []sched.Segment
	waited      int // jobs that were delayed
	improved    int // of these, that then found a better placement
	heavy       int
}

// replayNaively runs the reference.
func replayNaively(t *testing.T, in *sched.Instance, o asrpt.Options, predicted []int64) *reference {
	t.Helper()
	r := &reference{t: t, in: in, o: o, comm: big.NewRat(3, 2), tau: big.NewRat(1, 1), predicted: predicted}
	if o.Comm != nil {
		r.comm = o.Comm
	}
	if o.Tau != nil {
		r.tau = o.Tau
	}
	r.tilde, r.size = tildes(t, in, o), sizes(t, in, o, predicted)
	virtual := virtualCompletions(in, r.size, o.Ties)
	order := make([]int, len(in.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(virtual[a].Cmp(virtual[b]), tie(in, o.Ties, a, b)) })
	now := sched.Time(0)
	for _, i := range order { // the queue; nobody overtakes
		now = r.serve(i, max(now, ceil(virtual[i])))
	}
	s := sched.Schedule{Segments: r.segments}
	s.Sort()
	r.segments = s.Segments
	return r
}

// tildes returns alpha~ of every job, in seconds.
func tildes(t *testing.T, in *sched.Instance, o asrpt.Options) (out []*big.Rat) {
	t.Helper()
	for i := range in.Jobs {
		tilde, err := heavyedge.AlphaTilde(in, sched.JobID(i), o.AllReduce)
		if o.Reference == asrpt.Least {
			var best *partition.Best
			if best, err = partition.AlphaMin(in, sched.JobID(i)); err == nil {
				tilde = best.Alpha
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tilde)
	}
	return out
}

// sizes returns the virtual size of every job, in microseconds.
func sizes(t *testing.T, in *sched.Instance, o asrpt.Options, predicted []int64) (out []*big.Rat) {
	t.Helper()
	for i, tilde := range tildes(t, in, o) {
		q := big.NewRat(int64(in.Jobs[i].Gang()), int64(in.Cluster.GPUs()))
		out = append(out, q.Mul(q, big.NewRat(predicted[i], 1)).Mul(q, tilde).Mul(q, big.NewRat(1e6, 1)))
	}
	return out
}

func tie(in *sched.Instance, ties asrpt.Ties, a, b int) int {
	if ties == asrpt.ByRelease {
		return cmp.Or(cmp.Compare(in.Jobs[a].Release, in.Jobs[b].Release), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}

// virtualCompletions runs SRPT on one machine by scanning all jobs at every
// release and completion.
func virtualCompletions(in *sched.Instance, size []*big.Rat, ties asrpt.Ties) []*big.Rat {
	n := len(size)
	done, left := make([]*big.Rat, n), make([]*big.Rat, n)
	for i := range left {
		left[i] = new(big.Rat).Set(size[i])
	}
	now := new(big.Rat)
	for {
		var next *big.Rat // release to come
		job, open := -1, false
		for i := range in.Jobs {
			if done[i] != nil {
				continue
			}
			open = true
			release := big.NewRat(int64(in.Jobs[i].Release), 1)
			if release.Cmp(now) > 0 {
				if next == nil || release.Cmp(next) < 0 {
					next = release
				}
				continue
			}
			if job < 0 || cmp.Or(left[i].Cmp(left[job]), tie(in, ties, i, job)) < 0 {
				job = i
			}
		}
		switch {
		case !open:
			return done
		case job < 0:
			now = next
			continue
		}
		end := new(big.Rat).Add(now, left[job])
		if next != nil && next.Cmp(end) < 0 {
			left[job].Sub(left[job], new(big.Rat).Sub(next, now))
			now = next
			continue
		}
		now, done[job] = end, end
	}
}

// serve is the body of the loop over the queue: lines 4 to 25 of the algorithm.
// It returns when the job starts.
func (r *reference) serve(i int, now sched.Time) sched.Time {
	for r.parts(i, now, true) == nil {
		now = r.nextEnd(now)
	}
	alphaMax := r.alphaMax(i)
	limit := new(big.Rat).Mul(r.comm, r.tilde[i])
	if alphaMax.Cmp(limit) < 0 { // lines 21 to 23
		place, _ := r.place(i, now, false)
		r.run(i, now, place)
		return now
	}
	r.heavy++
	place, kappa := r.place(i, now, true)                       // lines 9 to 11
	if kappa.Cmp(limit) > 0 && r.nextEnd(now) < sched.MaxTime { // lines 15 to 20, unless the cluster is idle
		budget := new(big.Rat).Mul(r.tau, r.size[i])
		deadline := now + sched.Time(new(big.Int).Quo(budget.Num(), budget.Denom()).Int64())
		if deadline > now {
			r.waited++
		}
		for now < deadline && r.nextEnd(now) < sched.MaxTime {
			now++ // one microsecond after the other, as line 16 has it
			better, alpha := r.place(i, now, true)
			place = better
			if alpha.Cmp(kappa) < 0 {
				r.improved++
				break
			}
		}
	}
	r.run(i, now, place)
	return now
}

func (r *reference) alphaMax(i int) *big.Rat {
	largest := slices.MaxFunc(r.in.Cluster.Servers, func(a, b sched.Server) int { return a.GPUs - b.GPUs }).GPUs
	worst := new(big.Rat)
	if r.o.Slowest == asrpt.Attained {
		worst, err := partition.AlphaMax(r.in, sched.JobID(i))
		if err != nil {
			r.t.Fatal(err)
		}
		return worst
	}
	for s := range r.in.Jobs[i].Stages {
		if v := r.in.StageTime(sched.JobID(i), s, 0, 1, 0, largest); v.Cmp(worst) > 0 {
			worst = v
		}
	}
	return worst
}

// free returns the free GPUs of every server.
func (r *reference) free(now sched.Time) []int {
	free := make([]int, len(r.in.Cluster.Servers))
	for m := range free {
		free[m] = r.in.Cluster.Servers[m].GPUs
	}
	for _, seg := range r.segments {
		if seg.Start <= now && now < seg.End {
			for _, sh := range seg.Place.Shares {
				free[sh.Server] -= sh.GPUs
			}
		}
	}
	return free
}

func (r *reference) nextEnd(now sched.Time) sched.Time {
	next := sched.MaxTime
	for _, seg := range r.segments {
		if seg.End > now {
			next = min(next, seg.End)
		}
	}
	return next
}

// parts selects servers with the most or with the fewest free GPUs first, ties
// to the lower index, and takes of each the replicas that fit, those with the
// most slices first. It returns nil if replicas are left over. The numbers of
// slices in these tests divide each other, so that they then fit nowhere.
func (r *reference) parts(i int, now sched.Time, most bool) []heavyedge.Part {
	free := r.free(now)
	order := make([]int, len(free))
	for m := range order {
		order[m] = m
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if most {
			return free[b] - free[a]
		}
		return free[a] - free[b]
	})
	var parts []heavyedge.Part
	var left []int // slices of every replica
	j := &r.in.Jobs[i]
	for s := range j.Stages {
		left = append(left, slices.Repeat([]int{j.Slices(s)}, j.Stages[s].Replicas)...)
	}
	slices.SortFunc(left, func(a, b int) int { return b - a })
	for _, m := range order {
		take := 0
		left = slices.DeleteFunc(left, func(n int) bool {
			fits := take+n <= free[m]
			if fits {
				take += n
			}
			return fits
		})
		if take > 0 {
			parts = append(parts, heavyedge.Part{Server: m, GPUs: take})
		}
	}
	if len(left) > 0 {
		return nil
	}
	return parts
}

// place lays the job out on the parts selected, which there are.
func (r *reference) place(i int, now sched.Time, most bool) (sched.Placement, *big.Rat) {
	parts := r.parts(i, now, most)
	var servers, sizes []int
	for _, p := range parts {
		servers, sizes = append(servers, p.Server), append(sizes, p.GPUs)
	}
	var place sched.Placement
	var err error
	if r.o.Layout == asrpt.Optimal {
		place, err = partition.Place(r.in, sched.JobID(i), servers, sizes)
	} else {
		place, err = heavyedge.Place(&r.in.Jobs[i], parts, r.o.AllReduce)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	alpha, err := r.in.IterTime(sched.JobID(i), &place)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(r.in.Jobs[i].Stages) == 1 && !r.in.Jobs[i].Sliced() { // as the policy writes it
		for k := range place.Shares {
			place.Shares[k].Stages = nil
		}
	}
	return place, alpha
}

func (r *reference) run(i int, now sched.Time, place sched.Placement) {
	train, err := r.in.RunTime(sched.JobID(i), &place)
	if err != nil {
		r.t.Fatal(err)
	}
	if load := r.in.Jobs[i].Load; load > 0 {
		r.segments = append(r.segments, sched.Segment{Job: sched.JobID(i), Start: now, End: now + load, Phase: sched.Load, Place: place})
		now += load
	}
	r.segments = append(r.segments, sched.Segment{Job: sched.JobID(i), Start: now, End: now + train, Phase: sched.Train, Place: place})
}

func ceil(t *big.Rat) sched.Time {
	up := new(big.Int).Add(t.Num(), new(big.Int).Sub(t.Denom(), big.NewInt(1)))
	return sched.Time(up.Div(up, t.Denom()).Int64())
}
