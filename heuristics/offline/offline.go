// Package offline searches for good non-preemptive schedules of whole instances: the
// upper side of a bracket, whose lower side are bounds. It proves nothing. What it
// returns is a claim, like every schedule, until package verify has accepted it.
//
// # The method
//
// Starts are list schedules in the orders of d·g^a/w, for a between 0 and 1, and serial
// insertion, which gives each job in turn the earliest gap in what is held, by the start
// that is cheapest for it under the prices of a Lagrangian bound plus a share of its
// length. The best of them is improved by window search: free some jobs that start
// around one that waits, insert them again in another order, and keep the result unless
// the cost rises by more than a threshold, which falls to nothing. A move costs its
// window, not the instance, because what is held over time is kept in chunks. Of thousands
// of jobs in a pool, those that hold most are searched alone first, see core.
//
// Where running times depend on the place, jobs are put on servers, each with what is
// held on it over time, and run as long as they do there. Elsewhere the cluster is a
// pool: gangs that never move can be given idle GPUs in order of their starts.
//
// Everything is decided by seeds and by numbers of moves, never by time: the same
// options give the same schedule on every machine, on however many workers.
package offline

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"yardstick/bounds"
	"yardstick/sched"
)

// Options of Search. The zero value is effort 1 with seed 0 on one worker.
type Options struct {
	// Effort, from 1 to 5, sets the moves of a search and the number of searches; 0
	// is 1.
	Effort int
	// Moves is the number of moves of every search; 0 is what the effort says.
	Moves int
	Seed  uint64
	// Workers is how many searches run at a time; 0 is one. It changes nothing but
	// how long that takes.
	Workers int
	// Prices are those of a bound on the same objective, or nil. They make starts.
	Prices *bounds.Prices
	// Starts are those of the bound's relaxation, by job, or nil. They make starts too.
	Starts []sched.Time
	// Schedules are known schedules of class N of the instance, which have passed
	// the verifier. The result is no worse than any of them.
	Schedules []*sched.Schedule
	// Watch, if not nil, is told of every schedule that is better than all before
	// it, from one goroutine at a time. How often that is may depend on Workers.
	Watch func(cost float64)
}

// MaxEffort is the largest effort.
const MaxEffort = 5

// Result is a schedule and how it was found.
type Result struct {
	Schedule *sched.Schedule
	From     string // what start it comes from
	Moves    int    // of all searches
	Work     int64  // chunks and breakpoints looked at, which does not depend on the machine
	// Interrupted reports that the context ended before the search did.
	Interrupted bool
}

// start is a schedule to begin from.
type start struct {
	name  string
	board *board
	cost  float64
	known *sched.Schedule // the schedule itself, if it was given
}

// Search returns the best non-preemptive schedule found. When the context ends it
// returns the best until then.
//
// Errors: sched.ErrNotApplicable if the model has no schedules of class N, or the
// objective is maximised; that of the context if it ends before there is any schedule.
func Search(ctx context.Context, in *sched.Instance, obj sched.Objective, o Options) (*Result, error) {
	p, err := newProblem(in, obj)
	if err != nil {
		return nil, err
	}
	if len(p.jobs) == 0 {
		return &Result{Schedule: &sched.Schedule{Class: sched.Class{Kind: sched.N, Slotted: in.Slot > 0}}}, nil
	}
	f := &finder{p: p, o: &o, times: newTimes(p)}
	if err := f.construct(ctx); err != nil {
		return nil, err
	}
	return f.improve(ctx)
}

// finder makes starts and improves them.
type finder struct {
	p      *problem
	o      *Options
	times  *times
	best   *start
	given  *start // the best of the schedules that were given
	mu     sync.Mutex
	told   float64
	result Result
}

// offer keeps a start if it is the best.
func (f *finder) offer(s *start) {
	if f.best == nil || s.cost < f.best.cost {
		f.best = s
	}
	f.tell(s.cost)
}

func (f *finder) tell(cost float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.o.Watch != nil && (f.told == 0 || cost < f.told) {
		f.told = cost
		f.o.Watch(cost)
	}
}

// construct makes the starts. Where servers are told apart, all of their orders are tried
// on servers: those that are best in the pool are seldom the best there.
func (f *finder) construct(ctx context.Context) error {
	p := f.p
	type ordered struct {
		name  string
		order []int32
		cost  float64
		board *board
	}
	var list []ordered
	add := func(name string, start []int64, b *board) {
		order := p.sorted(func(i int32) float64 { return float64(start[i]) })
		list = append(list, ordered{name, order, p.total(b.end), b})
	}
	for _, a := range shares {
		if ctx.Err() != nil {
			break
		}
		starts := p.listStarts(a)
		b := newBoard(p, f.times, false)
		for i, t := range starts {
			b.start[i], b.end[i] = t, t+p.jobs[i].short
		}
		add(name("list", a), starts, b)
	}
	if f.o.Prices != nil {
		prefer := p.preferred(f.o.Prices)
		for _, alpha := range shares {
			if ctx.Err() != nil {
				break
			}
			b := newBoard(p, f.times, false)
			b.serial(p.sorted(func(i int32) float64 { return float64(prefer[i]) + alpha*float64(p.jobs[i].short) }))
			add(name("prices", alpha), b.start, b)
		}
	}
	if f.o.Starts != nil {
		for _, alpha := range shares {
			if ctx.Err() != nil {
				break
			}
			b := newBoard(p, f.times, false)
			b.serial(p.sorted(func(i int32) float64 { return float64(f.o.Starts[i]) + alpha*float64(p.jobs[i].short) }))
			add(name("relaxed", alpha), b.start, b)
		}
	}
	slices.SortStableFunc(list, func(x, y ordered) int { return cmp.Compare(x.cost, y.cost) })
	if !f.p.spread {
		if len(list) > 0 {
			f.offer(&start{name: list[0].name, board: f.held(list[0].board), cost: list[0].cost})
		}
	} else {
		boards := make([]*board, len(list))
		f.parallel(len(list), func(k int) {
			if k == 0 || ctx.Err() == nil {
				boards[k] = newBoard(p, f.times, p.spread)
				boards[k].serial(list[k].order)
			}
		})
		for k, b := range boards {
			if b != nil {
				f.offer(&start{name: list[k].name, board: b, cost: p.total(b.end)})
			}
		}
	}
	for _, s := range f.o.Schedules {
		f.known(s)
	}
	if f.best == nil {
		return ctx.Err()
	}
	return nil
}

func name(kind string, share float64) string {
	return map[string][]string{"list": {"list d", "list d·g^¼", "list d·g^½", "list d·g^¾", "list d·g"},
		"prices":  {"prices", "prices+¼d", "prices+½d", "prices+¾d", "prices+d"},
		"relaxed": {"relaxed", "relaxed+¼d", "relaxed+½d", "relaxed+¾d", "relaxed+d"}}[kind][int(4*share)]
}

// held makes sure that the pool's profile has the jobs of the board.
func (f *finder) held(b *board) *board {
	if len(b.pool.chunks) == 1 && b.pool.chunks[0].n == 1 {
		for i := range f.p.jobs {
			b.put(int32(i))
		}
	}
	return b
}

// known makes starts of a schedule that was given: itself, and the order of its starts
// inserted anew.
func (f *finder) known(s *sched.Schedule) {
	p := f.p
	starts, ends := make([]int64, len(p.jobs)), make([]int64, len(p.jobs))
	for i := range starts {
		starts[i] = math.MaxInt64
	}
	for i := range s.Segments {
		seg := &s.Segments[i]
		starts[seg.Job], ends[seg.Job] = min(starts[seg.Job], int64(seg.Start)), max(ends[seg.Job], int64(seg.End))
	}
	if cost := p.total(ends); f.given == nil || cost < f.given.cost {
		f.given = &start{name: "given", cost: cost, known: s}
	}
	if b, ok := f.asGiven(s, starts, ends); ok {
		f.offer(&start{name: "a given one", board: b, cost: p.total(b.end)})
		return
	}
	b := newBoard(p, f.times, p.spread)
	b.serial(p.sorted(func(i int32) float64 { return float64(starts[i]) }))
	f.offer(&start{name: "order of a given one", board: b, cost: p.total(b.end)})
}

// asGiven puts the jobs where they are in a schedule, and returns false if one would run
// longer there than it does: its stages are laid out better.
func (f *finder) asGiven(s *sched.Schedule, starts, ends []int64) (*board, bool) {
	p := f.p
	b := newBoard(p, f.times, p.spread)
	for i := range p.jobs {
		b.start[i], b.end[i] = starts[i], starts[i]+p.jobs[i].short
	}
	if p.spread {
		for k := range s.Segments {
			seg := &s.Segments[k]
			b.parts[seg.Job] = b.parts[seg.Job][:0]
			for _, sh := range seg.Place.Shares {
				b.parts[seg.Job] = append(b.parts[seg.Job], part{int32(sh.Server), int32(sh.GPUs)})
			}
		}
		for i := range p.jobs {
			if p.jobs[i].sensitive {
				d, ok := f.times.of(int32(i), b.parts[i])
				if !ok {
					return nil, false
				}
				b.end[i] = b.start[i] + d
			}
		}
	}
	for i := range p.jobs {
		if b.end[i] > ends[i] || b.start[i]%p.slot != 0 {
			return nil, false
		}
		b.put(int32(i))
	}
	return b, true
}

// round is some searches that begin from one schedule, each with so many moves.
type round struct {
	searches, moves int
	core            bool // they begin with the jobs that hold most alone
}

// rounds returns the rounds of an effort. What a search finds hangs on its first moves,
// so that the first round has many short ones.
func (f *finder) rounds() []round {
	e := min(max(1, f.o.Effort), MaxEffort)
	moves := 40_000
	for range e - 1 {
		moves *= 3
	}
	if f.o.Moves > 0 {
		moves = f.o.Moves
	}
	if len(f.p.jobs) >= coreFrom && !f.p.spread && f.p.unit == 0 {
		each := min(moves/4*3, coreMoves)
		if e == 1 {
			return []round{{2, each, true}, {1, each, true}}
		}
		again := 2
		for range e - 2 {
			again *= 3
		}
		return append(slices.Repeat([]round{{8, each, true}}, again), round{1, each, false})
	}
	if e == 1 {
		return []round{{4, moves / 8, false}, {1, moves - moves/8*4, false}}
	}
	return []round{{8, moves / 8, false}, {2, moves / 2, false}, {2, moves, false}}
}

// heat is the first threshold, in tenths of the mean wait: three up to 500 jobs, and
// little for thousands.
func heat(n int) float64 {
	x := min(1, 500/float64(n))
	return 3 * x * x
}

// improve searches from the best start, with several seeds, and then from the best of
// what they found.
func (f *finder) improve(ctx context.Context) (*Result, error) {
	from, h := f.best, heat(len(f.p.jobs))
	for n, r := range f.rounds() {
		if ctx.Err() != nil {
			break
		}
		ends, made, work := make([]*search, r.searches), make([]int, r.searches), make([]int64, r.searches)
		begun := from.board
		f.parallel(r.searches, func(k int) {
			if r.core {
				ends[k], work[k], made[k] = f.searchCore(ctx, begun, coreJobs, f.o.Seed*4096+uint64(8*n+k), r.moves)
			} else {
				s := newSearch(f.copyOf(begun), f.o.Seed*64+uint64(8*n+k))
				made[k] = s.run(ctx, r.moves, h/float64(1+n*n))
				ends[k], work[k] = s, s.work()
			}
			f.tell(ends[k].cost)
		})
		for k, s := range ends {
			f.result.Moves += made[k]
			f.result.Work += work[k]
			if s.cost < from.cost {
				from = &start{name: from.name, board: s.board, cost: s.cost}
			}
		}
	}
	f.result.From, f.result.Interrupted = from.name, ctx.Err() != nil
	s, err := from.board.schedule()
	if f.given != nil && (f.given.cost <= from.cost || err != nil) {
		f.result.From, f.result.Schedule = f.given.name, f.given.known
		return &f.result, nil
	}
	f.result.Schedule = s
	return &f.result, err
}

// parallel calls f for 0 to n−1, on as many workers as there may be. If one panics, so
// does parallel, where the caller can recover.
func (f *finder) parallel(n int, call func(k int)) {
	next := make(chan int)
	var running sync.WaitGroup
	panics := make([]any, n)
	guarded := func(k int) {
		defer func() { panics[k] = recover() }()
		call(k)
	}
	for range min(n, max(1, f.o.Workers)) {
		running.Go(func() {
			for k := range next {
				guarded(k)
			}
		})
	}
	for k := range n {
		next <- k
	}
	close(next)
	running.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}

// copyOf returns another board with the same jobs on it.
func (f *finder) copyOf(b *board) *board {
	c := newBoard(f.p, f.times, f.p.spread)
	copy(c.start, b.start)
	copy(c.end, b.end)
	for i := range b.parts {
		c.parts[i] = slices.Clone(b.parts[i])
	}
	for i := range f.p.jobs {
		c.put(int32(i))
	}
	return c
}
