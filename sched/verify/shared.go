package verify

import (
	"slices"

	"yardstick/sched"
)

// maxShare is how many jobs may hold one GPU in class S.
const maxShare = 2

// sharedSweep is the state of a sweep over a schedule of class S.
type sharedSweep struct {
	*checker
	device  [][]int32    // per GPU of the cluster, the segments that hold it now
	held    []sched.Time // per GPU, since when some job holds it
	base    []int        // per server, the number of the first of its GPUs
	since   []sched.Time // per segment, up to when its training is accounted for
	xi      []float64    // per segment, its interference factor since then
	pieces  [][]piece    // per job
	touched []int32      // the segments whose factor may change at this instant
	mark    []bool       // per segment, whether it is in touched
}

// sweepShared checks in order of time that no GPU has more than two jobs nor
// more than its memory, measures how long each job trains at which interference
// factor, and then checks the progress made.
func (c *checker) sweepShared() {
	starts, ends := c.live()
	n := len(c.s.Segments)
	w := &sharedSweep{checker: c, base: make([]int, len(c.in.Cluster.Servers)), since: make([]sched.Time, n), xi: make([]float64, n),
		mark: make([]bool, n), pieces: make([][]piece, len(c.in.Jobs))}
	gpus := 0
	for m := range c.in.Cluster.Servers {
		w.base[m] = gpus
		gpus += c.in.Cluster.Servers[m].GPUs
	}
	w.device, w.held = make([][]int32, gpus), make([]sched.Time, gpus)
	for len(ends) > 0 {
		now := c.s.Segments[ends[0]].End
		if len(starts) > 0 {
			now = min(now, c.s.Segments[starts[0]].Start)
		}
		for ; len(ends) > 0 && c.s.Segments[ends[0]].End == now; ends = ends[1:] {
			w.leave(ends[0], now)
		}
		for ; len(starts) > 0 && c.s.Segments[starts[0]].Start == now; starts = starts[1:] {
			w.enter(starts[0], now)
		}
		for _, i := range w.touched {
			w.mark[i] = false
			w.xi[i] = w.factor(i)
		}
		w.touched = w.touched[:0]
	}
	for id := range c.jobs {
		if c.jobs[id].Scheduled { // and its grammar holds
			w.sharedProgress(sched.JobID(id), &c.s.Segments[c.bySeg[c.first[id]]].Place, w.pieces[id])
		}
	}
}

// touch accounts for the training of a segment up to now, at the factor that
// held so far, and notes that the factor may change.
func (w *sharedSweep) touch(i int32, now sched.Time) {
	seg := &w.s.Segments[i]
	if seg.Phase == sched.Train && now > w.since[i] {
		w.pieces[seg.Job] = addPiece(w.pieces[seg.Job], w.xi[i], now-w.since[i])
	}
	w.since[i] = now
	if !w.mark[i] {
		w.mark[i] = true
		w.touched = append(w.touched, i)
	}
}

// eachGPU calls f with the number of every GPU that the segment holds.
func (w *sharedSweep) eachGPU(i int32, f func(gpu, server int)) {
	for k := range w.s.Segments[i].Place.Shares {
		sh := &w.s.Segments[i].Place.Shares[k]
		for _, d := range sh.Devices {
			f(w.base[sh.Server]+d, sh.Server)
		}
	}
}

func (w *sharedSweep) leave(i int32, now sched.Time) {
	w.eachGPU(i, func(gpu, _ int) {
		for _, on := range w.device[gpu] {
			w.touch(on, now)
		}
		w.device[gpu] = slices.DeleteFunc(w.device[gpu], func(on int32) bool { return on == i })
		if len(w.device[gpu]) == 0 {
			w.busy += int64(now - w.held[gpu])
		}
	})
}

func (w *sharedSweep) enter(i int32, now sched.Time) {
	w.since[i] = now
	job := w.s.Segments[i].Job
	over, full := false, false
	w.eachGPU(i, func(gpu, server int) {
		if len(w.device[gpu]) == 0 {
			w.held[gpu] = now
		}
		w.device[gpu] = append(w.device[gpu], i)
		memory := sched.Bytes(0)
		for _, on := range w.device[gpu] {
			w.touch(on, now)
			seg := &w.s.Segments[on]
			memory += accumulation(&w.in.Jobs[seg.Job], &seg.Place).Memory
		}
		if n := len(w.device[gpu]); n > maxShare && !over {
			over = true
			w.err.add(RuleShareLimit, job, now, "is the %dth job on device %d of server %d: at most %d share", n, gpu-w.base[server], server, maxShare)
		}
		if has := w.in.Cluster.Servers[server].GPUMemory; memory > has && !full {
			full = true
			w.err.add(RuleMemory, job, now, "brings device %d of server %d to %v of %v", gpu-w.base[server], server, memory, has)
		}
	})
}

// factor returns the interference factor of a segment among those that hold
// its GPUs now.
func (w *sharedSweep) factor(i int32) float64 {
	xi := 1.0
	own := w.row(i)
	w.eachGPU(i, func(gpu, _ int) {
		for _, on := range w.device[gpu] {
			if on != i {
				xi = max(xi, w.in.Interference[own][w.row(on)])
			}
		}
	})
	return xi
}

// row returns the row of the interference table of a segment's job, which may depend on
// the accumulation that it is placed with.
func (w *sharedSweep) row(i int32) int {
	seg := &w.s.Segments[i]
	sh := w.in.Jobs[seg.Job].Sharing
	if len(sh.Rows) == 0 {
		return sh.Task
	}
	for k := range sh.Accumulation {
		if seg.Place.Config == nil || sh.Accumulation[k].Steps == seg.Place.Config.Accumulation {
			return sh.Rows[k]
		}
	}
	return sh.Task // not reached: the placement was found to name an option
}
