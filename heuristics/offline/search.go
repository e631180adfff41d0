package offline

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// search is a window search in progress.
type search struct {
	*board
	rng   *rand.Rand
	order []int32 // the jobs, about in order of their starts
	place []int32 // where in order each is
	hot   []int32 // of them, those that waited or hold much, when they were last sorted
	large float64 // what holding much is, in GPUs times time
	bands []band  // of hot, those that wait and hold more and more
	cost  float64
	// restarts returns to the best when it has been left.
	best      []placed
	bestCost  float64
	heat      float64 // threshold of the first move
	threshold float64 // of this one

	window []int32   // scratch
	near   []int32   // jobs beside one
	active []int32   // those of them that run
	keys   []float64 // by job
	old    []placed  // beside window
}

// band is the jobs that wait and hold at least so many GPUs times time, in order of
// their starts.
type band struct {
	least float64
	jobs  []int32
}

// placed is when and where a job runs.
type placed struct {
	start, end int64
	parts      []part
}

func newSearch(b *board, seed uint64) *search {
	s := &search{board: b, rng: rand.New(rand.NewPCG(seed, 0x6c6e73)), place: make([]int32, len(b.p.jobs)), keys: make([]float64, len(b.p.jobs))}
	work := make([]float64, len(b.p.jobs))
	for i := range work {
		work[i] = b.p.jobs[i].work()
	}
	slices.Sort(work)
	s.large = work[len(work)-1-len(work)/20]
	const fewest = 16 // jobs of the last band
	for share := 4; len(work)/share >= fewest && share <= 256; share *= 4 {
		s.bands = append(s.bands, band{least: work[len(work)-len(work)/share]})
	}
	s.sort()
	s.keep()
	return s
}

// sort brings the jobs in order of their starts, and adds up the cost anew.
func (s *search) sort() {
	if s.order == nil {
		s.order = make([]int32, len(s.p.jobs))
		for i := range s.order {
			s.order[i] = int32(i)
		}
	}
	slices.SortFunc(s.order, func(x, y int32) int { return cmp.Or(cmp.Compare(s.start[x], s.start[y]), cmp.Compare(x, y)) })
	s.hot = s.hot[:0]
	for k := range s.bands {
		s.bands[k].jobs = s.bands[k].jobs[:0]
	}
	for at, i := range s.order {
		j := &s.p.jobs[i]
		s.place[i] = int32(at)
		if s.start[i] > j.release || j.work() >= s.large {
			s.hot = append(s.hot, i)
		}
		for k := range s.bands {
			if t := &s.bands[k]; s.start[i] > j.release && j.work() >= t.least {
				t.jobs = append(t.jobs, i)
			}
		}
	}
	s.cost = s.p.total(s.end)
}

func (s *search) at(i int32) placed {
	x := placed{start: s.start[i], end: s.end[i]}
	if s.servers != nil {
		x.parts = s.parts[i]
	}
	return x
}

func (s *search) set(i int32, x placed) {
	s.start[i], s.end[i] = x.start, x.end
	if s.servers != nil {
		s.parts[i] = x.parts
	}
}

// keep remembers the schedule as the best one.
func (s *search) keep() {
	s.best, s.bestCost = slices.Grow(s.best[:0], len(s.order)), s.cost
	for i := range s.p.jobs {
		s.best = append(s.best, s.at(int32(i)))
	}
}

// back returns to the best schedule.
func (s *search) back() {
	for i := range s.p.jobs {
		if x := s.best[i]; x.start != s.start[i] || x.end != s.end[i] || s.servers != nil {
			s.remove(int32(i))
			s.set(int32(i), x)
			s.put(int32(i))
		}
	}
	s.sort()
}

// run makes moves, or fewer if the context ends, and ends at the best schedule found.
// The threshold by which a schedule may be worse than the one before falls from a tenth
// of heat times the mean wait, quadratically in moves, to nothing.
//
// Source: threshold accepting, G. Dueck, T. Scheuer, Threshold accepting: a general
// purpose optimization algorithm appearing superior to simulated annealing (1990), on
// the neighbourhood of P. Shaw, Using constraint programming and local search methods
// to solve vehicle routing problems (1998). Not in the sources: windows in time, and
// reinsertion in orders drawn anew.
func (s *search) run(ctx context.Context, moves int, heat float64) (made int) {
	const largeEvery, pullEvery = 64, 6
	n := len(s.p.jobs)
	s.heat = 0.1 * heat * s.meanWait()
	for ; made < moves; made++ {
		if made&63 == 0 && ctx.Err() != nil {
			break
		}
		if made%(4*n) == 0 {
			s.shiftLeft(ctx)
		}
		left := 1 - float64(made)/float64(moves)
		s.threshold = s.heat * left * left
		if made%largeEvery == largeEvery-1 {
			s.delayLarge()
		} else if made%pullEvery == 0 {
			s.pull()
		} else {
			s.move()
		}
		if made%min(n, 5000) == 0 {
			s.sort()
		}
	}
	s.leave()
	if s.bestCost < s.cost {
		s.back()
	}
	s.shiftLeft(ctx)
	s.keep()
	return made
}

// leave keeps the schedule if it is the best so far: it may get worse.
func (s *search) leave() {
	if s.cost < s.bestCost {
		s.keep()
	}
}

// meanWait is the mean cost of waiting, or, of makespans, of a job at the end.
func (s *search) meanWait() float64 {
	sum := 0.0
	for i := range s.p.jobs {
		j := &s.p.jobs[i]
		sum += s.p.cost(j, s.end[i]) - s.p.cost(j, j.release+j.short)
	}
	return sum / float64(len(s.p.jobs))
}

// shiftLeft moves every job to where it ends first, in order of starts, given the
// others.
func (s *search) shiftLeft(ctx context.Context) {
	s.sort()
	s.loose = false
	for at, i := range s.order {
		j := &s.p.jobs[i]
		if at&63 == 0 && ctx.Err() != nil {
			break
		}
		if s.end[i] == j.release+j.short {
			continue
		}
		was := s.at(i)
		s.remove(i)
		s.insert(i, j.release)
		if s.end[i] > was.end {
			s.remove(i)
			s.set(i, was)
			s.put(i)
		}
	}
	s.sort()
	s.leave()
}

// size draws how many jobs a move frees: 2 to 25, rarely 6 or 40 times as many.
func (s *search) size() int {
	k := 2 + s.rng.IntN(24)
	switch r := s.rng.IntN(1000); {
	case r < 2:
		k *= 40
	case r < 60:
		k *= 6
	}
	return min(k, len(s.order))
}

// waiting draws a job that does not start at its release, or any job after some
// trials.
func (s *search) waiting() int {
	at := 0
	for range 32 {
		at = s.rng.IntN(len(s.order))
		i := s.order[at]
		if s.p.unit > 0 || s.start[i] > s.p.jobs[i].release {
			break
		}
	}
	return at
}

// move frees the jobs around a waiting one and inserts them again in another order: all
// jobs that start around it, or those of them that matter, few or many.
func (s *search) move() {
	k := s.size()
	list := s.hot
	if r := s.rng.IntN(2 + len(s.bands)); r > 1 {
		list = s.bands[r-2].jobs
	} else if r == 0 {
		list = nil
	}
	if len(list) > k {
		at := max(0, s.rng.IntN(len(list))-k)
		s.window = append(s.window[:0], list[at:at+k]...)
	} else {
		first := min(max(0, s.waiting()-s.rng.IntN(k)), len(s.order)-k)
		s.window = append(s.window[:0], s.order[first:first+k]...)
	}
	first := int(s.place[s.window[0]])
	s.shuffle()
	s.loose = s.servers != nil && s.rng.IntN(4) == 0
	s.reinsert(0, s.before(first, s.rng.IntN(k)))
}

// before returns the start of the job so many places before that at first in the
// order, from which on gaps are looked for; before the first job there are all.
func (s *search) before(first, places int) int64 {
	if first < places {
		return 0
	}
	return s.start[s.order[first-places]]
}

// shuffle brings the window in an order drawn at random.
func (s *search) shuffle() {
	w := s.window
	by := func(key func(i int32) float64) {
		for _, i := range w {
			s.keys[i] = key(i)
		}
		slices.SortFunc(w, func(x, y int32) int { return cmp.Or(cmp.Compare(s.keys[x], s.keys[y]), cmp.Compare(x, y)) })
	}
	switch r := s.rng.IntN(8); {
	case r < 4: // by start, with one job moved, mostly to the front
		from, to := s.rng.IntN(len(w)), s.rng.IntN(len(w))
		i := w[from]
		w = slices.Insert(slices.Delete(w, from, from+1), to, i)
	case r < 6: // by Smith's ratio, with noise
		a, noise := s.rng.Float64(), 0.5*s.rng.Float64()
		by(func(i int32) float64 {
			j := &s.p.jobs[i]
			ratio := float64(j.short) * math.Pow(float64(j.gang), a) / j.weight
			if s.p.unit > 0 {
				ratio = 1 / ratio
			}
			return ratio * (1 + noise*(2*s.rng.Float64()-1))
		})
	case r < 7:
		by(func(i int32) float64 { return float64(s.end[i]) })
	default: // by start, with noise of the window's length
		span := float64(s.start[w[len(w)-1]]-s.start[w[0]]) * s.rng.Float64()
		by(func(i int32) float64 { return float64(s.start[i]) + span*s.rng.Float64() })
	}
}

// pull moves a job that waits for long to an earlier time and the jobs in its way to
// where they fit then, and large ones that wait after it to where it was.
func (s *search) pull() {
	b := s.late()
	if b < 0 {
		return
	}
	j := &s.p.jobs[b]
	from, share := s.start[b], s.rng.Float64()
	if s.rng.IntN(2) == 0 {
		share *= share
	}
	at := max(j.release, (from-int64(share*float64(from-j.release)))/s.p.slot*s.p.slot)
	if at >= from {
		return
	}
	if !s.makeRoom(b, at) {
		for _, i := range s.window {
			s.put(i)
		}
		return
	}
	w := s.window
	switch others := w[1:]; s.rng.IntN(4) {
	case 0:
		slices.SortFunc(others, func(x, y int32) int { return cmp.Or(cmp.Compare(s.start[x], s.start[y]), cmp.Compare(x, y)) })
	case 1:
		slices.SortFunc(others, func(x, y int32) int {
			return cmp.Or(cmp.Compare(s.p.jobs[x].short, s.p.jobs[y].short), cmp.Compare(x, y))
		})
	case 2:
		slices.SortFunc(others, func(x, y int32) int {
			return cmp.Or(cmp.Compare(s.p.jobs[y].work(), s.p.jobs[x].work()), cmp.Compare(x, y))
		})
	}
	s.old = s.old[:0]
	earliest := func(i int32) int64 { return max(s.p.jobs[i].release, min(s.start[i], at)) }
	before, after := 0.0, 0.0
	for _, i := range w {
		before += s.p.cost(&s.p.jobs[i], s.end[i])
		after += s.p.cost(&s.p.jobs[i], earliest(i)+s.p.jobs[i].short)
		s.old = append(s.old, s.at(i))
	}
	spare, fill := s.threshold, s.rng.IntN(2) == 0
	if fill { // others may gain as much as the job
		spare += s.p.cost(j, from) - s.p.cost(j, at)
	}
	for k, i := range w {
		j, begin := &s.p.jobs[i], earliest(i)
		after -= s.p.cost(j, begin+j.short)
		s.insert(i, begin)
		after += s.p.cost(j, s.end[i])
		if after > before+spare {
			s.undo(k + 1)
			return
		}
	}
	if fill {
		gain := s.fill(from)
		before, after = before+gain.before, after+gain.after
		w = s.window
	}
	if after > before+s.threshold {
		s.undo(len(w))
		return
	}
	if after > before && s.cost < s.bestCost {
		s.keepWith(w)
	}
	s.cost += after - before
	s.reorder()
}

// late draws a job that waits, the longest of some, or returns −1.
func (s *search) late() int32 {
	if len(s.hot) == 0 {
		return -1
	}
	wait := func(i int32) float64 {
		j := &s.p.jobs[i]
		return s.p.cost(j, s.end[i]) - s.p.cost(j, j.release+j.short)
	}
	b := s.hot[s.rng.IntN(len(s.hot))]
	for range s.rng.IntN(16) {
		if i := s.hot[s.rng.IntN(len(s.hot))]; wait(i) > wait(b) {
			b = i
		}
	}
	return b
}

// makeRoom takes a job off the board, and others until it can start at the given time
// in the pool: wherever too much is held, one of the jobs that run, by a rule drawn at
// random. The window is the job and the others. It returns false where what is in the way
// is no job of the search.
func (s *search) makeRoom(b int32, at int64) bool {
	j := &s.p.jobs[b]
	end := at + j.short
	s.remove(b)
	s.window, s.near, s.active = append(s.window[:0], b), s.near[:0], s.active[:0]
	for _, i := range s.order {
		if s.start[i] < end && s.end[i] > at && i != b {
			s.near = append(s.near, i)
		}
	}
	slices.SortFunc(s.near, func(x, y int32) int { return cmp.Or(cmp.Compare(s.start[x], s.start[y]), cmp.Compare(x, y)) })
	rule := s.rng.IntN(4)
	rank := func(i int32) float64 {
		switch rule {
		case 0:
			return float64(s.end[i])
		case 1:
			return float64(s.start[i])
		case 2:
			return -float64(s.p.jobs[i].short)
		}
		return s.p.jobs[i].work()
	}
	for t, next, ok := at, 0, true; ; {
		if t, ok = s.pool.above(t, end, s.p.gpus-j.gang); !ok {
			return true
		}
		for ; next < len(s.near) && s.start[s.near[next]] <= t; next++ {
			s.active = append(s.active, s.near[next])
		}
		s.active = slices.DeleteFunc(s.active, func(i int32) bool { return s.end[i] <= t })
		if len(s.active) == 0 {
			return false
		}
		first := 0
		for k, i := range s.active {
			if rank(i) > rank(s.active[first]) {
				first = k
			}
		}
		i := s.active[first]
		s.active = slices.Delete(s.active, first, first+1)
		s.remove(i)
		s.window = append(s.window, i)
	}
}

// costs are those of some jobs before and after a change.
type costs struct{ before, after float64 }

// fill moves large jobs that wait, the first to start after a time, left as far as that
// time, and adds those that it moves to the window.
func (s *search) fill(from int64) (c costs) {
	const most = 24 // jobs tried
	moved := len(s.window)
	k, _ := slices.BinarySearchFunc(s.hot, from, func(i int32, t int64) int { return cmp.Compare(s.start[i], t) })
	for tried := 0; tried < most && k < len(s.hot); k++ {
		i := s.hot[k]
		j := &s.p.jobs[i]
		if s.start[i] <= max(from, j.release) || j.work() < s.large || slices.Contains(s.window[:moved], i) {
			continue
		}
		tried++
		was := s.at(i)
		s.remove(i)
		s.insert(i, max(from, j.release))
		if s.end[i] >= was.end {
			s.remove(i)
			s.set(i, was)
			s.put(i)
			continue
		}
		s.window, s.old = append(s.window, i), append(s.old, was)
		c.before += s.p.cost(j, was.end)
		c.after += s.p.cost(j, s.end[i])
	}
	return c
}

// delayLarge moves a job that holds much to behind those that start after it, which
// can then go left.
func (s *search) delayLarge() {
	n := len(s.order)
	at := s.rng.IntN(n)
	for range 8 { // the largest of some
		other := s.rng.IntN(n)
		if x, y := &s.p.jobs[s.order[other]], &s.p.jobs[s.order[at]]; float64(x.gang)*float64(x.short) > float64(y.gang)*float64(y.short) {
			at = other
		}
	}
	k := min(8+s.rng.IntN(120), n-at)
	s.window = append(append(s.window[:0], s.order[at+1:at+k]...), s.order[at])
	s.reinsert(1, s.before(at, 0))
}

// reinsert frees the jobs of the window and inserts them in its order, from the given
// time on; of the last ones, as many as late says only after the starts of the others.
// It keeps the result if the cost is within the threshold, and otherwise puts them
// back.
func (s *search) reinsert(late int, from int64) {
	w := s.window
	s.old = s.old[:0]
	before, least := 0.0, 0.0
	for _, i := range w {
		from = min(from, s.start[i])
	}
	for _, i := range w {
		j := &s.p.jobs[i]
		before += s.p.cost(j, s.end[i])
		least += s.p.cost(j, max(from, j.release)+j.short)
		s.old = append(s.old, s.at(i))
	}
	if least >= before+s.threshold {
		return
	}
	for _, i := range w {
		s.remove(i)
	}
	most, latest := before+s.threshold, from
	for k, i := range w {
		j := &s.p.jobs[i]
		least -= s.p.cost(j, max(from, j.release)+j.short)
		begin := from
		if k >= len(w)-late {
			begin = latest
		}
		s.insert(i, begin)
		latest = max(latest, s.start[i])
		least += s.p.cost(j, s.end[i])
		if least > most {
			s.undo(k + 1)
			return
		}
	}
	after := 0.0
	for _, i := range w {
		after += s.p.cost(&s.p.jobs[i], s.end[i])
	}
	if after > most {
		s.undo(len(w))
		return
	}
	if after > before && s.cost < s.bestCost { // it gets worse: the best is left
		s.keepWith(w)
	}
	s.cost += after - before
	s.reorder()
}

// undo puts the window back, of which so many jobs have been inserted.
func (s *search) undo(inserted int) {
	for _, i := range s.window[:inserted] {
		s.remove(i)
	}
	for k, i := range s.window {
		s.set(i, s.old[k])
		s.put(i)
	}
}

// keepWith keeps the schedule as it was before the window was changed.
func (s *search) keepWith(window []int32) {
	s.keep()
	for k, i := range window {
		s.best[i] = s.old[k]
	}
}

// reorder brings the window's jobs in order of their new starts, in the places that
// they have in the order.
func (s *search) reorder() {
	w := s.window
	places := s.places(w)
	slices.SortFunc(w, func(x, y int32) int { return cmp.Or(cmp.Compare(s.start[x], s.start[y]), cmp.Compare(x, y)) })
	for k, at := range places {
		s.order[at], s.place[w[k]] = w[k], at
	}
}

func (s *search) places(w []int32) []int32 {
	out := make([]int32, len(w))
	for k, i := range w {
		out[k] = s.place[i]
	}
	slices.Sort(out)
	return out
}
