package generate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Spec says which trace to generate. Fields that are zero leave the profile's.
type Spec struct {
	Like Like
	Jobs int
	Seed uint64

	// Repeat is the probability that a run has the length of its group, from 0 to
	// 1; nil leaves the profile's.
	Repeat *float64
	// Recurrence is the time over which the runs of a group are spread, in seconds.
	Recurrence float64
	// InterArrival is the mean time between submissions, in seconds.
	InterArrival float64
}

// Check says what is wrong with the spec.
func (s Spec) Check() error {
	_, err := s.profile()
	return err
}

// profile returns the profile of the trace.
//
// Errors: there is no such trace, or a field is out of range.
func (s Spec) profile() (profile, error) {
	p, err := profileOf(s.Like)
	switch {
	case err != nil:
		return p, err
	case s.Jobs < 0 || s.Jobs > math.MaxInt32:
		return p, fmt.Errorf("generate: a trace cannot have %d jobs", s.Jobs)
	case s.Repeat != nil && !(*s.Repeat >= 0 && *s.Repeat <= 1):
		return p, fmt.Errorf("generate: repeat is %v: it is a probability, from 0 to 1", *s.Repeat)
	case !(s.Recurrence >= 0 && s.Recurrence <= longest):
		return p, fmt.Errorf("generate: recurrence is %v s: it must be at least 0, and at most %v days", s.Recurrence, longest/86400)
	case !(s.InterArrival >= 0 && s.InterArrival*float64(s.Jobs) <= longest):
		return p, fmt.Errorf("generate: %d jobs at %v s from one to the next: the time must be at least 0, and the trace at most %v days long", s.Jobs, s.InterArrival, longest/86400)
	}
	if s.Repeat != nil {
		p.repeat = *s.Repeat
	}
	if s.Recurrence > 0 {
		p.recurrence = s.Recurrence
	}
	if s.InterArrival > 0 {
		p.interArrival = s.InterArrival
	}
	return p, nil
}

// longest is more than any trace lasts, in seconds: ten years.
const longest = 3650 * 86400.0

// ParseSpan reads a positive time such as 30d, 12h or 7.5s, in seconds.
func ParseSpan(text string) (float64, error) {
	seconds := 0.0
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a time: write it with a unit, such as 30d or 12h", text)
		}
		seconds = n * 86400
	} else {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%q is not a time: write it with a unit, such as 30d or 12h", text)
		}
		seconds = d.Seconds()
	}
	if !(seconds > 0) {
		return 0, fmt.Errorf("%q is not positive", text)
	}
	return seconds, nil
}
