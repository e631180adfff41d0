package sched

import (
	"fmt"
	"math/big"
)

// maxWorkers bounds D_j so that workers times slots fits an int64.
const maxWorkers = 10_000

// maxAmount bounds every capacity and demand so that its product with
// maxWorkers fits an int64.
const maxAmount = 1_000_000_000_000

// ElasticConfig is what an elastic job may be made of, wherever its containers
// are: one column of choices (m, p, q_j, N, d) of the primal-dual paper.
type ElasticConfig struct {
	WorkerType int   // m
	ServerType int   // p, the type of the parameter servers; 0 in a ring
	OneServer  bool  // q_j: one server hosts all containers of the job
	Workers    int   // N, the number of workers
	Slots      int64 // d, how many slots N workers need: Eq. (2f)
}

// Config returns the types, as a Placement carries them.
func (c *ElasticConfig) Config() *Config {
	return &Config{WorkerType: c.WorkerType, ServerType: c.ServerType}
}

// BatchTime returns theta = 1/rho_j, the exact time in seconds that one of the
// given number of workers takes for one mini-batch. With parameter servers it
// does not depend on that number:
//
//	theta = v_jm + U_jp                 if one server hosts the whole job (q_j = 1)
//	theta = v_jm + U_jp + 2 pi_j/b_m    otherwise (q_j = 0)
//
// and in a ring of F workers
//
//	theta = v_jm + U_j (F−1)/F                           if q_j = 1
//	theta = v_jm + U_j (F−1)/F + 2 pi_j (F−1)/(F b_m)    otherwise,
//
// where pi_j bytes over a bandwidth of b_m Mbit/s take 8 pi_j/(b_m·10^6) s.
// OneServer may be false for containers that are on one server: the result is
// then an upper bound. It panics if a type does not exist or there is no worker.
//
// Source: Eqs. (1) and (14) of the primal-dual paper.
func (in *Instance) BatchTime(id JobID, workerType, serverType, workers int, oneServer bool) *big.Rat {
	num, den := in.batchTime(in.Jobs[id].Elastic, workerType, serverType, workers, oneServer)
	return new(big.Rat).SetFrac(num, den.Mul(den, big.NewInt(1e9)))
}

// batchTime returns theta in nanoseconds as a fraction. Both parts are the
// caller's.
func (in *Instance) batchTime(e *Elastic, m, p, workers int, oneServer bool) (num, den *big.Int) {
	if workers < 1 {
		panic(fmt.Sprintf("sched: the mini-batch time of %d workers", workers))
	}
	num, den = big.NewInt(int64(e.Train[m])), big.NewInt(1)
	update := big.NewInt(int64(e.Update[p]))
	gradients := big.NewInt(int64(e.Gradients))
	if e.Ring { // everything but v_jm is multiplied by (F−1)/F
		f, rest := big.NewInt(int64(workers)), big.NewInt(int64(workers-1))
		num.Mul(num, f)
		update.Mul(update, rest)
		gradients.Mul(gradients, rest)
		den.Set(f)
	}
	num.Add(num, update)
	if oneServer {
		return num, den
	}
	b := big.NewInt(in.Elastic.Workers[m].Demand[in.Elastic.Bandwidth])
	num.Mul(num, b)
	num.Add(num, gradients.Mul(gradients, big.NewInt(16_000))) // 2·8 bits at 10^6 bit/s, in nanoseconds
	return num, den.Mul(den, b)
}

// ElasticSlots returns d_j = ceil(W_j theta/(N slot)), the least number of
// slots in which N workers train all W_j = E_j D_j K_j mini-batches. It is
// exact. BatchTime explains the arguments.
//
// Errors: so many slots are more than MaxTime.
//
// Source: Eq. (2f) of the primal-dual paper, d_j Y_j rho_j ≥ E_j D_j K_j.
func (in *Instance) ElasticSlots(id JobID, workerType, serverType, workers int, oneServer bool) (int64, error) {
	if total, ok := in.workerSlots(in.Jobs[id].Elastic, workerType, serverType, workers, oneServer); ok {
		if d := ceilDiv(total, int64(workers)); d <= in.lastSlot() {
			return d, nil
		}
	}
	return 0, fmt.Errorf("sched: job %d with %d workers of type %d runs for more than %v", id, workers, workerType, MaxTime)
}

// workerSlots returns ceil(W_j theta/slot). Since ceil(x/N) = ceil(ceil(x)/N)
// for whole N, d_j follows from it. It is false for more than an int64, which
// maxWorkers workers could not do before MaxTime.
func (in *Instance) workerSlots(e *Elastic, m, p, workers int, oneServer bool) (int64, bool) {
	num, den := in.batchTime(e, m, p, workers, oneServer)
	num.Mul(num, big.NewInt(e.Batches))
	den.Mul(den, big.NewInt(int64(in.Slot)))
	den.Mul(den, big.NewInt(1000)) // nanoseconds of a microsecond
	total, rest := num.QuoRem(num, den, new(big.Int))
	if rest.Sign() > 0 {
		total.Add(total, big.NewInt(1))
	}
	return total.Int64(), total.IsInt64()
}

// lastSlot returns the number of whole slots before MaxTime.
func (in *Instance) lastSlot() int64 { return int64(MaxTime / in.Slot) }

func ceilDiv(a, b int64) int64 {
	if a%b > 0 {
		return a/b + 1
	}
	return a / b
}

// FirstSlot returns ceil(r_j/slot), the first slot that the job may start in:
// Eq. (2j) of the primal-dual paper. Slot t is [t·slot, (t+1)·slot); the paper
// counts slots from 1.
func (in *Instance) FirstSlot(id JobID) int64 {
	return ceilDiv(int64(in.Jobs[id].Release), int64(in.Slot))
}

// DeadlineSlots returns tau, the number of slots that end by the deadline: a
// job that starts in slot t counts for ScheduledWeight iff t + d_j ≤ tau,
// Eq. (7b) of the primal-dual paper. Without a deadline it is 0.
func (in *Instance) DeadlineSlots() int64 { return int64(in.Deadline / in.Slot) }
