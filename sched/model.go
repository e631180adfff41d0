package sched

import (
	"fmt"
	"slices"
	"strings"
)

// Model says which of the four papers' job models an instance follows.
type Model string

// The four models.
const (
	ModelGang       Model = "gang"       // fixed gangs, placement decides the iteration time
	ModelElastic    Model = "elastic"    // worker and parameter-server types and counts are chosen
	ModelPreemptive Model = "preemptive" // gangs that may be paused, at a cost
	ModelSharing    Model = "sharing"    // gangs that may share GPUs in pairs, at a cost
)

// traits is what is true of a model. Methods ask for it, and not for the model by
// name: one that is added is then served by all that can, and refused by the others.
type traits struct {
	kinds     []Kind // of its schedules; the first is the one that the model is about
	gangs     bool   // jobs have stages: a fixed gang, and work of their own
	exclusive bool   // these alone decide how long a gang trains on a placement, and nobody else is on its GPUs
	slotted   bool   // time is always in slots
}

// models has a row for each model.
var models = []struct {
	Model
	traits
}{
	{ModelGang, traits{kinds: []Kind{N}, gangs: true, exclusive: true}},
	{ModelElastic, traits{kinds: []Kind{E, EP}, slotted: true}},
	{ModelPreemptive, traits{kinds: []Kind{P, N}, gangs: true, exclusive: true}},
	{ModelSharing, traits{kinds: []Kind{S, N, P, M}, gangs: true}},
}

// Models lists the models.
func Models() (list []Model) {
	for _, row := range models {
		list = append(list, row.Model)
	}
	return list
}

// traits returns those of the model; nothing is true of one that does not exist.
func (m Model) traits() traits {
	for _, row := range models {
		if row.Model == m {
			return row.traits
		}
	}
	return traits{}
}

// Has reports whether the model has schedules of the kind.
func (m Model) Has(k Kind) bool { return slices.Contains(m.traits().kinds, k) }

// Gangs reports whether jobs have stages, and by them a fixed gang and work of their
// own.
func (m Model) Gangs() bool { return m.traits().gangs }

// Exclusive reports whether jobs are gangs that have their GPUs to themselves in every
// schedule, and train there as fast as their stages do.
func (m Model) Exclusive() bool { return m.traits().exclusive }

// Slotted reports whether time is always in slots.
func (m Model) Slotted() bool { return m.traits().slotted }

// validate returns an error if there is no such model.
func (m Model) validate() error {
	list := Models()
	if slices.Contains(list, m) {
		return nil
	}
	names := make([]string, len(list))
	for i, known := range list {
		names[i] = string(known)
	}
	last := len(names) - 1
	return fmt.Errorf("model is %q: it must be %s or %s", m, strings.Join(names[:last], ", "), names[last])
}

// Class returns the class of the schedules that the instance's model is about, slotted
// if the instance is. The instance must be valid.
func (in *Instance) Class() Class {
	return Class{Kind: in.Model.traits().kinds[0], Slotted: in.Slot > 0}
}

// Preemptible returns the instance with gangs that may be paused, whose schedules of
// class P are those of the preemptive model. Instances of other models than the gang
// model are returned as they are. It shares the jobs.
func (in *Instance) Preemptible() *Instance {
	if in.Model != ModelGang {
		return in
	}
	out := *in
	out.Model = ModelPreemptive
	return &out
}
