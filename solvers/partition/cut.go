package partition

import (
	"math/big"

	"yardstick/sched"
)

// CutWeight returns the weight, in bytes per iteration, of the edges between
// servers in the job's communication graph under ring AllReduce, with the
// replicas of every stage laid out as well as these counts allow.
//
// Stages s, u that exchange D_su bytes are joined completely with edges of weight
// w_su = 2 D_su/(k_s k_u), and the replicas of a stage by a ring of edges of
// weight A_s = 2 (k_s − 1)/k_s h_s: k_s edges, or one for two replicas. A stage
// on q ≥ 2 servers cuts q ring edges at best, one if it has two replicas: each
// server holds an arc. As the replicas of a stage are alike to all other
// stages, every stage can have its arcs at once. Hence
//
//	cut(x) = W − Σ_m intra(x_m),  intra(c) = Σ_su w_su c_s c_u + Σ_s A_s ρ_s(c_s),
//
// W being the weight of all edges and ρ_s(c) the ring edges within a server:
// those of the whole ring if c = k_s, else c − 1 where c > 0. What the slices of
// a replica exchange stays within its server.
//
// Source: the graph of the A-SRPT paper, section IV. Not in the source: the
// formula. For double binary trees there is none.
func CutWeight(j *sched.Job, p *sched.Placement) *big.Rat {
	w := newWeights(j)
	cut := w.between(p)
	for s, st := range j.Stages {
		edges := ringEdges(st.Replicas, st.Replicas)
		for i := range p.Shares {
			edges -= ringEdges(st.Replicas, replicasOf(&p.Shares[i], j, s))
		}
		cut.Add(cut, new(big.Rat).Mul(w.reduce[s], big.NewRat(int64(edges), 1)))
	}
	return cut
}

// replicasOf returns the replicas of stage s on the share.
func replicasOf(sh *sched.Share, j *sched.Job, s int) int {
	if sh.Stages == nil { // a job of one stage
		return sh.GPUs / j.Slices(0)
	}
	return sh.Stages[s]
}

// weights are those of the edges of a job's graph, in bytes.
type weights struct {
	job    *sched.Job
	reduce []*big.Rat // A_s
	links  []link
}

// link is the edges between two stages, with the weight w_su of each.
type link struct {
	from, to int
	weight   *big.Rat
}

func newWeights(j *sched.Job) *weights {
	w := &weights{job: j}
	for s, list := range j.Links() {
		k := int64(j.Stages[s].Replicas)
		reduce := big.NewRat(2*(k-1), k)
		w.reduce = append(w.reduce, reduce.Mul(reduce, new(big.Rat).SetInt64(int64(j.Stages[s].Params))))
		for _, l := range list {
			if l.Stage > s {
				v := big.NewRat(2, k*int64(j.Stages[l.Stage].Replicas))
				w.links = append(w.links, link{s, l.Stage, v.Mul(v, new(big.Rat).SetInt64(int64(l.Bytes)))})
			}
		}
	}
	return w
}

// between returns the weight of the edges between replicas of different stages
// on different servers.
func (w *weights) between(p *sched.Placement) *big.Rat {
	cut := new(big.Rat)
	for _, l := range w.links {
		pairs := int64(w.job.Stages[l.from].Replicas) * int64(w.job.Stages[l.to].Replicas)
		for i := range p.Shares {
			sh := &p.Shares[i]
			pairs -= int64(replicasOf(sh, w.job, l.from)) * int64(replicasOf(sh, w.job, l.to))
		}
		cut.Add(cut, new(big.Rat).Mul(l.weight, new(big.Rat).SetInt64(pairs)))
	}
	return cut
}

// ringEdges returns rho_k(c), the edges of a ring of k replicas between c of
// them that form an arc.
func ringEdges(k, c int) int {
	switch {
	case c == 0 || k == 1:
		return 0
	case c == k && k >= 3:
		return k
	}
	return c - 1
}
