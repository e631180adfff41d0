package certify

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"yardstick/sched"
)

// Schedules of elastic jobs that keep what they start with (Es). A job chooses a
// configuration, whose parameter servers are on one host, and as few as its workers
// elsewhere need; anything else takes more and ends no sooner. It suffices that a job
// starts at its release, or when something has just ended on one of its servers:
// otherwise it could start earlier on the same ones. Servers of equal capacity on
// which as much is used until the same times are alike.

// elasticServer is a server, and what runs there.
type elasticServer struct {
	free, before []int64 // by resource; before: what was free until now
	busy         []usage
}

// usage is resources that are held until some slot.
type usage struct {
	end  int64
	take []int64
}

type elasticJob struct {
	release  int64
	configs  []slottedConfig
	shortest int64
	least    []int64 // of each resource and all slots, in any configuration
	ring     bool
	twin     int
}

type elasticSearch struct {
	*target
	c       *Checker
	jobs    []elasticJob
	total   []int64 // capacity by resource
	servers []elasticServer
	pool    pool
	nodes   int
	known   memo
	order   [][]int // of each resource, jobs by falling weight per volume
	err     error
}

func (c *Checker) searchElastic(d *document, t *target) error {
	s := &elasticSearch{target: t, c: c, known: memo{}, total: make([]int64, len(c.in.Elastic.Resources))}
	for h := range c.in.Cluster.Servers {
		capacity := c.in.Cluster.Servers[h].Capacity
		s.servers = append(s.servers, elasticServer{free: slices.Clone(capacity), before: make([]int64, len(capacity))})
		for r, v := range capacity {
			s.total[r] = add(s.total[r], v)
		}
	}
	if s.goal == lostWeight && s.deadline > 1<<20 {
		return tooHard("%d slots before the deadline are too many to search", s.deadline)
	}
	for i := range c.in.Jobs {
		if err := s.newJob(i); err != nil {
			return err
		}
	}
	for r := range s.total {
		order := make([]int, len(s.jobs))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { // w_a/v_a against w_b/v_b
			left := new(big.Int).Mul(big.NewInt(s.weight[b]), big.NewInt(s.jobs[a].least[r]))
			return left.Cmp(new(big.Int).Mul(big.NewInt(s.weight[a]), big.NewInt(s.jobs[b].least[r])))
		})
		s.order = append(s.order, order)
	}
	now := s.jobs[0].release
	for _, j := range s.jobs {
		now = min(now, j.release)
	}
	s.at(now, firsts(len(s.jobs)), 0)
	return s.err
}

func (s *elasticSearch) newJob(i int) error {
	x := &s.c.in.Jobs[i]
	j := elasticJob{release: int64(s.c.nextSlot(x.Release) / s.c.in.Slot), configs: s.best(s.c.undominated(x), x.Elastic.Ring), shortest: math.MaxInt64, ring: x.Elastic.Ring, twin: -1}
	if len(j.configs) == 0 && s.goal != lostWeight {
		return tooHard("job %d runs nowhere", i)
	}
	j.least = make([]int64, len(s.total))
	for r := range j.least {
		j.least[r] = math.MaxInt64 >> 8
	}
	if len(j.configs) == 0 { // it is never done
		j.shortest = int64(sched.MaxTime)
		clear(j.least)
	}
	for _, k := range j.configs {
		j.shortest = min(j.shortest, k.slots)
		for r := range j.least {
			v := new(big.Int).Mul(big.NewInt(s.c.in.Elastic.Workers[k.m].Demand[r]), big.NewInt(int64(k.n)))
			if !j.ring {
				v.Add(v, big.NewInt(s.c.in.Elastic.Servers[k.p].Demand[r]))
			}
			if v.Mul(v, big.NewInt(k.slots)); v.BitLen() > 55 || s.total[r] > 1<<40 {
				return tooHard("resource %d is counted in units too small to search", r)
			}
			j.least[r] = min(j.least[r], small(v))
		}
	}
	for k := range i {
		o := &s.jobs[k]
		if o.release == j.release && o.ring == j.ring && s.weight[k] == s.weight[i] &&
			slices.EqualFunc(o.configs, j.configs, func(a, b slottedConfig) bool {
				return a.m == b.m && a.p == b.p && a.n == b.n && a.one == b.one && a.slots == b.slots
			}) {
			j.twin = k
		}
	}
	s.jobs = append(s.jobs, j)
	return nil
}

// best leaves out configurations that another one can replace on the same servers:
// it takes no more slots and workers, these and its parameter servers need no more
// of any resource, and it needs no more parameter servers for as many workers.
func (s *elasticSearch) best(list []slottedConfig, ring bool) []slottedConfig {
	bw, workers, servers := s.c.in.Elastic.Bandwidth, s.c.in.Elastic.Workers, s.c.in.Elastic.Servers
	replaces := func(y, x *slottedConfig) bool {
		if y.one != x.one || y.slots > x.slots || y.n > x.n || !fits(workers[y.m].Demand, workers[x.m].Demand) {
			return false
		}
		if ring {
			return true
		}
		b, most, b2, most2 := workers[y.m].Demand[bw], servers[y.p].Demand[bw], workers[x.m].Demand[bw], servers[x.p].Demand[bw]
		ratio := new(big.Int).Mul(big.NewInt(b), big.NewInt(most2)) // b/most ≤ b2/most2
		return fits(servers[y.p].Demand, servers[x.p].Demand) && ratio.Cmp(new(big.Int).Mul(big.NewInt(b2), big.NewInt(most))) <= 0
	}
	var out []slottedConfig
	for i := range list {
		replaced := false
		for k := range list {
			replaced = replaced || k != i && replaces(&list[k], &list[i]) && (k < i || !replaces(&list[i], &list[k]))
		}
		if !replaced {
			out = append(out, list[i])
		}
	}
	return out
}

// at decides what starts at a slot at whose beginning everything that ends has been
// freed.
func (s *elasticSearch) at(now int64, waiting set, cost int64) {
	if s.err != nil {
		return
	}
	if s.nodes++; s.nodes > searchNodes {
		s.err = tooHard("the search takes more than %d nodes", searchNodes)
		return
	}
	if s.goal == lostWeight {
		waiting, cost = s.lose(now, waiting, cost)
	}
	if waiting == 0 {
		if cost <= s.most {
			s.err = s.cheaper()
		}
		return
	}
	if s.hopeless(now, waiting, cost) || s.seen(now, waiting, cost) {
		return
	}
	s.choose(now, 0, waiting, cost)
}

// lose gives up the jobs that cannot be done by the deadline any more.
func (s *elasticSearch) lose(now int64, waiting set, cost int64) (set, int64) {
	for i := range s.jobs {
		if j := &s.jobs[i]; waiting.has(i) && add(max(now, j.release), j.shortest) > s.deadline {
			waiting = waiting.without(i)
			cost = add(cost, s.weight[i])
		}
	}
	return waiting, cost
}

// hopeless reports whether no schedule from here on can reach the target: for each
// resource, the work that waits is done by all that is free of it.
func (s *elasticSearch) hopeless(now int64, waiting set, cost int64) bool {
	if s.goal == lostWeight {
		return s.lost(now, waiting, cost) > s.most
	}
	var list [searchJobs]need
	for r, capacity := range s.total {
		n := 0
		for i := range s.jobs {
			if waiting.has(i) {
				list[n] = need{i, s.jobs[i].release, s.jobs[i].shortest, s.jobs[i].least[r], 0}
				n++
			}
		}
		var held []hold
		for h := range s.servers {
			for _, u := range s.servers[h].busy {
				held = append(held, hold{u.end, u.take[r]})
			}
		}
		if capacity == 0 {
			continue
		}
		if s.pool.reset(now, capacity, held); s.pool.least(s.target, cost, now, list[:n]) > s.most {
			return true
		}
	}
	return false
}

// lost returns a lower bound on the weight that is lost: of each resource, what
// waits has what is free until the deadline, and takes it by weight per volume.
func (s *elasticSearch) lost(now int64, waiting set, cost int64) int64 {
	most := cost
	for r, capacity := range s.total {
		free := mul(capacity, max(0, sub(s.deadline, now)))
		for h := range s.servers {
			for _, u := range s.servers[h].busy {
				free = sub(free, mul(u.take[r], max(0, sub(min(u.end, s.deadline), now))))
			}
		}
		lost := cost
		for _, i := range s.order[r] {
			if !waiting.has(i) {
				continue
			}
			w, volume := s.weight[i], s.jobs[i].least[r]
			switch {
			case add(max(now, s.jobs[i].release), s.jobs[i].shortest) > s.deadline:
				lost = add(lost, w)
			case volume <= free:
				free = sub(free, volume)
			default: // a part of it
				lost = add(lost, fraction(w, sub(volume, free), volume))
				free = 0
			}
		}
		most = max(most, lost)
	}
	return most
}

func (s *elasticSearch) seen(now int64, waiting set, cost int64) bool {
	key := binary.AppendVarint(binary.AppendUvarint(nil, uint64(waiting)), now)
	keys := make([]string, len(s.servers))
	for h := range keys {
		keys[h] = s.serverKey(h)
	}
	slices.Sort(keys)
	for _, k := range keys {
		key = append(binary.AppendUvarint(key, uint64(len(k))), k...)
	}
	return s.known.seen(key, cost)
}

// serverKey tells servers apart that differ in any way that matters.
func (s *elasticSearch) serverKey(h int) string {
	var key []byte
	for _, list := range [][]int64{s.c.in.Cluster.Servers[h].Capacity, s.servers[h].before} {
		for _, v := range list {
			key = binary.AppendVarint(key, v)
		}
	}
	for _, u := range s.servers[h].busy {
		key = binary.AppendVarint(key, u.end)
		for _, v := range u.take {
			key = binary.AppendVarint(key, v)
		}
	}
	return string(key)
}

// choose decides about the jobs from i on.
func (s *elasticSearch) choose(now int64, i int, waiting set, cost int64) {
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
	if j.twin < 0 || !waiting.has(j.twin) {
		keys := make([]string, len(s.servers))
		for h := range keys {
			keys[h] = s.serverKey(h)
		}
		for k := range j.configs {
			end := add(now, j.configs[k].slots)
			next := s.with(cost, i, end)
			if next <= s.most && (s.goal != lostWeight || end <= s.deadline) && !s.hopeless(now, waiting.without(i), next) {
				s.place(now, i, &j.configs[k], keys, waiting.without(i), next)
			}
		}
	}
	s.choose(now, i+1, waiting, cost)
}

// place puts a configuration on the servers, which keys tell apart, in every way
// that matters, and goes on.
func (s *elasticSearch) place(now int64, i int, k *slottedConfig, keys []string, waiting set, cost int64) {
	if s.jobs[i].ring {
		s.spread(now, i, k, -1, 0, keys, waiting, cost)
		return
	}
	for h := range s.servers {
		if slices.Contains(keys[:h], keys[h]) {
			continue // a host that is alike was tried
		}
		least := 0
		if k.one {
			least = k.n
		}
		for g := least; g <= k.n; g++ {
			if !k.one && g == k.n {
				continue // all on one server, at the pace of several
			}
			take := s.containers(k, g, s.c.servers(k.m, k.p, k.n-g))
			if fits(take, s.servers[h].free) {
				s.spread(now, i, k, h, g, keys, waiting, cost)
			}
		}
	}
}

// containers returns what so many workers and parameter servers take.
func (s *elasticSearch) containers(k *slottedConfig, workers int, servers int64) []int64 {
	out := make([]int64, len(s.total))
	for r := range out {
		out[r] = mul(s.c.in.Elastic.Workers[k.m].Demand[r], int64(workers))
		if servers > 0 {
			out[r] = add(out[r], mul(s.c.in.Elastic.Servers[k.p].Demand[r], servers))
		}
	}
	return out
}

func fits(take, free []int64) bool {
	for r, v := range take {
		if v > free[r] {
			return false
		}
	}
	return true
}

// spread puts the workers that are not on the host on the other servers.
func (s *elasticSearch) spread(now int64, i int, k *slottedConfig, host, own int, keys []string, waiting set, cost int64) {
	on := make([]int, len(s.servers))
	if host >= 0 {
		on[host] = own
	}
	var extend func(h, left int)
	extend = func(h, left int) {
		if s.err != nil {
			return
		}
		if h == len(on) {
			if left == 0 {
				s.start(now, i, k, host, on, waiting, cost)
			}
			return
		}
		if h == host {
			extend(h+1, left)
			return
		}
		most := left
		for o := range h { // servers that are alike take in falling order
			if o != host && keys[o] == keys[h] {
				most = min(most, on[o])
			}
		}
		for x := 0; x <= most; x++ {
			if x > 0 && !fits(s.containers(k, x, 0), s.servers[h].free) {
				break
			}
			if k.one && x > 0 && x < k.n { // a ring on one server
				continue
			}
			on[h] = x
			extend(h+1, left-x)
		}
		on[h] = 0
	}
	extend(0, k.n-own)
}

// start starts a job, goes on, and undoes that.
func (s *elasticSearch) start(now int64, i int, k *slottedConfig, host int, on []int, waiting set, cost int64) {
	fresh := s.jobs[i].release == now
	takes := make([][]int64, len(on))
	for h, x := range on {
		switch {
		case h == host:
			takes[h] = s.containers(k, x, s.c.servers(k.m, k.p, k.n-x))
		case x > 0:
			takes[h] = s.containers(k, x, 0)
		default:
			continue
		}
		fresh = fresh || !fits(takes[h], s.servers[h].before)
	}
	if !fresh {
		return
	}
	saved := make([]elasticServer, len(s.servers))
	copy(saved, s.servers)
	for h, take := range takes {
		if take == nil {
			continue
		}
		v := &s.servers[h]
		v.free = slices.Clone(v.free)
		for r, x := range take {
			v.free[r] = sub(v.free[r], x)
		}
		v.busy = append(slices.Clone(v.busy), usage{add(now, k.slots), take})
		slices.SortFunc(v.busy, func(a, b usage) int {
			if a.end != b.end {
				return sign(a.end, b.end)
			}
			return slices.Compare(a.take, b.take)
		})
	}
	if !s.hopeless(now, waiting, cost) {
		s.choose(now, i+1, waiting, cost)
	}
	copy(s.servers, saved)
}

// advance goes on to the next end or release.
func (s *elasticSearch) advance(now int64, waiting set, cost int64) {
	next := int64(math.MaxInt64)
	for i := range s.jobs {
		if waiting.has(i) && s.jobs[i].release > now {
			next = min(next, s.jobs[i].release)
		}
	}
	for h := range s.servers {
		if len(s.servers[h].busy) > 0 {
			next = min(next, s.servers[h].busy[0].end)
		}
	}
	if next == math.MaxInt64 && waiting != 0 {
		if s.goal == lostWeight { // what waits is given up
			s.at(s.deadline, waiting, cost)
		}
		return
	}
	saved := make([]elasticServer, len(s.servers))
	copy(saved, s.servers)
	for h := range s.servers {
		v := &s.servers[h]
		v.before = v.free
		v.free = slices.Clone(v.free)
		n := 0
		for n < len(v.busy) && v.busy[n].end <= next {
			for r, x := range v.busy[n].take {
				v.free[r] = add(v.free[r], x)
			}
			n++
		}
		v.busy = v.busy[n:]
	}
	s.at(next, waiting, cost)
	copy(s.servers, saved)
}
