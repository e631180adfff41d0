package sched

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// ExpertGroup is some experts of a Mixture-of-Experts layer, which one stage
// holds.
type ExpertGroup struct {
	Stage  Stage // Boundary is 0: what flows is derived from the layer's
	Weight int64 // estimated routing weight: the share of the tokens that are routed to the group
}

// WithExperts returns the job with stage layer, a Mixture-of-Experts layer,
// replaced by a stage for each of its expert groups. What the layer exchanges
// with other stages is the volume of all routed tokens; it is split over the
// groups in proportion to their weights, and no byte is lost. Apply it to the
// last layer first and the numbers of the others stay as they are.
//
// Source: Section VI of the A-SRPT paper: expert groups as vertices, edges as
// estimated average volumes.
//
// Errors: no such stage, no groups, weights that are negative or all 0, a group
// with a Boundary.
func (j *Job) WithExperts(layer int, groups []ExpertGroup) (Job, error) {
	if layer < 0 || layer >= len(j.Stages) || len(groups) == 0 {
		return Job{}, fmt.Errorf("sched: %d expert groups for stage %d of %d", len(groups), layer, len(j.Stages))
	}
	out := *j
	out.Stages, out.Edges = slices.Clone(j.Stages[:layer]), nil
	weights := make([]int64, len(groups))
	for i, g := range groups {
		if g.Stage.Boundary != 0 {
			return Job{}, fmt.Errorf("sched: expert group %d has a boundary of %v: what flows is derived from the layer's", i, g.Stage.Boundary)
		}
		weights[i] = g.Weight
		out.Stages = append(out.Stages, g.Stage)
	}
	if _, err := Split(0, weights); err != nil { // for jobs without edges too
		return Job{}, err
	}
	out.Stages = append(out.Stages, j.Stages[layer+1:]...)
	for s := range out.Stages {
		out.Stages[s].Boundary = 0
	}
	renumber := func(s int) int {
		if s > layer {
			s += len(groups) - 1
		}
		return s
	}
	for _, e := range j.AllEdges() {
		parts, err := Split(e.Bytes, weights)
		switch {
		case err != nil:
			return Job{}, err
		case e.From != layer && e.To != layer:
			out.Edges = append(out.Edges, Edge{renumber(e.From), renumber(e.To), e.Bytes})
			continue
		}
		for i, part := range parts {
			if e.To == layer {
				out.Edges = append(out.Edges, Edge{e.From, layer + i, part})
			} else {
				out.Edges = append(out.Edges, Edge{layer + i, renumber(e.To), part})
			}
		}
	}
	slices.SortFunc(out.Edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out, nil
}

// Split divides bytes in proportion to weights, exactly and without losing any:
// every part is total·w/Σw rounded down, and the bytes left over go to the
// largest remainders, one each, ties to the lower index.
//
// Errors: a negative total or weight; weights that are all 0 or sum to more than
// an int64.
func Split(total Bytes, weights []int64) ([]Bytes, error) {
	sum := int64(0)
	for i, w := range weights {
		if w < 0 || sum+w < sum {
			return nil, fmt.Errorf("sched: weight %d is %d: weights must not be negative, nor their sum beyond 63 bits", i, w)
		}
		sum += w
	}
	if total < 0 || sum == 0 {
		return nil, fmt.Errorf("sched: %v cannot be split in proportion to %v", total, weights)
	}
	parts, rest, order := make([]Bytes, len(weights)), make([]uint64, len(weights)), make([]int, len(weights))
	left := total
	for i, w := range weights {
		hi, lo := bits.Mul64(uint64(total), uint64(w))
		whole, remainder := bits.Div64(hi, lo, uint64(sum))
		parts[i], rest[i], order[i] = Bytes(whole), remainder, i
		left -= parts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, i := range order[:left] {
		parts[i]++
	}
	return parts, nil
}
