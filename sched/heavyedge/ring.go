package heavyedge

import "yardstick/sched"

// ring is Heavy-Edge in count space, for stages that synchronise in rings. With
// ties to the lowest vertex the replicas already placed are a prefix of each
// stage, so that numbers say all: left[s] replicas are unplaced and here[s] are
// on the current server.
type ring struct {
	*graph
	left, here []int
	key        []int // rank of the heaviest edge from a replica of a stage to the current server
	room       int   // GPUs left there
	filling    *sched.Filling
}

// placeRing returns the numbers of replicas of each stage on each part.
func placeRing(g *graph, parts []Part, f *sched.Filling) [][]int {
	n := len(g.replicas)
	numbers := make([]int, (2+len(parts))*n)
	r := &ring{graph: g, left: numbers[:n], key: numbers[n : 2*n], filling: f}
	copy(r.left, g.replicas)
	counts := make([][]int, len(parts))
	for i, p := range parts {
		counts[i] = numbers[(2+i)*n : (3+i)*n : (3+i)*n]
		r.here, r.room = counts[i], p.GPUs
		for s := range r.key {
			r.key[s] = none
		}
		if i > 0 {
			f.Next()
		}
		r.fill()
	}
	return counts
}

func (r *ring) fill() {
	if r.room > 1 {
		r.seed()
	}
	for r.room > 0 {
		s, n := r.heaviestStage(), 1
		if r.here[s] > 0 { // its key, and every other, stays as it is until the stage runs out
			n = min(r.left[s], r.room/r.slices[s])
		}
		r.take(s, r.filling.Take(s, n))
	}
}

func (r *ring) take(s, n int) {
	if r.here[s] == 0 && n > 0 {
		r.key[s] = max(r.key[s], r.reduce[s])
		for _, l := range r.links[s] {
			r.key[l.stage] = max(r.key[l.stage], l.rank)
		}
	}
	r.here[s] += n
	r.left[s] -= n
	r.room -= n * r.slices[s]
}

// seed takes the ends of the heaviest edge between unplaced replicas, if there
// is one whose ends the server can take.
func (r *ring) seed() {
	for a, b := r.heaviestEdge(); a >= 0; a, b = r.heaviestEdge() {
		if r.filling.TakePair(a, b) {
			r.take(a, 1)
			r.take(b, 1)
			return
		}
	}
}

// heaviestEdge returns the stages of the ends of the heaviest edge between
// unplaced replicas that are not refused, or −1.
func (r *ring) heaviestEdge() (a, b int) {
	best := none
	a, b = -1, -1
	for s := range r.left {
		if r.left[s] == 0 {
			continue
		}
		if r.left[s] >= 2 && r.reduce[s] > best && !r.filling.RefusesPair(s, s) {
			best, a, b = r.reduce[s], s, s
		}
		for _, l := range r.links[s] {
			if l.stage > s && r.left[l.stage] > 0 && l.rank > best && !r.filling.RefusesPair(s, l.stage) {
				best, a, b = l.rank, s, l.stage
			}
		}
	}
	return a, b
}

// heaviestStage returns the stage of the unplaced replica with the heaviest
// edge to the current server, or the first stage with any left.
func (r *ring) heaviestStage() int {
	best, stage := none-1, -1
	for s, n := range r.left {
		if n > 0 && r.key[s] > best && !r.filling.Refuses(s) {
			best, stage = r.key[s], s
		}
	}
	return stage
}
