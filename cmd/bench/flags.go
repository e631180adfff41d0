package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// number is the value of a flag that must not be below a least value. Where that is
// above the zero that stands before the flag is given, nobody can give that zero: it
// means that the flag is not there, and nothing else.
type number[T int | int64 | time.Duration] struct {
	into        *T
	least, most T // most is 0 where there is none
}

// atLeast returns the flag's value, with what is there as its default.
func atLeast[T int | int64 | time.Duration](least T, into *T) pflag.Value {
	return between(least, 0, into)
}

// between is atLeast with a largest value, beyond which a number is a typing error, and
// would take all memory.
func between[T int | int64 | time.Duration](least, most T, into *T) pflag.Value {
	return number[T]{into, least, most}
}

// The largest numbers of what flags ask for.
const (
	maxWorkers        = 1_000 // cells, searches and checks at a time
	maxDraws          = 1_000
	maxShards         = 100_000 // parts of a run, and tasks
	maxFragmentations = 10_000
	maxHuntedJobs     = 1_000
)

func (n number[T]) Set(text string) error {
	var v int64
	var err error
	if n.Type() == "duration" {
		var d time.Duration
		d, err = time.ParseDuration(text)
		v = int64(d)
	} else {
		v, err = strconv.ParseInt(text, 0, 64)
	}
	if err != nil {
		return err
	}
	if T(v) < n.least {
		return fmt.Errorf("it must be at least %v", n.least)
	}
	if n.most > 0 && T(v) > n.most {
		return fmt.Errorf("it must be at most %v", n.most)
	}
	*n.into = T(v)
	return nil
}

// String is the value, or nothing before there is one.
func (n number[T]) String() string {
	if n.into == nil || *n.into < n.least {
		return ""
	}
	return fmt.Sprint(*n.into)
}

func (n number[T]) Type() string {
	if _, ok := any(n.least).(time.Duration); ok {
		return "duration"
	}
	return "int"
}

// noneEmpty refuses flags that are given as an empty text or list, which would mean
// as much as leaving them out.
func noneEmpty(c *cobra.Command) error {
	var failure error
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == "" || f.Value.String() == "[]"
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")
		}
		if empty && failure == nil {
			failure = usageError("--%s is empty: give it a value, or leave it out for what bench %s --help says", f.Name, nameOf(c))
		}
	})
	return failure
}
