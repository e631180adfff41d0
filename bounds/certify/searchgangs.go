package certify

import (
	"encoding/binary"
	"math"
	"slices"

	"yardstick/sched"
)

// Schedules of exclusive gangs that are never preempted (N). It suffices to look
// at those in which no job could start earlier on the GPUs that it has: moving it
// there delays nobody. So each job starts at its release, or when one of its GPUs
// has just fallen free. The search goes through these moments in order of time,
// and at each decides which of the waiting jobs start, and on which servers. A
// server's GPUs are alike, and so are servers of one size with the same GPUs in
// use until the same times.
//
// Where no job's speed depends on its place, all GPUs count as one server.

// gangJob is a job that the search has to place.
type gangJob struct {
	need
	job   *sched.Job
	gang  int // GPUs
	load  int64
	fixed bool // it runs as long everywhere
	twin  int  // an earlier job that differs in nothing, or −1
}

// gangServer is a server, and what runs there.
type gangServer struct {
	gpus, free int
	before     int    // GPUs free just before now, that could have been used
	busy       []hold // in order of end
}

type gangSearch struct {
	*target
	c       *Checker
	jobs    []gangJob
	slot    int64 // starts and ends are multiples of it, unless 0
	gpus    int64
	servers []gangServer
	pool    pool
	nodes   int
	known   memo
	key     []byte
	held    []hold
	runs    map[string]int64 // of a job on parts; −1 if it cannot run there
	err     error
}

func (c *Checker) searchGangs(d *document, t *target) error {
	jobs, err := c.gangs(nil)
	if err != nil {
		return err
	}
	s := &gangSearch{target: t, c: c, gpus: int64(c.in.Cluster.GPUs()), known: memo{}, runs: map[string]int64{}}
	const most = 1000
	if s.gpus > most {
		return tooHard("%d GPUs are too many to search", s.gpus)
	}
	if d.Class.Slotted {
		if s.slot = int64(c.in.Slot); s.slot == 0 {
			return refuted("the instance has no slots")
		}
	}
	pooled := true
	for i := range jobs {
		j := &c.in.Jobs[i]
		g := gangJob{job: j, gang: j.Gang(), load: int64(j.Load), twin: -1,
			fixed: len(c.in.Cluster.Servers) == 1 || plain(j) && !sliced(j)}
		g.need = need{job: i, release: s.round(int64(jobs[i].release)), length: s.round(int64(jobs[i].length)), gang: int64(g.gang)}
		g.work = mul(g.length, g.need.gang)
		pooled = pooled && g.fixed
		for k := range i {
			o := &s.jobs[k]
			if o.release == g.release && o.load == g.load && j.Iters == o.job.Iters && t.weight[k] == t.weight[i] && kind(j) == kind(o.job) {
				g.twin = k
			}
		}
		s.jobs = append(s.jobs, g)
	}
	for _, m := range c.in.Cluster.Servers {
		s.servers = append(s.servers, gangServer{gpus: m.GPUs, free: m.GPUs})
	}
	if pooled {
		s.servers = []gangServer{{gpus: int(s.gpus), free: int(s.gpus)}}
	}
	all := firsts(len(jobs))
	s.at(s.first(all), all, 0)
	return s.err
}

// sliced reports whether the job has replicas of several GPUs, which must find them
// on one server.
func sliced(j *sched.Job) bool {
	return slices.ContainsFunc(j.Stages, func(st sched.Stage) bool { return st.Slices > 1 })
}

func (s *gangSearch) round(t int64) int64 {
	if s.slot > 0 {
		return mul(up(t, s.slot), s.slot)
	}
	return t
}

// first returns the earliest release of the jobs that wait.
func (s *gangSearch) first(waiting set) int64 {
	first := int64(math.MaxInt64)
	for i := range s.jobs {
		if waiting.has(i) {
			first = min(first, s.jobs[i].release)
		}
	}
	return first
}

// at decides what starts at a moment at which everything that ends has been freed.
func (s *gangSearch) at(now int64, waiting set, cost int64) {
	if s.err != nil {
		return
	}
	if s.nodes++; s.nodes > searchNodes {
		s.err = tooHard("the search takes more than %d nodes", searchNodes)
		return
	}
	if waiting == 0 {
		if cost <= s.most {
			s.err = s.cheaper()
		}
		return
	}
	if s.hopeless(now, waiting, cost, hold{}) || s.seen(now, waiting, cost) {
		return
	}
	s.choose(now, 0, waiting, cost)
}

// hopeless reports whether no schedule from here on can reach the target, if one
// more job runs.
func (s *gangSearch) hopeless(now int64, waiting set, cost int64, more hold) bool {
	s.held = append(s.held[:0], more)
	for m := range s.servers {
		s.held = append(s.held, s.servers[m].busy...)
	}
	s.pool.reset(now, s.gpus, s.held)
	var list [searchJobs]need
	n := 0
	for i := range s.jobs {
		if waiting.has(i) {
			list[n] = s.jobs[i].need
			n++
		}
	}
	return s.pool.least(s.target, cost, now, list[:n]) > s.most
}

// seen reports whether the same situation has been searched at no higher cost.
func (s *gangSearch) seen(now int64, waiting set, cost int64) bool {
	s.key = binary.AppendVarint(binary.AppendUvarint(s.key[:0], uint64(waiting)), now)
	keys := make([]string, len(s.servers))
	for m := range s.servers {
		keys[m] = s.serverKey(m)
	}
	slices.Sort(keys)
	for _, k := range keys {
		s.key = append(binary.AppendUvarint(s.key, uint64(len(k))), k...)
	}
	return s.known.seen(s.key, cost)
}

// serverKey tells servers apart that differ in any way that matters.
func (s *gangSearch) serverKey(m int) string {
	v := &s.servers[m]
	key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(v.gpus)), uint64(v.before))
	for _, h := range v.busy {
		key = binary.AppendVarint(binary.AppendUvarint(key, uint64(h.gpus)), h.end)
	}
	return string(key)
}

// choose decides about the jobs from i on.
func (s *gangSearch) choose(now int64, i int, waiting set, cost int64) {
	for i < len(s.jobs) && (!waiting.has(i) || s.jobs[i].release > now) {
		i++
	}
	if s.err != nil {
		return
	}
	if i == len(s.jobs) {
		s.advance(now, waiting, cost)
		return
	}
	j := &s.jobs[i]
	if j.twin < 0 || !waiting.has(j.twin) { // of twins, the first starts first
		s.place(now, i, waiting.without(i), cost)
	}
	s.choose(now, i+1, waiting, cost)
}

// place puts a job on the free GPUs in every way that matters, and goes on with
// the others that wait.
func (s *gangSearch) place(now int64, i int, waiting set, cost int64) {
	j := &s.jobs[i]
	like := make([]int, len(s.servers)) // an earlier server that is alike, or −1
	for m := range like {
		like[m] = -1
		for k := range m {
			if s.alike(k, m) {
				like[m] = k
			}
		}
	}
	take := make([]int, len(s.servers))
	var extend func(m, left int, fresh bool)
	extend = func(m, left int, fresh bool) {
		if s.err != nil {
			return
		}
		if left == 0 || m == len(take) {
			if left == 0 && (fresh || j.release == now) {
				s.start(now, i, take, waiting, cost)
			}
			return
		}
		most := min(left, s.servers[m].free)
		if k := like[m]; k >= 0 { // servers that are alike take in falling order
			most = min(most, take[k])
		}
		for x := most; x >= 0; x-- {
			take[m] = x
			extend(m+1, left-x, fresh || x > s.servers[m].before)
		}
		take[m] = 0
	}
	extend(0, j.gang, false)
}

// alike reports whether two servers differ in nothing that matters.
func (s *gangSearch) alike(a, b int) bool {
	x, y := &s.servers[a], &s.servers[b]
	return x.gpus == y.gpus && x.before == y.before && slices.Equal(x.busy, y.busy)
}

// start starts a job on the GPUs taken, goes on, and undoes that.
func (s *gangSearch) start(now int64, i int, take []int, waiting set, cost int64) {
	length := s.length(i, take)
	if length < 0 || s.err != nil {
		return
	}
	end := add(now, length)
	cost = s.with(cost, i, end)
	if cost > s.most || s.hopeless(now, waiting, cost, hold{end, int64(s.jobs[i].gang)}) {
		return
	}
	for m, x := range take {
		if x > 0 {
			v := &s.servers[m]
			v.free -= x
			v.busy = append(slices.Clone(v.busy), hold{end, int64(x)})
			slices.SortFunc(v.busy, func(a, b hold) int {
				if a.end != b.end {
					return sign(a.end, b.end)
				}
				return sign(a.gpus, b.gpus)
			})
		}
	}
	took := slices.Clone(take)
	s.choose(now, i+1, waiting, cost)
	for m, x := range took {
		if x > 0 {
			v := &s.servers[m]
			v.free += x
			at := slices.Index(v.busy, hold{end, int64(x)})
			v.busy = slices.Delete(slices.Clone(v.busy), at, at+1)
		}
	}
}

// length returns how long a job runs on the GPUs taken, or −1.
func (s *gangSearch) length(i int, take []int) int64 {
	j := &s.jobs[i]
	if j.fixed {
		return j.need.length
	}
	s.key = binary.AppendUvarint(s.key[:0], uint64(i))
	for m, x := range take {
		if x > 0 {
			s.key = binary.AppendUvarint(binary.AppendUvarint(s.key, uint64(s.servers[m].gpus)), uint64(x))
		}
	}
	length, ok := s.runs[string(s.key)]
	if !ok {
		key := string(s.key)
		var on []part
		for m, x := range take {
			if x > 0 {
				on = append(on, part{s.servers[m].gpus, x})
			}
		}
		length = -1
		t, fits, err := s.c.times.training(j.job, on)
		if err != nil {
			s.err = err
		}
		if fits {
			if t > sched.MaxTime { // there it may run for any time
				s.err = tooHard("job %d would run for more than %v on some servers", i, sched.MaxTime)
			}
			length = s.round(add(j.load, int64(t)))
		}
		s.runs[key] = length
	}
	return length
}

// advance goes on to the next moment: the next end or release.
func (s *gangSearch) advance(now int64, waiting set, cost int64) {
	next := int64(math.MaxInt64)
	for i := range s.jobs {
		if waiting.has(i) && s.jobs[i].release > now {
			next = min(next, s.jobs[i].release)
		}
	}
	for m := range s.servers {
		if len(s.servers[m].busy) > 0 {
			next = min(next, s.servers[m].busy[0].end)
		}
	}
	if next == math.MaxInt64 && waiting != 0 {
		return // everything waits for nothing
	}
	saved := slices.Clone(s.servers)
	for m := range s.servers {
		v := &s.servers[m]
		v.before = v.free
		n := 0
		for n < len(v.busy) && v.busy[n].end <= next {
			v.free += int(v.busy[n].gpus)
			n++
		}
		v.busy = v.busy[n:]
	}
	s.at(next, waiting, cost)
	copy(s.servers, saved)
}
