package verify

import (
	"math/big"
	"math/bits"

	"yardstick/sched"
)

// transfer is a part of an iteration that moves data. It takes
// bytes·count·gpus / (a·b·bandwidth) seconds.
type transfer struct{ bytes, count, gpus, a, b, bandwidth int64 }

// transfers appends what a GPU of stage s moves per iteration where a share
// holds replicas of the stage.
//
// A replica of stage s, which has k in all, exchanges 2·D/k bytes with the k'
// replicas of another stage, D being the volume between the two stages in one
// direction: the part near/k' within the server at B_intra, the rest through
// the server's network card. Each of its t slices moves a t-th of that, as a
// GPU that owns 1/g of the card of a server of g GPUs. An AllReduce over the
// replicas moves A = 2(k−1)/k·h/t for a slice's part of h bytes: at B_intra if
// all replicas are here, else through x/g of the card, which the slices of the
// x replicas here that hold the same part own together; nothing if k = 1. An
// AllReduce of y bytes over the slices of a replica moves 2(t−1)/t·y at B_intra.
//
// Source: Eqs. (4) to (6) of the A-SRPT paper, with the missing side of the
// first and last stage left out, and its Section VI for slices and for data
// that do not flow along a chain.
func (c *checker) transfers(out []transfer, j *sched.Job, sh *sched.Share, s int) []transfer {
	card, local := int64(c.in.Cluster.Inter), int64(c.in.Cluster.Intra)
	g := int64(c.in.Cluster.Servers[sh.Server].GPUs)
	k, x, t := int64(j.Stages[s].Replicas), int64(replicas(sh, s)), width(j, s)
	exchange := func(other int, bytes sched.Bytes) {
		d := 2 * int64(bytes)
		all, near := int64(j.Stages[other].Replicas), int64(replicas(sh, other))
		out = append(out, transfer{d, all - near, g, k * t, all, card}, transfer{d, near, 1, k * t, all, local})
	}
	for _, e := range j.Edges {
		switch s {
		case e.From:
			exchange(e.To, e.Bytes)
		case e.To:
			exchange(e.From, e.Bytes)
		}
	}
	if len(j.Edges) == 0 && s > 0 {
		exchange(s-1, j.Stages[s-1].Boundary)
	}
	if len(j.Edges) == 0 && s+1 < len(j.Stages) {
		exchange(s+1, j.Stages[s].Boundary)
	}
	if t > 1 {
		out = append(out, transfer{2 * int64(j.Stages[s].SliceSync), t - 1, 1, t, 1, local})
	}
	h := 2 * int64(j.Stages[s].Params)
	if x == k {
		return append(out, transfer{h, k - 1, 1, k * t, 1, local})
	}
	return append(out, transfer{h, k - 1, g, k * t, x, card})
}

// iterationTime returns alpha in nanoseconds, exactly: the longest time that a
// stage takes on a server, its own computation and its transfers.
// Source: Eq. (7) of the A-SRPT paper.
func (c *checker) iterationTime(j *sched.Job, p *sched.Placement) *big.Rat {
	if j.Sharing != nil {
		return new(big.Rat).SetInt64(int64(accumulation(j, p).Iter))
	}
	alpha := new(big.Rat)
	for i := range p.Shares {
		for s := range j.Stages {
			if replicas(&p.Shares[i], s) > 0 {
				if beta := stageTime(j.Stages[s].Compute, c.transfers(nil, j, &p.Shares[i], s)); beta.Cmp(alpha) > 0 {
					alpha = beta
				}
			}
		}
	}
	return alpha
}

func stageTime(compute sched.Duration, moves []transfer) *big.Rat {
	sum := new(big.Rat).SetInt64(int64(compute))
	for _, m := range moves {
		num, den := big.NewInt(1e9), big.NewInt(1)
		for _, f := range [3]int64{m.bytes, m.count, m.gpus} {
			num.Mul(num, big.NewInt(f))
		}
		for _, f := range [3]int64{m.a, m.b, m.bandwidth} {
			den.Mul(den, big.NewInt(f))
		}
		sum.Add(sum, new(big.Rat).SetFrac(num, den))
	}
	return sum
}

// suffices reports whether training for the given time on one placement
// performs all iterations of a job that shares nothing: n·alpha ≤ train.
// It works in whole nanoseconds and 128 bits, and in rationals only where
// these leave the answer open.
func (c *checker) suffices(j *sched.Job, p *sched.Placement, train sched.Time) bool {
	n, budget := uint64(j.Iters), uint64(train)*1000
	if d, constant := constantIteration(j, p); constant {
		hi, lo := bits.Mul64(n, uint64(d))
		return hi == 0 && lo <= budget
	}
	var room [6]transfer
	for i := range p.Shares {
		for s := range j.Stages {
			if replicas(&p.Shares[i], s) == 0 {
				continue
			}
			moves := c.transfers(room[:0], j, &p.Shares[i], s)
			fits, sure := within(n, j.Stages[s].Compute, moves, budget)
			if !sure {
				need := stageTime(j.Stages[s].Compute, moves)
				need.Mul(need, new(big.Rat).SetInt64(j.Iters))
				fits = need.Cmp(new(big.Rat).SetInt64(int64(budget))) <= 0
			}
			if !fits {
				return false
			}
		}
	}
	return true
}

// constantIteration returns the time of an iteration that does not depend on
// the servers used, if it does not.
func constantIteration(j *sched.Job, p *sched.Placement) (sched.Duration, bool) {
	if j.Sharing != nil {
		return accumulation(j, p).Iter, true
	}
	if st := j.Stages[0]; len(j.Stages) == 1 && (st.Replicas == 1 || st.Params == 0) && (st.Slices <= 1 || st.SliceSync == 0) {
		return st.Compute, true
	}
	return 0, false
}

// within reports whether n iterations of a stage fit in the budget, in
// nanoseconds, and whether it is sure: it adds the whole nanoseconds of every
// part, and knows of each inexact part only that less than one is missing.
func within(n uint64, compute sched.Duration, moves []transfer, budget uint64) (fits, sure bool) {
	hi, sum := bits.Mul64(n, uint64(compute))
	if hi > 0 || sum > budget {
		return false, true
	}
	inexact := uint64(0)
	for _, m := range moves {
		hi, lo, ok := product(n, 1e9, uint64(m.bytes), uint64(m.count), uint64(m.gpus))
		over, den, small := product(uint64(m.a), uint64(m.b), uint64(m.bandwidth))
		if !ok || !small || over > 0 {
			return false, false
		}
		if hi >= den { // a quotient of 2^64 or more
			return false, true
		}
		whole, rest := bits.Div64(hi, lo, den)
		if whole > budget-sum {
			return false, true
		}
		sum += whole
		if rest > 0 {
			inexact++
		}
	}
	switch {
	case inexact <= budget-sum:
		return true, true
	case sum == budget:
		return false, true
	}
	return false, false
}

// product multiplies within 128 bits; ok is false if the product is larger.
func product(factors ...uint64) (hi, lo uint64, ok bool) {
	lo = 1
	for _, f := range factors {
		over, top := bits.Mul64(hi, f)
		carried, low := bits.Mul64(lo, f)
		sum, carry := bits.Add64(top, carried, 0)
		if over > 0 || carry > 0 {
			return 0, 0, false
		}
		hi, lo = sum, low
	}
	return hi, lo, true
}
