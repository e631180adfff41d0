package sched

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"yardstick/internal/strictjson"
)

// Instance is everything that one scheduling problem consists of. Instances
// are values to read: nothing changes one after Validate has passed.
type Instance struct {
	Name    string  `json:"name"`
	Model   Model   `json:"model"`
	Cluster Cluster `json:"cluster"`

	// Slot is the slot length of a slotted instance; 0 means continuous time.
	Slot Time `json:"slot,omitempty"`
	// Deadline is what the objective scheduled-weight counts jobs by; 0
	// elsewhere.
	Deadline Time `json:"deadline,omitempty"`

	// Interference[a][b] is xi ≥ 1: the factor by which the iterations of a
	// job of task a lengthen while it shares a GPU with a job of task b.
	Interference [][]float64 `json:"interference,omitempty"`

	// Elastic holds the container types of the elastic model.
	Elastic *ElasticTypes `json:"elastic,omitempty"`

	// Keys name numbers that every job has besides, in the order of Job.Keys: columns of
	// the job list that it came from, for policies that order by one. Nothing else depends
	// on them.
	Keys []string `json:"keys,omitempty"`

	Jobs []Job `json:"jobs"`

	// History lists jobs that completed before this instance's epoch, oldest
	// first. Predictors train on it.
	History []PastJob `json:"history,omitempty"`

	// Past lists jobs that were released, and completed, before this instance's epoch,
	// for policies that learn from replays of what was; in the preemptive model only. Their
	// releases are counted from that of the first of them.
	Past []Job `json:"past,omitempty"`
}

// ElasticTypes are the containers that an elastic job may be made of.
type ElasticTypes struct {
	Resources []string    `json:"resources"` // gpu, cpu, mem, bw, …: the meaning of every capacity and demand vector
	Bandwidth int         `json:"bandwidth"` // index in Resources of the one that gradients flow over, in Mbit/s
	Workers   []Container `json:"workers"`
	Servers   []Container `json:"servers"` // parameter servers
}

// Container is a worker or parameter-server type.
type Container struct {
	Demand []int64 `json:"demand"` // per resource
}

// PastJob is a completed job as a predictor sees it.
type PastJob struct {
	User  string `json:"user,omitempty"`
	Group string `json:"group,omitempty"`
	Gang  int    `json:"gang"`
	Iters int64  `json:"iters"`
}

// Validate returns an error that names the field and the reason if the
// instance breaks the model's assumptions.
func (in *Instance) Validate() error {
	if err := in.validate(); err != nil {
		return fmt.Errorf("instance %q: %w", in.Name, err)
	}
	return nil
}

func (in *Instance) validate() error {
	if err := in.Model.validate(); err != nil {
		return err
	}
	if err := in.Cluster.validate(); err != nil {
		return err
	}
	if in.Slot < 0 || in.Slot > MaxTime || in.Deadline < 0 || in.Deadline > MaxTime {
		return fmt.Errorf("slot %v, deadline %v: both must be between 0s and %v", in.Slot, in.Deadline, MaxTime)
	}
	if err := in.validateTables(); err != nil {
		return err
	}
	for i, key := range in.Keys {
		if key == "" || slices.Contains(in.Keys[:i], key) {
			return fmt.Errorf("keys[%d] is %q: every key has a name of its own", i, key)
		}
	}
	if len(in.Jobs) == 0 {
		return errors.New("has no jobs")
	}
	gpus := in.Cluster.GPUs()
	for i := range in.Jobs {
		if err := in.Jobs[i].validate(in, gpus); err != nil {
			return fmt.Errorf("jobs[%d] %q: %w", i, in.Jobs[i].Name, err)
		}
	}
	if len(in.Past) > 0 && in.Model != ModelPreemptive {
		return fmt.Errorf("past belongs to the preemptive model, and this is %s", in.Model)
	}
	for i := range in.Past {
		if err := in.Past[i].validate(in, gpus); err != nil {
			return fmt.Errorf("past[%d] %q: %w", i, in.Past[i].Name, err)
		}
	}
	return in.validateElasticFit()
}

func (in *Instance) validateTables() error {
	if (in.Model == ModelSharing) != (in.Interference != nil) {
		return errors.New("an interference table belongs to the sharing model, and must be there")
	}
	for a, row := range in.Interference {
		if len(row) != len(in.Interference) {
			return fmt.Errorf("interference[%d] has %d entries for %d tasks", a, len(row), len(in.Interference))
		}
		for b, xi := range row {
			if !(xi >= 1) || math.IsInf(xi, 0) {
				return fmt.Errorf("interference[%d][%d] is %v: sharing never speeds a job up, so it must be at least 1", a, b, xi)
			}
		}
	}
	if (in.Model == ModelElastic) != (in.Elastic != nil) {
		return errors.New("the elastic container types belong to the elastic model, and must be there")
	}
	if in.Model.Slotted() && in.Slot == 0 {
		return fmt.Errorf("the %s model is slotted: slot must be positive", in.Model)
	}
	if err := in.validateCapacities(); err != nil {
		return err
	}
	if in.Elastic == nil {
		return nil
	}
	if in.History != nil {
		return errors.New("history belongs to models whose jobs have gangs, and this is elastic")
	}
	return in.Elastic.validate(in.Cluster.Servers)
}

// validateCapacities refuses amounts that no container of the model takes from.
func (in *Instance) validateCapacities() error {
	for i, s := range in.Cluster.Servers {
		if s.Capacity != nil && in.Model != ModelElastic {
			return fmt.Errorf("cluster.servers[%d].capacity belongs to the elastic model, and this is %s: leave it out", i, in.Model)
		}
	}
	return nil
}

func (e *ElasticTypes) validate(servers []Server) error {
	n := len(e.Resources)
	if n == 0 || e.Bandwidth < 0 || e.Bandwidth >= n || len(e.Workers) == 0 {
		return fmt.Errorf("elastic: %d resources, bandwidth at index %d, %d worker types: at least one resource and worker type are needed", n, e.Bandwidth, len(e.Workers))
	}
	gpu := e.gpu()
	for i, s := range servers {
		if len(s.Capacity) != n {
			return fmt.Errorf("cluster.servers[%d].capacity has %d entries for %d resources", i, len(s.Capacity), n)
		}
		if v := slices.Max(s.Capacity); v > maxAmount {
			return fmt.Errorf("cluster.servers[%d].capacity has an amount of %d: at most %d is supported, so use a larger unit", i, v, int64(maxAmount))
		}
		if gpu >= 0 && s.Capacity[gpu] != int64(s.GPUs) {
			return fmt.Errorf("cluster.servers[%d] has %d GPUs, but a capacity of %d of the resource gpu: they are the same", i, s.GPUs, s.Capacity[gpu])
		}
	}
	for kind, list := range map[string][]Container{"workers": e.Workers, "servers": e.Servers} {
		for i, c := range list {
			if len(c.Demand) != n {
				return fmt.Errorf("elastic.%s[%d].demand has %d entries for %d resources", kind, i, len(c.Demand), n)
			}
			for r, v := range c.Demand {
				if v < 0 || v > maxAmount || r == e.Bandwidth && v == 0 {
					return fmt.Errorf("elastic.%s[%d].demand[%d] is %d: demands are not negative, at most %d, and a bandwidth is positive", kind, i, r, v, int64(maxAmount))
				}
			}
		}
	}
	return nil
}

// ReadInstance decodes an instance from its JSON form and validates it.
// Keys that are unknown, there twice or in another case are errors.
func ReadInstance(r io.Reader) (*Instance, error) {
	var in Instance
	if err := strictjson.Read(r, &in); err != nil {
		return nil, err
	}
	return &in, in.Validate()
}

// Write encodes the instance as indented JSON.
func (in *Instance) Write(w io.Writer) error { return writeIndented(w, in) }
