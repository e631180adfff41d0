package explain

import (
	"fmt"
	"math/big"

	"yardstick/sched"
)

// Candidate is a verified schedule that another one may be compared with.
type Candidate struct {
	Name  string
	Class string
	Cost  *big.Rat // nil if the objective is not defined for it
}

// Comparable returns an error that says why a schedule of one class cannot be the
// reference of one of another class. It may be if what its class does the other could do
// too: then some schedule of that class costs no more.
func Comparable(class, reference string) error {
	var c, r sched.Class
	if err := c.UnmarshalText([]byte(class)); err != nil {
		return err
	}
	if err := r.UnmarshalText([]byte(reference)); err != nil {
		return err
	}
	if !r.Reaches(c) {
		return fmt.Errorf("a schedule of class %v does what one of class %v may not, so that it is no reference for it", r, c)
	}
	return nil
}

// Choose returns the index of the best candidate that a schedule of the class may be
// compared with, the first of equals; −1 if there is none.
//
// Errors: no such objective.
func Choose(class, objective string, list []Candidate) (int, error) {
	var o sched.Objective
	if err := o.UnmarshalText([]byte(objective)); err != nil {
		return -1, err
	}
	best := -1
	for i := range list {
		if list[i].Cost == nil || Comparable(class, list[i].Class) != nil {
			continue
		}
		if best < 0 || o.Maximised() && list[i].Cost.Cmp(list[best].Cost) > 0 || !o.Maximised() && list[i].Cost.Cmp(list[best].Cost) < 0 {
			best = i
		}
	}
	return best, nil
}

// Places returns how many thousandths of GPUs jobs may hold at once: those that there are,
// and twice as many where one of the classes lets two jobs share a GPU.
//
// Errors: no such class.
func Places(milli int64, classes ...string) (int64, error) {
	places := milli
	for _, name := range classes {
		var c sched.Class
		if err := c.UnmarshalText([]byte(name)); err != nil {
			return 0, err
		}
		if c.Kind == sched.S {
			places = 2 * milli
		}
	}
	return places, nil
}
