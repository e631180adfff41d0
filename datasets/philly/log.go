package philly

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"yardstick/datasets"
	"yardstick/datasets/importer"
	"yardstick/datasets/table"
)

// The cleaning rules of the job log.
const (
	RuleSynergy    = "synergy"
	RuleNoAttempts = "no-attempts"
	RuleNoTimes    = "no-times"
	RulePassed     = "passed"
)

// Job is a job of the log that the rules judge. Its DurationS is the time from
// the start of the first attempt to the end of the last.
type Job struct {
	datasets.Row
	Attempts int
	Sum      datasets.Opt[float64] // running time of all attempts, in seconds; NULL if that of one is not known
}

func (j *Job) row() *datasets.Row { return &j.Row }

// LogRules lists the cleaning rules of ImportLog, in the order of application.
func LogRules(o Options) []importer.Rule[*Job] {
	return []importer.Rule[*Job]{
		{Name: RuleSynergy, Doc: "takes the sum over attempts as running time (Synergy), not first start to last end (ATC'19, Gavel)",
			Changes: func(j *Job) { j.DurationS = j.Sum }},
		{Name: RuleNoAttempts, Doc: "drops jobs without a scheduling attempt (ATC'19)", Default: true,
			Drops: func(j *Job) bool { return j.Attempts == 0 }},
		{Name: RuleNoTimes, Doc: "drops jobs whose running time is not known, because a start or an end is missing (ATC'19)", Default: true,
			Drops: func(j *Job) bool { return !j.DurationS.OK }},
		importer.Lift(importer.NegativeTime(), (*Job).row),
		importer.Lift(importer.NoDuration(), (*Job).row),
		importer.Lift(importer.NoGPUs(), (*Job).row),
		importer.Lift(lucid(o), (*Job).row),
		{Name: RulePassed, Doc: "drops jobs whose status is not Pass",
			Drops: func(j *Job) bool { return j.Status.V != "Pass" }},
	}
}

// logJob is a job as the log has it. A text is "" where it is missing or null.
type logJob struct {
	JobID     string   `json:"jobid"`
	ID        string   `json:"id"` // in excerpts of the log
	Status    string   `json:"status"`
	VC        string   `json:"vc"`
	User      string   `json:"user"`
	Submitted string   `json:"submitted_time"`
	GPUs      *float64 `json:"num_gpus"` // in excerpts that lack the detail
	Attempts  []struct {
		Start  string `json:"start_time"`
		End    string `json:"end_time"`
		Detail []struct {
			GPUs []string `json:"gpus"`
		} `json:"detail"`
	} `json:"attempts"`
}

// ImportLog converts the JSON job log, an array of jobs
//
//	{"jobid", "user", "vc", "status", "submitted_time",
//	 "attempts": [{"start_time", "end_time", "detail": [{"ip", "gpus": [...]}]}]}
//
// which may be compressed or in an archive, into a Parquet file. The GPU demand
// is the number of GPUs of the first attempt, or num_gpus where attempts have
// no detail; the queueing time is that before the first attempt, and the
// running time is set by the rule synergy. Jobs keep their order.
//
// Errors name the file and the line on which the job begins: no JSON, a value
// of the wrong type, a job without identifier, a time that is none.
func ImportLog(in, out string, o Options) (*importer.Report, error) {
	o.fill()
	r, err := convertLog(in, out, o)
	if err != nil {
		return nil, fmt.Errorf("philly: %w", err)
	}
	return r, nil
}

func convertLog(in, out string, o Options) (*importer.Report, error) {
	if o.Member == "" {
		o.Member = "cluster_job_log*"
	}
	rules, err := importer.Choose(LogRules(o), o.Rules)
	if err != nil {
		return nil, err
	}
	f, err := importer.OpenJSON(in, o.Member, o.Watch)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &importer.Report{Calendar: true}
	return r, importer.Write(out, importer.Keep(jobs(f, o), rules, r, (*Job).row), r, o.Watch)
}

func jobs(f *importer.JSON, o Options) iter.Seq2[*Job, error] {
	return func(yield func(*Job, error) bool) {
		for {
			var in logJob
			err := f.Next(&in)
			if errors.Is(err, io.EOF) {
				return
			}
			var job *Job
			if err == nil {
				if job, err = in.job(o); err != nil {
					err = f.Errorf("%w", err)
				}
			}
			if !yield(job, err) || err != nil {
				return
			}
		}
	}
}

// job converts a job of the log; times are dates in seconds since 1970.
func (l *logJob) job(o Options) (*Job, error) {
	j := &Job{Attempts: len(l.Attempts)}
	j.Trace, j.Status, j.VC, j.User = o.Trace, label(l.Status), label(l.VC), label(l.User)
	j.JobID = label(l.JobID).V
	if j.JobID == "" {
		j.JobID = label(l.ID).V
	}
	if j.JobID == "" {
		return nil, fmt.Errorf("a job without jobid")
	}
	submitted, err := date(l.Submitted, o.Clock)
	if err != nil {
		return nil, fmt.Errorf("submitted_time: %w", err)
	}
	j.SubmitS = submitted
	if l.GPUs != nil {
		if err := table.CheckQuantity(*l.GPUs); err != nil {
			return nil, fmt.Errorf("num_gpus %w", err)
		}
		j.GPUs = datasets.Some(*l.GPUs)
	}
	sum := datasets.Some(0.)
	var first, last datasets.Opt[float64]
	for i := range l.Attempts {
		a := &l.Attempts[i]
		start, err := date(a.Start, o.Clock)
		if err != nil {
			return nil, fmt.Errorf("start_time of attempt %d: %w", i+1, err)
		}
		end, err := date(a.End, o.Clock)
		if err != nil {
			return nil, fmt.Errorf("end_time of attempt %d: %w", i+1, err)
		}
		if i == 0 {
			first = start
		}
		last = end
		sum = datasets.Opt[float64]{V: sum.V + end.V - start.V, OK: sum.OK && start.OK && end.OK}
		if i == 0 && len(a.Detail) > 0 {
			n := 0
			for _, server := range a.Detail {
				n += len(server.GPUs)
			}
			j.GPUs = datasets.Some(float64(n))
		}
	}
	if sum.OK && len(l.Attempts) > 0 {
		j.Sum = sum
	}
	if first.OK && last.OK {
		j.DurationS = datasets.Some(last.V - first.V)
	}
	if first.OK && submitted.OK {
		j.QueueS = datasets.Some(first.V - submitted.V)
	}
	return j, nil
}

// label is a text of the log: NULL if it is null, empty or None.
func label(s string) datasets.Opt[string] {
	if s == "" || s == "None" {
		return datasets.Opt[string]{}
	}
	return datasets.Some(s)
}

// date is a date of the log, in seconds since 1970. A zone of its own, PST or
// PDT, may follow.
func date(s string, clock importer.Clock) (datasets.Opt[float64], error) {
	text := label(s)
	if !text.OK {
		return datasets.Opt[float64]{}, nil
	}
	if local, ok := strings.CutSuffix(text.V, " PST"); ok {
		text.V = local + "-08:00"
	} else if local, ok := strings.CutSuffix(text.V, " PDT"); ok {
		text.V = local + "-07:00"
	}
	t, err := clock.Parse([]byte(text.V))
	if err != nil {
		return datasets.Opt[float64]{}, err
	}
	return datasets.Some(importer.Seconds(t)), nil
}
