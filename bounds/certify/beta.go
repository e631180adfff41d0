package certify

import (
	"math/big"

	"yardstick/sched"
)

// stages is a job with the bytes that its stages exchange: traffic[s][u] in one
// direction per iteration.
type stages struct {
	cluster  *sched.Cluster
	list     []sched.Stage
	traffic  [][]int64
	near     [][]int // with which stages each exchanges any
	replicas []int   // K_s
	width    []int   // t_s
	scratch  []term
}

func stagesOf(in *sched.Instance, j *sched.Job) *stages {
	n := len(j.Stages)
	b := &stages{cluster: &in.Cluster, list: j.Stages, traffic: make([][]int64, n)}
	for s := range j.Stages {
		b.traffic[s] = make([]int64, n)
		b.replicas = append(b.replicas, j.Stages[s].Replicas)
		b.width = append(b.width, max(1, j.Stages[s].Slices))
	}
	exchange := func(s, u int, bytes sched.Bytes) {
		b.traffic[s][u] = add(b.traffic[s][u], int64(bytes))
		b.traffic[u][s] = add(b.traffic[u][s], int64(bytes))
	}
	for _, e := range j.Edges {
		exchange(e.From, e.To, e.Bytes)
	}
	for s := 0; s+1 < n && len(j.Edges) == 0; s++ {
		exchange(s, s+1, j.Stages[s].Boundary)
	}
	for s := range b.traffic {
		var near []int
		for u, d := range b.traffic[s] {
			if d != 0 {
				near = append(near, u)
			}
		}
		b.near = append(b.near, near)
	}
	return b
}

// term is a fraction of seconds: a product over a product.
type term struct{ num, den [4]int64 }

// beta returns the terms of the time of one iteration of stage s on a server of
// so many GPUs that holds counts[u] replicas of each stage u, at least one of s:
//
//	P_s + Σ_u (2 D_su/(K_s t_s))((1 − a_u/K_u) g/B_inter + (a_u/K_u)/B_intra) + AR + SR
//	AR = 0 if K_s = 1;  A/(t_s B_intra) if x = K_s;  A g/(x t_s B_inter) otherwise,  A = 2 (K_s − 1)/K_s h_s
//	SR = 2 (t_s − 1)/t_s y_s/B_intra.
//
// Source: Eqs. (4) to (7) of the A-SRPT paper, with tensor slices and stage graphs
// as docs/decisions/0006-tensor-and-expert-parallelism.md extends them.
func (b *stages) beta(s int, counts []int, gpus int) []term {
	k, t := int64(b.replicas[s]), int64(b.width[s])
	inter, intra := int64(b.cluster.Inter), int64(b.cluster.Intra)
	out := append(b.scratch[:0], term{[4]int64{int64(b.list[s].Compute), 1, 1, 1}, [4]int64{1e9, 1, 1, 1}})
	put := func(num, den [4]int64) { out = append(out, term{num, den}) }
	for _, u := range b.near[s] {
		d := b.traffic[s][u]
		all, here := int64(b.replicas[u]), int64(counts[u])
		if all > here {
			put([4]int64{2, d, sub(all, here), int64(gpus)}, [4]int64{k, t, all, inter})
		}
		if here > 0 {
			put([4]int64{2, d, here, 1}, [4]int64{k, t, all, intra})
		}
	}
	h := int64(b.list[s].Params)
	switch x := int64(counts[s]); {
	case k == 1 || h == 0:
	case x == k:
		put([4]int64{2, sub(k, 1), h, 1}, [4]int64{k, t, intra, 1})
	default:
		put([4]int64{2, sub(k, 1), h, int64(gpus)}, [4]int64{k, x, t, inter})
	}
	if t > 1 {
		put([4]int64{2, sub(t, 1), int64(b.list[s].SliceSync), 1}, [4]int64{t, intra, 1, 1})
	}
	b.scratch = out
	return out
}

func product(list [4]int64) *big.Int {
	p := big.NewInt(1)
	for _, v := range list {
		p.Mul(p, big.NewInt(v))
	}
	return p
}

// alpha returns the largest time of a stage on the server, in seconds.
func (b *stages) alpha(counts []int, gpus int) *big.Rat {
	worst := new(big.Rat)
	for s, x := range counts {
		if x == 0 {
			continue
		}
		if v := exactly(b.beta(s, counts, gpus)); v.Cmp(worst) > 0 {
			worst = v
		}
	}
	return worst
}

// exactly returns the sum of terms.
func exactly(terms []term) *big.Rat {
	sum := new(big.Rat)
	for _, t := range terms {
		sum.Add(sum, new(big.Rat).SetFrac(product(t.num), product(t.den)))
	}
	return sum
}

// roughly returns the sum of terms within a relative 2^-40: they are positive, and
// no product of four int64 leaves the range.
func roughly(terms []term) float64 {
	sum := 0.0
	for _, t := range terms {
		sum += float64(t.num[0]) * float64(t.num[1]) * float64(t.num[2]) * float64(t.num[3]) /
			(float64(t.den[0]) * float64(t.den[1]) * float64(t.den[2]) * float64(t.den[3]))
	}
	return sum
}

// runs returns ceil(n·alpha) in microseconds, alpha being in seconds.
func runs(iterations int64, alpha *big.Rat) *big.Int {
	micros := new(big.Rat).Mul(alpha, big.NewRat(1_000_000, 1))
	micros.Mul(micros, new(big.Rat).SetInt64(iterations))
	return roundUp(micros).Num()
}
