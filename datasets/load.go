package datasets

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"yardstick/sched"
)

// Selection says which rows of a trace become jobs.
type Selection struct {
	Where Filter
	// MaxGPUs drops jobs whose gang is larger; 0 keeps all, and then Build
	// refuses those that the cluster cannot hold.
	MaxGPUs int
	// Expect is about how many jobs there will be, to have room for them; 0 where
	// nobody knows.
	Expect int
}

// Trace holds the jobs of one trace in order of submission, with what
// instances need of them.
type Trace struct {
	jobs    []Job
	summary Summary

	ending sync.Once
	byEnd  []int32 // see ends
}

// Job is what instances need of one job of a trace.
type Job struct {
	ID                 string         // a name: it orders and decides nothing
	Row                int            // which row of the source it was, from 0, dropped ones included
	User, Group, Model string         // "" where the source does not say
	Submit             sched.Time     // since the start of the trace
	End                sched.Time     // completion in the source's cluster
	Run                sched.Duration // how long it ran there; positive
	Gang               int            // whole GPUs; at least 1
	Weight             Opt[float64]
}

// Summary says how many rows were read, kept and dropped.
type Summary struct {
	Rows    int // read
	Matched int // of these, met the filter
	Kept    int // of these, became jobs
	// Dropped counts the matching rows that did not, by the first reason that
	// applied; reasons that never did are left out.
	Dropped []Drop
	Note    string // of the source: see Source.Note
}

// Drop is a number of rows dropped for one reason.
type Drop struct {
	Reason string
	Rows   int
}

// The reasons for dropping a row, in the order in which they are tried.
const (
	DropNoSubmit     = "submission time is NULL"
	DropNoDuration   = "duration is NULL"
	DropZeroDuration = "duration is 0"
	DropNoGPUs       = "GPU demand is NULL"
	DropZeroGPUs     = "asks for no GPU"
	DropTooLarge     = "asks for more GPUs than allowed"
)

// String says it in one line.
func (s Summary) String() string {
	parts := []string{fmt.Sprintf("%d rows read, %d match the filter, %d kept", s.Rows, s.Matched, s.Kept)}
	for _, d := range s.Dropped {
		parts = append(parts, fmt.Sprintf("%d dropped: %s", d.Rows, d.Reason))
	}
	if s.Note != "" {
		parts = append(parts, s.Note)
	}
	return strings.Join(parts, "; ")
}

func (s *Summary) drop(reason string) {
	for i := range s.Dropped {
		if s.Dropped[i].Reason == reason {
			s.Dropped[i].Rows++
			return
		}
	}
	s.Dropped = append(s.Dropped, Drop{reason, 1})
}

// Load reads the rows that sel keeps; of the file, only the columns that it
// needs.
//
// Errors: those of Rows and NewTrace.
func (s *Source) Load(sel Selection) (*Trace, error) {
	columns := append(sel.Where.Columns(), "trace", "job_id", "user", "group", "model", "submit_s", "queue_s", "duration_s", "gpus", "weight")
	slices.Sort(columns)
	t, err := newTrace(s.Name()+": ", s.Rows(slices.Compact(columns)...), sel)
	if err == nil {
		t.summary.Note = s.Note()
	}
	return t, err
}

// NewTrace makes a trace of the rows that sel keeps. Jobs are put in order of
// submission, and those submitted at the same time stay as they came. Their ids
// are names and decide nothing.
//
// A job's gang is its GPU demand rounded up to whole GPUs: a share of a GPU
// becomes one GPU. Jobs without a submission time, duration or GPU demand are
// dropped, and so are those that ran for no time (less than half a nanosecond)
// or asked for no GPU; the Summary counts them.
//
// Errors: the rows' own; rows of several traces, which have no common clock; a
// time beyond sched.MaxTime.
func NewTrace(rows iter.Seq2[Row, error], sel Selection) (*Trace, error) {
	return newTrace("", rows, sel)
}

// newTrace is NewTrace; source begins the errors that are not the rows' own.
func newTrace(source string, rows iter.Seq2[Row, error], sel Selection) (*Trace, error) {
	t := &Trace{jobs: make([]Job, 0, sel.Expect)}
	name := ""
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		t.summary.Rows++
		if !sel.Where.Match(&row) {
			continue
		}
		t.summary.Matched++
		if t.summary.Matched == 1 {
			name = row.Trace
		}
		if row.Trace != name {
			return nil, fmt.Errorf("datasets: %sjobs of the traces %q and %q are selected, which have no common clock; choose one with where: {trace: %s}", source, name, row.Trace, name)
		}
		if reason := unusable(&row, sel.MaxGPUs); reason != "" {
			t.summary.drop(reason)
			continue
		}
		j, err := newJob(&row)
		if err != nil {
			return nil, fmt.Errorf("datasets: %s%w", source, err)
		}
		j.Row = t.summary.Rows - 1
		t.jobs = append(t.jobs, j)
	}
	t.summary.Kept = len(t.jobs)
	// The sort is stable: of jobs submitted together, which traces stamped by the
	// second or minute are full of, the first to be listed came first.
	slices.SortStableFunc(t.jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return t, nil
}

// unusable returns why a row cannot become a job, or "".
func unusable(r *Row, maxGPUs int) string {
	switch {
	case !r.SubmitS.OK:
		return DropNoSubmit
	case !r.DurationS.OK:
		return DropNoDuration
	case nanoseconds(r.DurationS.V) == 0:
		return DropZeroDuration
	case !r.GPUs.OK:
		return DropNoGPUs
	case r.GPUs.V == 0:
		return DropZeroGPUs
	case maxGPUs > 0 && r.GPUs.V > float64(maxGPUs):
		return DropTooLarge
	}
	return ""
}

func newJob(r *Row) (Job, error) {
	if longest := max(r.SubmitS.V, r.QueueS.V, r.DurationS.V); longest > sched.MaxTime.Seconds() {
		return Job{}, fmt.Errorf("job %q: submit_s %v, queue_s %v, duration_s %v: at most %v s is supported",
			r.JobID, r.SubmitS.V, r.QueueS.V, r.DurationS.V, sched.MaxTime.Seconds())
	}
	if r.GPUs.V > math.MaxInt32 {
		return Job{}, fmt.Errorf("job %q: gpus is %v", r.JobID, r.GPUs.V)
	}
	return Job{
		ID: r.JobID, User: r.User.V, Group: r.Group.V, Model: r.Model.V,
		Submit: microseconds(r.SubmitS.V),
		End:    microseconds(r.SubmitS.V) + microseconds(r.QueueS.V) + microseconds(r.DurationS.V),
		Run:    nanoseconds(r.DurationS.V),
		Gang:   int(math.Ceil(r.GPUs.V)),
		Weight: r.Weight,
	}, nil
}

// microseconds and nanoseconds round seconds to the nearest whole unit.
func microseconds(seconds float64) sched.Time    { return sched.Time(math.Round(seconds * 1e6)) }
func nanoseconds(seconds float64) sched.Duration { return sched.Duration(math.Round(seconds * 1e9)) }

// Len returns the number of jobs.
func (t *Trace) Len() int { return len(t.jobs) }

// Jobs returns the jobs in order of submission. The slice is the trace's own
// and must not be changed.
func (t *Trace) Jobs() []Job { return t.jobs }

// Summary says what was read and dropped.
func (t *Trace) Summary() Summary { return t.summary }
