// Package score asks of a schedule that something else made how far it is from the best
// possible one.
//
// What another simulator or a real cluster recorded says more or less about its schedule.
// Three levels of evidence, each with what is checked and the class of the schedule that
// follows:
//
//	completions  one end per job: it is not before release + length, and there is a fluid
//	             schedule in which every job is done by its end; class F(1)
//	intervals    starts and ends: every interval holds the job's GPUs, they last at least as
//	             long as the job, and never more GPUs are in use than there are; class N of
//	             the pooled cluster if each job has one interval, P0 otherwise
//	placements   the servers too, or the very GPUs: none is given twice; classes as above
//
// The cost of what passes may be divided by every bound that is proven for its class
// (sched.Class): docs/classes.md has the proofs. What does not pass has violations and no
// ratio.
//
// Times are in microseconds since the earliest release, or whatever moment the caller
// chose; GPUs are in thousandths, so that shares of a GPU are exact.
package score

import (
	"fmt"

	"yardstick/sched"
)

// Milli is how many of the units of Job.GPUs a whole GPU is.
const Milli = 1000

// Job is what a schedule has to do.
type Job struct {
	Name    string
	User    string
	Release sched.Time
	Length  sched.Time // of running, positive; 0 is that of the record (Options.Recorded)
	GPUs    int64      // thousandths, positive, all of them held at once
	Weight  float64
}

// Piece is a stretch of time in which a job held its GPUs, or its end alone.
type Piece struct {
	Job        int        // index of the job
	Start, End sched.Time // Start is not looked at in Completions
	GPUs       int64      // thousandths; 0 is not recorded: as many as the job asks for
	Parts      []Part     // where, in Placements; a server is in one part at most
}

// Part is what a piece holds on one server.
type Part struct {
	Server  int
	GPUs    int
	Devices []int // indices of the GPUs, ascending; nil if they are not recorded
}

// Evidence is how much a record says.
type Evidence uint8

// The levels of evidence.
const (
	Completions Evidence = iota + 1
	Intervals
	Placements
)

var evidenceNames = [...]string{Completions: "completions", Intervals: "intervals", Placements: "placements"}

func (e Evidence) String() string { return evidenceNames[e] }

// MarshalText implements encoding.TextMarshaler.
func (e Evidence) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Record is a schedule as something else wrote it down.
type Record struct {
	Evidence Evidence
	Pieces   []Piece // in any order
	// Killed are the jobs that the other system ended before they were done; nil if it
	// does not say.
	Killed map[int]bool
}

// Step is a number of GPUs from a moment on.
type Step struct {
	At   sched.Time
	GPUs int64 // thousandths
}

// Cluster is what the schedule was made on.
type Cluster struct {
	GPUs int64 // thousandths, in all
	// Servers are the GPUs of each server; needed for Placements.
	Servers []int
	// Capacity is the number of GPUs over time, in order of time; nil if it was GPUs
	// throughout. None is larger than GPUs.
	Capacity []Step
}

// Options say how strictly a record is read.
type Options struct {
	// Tolerance is by how much times may be off. A job that is shorter by no more counts
	// with its shorter length, one that starts earlier by no more with its earlier release,
	// and intervals that overlap by no more are shortened, in what is checked and in the
	// bounds alike.
	Tolerance sched.Time
	// Rounded says that times were rounded to microseconds: each interval may be off by two.
	Rounded bool
	// Recorded takes the lengths of jobs from the record, which must have starts.
	Recorded bool
	// Edges limits the network that decides whether ends are feasible; 0 means 5 million.
	Edges int
}

// The rules of a record beside those that package verify names.
const (
	RuleJob       = "job"       // the job is none of the list, or has several ends
	RuleMissing   = "missing"   // every job is in the record
	RuleSegment   = "segment"   // an interval ends after it starts
	RuleRelease   = "release"   // nothing starts before the job's release
	RuleOverlap   = "overlap"   // the intervals of a job do not overlap
	RuleGang      = "gang"      // an interval holds as many GPUs as the job asks for
	RuleLength    = "length"    // the intervals of a job last at least as long as the job
	RuleCapacity  = "capacity"  // never more GPUs are in use than there are
	RulePlacement = "placement" // parts are on servers that exist, and add up to the gang
	RuleDevice    = "device"    // no GPU is held twice
	RuleFluid     = "fluid"     // the ends are those of a fluid schedule
	RuleBound     = "bound"     // the schedule costs no less than is possible
)

// Violation is a way in which a record is no schedule.
type Violation struct {
	Rule   string
	Job    string     // its name; "" if it concerns none alone
	At     sched.Time // when
	Detail string
}

// String is the violation in one line, without the time, whose clock the caller knows.
func (v *Violation) String() string {
	if v.Job == "" {
		return fmt.Sprintf("%s: %s", v.Rule, v.Detail)
	}
	return fmt.Sprintf("%s: job %s: %s", v.Rule, v.Job, v.Detail)
}

// mostViolations is how many violations are kept; all are counted.
const mostViolations = 1000

// violations collects what is wrong.
type violations struct {
	jobs []Job
	list []Violation
	n    int
}

func (v *violations) add(rule string, job int, at sched.Time, format string, args ...any) {
	v.n++
	if len(v.list) >= mostViolations {
		return
	}
	name := ""
	if job >= 0 {
		name = v.jobs[job].Name
	}
	v.list = append(v.list, Violation{rule, name, at, fmt.Sprintf(format, args...)})
}

// Checked is what a check of a record found.
type Checked struct {
	Evidence   Evidence
	Class      sched.Class
	Violations []Violation // the first of them
	Broken     int         // how many there are
	// Necessary reports that the ends were too many to be decided: they passed tests that
	// every feasible vector passes, and some others may too.
	Necessary bool
	// Jobs are the jobs with the releases and lengths that count, which a tolerance has
	// made earlier and shorter; Ends are when they were done.
	Jobs []Job
	Ends []sched.Time
	// Pieces are the intervals as they count, in order of start. A tolerance may have
	// shortened them.
	Pieces []Piece
	// Shortened and Early are how many jobs the tolerance changed.
	Shortened, Early int
	Cluster          Cluster
}

// GPUs shows thousandths of GPUs as GPUs.
func GPUs(milli int64) string {
	if milli%Milli == 0 {
		return fmt.Sprint(milli / Milli)
	}
	return fmt.Sprintf("%d.%03d", milli/Milli, milli%Milli)
}
