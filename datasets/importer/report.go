package importer

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"yardstick/datasets"
	"yardstick/datasets/table"
)

// Report says what an import did.
type Report struct {
	Rows, Kept int
	// Dropped counts the other rows, each under the first rule that dropped it;
	// all rules that were applied are listed, in the order of application.
	Dropped []datasets.Drop
	// StartS is what submit_s counts from: the earliest submission of the rows
	// kept, in seconds on the source's clock. 0 if no row was kept.
	StartS float64
	// SpanS is the time from the first submission kept to the last, in seconds.
	SpanS float64
	// Start is StartS as a date where the source's clock shows dates, else the
	// zero time.
	Start time.Time

	// Calendar says that the source's times are dates, in seconds since 1970 in
	// UTC. Importers set it before Write.
	Calendar bool
}

// Drop counts a row under a rule.
func (r *Report) Drop(rule string) {
	i := slices.IndexFunc(r.Dropped, func(d datasets.Drop) bool { return d.Reason == rule })
	if i < 0 {
		i = len(r.Dropped)
		r.Dropped = append(r.Dropped, datasets.Drop{Reason: rule})
	}
	r.Dropped[i].Rows++
}

// DroppedBy returns the number of rows that a rule dropped.
func (r *Report) DroppedBy(rule string) int {
	for _, d := range r.Dropped {
		if d.Reason == rule {
			return d.Rows
		}
	}
	return 0
}

// String says it in one line.
func (r *Report) String() string {
	parts := []string{fmt.Sprintf("%d rows in, %d kept", r.Rows, r.Kept)}
	for _, d := range r.Dropped {
		parts = append(parts, fmt.Sprintf("%d dropped by %s", d.Rows, d.Reason))
	}
	return strings.Join(parts, ", ")
}

// Rule is a cleaning rule. T is what an importer makes of a record: a pointer
// to a [datasets.Row] whose times are still the source's own, or a struct that
// has more.
type Rule[T any] struct {
	Name    string       // of the option, such as gpu-only
	Doc     string       // what it does and who uses it, in one line
	Default bool         // applied where no rules are named
	Drops   func(T) bool // whether a record is dropped; may be nil
	Changes func(T)      // made to the records that are not dropped; may be nil
}

// Choose returns the rules that an import applies, in the order of all: those
// that are named, or the default ones if names is nil. The name "default"
// stands for the default ones and "none" for none.
//
// Errors: a name is not among the rules; the error says which comes nearest.
func Choose[T any](all []Rule[T], names []string) ([]Rule[T], error) {
	if names == nil {
		names = []string{"default"}
	}
	known := []string{"default", "none"}
	for _, rule := range all {
		known = append(known, rule.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no cleaning rule %q; the nearest is %q (rules are %s)",
				name, table.Nearest(name, known), strings.Join(known, ", "))
		}
	}
	var chosen []Rule[T]
	for _, rule := range all {
		if slices.Contains(names, rule.Name) || rule.Default && slices.Contains(names, "default") {
			chosen = append(chosen, rule)
		}
	}
	return chosen, nil
}

// Describe returns one line per rule, for the help of commands.
func Describe[T any](all []Rule[T]) []string {
	var lines []string
	for _, rule := range all {
		line := rule.Name + ": " + rule.Doc
		if rule.Default {
			line += " (default)"
		}
		lines = append(lines, line)
	}
	return lines
}

// Keep counts records in r, applies the rules to each in turn, and yields the
// rows in those that no rule drops. A row is valid until the next one.
func Keep[T any](records iter.Seq2[T, error], rules []Rule[T], r *Report, row func(T) *datasets.Row) iter.Seq2[*datasets.Row, error] {
	at := make([]int, len(rules)) // of the rules that drop, in r.Dropped
	for i, rule := range rules {
		if rule.Drops != nil {
			at[i] = len(r.Dropped)
			r.Dropped = append(r.Dropped, datasets.Drop{Reason: rule.Name})
		}
	}
	return func(yield func(*datasets.Row, error) bool) {
	next:
		for record, err := range records {
			if err != nil {
				yield(nil, err)
				return
			}
			r.Rows++
			for i := range rules {
				if rules[i].Drops != nil && rules[i].Drops(record) {
					r.Dropped[at[i]].Rows++
					continue next
				}
				if rules[i].Changes != nil {
					rules[i].Changes(record)
				}
			}
			if !yield(row(record), nil) {
				return
			}
		}
	}
}

// Itself is the row function of Keep where records are rows.
func Itself(row *datasets.Row) *datasets.Row { return row }

// The rules that most importers have: what they drop cannot be run as a job.
const (
	RuleNoDuration   = "no-duration"
	RuleNoGPUs       = "no-gpus"
	RuleNegativeTime = "negative-time"
)

// NoDuration drops rows whose duration is NULL or 0.
func NoDuration() Rule[*datasets.Row] {
	return Rule[*datasets.Row]{Name: RuleNoDuration, Doc: "drops rows whose duration is missing or 0", Default: true,
		Drops: func(r *datasets.Row) bool { return r.DurationS.V == 0 }} // NULL has the value 0
}

// NoGPUs drops rows whose GPU demand is NULL or 0.
func NoGPUs() Rule[*datasets.Row] {
	return Rule[*datasets.Row]{Name: RuleNoGPUs, Doc: "drops rows that ask for no GPU, or do not say", Default: true,
		Drops: func(r *datasets.Row) bool { return r.GPUs.V == 0 }}
}

// NegativeTime drops rows that ran for less than no time, and lets those that
// waited for less than no time say nothing about it.
func NegativeTime() Rule[*datasets.Row] {
	return Rule[*datasets.Row]{Name: RuleNegativeTime, Doc: "drops rows whose duration is negative; a negative queueing time becomes NULL", Default: true,
		Drops: func(r *datasets.Row) bool { return r.DurationS.V < 0 },
		Changes: func(r *datasets.Row) {
			if r.QueueS.V < 0 {
				r.QueueS = datasets.Opt[float64]{}
			}
		}}
}

// Lift makes a rule about records of one about rows, given the row in a record.
func Lift[T any](rule Rule[*datasets.Row], row func(T) *datasets.Row) Rule[T] {
	lifted := Rule[T]{Name: rule.Name, Doc: rule.Doc, Default: rule.Default}
	if rule.Drops != nil {
		lifted.Drops = func(record T) bool { return rule.Drops(row(record)) }
	}
	if rule.Changes != nil {
		lifted.Changes = func(record T) { rule.Changes(row(record)) }
	}
	return lifted
}

// Between drops rows that were not submitted in [from, to). The dates are read
// by the clock that reads the source's.
func Between(name, doc string, clock Clock, from, to string) Rule[*datasets.Row] {
	first, end := clock.must(from), clock.must(to)
	return Rule[*datasets.Row]{Name: name, Doc: doc,
		Drops: func(r *datasets.Row) bool {
			return !r.SubmitS.OK || r.SubmitS.V < first || r.SubmitS.V >= end
		}}
}
