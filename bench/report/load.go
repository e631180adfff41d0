package report

import (
	"fmt"
	"slices"

	"yardstick/bench/record"
)

// Loads are the offered loads of a group's instances. Bursts and instances of
// elastic jobs have none.
type Loads struct {
	Known     int     `json:"known"` // of them
	Instances int     `json:"instances"`
	Median    float64 `json:"median"` // nearest rank
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
}

// NewLoads counts the loads of instances, one for each; nil if none has one.
func NewLoads(of []record.Opt[float64]) *Loads {
	var known []float64
	for _, l := range of {
		if l.Valid {
			known = append(known, l.V)
		}
	}
	if len(known) == 0 {
		return nil
	}
	slices.Sort(known)
	return &Loads{Known: len(known), Instances: len(of), Median: percentile(known, 50).V, Min: known[0], Max: known[len(known)-1]}
}

// String is the median, and in parentheses the range and of how many instances,
// where that says more: "0.90", "0.93 (0.88 to 1.02)" or "0.93 (0.88 to 1.02; 4/6)".
func (l *Loads) String() string {
	low, high, more := loadText(l.Min), loadText(l.Max), ""
	if low != high {
		more = low + " to " + high
	}
	if l.Known < l.Instances {
		if more != "" {
			more += "; "
		}
		more += fmt.Sprintf("%d/%d", l.Known, l.Instances)
	}
	if more != "" {
		more = " (" + more + ")"
	}
	return loadText(l.Median) + more
}

// loadText has two digits behind the point, or of what is small.
func loadText(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.2f", v)
}
