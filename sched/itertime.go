package sched

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// RunTime returns ceil(n·alpha) in microseconds: how long job id takes to
// train on the placement when it shares no GPU. Load and pause times are not
// part of it.
//
// The result is exact: alpha is the rational number of IterTime, and only the
// product with the number of iterations is rounded up. Floating point is used
// as a filter, and exact arithmetic whenever it leaves the microsecond in
// doubt. Cost: O(servers·stages).
//
// Errors: the placement does not hold the job's gang.
func (in *Instance) RunTime(id JobID, p *Placement) (Time, error) {
	j := &in.Jobs[id]
	if err := in.checkPlacement(j, p); err != nil {
		return 0, fmt.Errorf("sched: job %d: %w", id, err)
	}
	if sh := j.Sharing; sh != nil {
		a, err := sh.option(p.Config)
		if err != nil {
			return 0, fmt.Errorf("sched: job %d: %w", id, err)
		}
		return roundUp(j.Iters, a.Iter)
	}
	if j.constantIteration() {
		return roundUp(j.Iters, j.Stages[0].Compute)
	}
	alpha := 0.0 // seconds, within a relative 2^-47 of the truth: every beta sums positive terms of few operations each
	in.eachBeta(j, p, func(b beta) { alpha = max(alpha, b.float()) })
	micros := float64(j.Iters) * alpha * 1e6
	const slack = 1.0 / (1 << 46)
	low, high := math.Ceil(micros*(1-slack)), math.Ceil(micros*(1+slack))
	if high > float64(MaxTime) {
		return 0, fmt.Errorf("sched: job %d would run for more than %v", id, MaxTime)
	}
	if low == high {
		return Time(low), nil
	}
	exact := in.iterTime(j, p)
	exact.Mul(exact, new(big.Rat).SetInt64(j.Iters))
	return ceilMicros(exact), nil
}

// IterTime returns alpha, the exact time of one training iteration in seconds
// on the placement when the job shares no GPU: the largest beta over the
// servers and stages used.
//
// For stage s with x > 0 replicas on a server of g GPUs, a replicas of stage
// s−1 and b of stage s+1 on that server, K_s replicas in all, and D_s the bytes
// that cross from s to s+1 per iteration in one direction,
//
//	beta = P_s + (2 D_{s−1}/K_s)((1 − a/K_{s−1}) g/B_inter + (a/K_{s−1})/B_intra)
//	           + (2 D_s/K_s)((1 − b/K_{s+1}) g/B_inter + (b/K_{s+1})/B_intra) + AR
//	AR   = 0 if K_s = 1;  A/B_intra if x = K_s;  A g/(x B_inter) otherwise,  A = 2 (K_s − 1)/K_s h_s.
//
// Source: Eqs. (4) to (7) of the A-SRPT paper, where the replicas of a stage
// own x/g of the server's network card. The missing side of the first and last
// stage is dropped.
func (in *Instance) IterTime(id JobID, p *Placement) (*big.Rat, error) {
	j := &in.Jobs[id]
	if err := in.checkPlacement(j, p); err != nil {
		return nil, fmt.Errorf("sched: job %d: %w", id, err)
	}
	if sh := j.Sharing; sh != nil {
		a, err := sh.option(p.Config)
		if err != nil {
			return nil, fmt.Errorf("sched: job %d: %w", id, err)
		}
		return big.NewRat(int64(a.Iter), 1e9), nil
	}
	return in.iterTime(j, p), nil
}

// StageTime returns beta, the exact time in seconds of one iteration of stage
// s with x > 0 replicas on a server of the given number of GPUs that also holds
// a replicas of stage s−1 and b of stage s+1. IterTime gives the formula.
func (in *Instance) StageTime(id JobID, s, a, x, b, gpus int) *big.Rat {
	beta := in.beta(&in.Jobs[id], s, a, x, b, gpus)
	return beta.rat()
}

// iterTime evaluates exactly only those betas that floating point leaves in
// doubt: with a relative error of at most 2^-47 each, the largest one is within
// 2^-46 of the largest float.
func (in *Instance) iterTime(j *Job, p *Placement) *big.Rat {
	top := 0.0
	in.eachBeta(j, p, func(b beta) { top = max(top, b.float()) })
	const slack = 1.0 / (1 << 45)
	alpha := new(big.Rat)
	var last beta
	in.eachBeta(j, p, func(b beta) {
		if b == last || b.float() < top*(1-slack) {
			return
		}
		last = b
		if v := b.rat(); v.Cmp(alpha) > 0 {
			alpha = v
		}
	})
	return alpha
}

// ConstantIteration reports whether the job's iteration time is the same on
// every placement: one stage and nothing to synchronise.
func (j *Job) ConstantIteration() bool { return j.Elastic == nil && j.constantIteration() }

func (j *Job) constantIteration() bool {
	return j.Sharing != nil || len(j.Stages) == 1 && (j.Stages[0].Replicas == 1 || j.Stages[0].Params == 0)
}

func (s *Sharing) option(c *Config) (*Accumulation, error) {
	for i := range s.Accumulation {
		if c == nil || s.Accumulation[i].Steps == c.Accumulation {
			return &s.Accumulation[i], nil
		}
	}
	return nil, fmt.Errorf("no accumulation option has %d steps", c.Accumulation)
}

// checkPlacement verifies that the placement holds each stage's replicas on
// existing, distinct servers, without regard to other jobs.
func (in *Instance) checkPlacement(j *Job, p *Placement) error {
	if j.Elastic != nil {
		return fmt.Errorf("an elastic job has no gang to place")
	}
	last, total := -1, 0
	for i := range p.Shares {
		sh := &p.Shares[i]
		switch {
		case sh.Server <= last || sh.Server >= len(in.Cluster.Servers):
			return fmt.Errorf("placement lists server %d after %d: ascending indices below %d are required", sh.Server, last, len(in.Cluster.Servers))
		case sh.GPUs < 1 || sh.GPUs > in.Cluster.Servers[sh.Server].GPUs:
			return fmt.Errorf("placement takes %d of the %d GPUs of server %d", sh.GPUs, in.Cluster.Servers[sh.Server].GPUs, sh.Server)
		case sh.Stages == nil && len(j.Stages) > 1:
			return fmt.Errorf("placement does not say which stages run on server %d", sh.Server)
		case sh.Stages != nil && (len(sh.Stages) != len(j.Stages) || sumInts(sh.Stages) != sh.GPUs):
			return fmt.Errorf("placement's stages %v on server %d do not match %d stages on %d GPUs", sh.Stages, sh.Server, len(j.Stages), sh.GPUs)
		}
		last = sh.Server
		total += sh.GPUs
	}
	if len(j.Stages) == 1 {
		if total != j.Stages[0].Replicas {
			return fmt.Errorf("placement holds %d GPUs for a gang of %d", total, j.Stages[0].Replicas)
		}
		return nil
	}
	for s := range j.Stages {
		n := 0
		for i := range p.Shares {
			if p.Shares[i].Stages[s] < 0 {
				return fmt.Errorf("placement has %d replicas of stage %d on server %d", p.Shares[i].Stages[s], s, p.Shares[i].Server)
			}
			n += p.Shares[i].Stages[s]
		}
		if n != j.Stages[s].Replicas {
			return fmt.Errorf("placement holds %d replicas of stage %d, which has %d", n, s, j.Stages[s].Replicas)
		}
	}
	return nil
}

func sumInts(v []int) int {
	n := 0
	for _, x := range v {
		n += x
	}
	return n
}

// beta is the time of one iteration of one stage on one server, as the terms
// it is the sum of: compute + (inter·g/B_inter + intra/B_intra) seconds.
type beta struct {
	compute      Duration
	inter, intra [3]fraction // bytes to move by way of the network card, and within the server
	gpus         int
	bInter, bIn  Bandwidth
}

type fraction struct{ num, den int64 }

// eachBeta calls f for every server and stage of the placement that runs.
func (in *Instance) eachBeta(j *Job, p *Placement, f func(beta)) {
	for i := range p.Shares {
		sh := &p.Shares[i]
		for s := range j.Stages {
			if x := sh.Replicas(s); x > 0 {
				f(in.beta(j, s, sh.Replicas(s-1), x, sh.Replicas(s+1), in.Cluster.Servers[sh.Server].GPUs))
			}
		}
	}
}

func (in *Instance) beta(j *Job, s, a, x, b, gpus int) beta {
	st := &j.Stages[s]
	k := int64(st.Replicas)
	out := beta{compute: st.Compute, gpus: gpus, bInter: in.Cluster.Inter, bIn: in.Cluster.Intra}
	if s > 0 {
		prev := &j.Stages[s-1]
		out.addBoundary(0, prev.Boundary, k, int64(prev.Replicas), int64(a))
	}
	if s < len(j.Stages)-1 {
		out.addBoundary(1, st.Boundary, k, int64(j.Stages[s+1].Replicas), int64(b))
	}
	if k > 1 {
		volume := 2 * (k - 1) * int64(st.Params)
		if int64(x) == k {
			out.intra[2] = fraction{volume, k}
		} else {
			out.inter[2] = fraction{volume, k * int64(x)}
		}
	}
	return out
}

// addBoundary adds the traffic of one boundary of D bytes: the share near/total
// of the neighbours on the same server is reached within it, the rest by way
// of the network card.
func (b *beta) addBoundary(i int, d Bytes, k, total, near int64) {
	b.inter[i] = fraction{2 * int64(d) * (total - near), k * total}
	b.intra[i] = fraction{2 * int64(d) * near, k * total}
}

func (b *beta) float() float64 {
	var inter, intra float64
	for i := range b.inter {
		if b.inter[i].num != 0 {
			inter += float64(b.inter[i].num) / float64(b.inter[i].den)
		}
		if b.intra[i].num != 0 {
			intra += float64(b.intra[i].num) / float64(b.intra[i].den)
		}
	}
	return float64(b.compute)/1e9 + inter*float64(b.gpus)/float64(b.bInter) + intra/float64(b.bIn)
}

func (b *beta) rat() *big.Rat {
	sum := big.NewRat(int64(b.compute), 1e9)
	add := func(f fraction, num, den int64) {
		if f.num != 0 {
			term := big.NewRat(f.num, f.den)
			sum.Add(sum, term.Mul(term, big.NewRat(num, den)))
		}
	}
	for i := range b.inter {
		add(b.inter[i], int64(b.gpus), int64(b.bInter))
		add(b.intra[i], 1, int64(b.bIn))
	}
	return sum
}

// roundUp returns ceil(n·d) in microseconds, d being in nanoseconds.
func roundUp(n int64, d Duration) (Time, error) {
	hi, lo := bits.Mul64(uint64(n), uint64(d))
	if hi >= 1000 {
		return 0, fmt.Errorf("sched: %d iterations of %v overflow", n, d)
	}
	q, rem := bits.Div64(hi, lo, 1000)
	if rem > 0 {
		q++
	}
	if q > uint64(MaxTime) {
		return 0, fmt.Errorf("sched: %d iterations of %v are more than %v", n, d, MaxTime)
	}
	return Time(q), nil
}

// ceilMicros returns ceil(seconds·1e6).
func ceilMicros(seconds *big.Rat) Time {
	num := new(big.Int).Mul(seconds.Num(), big.NewInt(1e6))
	q, rem := num.QuoRem(num, seconds.Denom(), new(big.Int))
	if rem.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return Time(q.Int64())
}
