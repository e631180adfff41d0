package sched

import (
	"math/big"
	"slices"
)

// timer evaluates the times of a job's stages: beta of [Instance.IterTime].
type timer struct {
	cluster *Cluster
	job     *Job
	links   [][]Link // nil for a chain
}

func (in *Instance) timer(j *Job) timer {
	t := timer{cluster: &in.Cluster, job: j}
	if !j.Chain() {
		t.links = j.Links()
	}
	return t
}

// precision bounds the relative error of approx: a beta sums positive terms,
// two for every link and two more, of few operations each.
func (t *timer) precision() float64 {
	terms := 6
	for _, l := range t.links {
		terms = max(terms, 2*len(l)+2)
	}
	return float64(terms+58) / (1 << 53)
}

// neighbours is a part of the numbers of replicas of each stage on one server:
// counts[0] is that of stage first.
type neighbours struct {
	counts []int
	first  int
}

func (w *neighbours) of(stage int) int64 { return int64(w.counts[stage-w.first]) }

// fraction is num/den bytes.
type fraction struct{ num, den int64 }

// moves calls f for everything that one GPU of stage s moves in an iteration,
// with x replicas on a server that holds near of the others: so much by way of
// the network card, so much within the server.
func (t *timer) moves(s, x int, near neighbours, f func(inter, intra fraction)) {
	st := &t.job.Stages[s]
	k, slices := int64(st.Replicas), int64(max(1, st.Slices))
	link := func(u int, d Bytes) {
		total, here := int64(t.job.Stages[u].Replicas), near.of(u)
		den := k * slices * total
		f(fraction{2 * int64(d) * (total - here), den}, fraction{2 * int64(d) * here, den})
	}
	if t.links != nil {
		for _, l := range t.links[s] {
			link(l.Stage, l.Bytes)
		}
	} else {
		if s > 0 {
			link(s-1, t.job.Stages[s-1].Boundary)
		}
		if s+1 < len(t.job.Stages) {
			link(s+1, st.Boundary)
		}
	}
	if reduce := 2 * (k - 1) * int64(st.Params); int64(x) < k {
		f(fraction{reduce, k * slices * int64(x)}, fraction{0, 1})
	} else {
		f(fraction{0, 1}, fraction{reduce, k * slices})
	}
	if slices > 1 {
		f(fraction{0, 1}, fraction{2 * (slices - 1) * int64(st.SliceSync), slices})
	}
}

// approx returns beta in seconds, within a relative error of precision.
func (t *timer) approx(s, x int, near neighbours, gpus int) float64 {
	var inter, intra float64
	t.moves(s, x, near, func(out, in fraction) {
		if out.num != 0 {
			inter += float64(out.num) / float64(out.den)
		}
		if in.num != 0 {
			intra += float64(in.num) / float64(in.den)
		}
	})
	return float64(t.job.Stages[s].Compute)/1e9 + inter*float64(gpus)/float64(t.cluster.Inter) + intra/float64(t.cluster.Intra)
}

// exact returns beta in seconds.
func (t *timer) exact(s, x int, near neighbours, gpus int) *big.Rat {
	sum := big.NewRat(int64(t.job.Stages[s].Compute), 1e9)
	add := func(v fraction, num, den int64) {
		if v.num != 0 {
			term := big.NewRat(v.num, v.den)
			sum.Add(sum, term.Mul(term, big.NewRat(num, den)))
		}
	}
	t.moves(s, x, near, func(out, in fraction) {
		add(out, int64(gpus), int64(t.cluster.Inter))
		add(in, 1, int64(t.cluster.Intra))
	})
	return sum
}

// each calls f for the stages that run on the share.
func (t *timer) each(sh *Share, f func(s, x int, near neighbours, gpus int)) {
	gpus, near := t.cluster.Servers[sh.Server].GPUs, neighbours{counts: sh.Stages}
	if sh.Stages == nil {
		f(0, sh.GPUs, near, gpus)
		return
	}
	for s, x := range sh.Stages {
		if x > 0 {
			f(s, x, near, gpus)
		}
	}
}

// slowest returns the largest beta on the share, approximately.
func (t *timer) slowest(sh *Share) float64 {
	top := 0.0
	t.each(sh, func(s, x int, near neighbours, gpus int) { top = max(top, t.approx(s, x, near, gpus)) })
	return top
}

// alpha returns the largest beta of the placement. It evaluates exactly only
// those that floating point leaves in doubt.
func (t *timer) alpha(p *Placement) *big.Rat {
	top := 0.0
	for i := range p.Shares {
		top = max(top, t.slowest(&p.Shares[i]))
	}
	enough := top * (1 - 4*t.precision())
	alpha := new(big.Rat)
	for i := range p.Shares {
		sh := &p.Shares[i]
		if i > 0 && t.alike(sh, &p.Shares[i-1]) {
			continue
		}
		t.each(sh, func(s, x int, near neighbours, gpus int) {
			if t.approx(s, x, near, gpus) < enough {
				return
			}
			if v := t.exact(s, x, near, gpus); v.Cmp(alpha) > 0 {
				alpha = v
			}
		})
	}
	return alpha
}

// alike reports whether the same stages run on both shares in the same time.
func (t *timer) alike(a, b *Share) bool {
	return a.GPUs == b.GPUs && t.cluster.Servers[a.Server].GPUs == t.cluster.Servers[b.Server].GPUs && slices.Equal(a.Stages, b.Stages)
}
