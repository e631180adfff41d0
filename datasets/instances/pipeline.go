package instances

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"yardstick/datasets"
	"yardstick/datasets/profile"
	"yardstick/sched"
)

// Pipelining is what else may be said of how jobs of the gang model train. Both
// options change the data of the stages and nothing else, so that iteration times,
// schedules, bounds and certificates need not know of them. The zero value is the paper's
// model: asynchronous pipelines, and AllReduces that nothing hides.
//
// Source: the A-SRPT paper, Section III-B, which says that its design "can be
// straightforwardly extended to synchronous pipeline parallelism" by another paper's
// model, and that "one can apply model-dependent coefficients to the backward
// computation time and AllReduce time" to account for their overlap. It runs neither.
type Pipelining struct {
	// Overlap is the share of every AllReduce between replicas that computation hides, from
	// 0 to 1: AllReduces count for as much less. It is a coefficient of AllReduce alone, the
	// same for all models; the computation is not slowed down.
	Overlap datasets.Opt[float64]

	// MicroBatches is into how many micro-batches a mini-batch is split that goes through a
	// synchronous pipeline, at least 1; NULL stands for asynchronous ones. With S stages and m
	// micro-batches an iteration is m + S − 1 times that of a micro-batch of the slowest
	// stage, and the AllReduce: computation and what neighbours exchange count
	// (m + S − 1)/m times. This is the pipeline of GPipe with a flush after every
	// mini-batch (Huang et al., 2019); the model that the A-SRPT paper refers to is finer.
	MicroBatches datasets.Opt[int]
}

func (p *Pipelining) validate() error {
	switch {
	case p.Overlap.OK && !(p.Overlap.V >= 0 && p.Overlap.V <= 1):
		return fmt.Errorf("overlap is %v: it must be between 0 and 1", p.Overlap.V)
	case p.MicroBatches.OK && (p.MicroBatches.V < 1 || p.MicroBatches.V > 1<<20):
		return fmt.Errorf("microBatches is %d: it must be between 1 and %d", p.MicroBatches.V, 1<<20)
	}
	return nil
}

// configs returns the configurations as they train. The given ones stay as they are.
func (p *Pipelining) configs(list []profile.Config) []profile.Config {
	if *p == (Pipelining{}) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Stages = p.stages(list[i].Stages)
	}
	return list
}

// stages returns a chain of stages as it trains, rounded up to nanoseconds and bytes.
func (p *Pipelining) stages(chain []sched.Stage) []sched.Stage {
	chain = slices.Clone(chain)
	bubble := big.NewRat(1, 1)
	if m := int64(p.MicroBatches.V); p.MicroBatches.OK {
		bubble.SetFrac64(m+int64(len(chain))-1, m)
	}
	for s := range chain {
		st := &chain[s]
		st.Compute = sched.Duration(times(int64(st.Compute), bubble))
		st.Boundary = sched.Bytes(times(int64(st.Boundary), bubble))
		st.Params = p.exposed(st.Params)
	}
	return chain
}

// exposed is how much of an AllReduce is not hidden.
func (p *Pipelining) exposed(params sched.Bytes) sched.Bytes {
	rest := new(big.Rat).SetFloat64(p.Overlap.V)
	return sched.Bytes(times(int64(params), rest.Sub(big.NewRat(1, 1), rest)))
}

// times returns ceil(n·factor), at most the largest number there is.
func times(n int64, factor *big.Rat) int64 {
	product := new(big.Rat).SetInt64(n)
	product.Mul(product, factor)
	up := new(big.Int).Add(product.Num(), product.Denom())
	up.Sub(up, big.NewInt(1)).Quo(up, product.Denom())
	if !up.IsInt64() {
		return math.MaxInt64 // which Validate refuses
	}
	return up.Int64()
}

// errNoAllReduce says why an overlap is refused.
var errNoAllReduce = errors.New("overlap is about AllReduces, and there are none without profiles or params: drop it, or give some")
