package suite

import (
	"fmt"
	"math"
	"os"
	"slices"

	"yardstick/internal/input"
)

// What takes as much memory as a job: so many past jobs of a history, servers, or jobs
// of a trace that instances are made of. An instance itself takes as much as some jobs.
const (
	pastPerJob      = 8
	serversPerJob   = 4
	tracePerJob     = 2
	jobsPerInstance = 4
)

// Budget counts the jobs of the instances of a plan, which are all held in memory, and
// refuses those beyond the limit [input.Jobs]: that of all files that they come from. It
// keeps what sources have in common. The zero value is a budget of that limit.
type Budget struct {
	// Most replaces the limit where that is less: who makes the plan knows that so many
	// are wanted.
	Most int64

	spent int64
	bytes int64 // of the files
	files []string
	kept  kept // what sources share
}

// Forget gives back the jobs that were taken, and keeps what was read: for who builds one
// instance after the other and keeps none.
func (b *Budget) Forget() { b.spent = 0 }

// read counts the bytes of a file, once.
func (b *Budget) read(path string) {
	if info, err := os.Stat(path); err == nil && !slices.Contains(b.files, path) {
		b.files, b.bytes = append(b.files, path), b.bytes+info.Size()
	}
}

// spend takes so many jobs, several times.
func (b *Budget) spend(jobs, times int) error {
	b.spent += min(int64(jobs), math.MaxInt32) * int64(times) // validated to be small
	return b.check(b.spent)
}

// holds returns an error if a trace of so many jobs is too long beside what was taken.
func (b *Budget) holds(trace int) error { return b.check(b.spent + int64(trace)/tracePerJob) }

func (b *Budget) check(jobs int64) error {
	if jobs <= b.Most {
		return nil
	}
	most, err := input.Jobs.Value(b.bytes)
	if err != nil || jobs <= most {
		return err
	}
	return fmt.Errorf("with it the instances take the memory of %d jobs, more than the %d that are planned; $%s raises that, fewer or shorter windows, fewer servers or history: 0 take less",
		jobs, most, input.Jobs.Variable)
}

// Beyond returns how many jobs were taken if they are more than the limit where nobody
// raises it, and 0 if they are not.
func (b *Budget) Beyond() int64 {
	if b.spent > input.Jobs.Default(b.bytes) {
		return b.spent
	}
	return 0
}
