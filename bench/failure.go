package bench

import (
	"errors"

	"yardstick/solvers/milp"
)

// ErrPanicked is the error of a method that panicked.
var ErrPanicked = errors.New("panicked")

// ErrInvalidSchedule is the error of a method whose schedule breaks a rule.
var ErrInvalidSchedule = errors.New("the schedule is not valid")

// storedError is an error with what can be told of it after it was text.
type storedError struct {
	Text     string `json:"text"`
	Panicked bool   `json:"panicked,omitempty"`
	Invalid  bool   `json:"invalid,omitempty"` // an invalid schedule
	Refuted  bool   `json:"refuted,omitempty"` // a bound that its certificate does not prove
	Ended    string `json:"ended,omitempty"`   // the termination of a cell that was killed
}

// Error implements error.
func (e *storedError) Error() string { return e.Text }

// Is makes a stored error the same as the one that was stored.
func (e *storedError) Is(target error) bool {
	return target == ErrPanicked && e.Panicked || target == ErrInvalidSchedule && e.Invalid || target == ErrBoundRefuted && e.Refuted
}

// Killed returns the error of a cell whose process was ended from outside.
func Killed(t milp.Termination, text string) error { return &storedError{Text: text, Ended: string(t)} }

// TerminationOf says how a cell ended that has an error.
func TerminationOf(err error) milp.Termination {
	var stored *storedError
	switch {
	case errors.As(err, &stored) && stored.Ended != "":
		return milp.Termination(stored.Ended)
	case errors.Is(err, ErrPanicked):
		return milp.Crashed
	}
	return milp.OtherError
}
