package bench

import (
	"errors"

	"yardstick/solvers/milp"
)

// ErrPanicked is the error of a method that panicked.
var ErrPanicked = errors.New("panicked")

// ErrInvalidSchedule is the error of a method whose schedule breaks a rule.
var ErrInvalidSchedule = errors.New("the schedule is not valid")

// ErrMachine is the error of a cell that the machine kept from running: no process
// could be started, or the disk is full. It says nothing about the method, so that the
// cell counts as not finished, and other cells would end the same way.
var ErrMachine = errors.New("this machine cannot run cells")

// ErrOutside is the error of a cell whose process was killed, and not by the run: by the
// system where memory ran out, a batch system or a person. The cell has failed, others
// may well run, and the next run has it again.
var ErrOutside = errors.New("the process of the cell was killed by something else than the run")

// storedError is an error with what can be told of it after it was text.
type storedError struct {
	Text     string `json:"text"`
	Panicked bool   `json:"panicked,omitempty"`
	Invalid  bool   `json:"invalid,omitempty"` // an invalid schedule
	Refuted  bool   `json:"refuted,omitempty"` // a bound that its certificate does not prove
	Machine  bool   `json:"machine,omitempty"` // the machine's, not the method's
	Outside  bool   `json:"outside,omitempty"` // killed by something else than the run
	Ended    string `json:"ended,omitempty"`   // the termination of a cell that was killed
}

// Error implements error.
func (e *storedError) Error() string { return e.Text }

// Is makes a stored error the same as the one that was stored.
func (e *storedError) Is(target error) bool {
	return target == ErrPanicked && e.Panicked || target == ErrInvalidSchedule && e.Invalid || target == ErrBoundRefuted && e.Refuted || target == ErrMachine && e.Machine || target == ErrOutside && e.Outside
}

// Killed returns the error of a cell whose process was ended from outside.
func Killed(t milp.Termination, text string) error { return &storedError{Text: text, Ended: string(t)} }

// KilledOutside returns the error of a cell whose process something else than the run has
// killed.
func KilledOutside(text string) error {
	return &storedError{Text: text + ": not by this run, but by the system, as where memory runs out, or by somebody; the next run tries it again",
		Outside: true, Ended: string(milp.Crashed)}
}

// ErrNotStarted is the error of a program that gives no answer to the greeting, whatever
// the instance.
var ErrNotStarted = errors.New("not started")

// notStarted is an error that is ErrNotStarted too, in its own words.
type notStarted struct{ error }

func (e notStarted) Unwrap() error { return e.error }

// Is implements the interface of errors.Is.
func (e notStarted) Is(target error) bool { return target == ErrNotStarted }

// NotStarted returns the error of a program that gives no answer to the greeting.
func NotStarted(err error) error { return notStarted{err} }

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
