package sched

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
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
	t := in.timer(j)
	alpha := 0.0 // seconds
	for i := range p.Shares {
		alpha = max(alpha, t.slowest(&p.Shares[i]))
	}
	micros := float64(j.Iters) * alpha * 1e6
	slack := 2 * t.precision()
	low, high := math.Ceil(micros*(1-slack)), math.Ceil(micros*(1+slack))
	run := Time(min(low, float64(MaxTime+1)))
	if low <= float64(MaxTime) && low != high {
		exact := t.alpha(p)
		run = ceilMicros(exact.Mul(exact, new(big.Rat).SetInt64(j.Iters)))
	}
	if run > MaxTime {
		return 0, fmt.Errorf("sched: job %d would run for more than %v", id, MaxTime)
	}
	return run, nil
}

// IterTime returns alpha, the exact time of one training iteration in seconds
// on the placement when the job shares no GPU: the largest beta over the
// servers and stages used.
//
// Let stage s have K_s replicas of t_s slices, x > 0 of them on a server of g
// GPUs that also holds a_u of the K_u replicas of stage u; let D_su be the bytes
// that s and u exchange per iteration in one direction, which in a chain only
// neighbours do, and h_s and y_s its Params and SliceSync. Then
//
//	beta = P_s + Σ_u (2 D_su/(K_s t_s))((1 − a_u/K_u) g/B_inter + (a_u/K_u)/B_intra) + AR + SR
//	AR   = 0 if K_s = 1;  A/(t_s B_intra) if x = K_s;  A g/(x t_s B_inter) otherwise,  A = 2 (K_s − 1)/K_s h_s
//	SR   = 2 (t_s − 1)/t_s y_s/B_intra.
//
// Source: Eqs. (4) to (7) of the A-SRPT paper, where the replicas of a stage
// own x/g of the server's network card. The missing side of the first and last
// stage is dropped. Slices and stage graphs extend it along the lines of its
// Section VI: each slice is a GPU that owns 1/g of the card, moves 1/t_s of what
// its replica moves and synchronises its own 1/t_s of the parameters.
// docs/decisions/0006-tensor-and-expert-parallelism.md derives this.
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
	t := in.timer(j)
	return t.alpha(p), nil
}

// StageTime returns beta, the exact time in seconds of one iteration of stage
// s with x > 0 replicas on a server of the given number of GPUs that also holds
// a replicas of stage s−1 and b of stage s+1. IterTime gives the formula. For a
// job with edges a and b must be 0: no neighbour is on the server.
func (in *Instance) StageTime(id JobID, s, a, x, b, gpus int) *big.Rat {
	j := &in.Jobs[id]
	if !j.Chain() {
		if a != 0 || b != 0 {
			panic("sched: StageTime with neighbours of a stage graph; use ServerTime")
		}
		return in.ServerTime(id, s, slices.Insert(make([]int, len(j.Stages)-1), s, x), gpus)
	}
	t := in.timer(j)
	return t.exact(s, x, neighbours{[]int{a, x, b}, s - 1}, gpus)
}

// ServerTime is StageTime for any stage graph: counts[u] is the replicas of
// stage u on the server, at least one of stage s.
func (in *Instance) ServerTime(id JobID, s int, counts []int, gpus int) *big.Rat {
	t := in.timer(&in.Jobs[id])
	return t.exact(s, counts[s], neighbours{counts: counts}, gpus)
}

// ConstantIteration reports whether the job's iteration time is that of its
// computation on every placement: one stage and nothing to synchronise.
func (j *Job) ConstantIteration() bool { return j.Elastic == nil && j.constantIteration() }

func (j *Job) constantIteration() bool {
	if j.Sharing != nil || len(j.Stages) > 1 {
		return j.Sharing != nil
	}
	st := &j.Stages[0]
	return (st.Replicas == 1 || st.Params == 0) && (st.Slices <= 1 || st.SliceSync == 0)
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
	total, err := in.checkShares(j, p)
	if err != nil {
		return err
	}
	if len(j.Stages) == 1 && j.Stages[0].Slices <= 1 {
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

// checkShares verifies the shares one by one and returns how many GPUs they
// hold together.
func (in *Instance) checkShares(j *Job, p *Placement) (total int, err error) {
	if j.Elastic != nil {
		return 0, fmt.Errorf("an elastic job has no gang to place")
	}
	last := -1
	for i := range p.Shares {
		sh := &p.Shares[i]
		switch {
		case sh.Server <= last || sh.Server >= len(in.Cluster.Servers):
			return 0, fmt.Errorf("placement lists server %d after %d: ascending indices below %d are required", sh.Server, last, len(in.Cluster.Servers))
		case sh.GPUs < 1 || sh.GPUs > in.Cluster.Servers[sh.Server].GPUs:
			return 0, fmt.Errorf("placement takes %d of the %d GPUs of server %d", sh.GPUs, in.Cluster.Servers[sh.Server].GPUs, sh.Server)
		case sh.Stages == nil && len(j.Stages) > 1:
			return 0, fmt.Errorf("placement does not say which stages run on server %d", sh.Server)
		case sh.Stages == nil && j.Stages[0].Slices > 1:
			return 0, fmt.Errorf("placement does not say how many replicas of %d slices run on server %d", j.Stages[0].Slices, sh.Server)
		case sh.Stages != nil && (len(sh.Stages) != len(j.Stages) || j.gpus(sh.Stages) != sh.GPUs):
			return 0, fmt.Errorf("placement's stages %v on server %d do not match %d stages on %d GPUs", sh.Stages, sh.Server, len(j.Stages), sh.GPUs)
		}
		last = sh.Server
		total += sh.GPUs
	}
	return total, nil
}

// gpus returns the GPUs of so many replicas of each stage.
func (j *Job) gpus(replicas []int) int {
	n := 0
	for s, x := range replicas {
		n += x * j.Slices(s)
	}
	return n
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
