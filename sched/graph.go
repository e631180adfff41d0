package sched

import "fmt"

// Edge is the data that two stages of a job exchange: From sends Bytes to To in
// the forward pass of one iteration, all replicas together, and as much returns
// in the backward pass. Where the volume varies, as with the tokens that a
// Mixture-of-Experts layer routes to an expert, it is the estimated average.
type Edge struct {
	From  int   `json:"from"`
	To    int   `json:"to"` // above From: stages are listed in an order in which data can flow
	Bytes Bytes `json:"bytes"`
}

// Gang returns g_j, the GPUs that the job holds all or none of: the sum of
// k_s·t_s.
func (j *Job) Gang() int {
	g := 0
	for s := range j.Stages {
		g += j.Stages[s].Replicas * j.Slices(s)
	}
	return g
}

// Slices returns t_s, the GPUs of one replica of stage s, which are on one
// server.
func (j *Job) Slices(s int) int { return max(1, j.Stages[s].Slices) }

// Sliced reports whether some replica has several GPUs.
func (j *Job) Sliced() bool {
	for s := range j.Stages {
		if j.Stages[s].Slices > 1 {
			return true
		}
	}
	return false
}

// Chain reports whether data flow from each stage to the next only, as much as
// Boundary says.
func (j *Job) Chain() bool { return len(j.Edges) == 0 }

// Pipeline reports whether the job is a chain of stages with one GPU per
// replica.
func (j *Job) Pipeline() bool { return j.Chain() && !j.Sliced() }

// RequirePipelines returns an error that wraps ErrStageGraph and names the
// first job that is not a pipeline, or nil if there is none.
func (in *Instance) RequirePipelines() error {
	for i := range in.Jobs {
		if !in.Jobs[i].Pipeline() {
			return fmt.Errorf("job %d %q: %w", i, in.Jobs[i].Name, ErrStageGraph)
		}
	}
	return nil
}

// Link is a stage that another exchanges data with, and how much: one
// direction, one iteration, all replicas together.
type Link struct {
	Stage int
	Bytes Bytes
}

// AllEdges returns the job's edges by (From, To), those of a chain too.
func (j *Job) AllEdges() []Edge {
	if !j.Chain() || len(j.Stages) == 0 {
		return j.Edges
	}
	edges := make([]Edge, len(j.Stages)-1)
	for s := range edges {
		edges[s] = Edge{s, s + 1, j.Stages[s].Boundary}
	}
	return edges
}

// Links returns the neighbours of every stage in ascending order, of chains too.
// Every edge is listed at both its ends. Cost: O(stages + edges).
func (j *Job) Links() [][]Link {
	edges := j.AllEdges()
	degree := make([]int, len(j.Stages))
	for _, e := range edges {
		degree[e.From]++
		degree[e.To]++
	}
	out, room := make([][]Link, len(j.Stages)), make([]Link, 2*len(edges))
	for s, d := range degree {
		out[s], room = room[:0:d], room[d:]
	}
	for _, e := range edges { // by (From, To), so that each list ascends
		out[e.To] = append(out[e.To], Link{e.From, e.Bytes})
	}
	for _, e := range edges {
		out[e.From] = append(out[e.From], Link{e.To, e.Bytes})
	}
	return out
}

func (j *Job) validateEdges() error {
	if j.Chain() {
		return nil
	}
	for s := range j.Stages {
		if b := j.Stages[s].Boundary; b != 0 {
			return fmt.Errorf("stages[%d].boundary is %v, but the job has edges, which say instead what flows", s, b)
		}
	}
	last := Edge{}
	for i, e := range j.Edges {
		switch {
		case e.From < 0 || e.To <= e.From || e.To >= len(j.Stages):
			return fmt.Errorf("edges[%d] is from stage %d to %d: it must lead to a later one of the %d stages", i, e.From, e.To, len(j.Stages))
		case i > 0 && (e.From < last.From || e.From == last.From && e.To <= last.To):
			return fmt.Errorf("edges[%d] is from stage %d to %d, after one from %d to %d: they must ascend, each pair once", i, e.From, e.To, last.From, last.To)
		case e.Bytes < 0 || e.Bytes > maxBytes:
			return fmt.Errorf("edges[%d].bytes is %v: it must be between 0B and %v", i, e.Bytes, maxBytes)
		}
		last = e
	}
	return nil
}
