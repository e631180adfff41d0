// Package heavyedge places the replicas of one job on servers with given
// numbers of GPUs by the Heavy-Edge heuristic: each server in turn, the largest
// first, takes the heaviest edge of the job's communication graph and then,
// again and again, the replica with the heaviest edge to those already taken.
//
// The graph has a vertex per replica. Consecutive stages s, s+1 are joined
// completely with edges of weight w_s = 2 D_s/(k_s k_{s+1}); the replicas of a
// stage are joined by the edges of its AllReduce, a ring or a double binary
// tree, which share the volume A_s = 2 (k_s − 1)/k_s h_s.
//
// Source: section IV-B of the A-SRPT paper. Not in the source:
// ties go to the lowest vertex, stage by stage; where the paper takes a random
// vertex, the lowest is taken; and its rule for a server with one GPU is left
// out, because such servers come last and each then gets exactly one of the
// remaining replicas, so that neither cut nor iteration time depends on it.
package heavyedge

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"yardstick/sched"
)

// AllReduce is the shape in which the replicas of a stage synchronise.
type AllReduce uint8

// The shapes of AllReduce. Iteration times are the same under both; only the
// graph differs.
const (
	Ring AllReduce = iota
	Tree           // NCCL's double binary tree
)

// Part is a number of GPUs on one server.
type Part struct{ Server, GPUs int }

// Place puts the job's replicas on the parts, which must hold exactly the
// job's gang and lie on distinct servers.
//
// Cost: O(S) per change of stage, O(parts·S²) in all for Ring, where S is the
// number of stages; O(g log g + parts·g) for Tree, where g is the gang.
func Place(j *sched.Job, parts []Part, shape AllReduce) (sched.Placement, error) {
	total := 0
	for _, p := range parts {
		total += p.GPUs
	}
	if total != j.Gang() {
		return sched.Placement{}, fmt.Errorf("heavyedge: parts hold %d GPUs for a gang of %d", total, j.Gang())
	}
	order := slices.Clone(parts)
	slices.SortStableFunc(order, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.GPUs, a.GPUs), cmp.Compare(a.Server, b.Server))
	})
	order = slices.DeleteFunc(order, func(p Part) bool { return p.GPUs == 0 })
	var counts [][]int
	if shape == Ring {
		counts = ring(j.Stages, order)
	} else {
		counts = tree(j.Stages, order)
	}
	place := sched.Placement{Shares: make([]sched.Share, len(order))}
	for i, p := range order {
		place.Shares[i] = sched.Share{Server: p.Server, GPUs: p.GPUs, Stages: counts[i]}
	}
	slices.SortFunc(place.Shares, func(a, b sched.Share) int { return cmp.Compare(a.Server, b.Server) })
	return place, nil
}

// Consolidated returns the parts of a gang on the fewest servers of the empty
// cluster: the largest servers in full, the remainder on the next.
func Consolidated(c *sched.Cluster, gang int) []Part {
	order := make([]Part, len(c.Servers))
	for i := range order {
		order[i] = Part{i, c.Servers[i].GPUs}
	}
	slices.SortStableFunc(order, func(a, b Part) int { return cmp.Compare(b.GPUs, a.GPUs) })
	var parts []Part
	for _, p := range order {
		if take := min(p.GPUs, gang); take > 0 {
			parts = append(parts, Part{p.Server, take})
			gang -= take
		}
	}
	return parts
}

// AlphaTilde returns the per-iteration time, in seconds, of job id placed by
// Heavy-Edge on the fewest servers of the empty cluster: the paper's estimate
// of the least per-iteration time. It is not a lower bound on it: with the
// remainder alone on a server the true minimum can be several times less.
func AlphaTilde(in *sched.Instance, id sched.JobID, shape AllReduce) (*big.Rat, error) {
	j := &in.Jobs[id]
	place, err := Place(j, Consolidated(&in.Cluster, j.Gang()), shape)
	if err != nil {
		return nil, err
	}
	return in.IterTime(id, &place)
}

// weights holds the edge weights of a job's graph as ranks: equal weights have
// equal ranks and heavier ones have greater. The comparison is exact.
type weights struct {
	reduce []int // rank of A_s; 0 where a stage has nothing to synchronise
	half   []int // rank of A_s/2, an edge of one of the two trees
	next   []int // rank of w_s, stage s to s+1; len S−1
}

func rankWeights(stages []sched.Stage) weights {
	type edge struct {
		num, den uint64
		rank     *int
	}
	w := weights{make([]int, len(stages)), make([]int, len(stages)), make([]int, len(stages)-1)}
	var edges []edge
	for s := range stages {
		k := uint64(stages[s].Replicas)
		edges = append(edges,
			edge{2 * (k - 1) * uint64(stages[s].Params), k, &w.reduce[s]},
			edge{(k - 1) * uint64(stages[s].Params), k, &w.half[s]})
		if s+1 < len(stages) {
			edges = append(edges, edge{2 * uint64(stages[s].Boundary), k * uint64(stages[s+1].Replicas), &w.next[s]})
		}
	}
	compare := func(a, b edge) int {
		hiA, loA := bits.Mul64(a.num, b.den)
		hiB, loB := bits.Mul64(b.num, a.den)
		return cmp.Or(cmp.Compare(hiA, hiB), cmp.Compare(loA, loB))
	}
	slices.SortFunc(edges, compare)
	rank := 0
	for i, e := range edges {
		if i > 0 && compare(edges[i-1], e) < 0 {
			rank++
		}
		*e.rank = rank
	}
	return w
}

// none is the key of a replica without an edge to those taken. Edges of weight
// zero exist in the graph, so they rank above it.
const none = -1

// ring is Heavy-Edge in count space. With ties to the lowest vertex the
// replicas already placed are a prefix of each stage, so that numbers say all:
// left[s] replicas are unplaced and here[s] are on the current server.
func ring(stages []sched.Stage, parts []Part) [][]int {
	w := rankWeights(stages)
	left := make([]int, len(stages))
	for s := range stages {
		left[s] = stages[s].Replicas
	}
	counts := make([][]int, len(parts))
	for i, p := range parts {
		here := make([]int, len(stages))
		take := func(s, n int) {
			here[s] += n
			left[s] -= n
			p.GPUs -= n
		}
		if p.GPUs > 1 {
			if a, b := heaviestEdge(stages, w, left); a >= 0 {
				take(a, 1)
				take(b, 1)
			}
		}
		for p.GPUs > 0 {
			s := heaviestStage(stages, w, left, here)
			if here[s] > 0 { // its key, and every other, stays as it is until the stage runs out
				take(s, min(left[s], p.GPUs))
			} else {
				take(s, 1)
			}
		}
		counts[i] = here
	}
	return counts
}

// heaviestEdge returns the stages of the ends of the heaviest edge between
// unplaced replicas, or −1.
func heaviestEdge(stages []sched.Stage, w weights, left []int) (a, b int) {
	best := none
	a, b = -1, -1
	for s := range stages {
		if left[s] >= 2 && w.reduce[s] > best {
			best, a, b = w.reduce[s], s, s
		}
		if s+1 < len(stages) && left[s] >= 1 && left[s+1] >= 1 && w.next[s] > best {
			best, a, b = w.next[s], s, s+1
		}
	}
	return a, b
}

// heaviestStage returns the stage of the unplaced replica with the heaviest
// edge to the current server, or the first stage with any left.
func heaviestStage(stages []sched.Stage, w weights, left, here []int) int {
	best, stage := none-1, -1
	for s := range stages {
		if left[s] == 0 {
			continue
		}
		key := none
		if here[s] > 0 {
			key = w.reduce[s]
		}
		if s > 0 && here[s-1] > 0 {
			key = max(key, w.next[s-1])
		}
		if s+1 < len(stages) && here[s+1] > 0 {
			key = max(key, w.next[s])
		}
		if key > best {
			best, stage = key, s
		}
	}
	return stage
}
