package suite

import (
	"errors"
	"fmt"
	"strings"

	"yardstick/datasets"
	"yardstick/sched"
)

func (s *Suite) validate() error {
	if s.APIVersion != APIVersion {
		return fmt.Errorf("apiVersion is %q: this program reads %q", s.APIVersion, APIVersion)
	}
	if strings.ContainsAny(s.Name, `/\`) {
		return fmt.Errorf("name is %q: it becomes a folder's name, so it may not hold a slash", s.Name)
	}
	if s.Seed > 1<<53 {
		return fmt.Errorf("seed is %d: at most 2^53, so that every tool reads it exactly", s.Seed)
	}
	if len(s.Instances) == 0 {
		return errors.New("instances is missing: list at least one, such as {trace: \"builtin:philly-like\"}")
	}
	if s.Limits.Solve < 0 || s.Limits.Nodes < 0 || s.Limits.Memory < 0 || s.Limits.Cell < 0 {
		return errors.New("limits must not be negative")
	}
	names := map[string]bool{}
	for i, src := range s.Instances {
		if err := src.validate(); err != nil {
			return fmt.Errorf("instances[%d] %q: %w", i, src.Name, err)
		}
		if len(src.Methods) == 0 {
			return fmt.Errorf("instances[%d] %q: has no methods: list some here or at the top of the suite, such as methods: [fifo, sjf]", i, src.Name)
		}
		if names[src.Name] {
			return fmt.Errorf("instances[%d]: the name %q is taken: give each source a name of its own", i, src.Name)
		}
		names[src.Name] = true
	}
	return nil
}

// Beyond these, numbers of servers and of windows are typing errors.
const (
	maxCluster = 10_000
	maxRepeat  = 1_000_000
)

// validate checks what the source says and that it is said of the right model.
func (src *Source) validate() error {
	for _, key := range src.given {
		if err := src.misplaced(key); err != nil {
			return err
		}
	}
	if src.File != "" {
		return nil
	}
	switch {
	case src.Slice.Jobs < 0 || src.Slice.Repeat < 1 || src.Slice.Repeat > maxRepeat:
		return fmt.Errorf("slice of %d jobs, repeated %d times: the number of jobs must be positive, or 0 for all, and the repetitions from 1 to %d", src.Slice.Jobs, src.Slice.Repeat, maxRepeat)
	case min(src.Cluster.Servers, src.Cluster.GPUsPerServer) < 1 || max(src.Cluster.Servers, src.Cluster.GPUsPerServer) > maxCluster:
		return fmt.Errorf("cluster of %d × %d GPUs: both must be positive, and at most %d", src.Cluster.Servers, src.Cluster.GPUsPerServer, maxCluster)
	case src.Round < 0 || src.Params < 0 || src.Iterate < 0 || src.history() < 0:
		return errors.New("round, params, iteration and history must not be negative")
	case src.Model == sched.ModelElastic && src.has("round") && src.Round == 0:
		return errors.New("round is 0s: it is the length of the elastic model's slots, so it must be positive")
	case src.has("deadline") && src.Deadline <= 0:
		return fmt.Errorf("deadline is %v: it must be positive; without the key there is none", src.Deadline)
	case src.has("offeredLoad") && src.OfferedLoad <= 0:
		return fmt.Errorf("offeredLoad is %v: it must be positive; without the key, jobs come as they do in the trace", src.OfferedLoad)
	case src.has("offeredLoad") && src.has("sharing.rate"):
		return errors.New("offeredLoad and sharing.rate both say how often jobs come: drop one of the two")
	case src.has("slice.load") && src.Slice.At.Rule == datasets.AtSample:
		return errors.New("slice.load chooses windows, and at: sample makes none: say at: random, or set the load of what is built by offeredLoad")
	case src.TooLarge != "error" && src.TooLarge != "drop":
		return fmt.Errorf("tooLarge is %q: it must be error or drop", src.TooLarge)
	}
	return nil
}
