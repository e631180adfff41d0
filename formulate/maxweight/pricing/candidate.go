package pricing

import (
	"math"
	"slices"

	"yardstick/sched"
)

// candidate is one configuration in one window of slots. Its slices belong to the market,
// which has one open at a time. They are by group.
type candidate struct {
	mk     *Market
	c      *sched.ElasticConfig
	ring   bool
	a, b   int64 // slots, clipped to those that have prices
	limits *Limits
	e, z   []int64

	cost   []int64 // A, of a worker
	spare  []int   // workers that a server holds beyond the least it must
	before []int   // places cheaper than, or listed before, those of the group
	order  []int   // groups with spare places, the cheapest first
	places []int64 // F(k): the workers that must be somewhere, and the k cheapest places
	total  int     // places
	must   int     // workers that the limits put on servers
}

// open returns the market's candidate.
func (mk *Market) open(c *sched.ElasticConfig, ring bool, start int64, limits *Limits) *candidate {
	w := &mk.scratch
	w.c, w.ring, w.limits = c, ring, limits
	w.a, w.b = min(start, mk.slots), min(start+c.Slots, mk.slots)
	w.e, w.z = mk.model.In.Elastic.Workers[c.WorkerType].Demand, nil
	if !ring {
		w.z = mk.model.In.Elastic.Servers[c.ServerType].Demand
	}
	return w
}

// cheapest returns the least cost of a placement, and the group of the server
// that hosts the parameter servers, or everything, with the workers there. In a
// ring that is apart there is no host. It may return false if the least cost
// exceeds most. Parameter servers cost at least the given amount.
func (w *candidate) cheapest(most, servers int64) (cost int64, host, beside int, ok bool) {
	if w.c.OneServer {
		return w.together()
	}
	if !w.fits() || !w.spread(most, servers) {
		return 0, 0, 0, false
	}
	n := w.c.Workers - w.must
	if w.ring {
		if n < 0 || n > w.total {
			return 0, 0, 0, false
		}
		return w.places[n], -1, 0, true
	}
	if n < 0 || n > w.total || w.places[n] > most {
		return 0, 0, 0, false
	}
	cost = math.MaxInt64
	for k := range w.mk.groups {
		if c, g, found := w.hosted(k, min(most, cost)); found && c < cost {
			cost, host, beside, ok = c, k, g, true
		}
	}
	return cost, host, beside, ok
}

// together puts everything on one server.
func (w *candidate) together() (cost int64, host, beside int, ok bool) {
	n, cost := w.c.Workers, math.MaxInt64
	workers := &w.mk.workers[w.c.WorkerType]
	must := 0
	for k := range w.mk.groups {
		least, _ := w.box(k)
		must += least
	}
	for k := range w.mk.groups {
		least, most := w.box(k)
		if workers.sums[k] == nil || n < least || n > most || must > least || !w.mayHost(k) || w.holds(k, n) < n {
			continue
		}
		if w.ring {
			if c := int64(n) * workers.over(k, w.a, w.b); c < cost {
				cost, host, ok = c, k, true
			}
			continue
		}
		servers := &w.mk.servers[w.c.ServerType]
		if servers.sums[k] == nil || !w.holdsServers(k, n, 1) {
			continue
		}
		if c := int64(n)*workers.over(k, w.a, w.b) + servers.over(k, w.a, w.b); c < cost {
			cost, host, ok = c, k, true
		}
	}
	return cost, host, n, ok
}

// fits reports whether there is room for all workers somewhere. Without a room, or with
// limits, it says nothing.
func (w *candidate) fits() bool {
	if w.mk.free == nil || w.a >= w.b || w.limits != nil && (w.limits.Least != nil || w.limits.Most != nil) {
		return true
	}
	workers := &w.mk.workers[w.c.WorkerType]
	known := workers.reach[w.c.Workers]
	if known == nil {
		known = newReach(w.mk.slots)
		workers.reach[w.c.Workers] = known
	}
	switch {
	case w.b <= known.has[w.a]:
		return true
	case w.b >= known.lacks[w.a]:
		return false
	}
	left := w.c.Workers
	for k := 0; k < len(w.mk.groups) && left > 0; k++ {
		if workers.sums[k] != nil {
			left -= len(w.mk.groups[k]) * w.holds(k, left)
		}
	}
	known.note(w.a, w.b, left <= 0)
	return left <= 0
}

// spread lists the cheapest places of workers, at least two for each worker if there are
// as many, in so far as the whole may cost no more than most, of which parameter servers take
// the given amount. It returns false if it costs more, or what must be on a server does not
// fit there.
func (w *candidate) spread(most, servers int64) bool {
	workers := &w.mk.workers[w.c.WorkerType]
	n := w.c.Workers
	groups := len(w.mk.groups)
	w.cost, w.spare, w.before = resize(w.cost, groups), resize(w.spare, groups), resize(w.before, groups)
	w.order, w.total, w.must = w.order[:0], 0, 0
	least := int64(math.MaxInt64)
	for k, sum := range workers.sums {
		w.cost[k] = 0
		if sum != nil {
			w.cost[k] = sum[w.b] - sum[w.a]
			least = min(least, w.cost[k])
		}
	}
	base, bound := int64(0), int64(n)*least+servers
	for k := range w.mk.groups {
		must, _ := w.box(k)
		w.spare[k] = 0
		switch {
		case must > 0:
			if w.spare[k] = w.room(k) - must; w.spare[k] < 0 {
				return false
			}
			w.must += must
			base += int64(must) * w.cost[k]
		case workers.sums[k] == nil || w.cost[k]-least > most-bound: // one worker there is too dear
			continue
		default:
			w.spare[k] = unknown
		}
		w.order = append(w.order, k)
	}
	for i := len(w.order)/2 - 1; i >= 0; i-- {
		w.sift(i, len(w.order))
	}
	w.places = append(w.places[:0], base)
	open := len(w.order) // a heap; behind it, the groups that are listed, the last first
	for open > 0 && w.total < 2*n {
		k := w.order[0]
		// All that are still to be placed cost no less than one here.
		if left := n - w.must - w.total; left > 0 && w.cost[k] > (most-servers-w.places[w.total])/int64(left) {
			return false
		}
		open--
		w.order[0], w.order[open] = w.order[open], k
		w.sift(0, open)
		if w.spare[k] == unknown {
			w.spare[k] = w.room(k)
		}
		w.before[k] = w.total
		w.total += len(w.mk.groups[k]) * w.spare[k]
		for len(w.places) <= min(w.total, 2*n) {
			w.places = append(w.places, w.places[len(w.places)-1]+w.cost[k])
		}
	}
	w.order = w.order[open:]
	slices.Reverse(w.order)
	return true
}

// sift restores the heap of the first n groups of the order, the cheapest on top, below
// its i-th.
func (w *candidate) sift(i, n int) {
	before := func(j, k int) bool { return w.cost[j] < w.cost[k] || w.cost[j] == w.cost[k] && j < k }
	for {
		child := 2*i + 1
		if child >= n {
			return
		}
		if child+1 < n && before(w.order[child+1], w.order[child]) {
			child++
		}
		if !before(w.order[child], w.order[i]) {
			return
		}
		w.order[i], w.order[child] = w.order[child], w.order[i]
		i = child
	}
}

// dearest is more than any placement costs.
const dearest = 1 << 62

// unknown is the number of places of a group that are not listed, as others are cheaper.
const unknown = -1

// room returns how many workers a server of the group holds and the limits allow.
func (w *candidate) room(k int) int {
	if w.mk.workers[w.c.WorkerType].sums[k] == nil {
		return 0
	}
	_, most := w.box(k)
	return min(w.holds(k, w.c.Workers), most)
}

// hosted returns the least cost with the parameter servers on a server of the
// group, and the workers beside them. It may return false if that exceeds most.
func (w *candidate) hosted(k int, most int64) (cost int64, beside int, ok bool) {
	servers := &w.mk.servers[w.c.ServerType]
	if servers.sums[k] == nil || !w.mayHost(k) {
		return 0, 0, false
	}
	least, _ := w.box(k)
	z := servers.over(k, w.a, w.b)
	if w.places[w.c.Workers-w.must]+z > most { // any workers, and one parameter server
		return 0, 0, false
	}
	spare, late := w.spare[k], w.total // late: the first place that is not before those of the host
	switch {
	case spare == unknown:
		spare = w.room(k)
	case spare > 0:
		late = w.before[k] + (len(w.mk.groups[k])-1)*spare
	}
	cost = math.MaxInt64
	for g := least; g <= min(least+spare, w.c.Workers); g++ {
		rest := w.c.Workers - g - (w.must - least) // beyond what must be elsewhere
		if rest < 0 || rest > w.total-spare {
			continue
		}
		s := w.mk.model.In.ParameterServers(w.c.WorkerType, w.c.ServerType, w.c.Workers-g)
		if !w.holdsServers(k, g, int64(s)) {
			continue
		}
		c := w.places[min(rest, late)]
		if rest > late {
			c = w.places[rest+spare] - int64(spare)*w.cost[k]
		}
		c += int64(g-least)*w.cost[k] + int64(s)*z
		if c < cost {
			cost, beside, ok = c, g, true
		}
	}
	return cost, beside, ok
}

// place returns y for the result of cheapest.
func (w *candidate) place(host, beside int) []int {
	y := make([]int, len(w.mk.model.In.Cluster.Servers))
	if w.c.OneServer {
		y[w.mk.groups[host][0]] = w.c.Workers
		return y
	}
	w.spread(dearest, 0)
	first := -1
	left := w.c.Workers
	if host >= 0 {
		first = w.mk.groups[host][0]
	}
	for k, g := range w.mk.groups {
		least, _ := w.box(k)
		for _, h := range g {
			y[h] = least
			if h == first {
				y[h] = beside
			}
			left -= y[h]
		}
	}
	for _, k := range w.order {
		for _, h := range w.mk.groups[k] {
			if h != first {
				more := min(left, w.spare[k])
				y[h] += more
				left -= more
			}
		}
	}
	return y
}

// box returns the least and most workers that the limits allow on a server of
// the group; with limits each group is one server.
func (w *candidate) box(k int) (least, most int) {
	most = math.MaxInt
	if w.limits == nil {
		return 0, most
	}
	if w.limits.Least != nil {
		least = w.limits.Least[w.mk.groups[k][0]]
	}
	if w.limits.Most != nil {
		most = w.limits.Most[w.mk.groups[k][0]]
	}
	return least, most
}

func (w *candidate) mayHost(k int) bool {
	return w.ring || w.limits == nil || w.limits.Hosts == nil || w.limits.Hosts[w.mk.groups[k][0]]
}

// holds returns how many workers a server of the group holds, at most n.
func (w *candidate) holds(k, n int) int {
	if w.mk.free == nil {
		return int(min(int64(n), w.mk.workers[w.c.WorkerType].holds[k]))
	}
	for r, e := range w.e {
		if e > 0 {
			n = min(n, int(w.mk.left(k, r, w.a, w.b)/e))
		}
	}
	return n
}

// holdsServers reports whether a server of the group holds s parameter servers
// beside g workers, of which it has room for g.
func (w *candidate) holdsServers(k, g int, s int64) bool {
	for r, z := range w.z {
		if z > 0 && s > (w.mk.left(k, r, w.a, w.b)-int64(g)*w.e[r])/z {
			return false
		}
	}
	return true
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
