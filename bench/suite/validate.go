package suite

import (
	"errors"
	"fmt"
	"slices"

	"yardstick/datasets"
	"yardstick/sched"
)

// wrong is an error about the value of a key.
func wrong(path, format string, args ...any) error {
	return &Error{Path: path, Err: fmt.Errorf(format, args...)}
}

func (s *Suite) validate() error {
	if s.APIVersion != APIVersion {
		return wrong("apiVersion", "apiVersion is %q: this program reads %q", s.APIVersion, APIVersion)
	}
	if err := checkFolder(s.Name); err != nil {
		return err
	}
	if s.Seed > 1<<53 {
		return wrong("seed", "seed is %d: at most 2^53, so that every tool reads it exactly", s.Seed)
	}
	if len(s.Instances) == 0 {
		return errors.New("instances is missing: list at least one, such as {trace: \"builtin:philly-like\"}")
	}
	if err := negative("limits.", number{"solve", int64(s.Limits.Solve)}, number{"nodes", int64(s.Limits.Nodes)},
		number{"memory", int64(s.Limits.Memory)}, number{"cell", int64(s.Limits.Cell)}); err != nil {
		return err
	}
	names := map[string]bool{}
	for i, src := range s.Instances {
		path := fmt.Sprintf("instances[%d]", i)
		if err := src.validate(); err != nil {
			return wrong(path, "%s %q: %w", path, src.Name, err)
		}
		if len(src.Methods) == 0 {
			return fmt.Errorf("%s %q: has no methods: list some here or at the top of the suite, such as methods: [fifo, sjf]", path, src.Name)
		}
		if names[src.Name] {
			return wrong(path+".name", "%s: the name %q is taken: give each source a name of its own", path, src.Name)
		}
		names[src.Name] = true
	}
	return nil
}

// Beyond these, numbers of servers and of windows are typing errors.
const (
	maxCluster = sched.MaxGPUs
	MaxRepeat  = 1_000_000
)

// validate checks what the source says and that it is said of the right model.
func (src *Source) validate() error {
	for _, key := range src.given {
		if err := src.misplaced(key); err != nil {
			return &Error{Path: key, OfKey: true, Err: err}
		}
	}
	if err := src.checkNames(); err != nil {
		return err
	}
	if err := negative("", number{"prove.upTo", int64(src.Prove.UpTo)}); err != nil || src.File != "" {
		return err
	}
	c := src.Cluster
	switch {
	case !slices.Contains(sched.Models(), src.Model):
		return wrong("model", "model %q is unknown: %v", src.Model, sched.Models())
	case src.Slice.Jobs < 0:
		return wrong("slice.jobs", "slice of %d jobs: the number must be positive, or 0 for all of the trace", src.Slice.Jobs)
	case src.Slice.Repeat < 1 || src.Slice.Repeat > MaxRepeat:
		return wrong("slice.repeat", "slice repeated %d times: it must be from 1 to %d", src.Slice.Repeat, MaxRepeat)
	case c.Servers < 1 || c.Servers > maxCluster:
		return wrong("cluster.servers", "cluster of %d × %d GPUs: the servers must be from 1 to %d", c.Servers, c.GPUsPerServer, maxCluster)
	case c.GPUsPerServer < 1 || c.GPUsPerServer > maxCluster:
		return wrong("cluster.gpusPerServer", "cluster of %d × %d GPUs: the GPUs of a server must be from 1 to %d", c.Servers, c.GPUsPerServer, maxCluster)
	case src.Model.Slotted() && src.has("round") && src.Round == 0:
		return wrong("round", "round is 0s: it is the length of the %s model's slots, so it must be positive", src.Model)
	case src.has("deadline") && src.Deadline <= 0:
		return wrong("deadline", "deadline is %v: it must be positive; without the key there is none", src.Deadline)
	case src.has("offeredLoad") && src.OfferedLoad <= 0:
		return wrong("offeredLoad", "offeredLoad is %v: it must be positive; without the key, jobs come as they do in the trace", src.OfferedLoad)
	case src.has("offeredLoad") && src.has("sharing.rate"):
		return wrong("offeredLoad", "offeredLoad and sharing.rate both say how often jobs come: drop one of the two")
	case src.has("slice.load") && src.Slice.At.Rule == datasets.AtSample:
		return wrong("slice.load", "slice.load chooses windows, and at: sample makes none: say at: random, or set the load of what is built by offeredLoad")
	case src.TooLarge != "error" && src.TooLarge != "drop":
		return wrong("tooLarge", "tooLarge is %q: it must be error or drop", src.TooLarge)
	}
	return negative("", number{"round", int64(src.Round)}, number{"params", int64(src.Params)},
		number{"iteration", int64(src.Iterate)}, number{"history", int64(src.history())}, number{"past", int64(src.Past)})
}

type number struct {
	key   string
	value int64
}

// negative returns an error about the first number that is.
func negative(prefix string, list ...number) error {
	for _, n := range list {
		if n.value < 0 {
			return wrong(prefix+n.key, "%s%s must not be negative", prefix, n.key)
		}
	}
	return nil
}
