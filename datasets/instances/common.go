package instances

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"yardstick/datasets"
	"yardstick/sched"
)

// Common are the options that all models share.
type Common struct {
	Name    string // of the instance
	Cluster sched.Cluster

	// Weights are those of weighted objectives; "" takes the trace's.
	Weights datasets.Weights

	// OfferedLoad, if set, is what [OfferedLoad] says of the instance: the times
	// between releases are all multiplied by one number. It is the last thing that is
	// done to releases but for Round, and nothing else changes: not the jobs, not the
	// Deadline, not the History. Releases are rounded up to a microsecond, and to
	// Round, which lowers the load by that part of their span.
	OfferedLoad datasets.Opt[float64]

	// Round rounds releases up to multiples of it; 0 keeps them. Each model says
	// which other times it rounds.
	Round sched.Time
	// Slotted makes Round the slot length of the instance. The elastic model is
	// always slotted.
	Slotted bool

	// Deadline is that of the objective scheduled-weight; 0 is none.
	Deadline sched.Time

	// History is how many jobs that completed before the window's first
	// submission Instance.History lists, the last ones; 0 is none. They are
	// treated as the window's jobs are.
	History int

	// Keys name numbers that jobs carry for policies, as sched.Instance.Keys; KeysOf has
	// those of every job of the window, by its id.
	Keys   []string
	KeysOf map[string][]float64
}

func (c *Common) validate() error {
	switch {
	case c.Round < 0 || c.Round > sched.MaxTime:
		return fmt.Errorf("round is %v: it must be between 0s and %v", c.Round, sched.MaxTime)
	case c.Slotted && c.Round == 0:
		return fmt.Errorf("a slotted instance needs the length of its slots: set round")
	case c.Deadline < 0 || c.Deadline > sched.MaxTime:
		return fmt.Errorf("deadline is %v: it must be between 0s and %v", c.Deadline, sched.MaxTime)
	case c.History < 0:
		return fmt.Errorf("history is %d: it must be at least 0", c.History)
	case c.OfferedLoad.OK && !(c.OfferedLoad.V > 0 && c.OfferedLoad.V <= math.MaxFloat64):
		return fmt.Errorf("offeredLoad is %v: it must be positive", c.OfferedLoad.V)
	}
	return nil
}

// start makes the instance with what every model takes from the trace: names,
// weights, and releases since the first, divided by shrink, which finish rounds.
func (c *Common) start(w *datasets.Window, m sched.Model, shrink int64) (*sched.Instance, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	weights, err := w.Weigh(c.Weights)
	if err != nil {
		return nil, err
	}
	in := &sched.Instance{Name: c.Name, Model: m, Cluster: c.Cluster, Deadline: c.Deadline, Keys: c.Keys}
	if c.Slotted {
		in.Slot = c.Round
	}
	jobs := w.List()
	in.Jobs = make([]sched.Job, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		in.Jobs[i] = sched.Job{
			Name: j.ID, User: j.User, Group: j.Group, Weight: weights[i],
			Release: (j.Submit - jobs[0].Submit) / sched.Time(shrink),
		}
		if c.KeysOf != nil {
			in.Jobs[i].Keys = c.KeysOf[j.ID]
		}
	}
	return in, nil
}

// finish rounds the releases, sets the offered load, checks the instance and names
// it in the error.
func (c *Common) finish(in *sched.Instance, err error) (*sched.Instance, error) {
	if err == nil {
		err = c.release(in)
	}
	if err != nil {
		return nil, fmt.Errorf("instances: instance %q: %w", c.Name, err)
	}
	return in, nil
}

// gangFits refuses a gang that a cluster of so many GPUs cannot hold.
func gangFits(j *datasets.Job, gpus int) error {
	if j.Gang > gpus {
		return fmt.Errorf("job %q needs %d GPUs at once, the cluster has %d: use a larger cluster, or drop such jobs (tooLarge: drop in a suite)", j.ID, j.Gang, gpus)
	}
	return nil
}

// roundUp returns the least multiple of q that is at least t, or t if q is 0.
func roundUp(t, q sched.Time) sched.Time {
	if q == 0 {
		return t
	}
	return (t + q - 1) / q * q
}

// draw returns the random numbers of one decision about one thing, such as the
// model of a group: a generator seeded by a hash of both.
func draw(seed uint64, decision, about string) *rand.Rand {
	b := []byte("yardstick build 1\x00")
	b = binary.BigEndian.AppendUint64(b, seed)
	b = append(b, decision...)
	b = append(b, 0)
	b = append(b, about...)
	sum := sha256.Sum256(b)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}

// between draws a whole number from [low, high].
func between(r *rand.Rand, low, high int64) int64 { return low + r.Int64N(high-low+1) }

// lotName names a job in draws about it: by its row in the source, since an id is
// only a name. It has the form of the built-in trace's ids, which are their rows,
// so that its instances stay what they were when ids were taken.
func lotName(j *datasets.Job) string { return fmt.Sprintf("j%05d", j.Row) }

// kin names what is one program: the job's group or, without one, the job.
func kin(j *datasets.Job) string {
	if j.Group == "" {
		return "job " + lotName(j)
	}
	return "group " + j.Group
}

// defaultIteration is how long an iteration takes, about, where the options leave
// it open.
const defaultIteration = sched.Duration(1e9)

// uneven returns an error if durations rounded up to slots would not stay
// multiples of them once they are cut into iterations.
func uneven(round sched.Time, iteration sched.Duration) error {
	if round > 0 && iteration > 0 && sched.Duration(round)*1000%iteration != 0 {
		return fmt.Errorf("round %v is no multiple of iteration %v: durations would not stay multiples of it", round, iteration)
	}
	return nil
}

// divide cuts a run into n iterations of about the given time, all of it one if
// that is 0, and returns n and the time of each. Without round, n times that
// differs from the run by at most n/2 nanoseconds; with round, it is the run rounded
// up to a multiple.
func divide(run sched.Duration, round sched.Time, iteration sched.Duration) (int64, sched.Duration) {
	if round > 0 {
		run = sched.Duration(roundUp(sched.Time((run+999)/1000), round)) * 1000
	}
	if iteration == 0 {
		return 1, run
	}
	n := steps(run, iteration)
	return n, max(1, (run+sched.Duration(n)/2)/sched.Duration(n))
}

// steps returns run/step to the nearest whole number, half up, at least 1.
func steps(run, step sched.Duration) int64 {
	return max(1, int64(run/step)+int64((run%step*2)/step))
}
