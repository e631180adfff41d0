// Package heavyedge places the replicas of one job on servers with given
// numbers of GPUs by the Heavy-Edge heuristic: each server in turn, the largest
// first, takes the heaviest edge of the job's communication graph and then,
// again and again, the replica with the heaviest edge to those already taken.
//
// The graph has a vertex per replica. Stages s, u that exchange data, in a chain
// consecutive ones, are joined completely with edges of weight
// w_su = 2 D_su/(k_s k_u); the replicas of a stage are joined by the edges of its
// AllReduce, a ring or a double binary tree, which share the volume
// A_s = 2 (k_s − 1)/k_s h_s.
//
// The slices of a replica are on one server: where the paper has a vertex per
// slice, they are drawn together here into one vertex, which takes as many of
// the server's GPUs as it has slices and keeps the sum of their edges. A vertex
// is only taken if whole replicas can still fill this server and those to come.
//
// Source: section IV-B of the A-SRPT paper, and its Section VI for slices and
// for experts, which are stages of a graph. Not in the source:
// ties go to the lowest vertex, stage by stage; where the paper takes a random
// vertex, the lowest is taken; and its rule for a server with one GPU is left
// out, because such servers come last and each then gets exactly one of the
// remaining replicas, so that neither cut nor iteration time depends on it.
package heavyedge

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
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

// ErrParts means that whole replicas cannot fill the parts: some would have
// slices on two servers.
var ErrParts = errors.New("whole replicas cannot fill the parts")

// Place puts the job's replicas on the parts, which must hold exactly the
// job's gang and lie on distinct servers.
//
// Cost: O(S) per change of stage, O(parts·S² + edges) in all for Ring, where S
// is the number of stages; O(g log g + g·S + parts·g) for Tree, where g is the
// gang. Slices add a packing of the parts to come, O(parts) where their numbers
// divide each other, for each part and distinct number.
//
// Errors: ErrParts.
func Place(j *sched.Job, parts []Part, shape AllReduce) (sched.Placement, error) {
	total := 0
	for _, p := range parts {
		total += p.GPUs
	}
	if total != j.Gang() {
		return sched.Placement{}, fmt.Errorf("heavyedge: parts hold %d GPUs for a gang of %d", total, j.Gang())
	}
	order := slices.Clone(parts)
	slices.SortFunc(order, func(a, b Part) int {
		if a.GPUs != b.GPUs {
			return b.GPUs - a.GPUs
		}
		return a.Server - b.Server
	})
	order = slices.DeleteFunc(order, func(p Part) bool { return p.GPUs == 0 })
	f, ok := filling(j, order)
	if !ok {
		return sched.Placement{}, fmt.Errorf("heavyedge: %w: %v", ErrParts, parts)
	}
	var counts [][]int
	if g := newGraph(j, shape); shape == Ring {
		counts = placeRing(g, order, f)
	} else {
		counts = placeTree(g, order, f)
	}
	ascending := make([]int, len(order))
	for i := range ascending {
		ascending[i] = i
	}
	slices.SortFunc(ascending, func(a, b int) int { return order[a].Server - order[b].Server })
	place := sched.Placement{Shares: make([]sched.Share, len(order))}
	for i, n := range ascending {
		place.Shares[i] = sched.Share{Server: order[n].Server, GPUs: order[n].GPUs, Stages: counts[n]}
	}
	return place, nil
}

// filling begins to fill the parts; it is nil for a job without slices.
func filling(j *sched.Job, parts []Part) (*sched.Filling, bool) {
	if !j.Sliced() {
		return nil, true
	}
	room := make([]int, len(parts))
	for i, p := range parts {
		room[i] = p.GPUs
	}
	return sched.NewFilling(j, room)
}

// Consolidated returns the parts of a gang on the fewest servers of the empty
// cluster: the largest servers in full, the remainder on the next.
func Consolidated(c *sched.Cluster, gang int) []Part {
	var parts []Part
	for _, p := range bySize(c) {
		if take := min(p.GPUs, gang); take > 0 {
			parts = append(parts, Part{p.Server, take})
			gang -= take
		}
	}
	return parts
}

// bySize returns the servers in full, the largest first.
func bySize(c *sched.Cluster) []Part {
	order := make([]Part, len(c.Servers))
	for i := range order {
		order[i] = Part{i, c.Servers[i].GPUs}
	}
	slices.SortStableFunc(order, func(a, b Part) int { return cmp.Compare(b.GPUs, a.GPUs) })
	return order
}

// Fewest returns the parts of a job on the fewest servers of the empty cluster
// that whole replicas fit on: the largest ones, each filled in turn with the
// replicas of the most slices that still fit, the rest on the last. For a job
// without slices it is Consolidated. Errors: the job does not fit.
func Fewest(c *sched.Cluster, j *sched.Job) ([]Part, error) {
	if !j.Sliced() {
		return Consolidated(c, j.Gang()), nil
	}
	order := bySize(c)
	widths, room := j.Widths(), make([]int, 0, len(order))
	for _, p := range order {
		room = append(room, p.GPUs)
		fill := sched.Pack(widths, room)
		if fill == nil {
			continue
		}
		var parts []Part
		for i, taken := range fill {
			if n := gpus(widths, taken); n > 0 {
				parts = append(parts, Part{order[i].Server, n})
			}
		}
		return parts, nil
	}
	return nil, fmt.Errorf("heavyedge: %w: no servers are enough for a gang of %d", ErrParts, j.Gang())
}

func gpus(widths []sched.Width, taken []int) int {
	n := 0
	for i, w := range widths {
		n += taken[i] * w.Slices
	}
	return n
}

// AlphaTilde returns the per-iteration time, in seconds, of job id placed by
// Heavy-Edge on the fewest servers of the empty cluster: the paper's estimate
// of the least per-iteration time. It is not a lower bound on it: with the
// remainder alone on a server the true minimum can be several times less.
func AlphaTilde(in *sched.Instance, id sched.JobID, shape AllReduce) (*big.Rat, error) {
	j := &in.Jobs[id]
	parts, err := Fewest(&in.Cluster, j)
	if err != nil {
		return nil, err
	}
	place, err := Place(j, parts, shape)
	if err != nil {
		return nil, err
	}
	return in.IterTime(id, &place)
}
