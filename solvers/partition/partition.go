// Package partition finds the best placements of a job by exact combinatorial
// search: the least running time for a given way to cut the gang over servers,
// and the least over all ways.
//
// In the iteration-time model a job's time per iteration, alpha, depends only
// on how many replicas of which stage it has on each server and on how many
// GPUs those servers have ([sched.Instance.IterTime]); other jobs never change
// it. So everything here is a question about one job and the cluster's server
// sizes.
//
// Jobs may be chains or graphs of stages, and their replicas may take several
// GPUs of a server (tensor slices). Parts that such replicas cannot fill have no
// placement: ErrNoPlacement.
//
// All comparisons are exact. The values that alpha can take are rationals
// (sched.Instance.ServerTime); they are sorted once and replaced by their
// ranks, and the searches work on ranks.
//
// Two facts, both for B_intra ≥ B_inter as instances guarantee, carry the
// package; docs/bounds.md proves them. The time of a stage on a server of fixed
// size never increases when replicas of the stage or of its neighbours are
// added. Hence a gang on a single server reaches its least alpha, and on a
// cluster of equal servers merging two parts never slows a job down.
package partition

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"yardstick/sched"
)

// ErrNoPlacement reports parts that the job's replicas cannot fill, each whole
// on one server, or a cluster that they do not fit.
var ErrNoPlacement = errors.New("no placement: whole replicas do not fit")

// sizeClass is the servers of one size.
type sizeClass struct {
	gpus  int // of each server
	count int // servers
}

// sizeClasses returns the cluster's server sizes, largest first. Servers
// without GPUs are left out.
func sizeClasses(c *sched.Cluster) []sizeClass {
	count := map[int]int{}
	for i := range c.Servers {
		count[c.Servers[i].GPUs]++
	}
	delete(count, 0)
	var out []sizeClass
	for g, n := range count {
		out = append(out, sizeClass{g, n})
	}
	slices.SortFunc(out, func(a, b sizeClass) int { return b.gpus - a.gpus })
	return out
}

func checkModel(in *sched.Instance, id sched.JobID) error {
	if !in.Jobs[id].OnlyStages() {
		return fmt.Errorf("cuts: %w to job %d, which is none of the gang or preemptive model", sched.ErrNotApplicable, id)
	}
	return nil
}

// runTime returns ceil(n·alpha) in microseconds, alpha being in seconds.
func runTime(in *sched.Instance, id sched.JobID, alpha *big.Rat) (sched.Time, error) {
	num := new(big.Int).Mul(alpha.Num(), big.NewInt(in.Jobs[id].Iters))
	num.Mul(num, big.NewInt(int64(sched.Second)))
	q, rem := num.QuoRem(num, alpha.Denom(), new(big.Int))
	if rem.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if q.Cmp(big.NewInt(int64(sched.MaxTime))) > 0 {
		return 0, fmt.Errorf("cuts: job %d would run for more than %v on some placement", id, sched.MaxTime)
	}
	return sched.Time(q.Int64()), nil
}
