package sched

import (
	"errors"
	"fmt"
)

// ErrNotApplicable means that a method says nothing about an instance or an
// objective: they are not what it is made for, or too large for it. It is the only
// error of that meaning. Who runs methods skips this one and keeps the message, which
// says why.
var ErrNotApplicable = errors.New("does not apply")

// ErrStageGraph is ErrNotApplicable of a method that is written for pipelines of
// single-GPU replicas, where the job is not one: see [Job.Pipeline].
var ErrStageGraph = fmt.Errorf("%w to tensor slices and stage graphs", ErrNotApplicable)
