package hunt

import (
	"cmp"
	"fmt"

	"yardstick/sched"
)

// Space says which instances are looked at.
type Space struct {
	Model   sched.Model `json:"model"`
	Jobs    int         `json:"jobs"`    // at most
	GPUs    int         `json:"gpus"`    // in all; on the first servers one more if they do not divide evenly
	Servers int         `json:"servers"` // 0 means 1
	Gang    int         `json:"gang"`    // the most GPUs, or workers, of a job; 0 means all
	// Longest is the most units of a second that a job runs for, and that it is
	// released after the start; 0 means 1000, or 12 where time has slots.
	Longest int64 `json:"longest"`
	// Weighted lets weights vary from 1 to 9.
	Weighted bool `json:"weighted,omitempty"`
}

// hunted has a row for each model.
var hunted = map[sched.Model]struct {
	breed   func(Space) *breed
	longest int64 // of Space.Longest, where none is given
	most    int64 // that it may be
	nodes   int   // of a general search, beyond which an instance is passed over
	words   func(*sched.Instance, *sched.Job) string
	rest    func(*sched.Instance) string // what there is to say of an instance besides its jobs
}{
	sched.ModelGang:       {gangBreed, 1000, 1_000_000, 200_000, gangWords, nil},
	sched.ModelElastic:    {elasticBreed, 12, 100, 400, elasticWords, serverWords},
	sched.ModelPreemptive: {preemptiveBreed, 12, 100, 5_000, gangWords, nil},
	sched.ModelSharing:    {sharingBreed, 12, 100, 10_000, sharingWords, factorWords},
}

// unit is what times are multiples of, and the slot length where there is one.
const unit = sched.Second

// filled returns the space with the values that zeros stand for.
func (s Space) filled() Space {
	s.Servers = cmp.Or(s.Servers, 1)
	s.Gang = cmp.Or(s.Gang, s.GPUs)
	s.Longest = cmp.Or(s.Longest, hunted[s.Model].longest)
	return s
}

// Validate returns an error if there are no such instances, or if their optima
// could not be found.
func (s Space) Validate() error {
	s = s.filled()
	kind, ok := hunted[s.Model]
	switch {
	case !ok:
		return fmt.Errorf("hunt: model %q is unknown: %v", s.Model, sched.Models())
	case s.Jobs < 1 || s.Jobs > 12:
		return fmt.Errorf("hunt: %d jobs: between 1 and 12 are supported", s.Jobs)
	case s.GPUs < 1 || s.GPUs > 64 || s.Servers < 1 || s.Servers > s.GPUs:
		return fmt.Errorf("hunt: %d GPUs on %d servers: at most 64 GPUs, and one for every server at least", s.GPUs, s.Servers)
	case s.Gang < 1 || s.Gang > s.GPUs:
		return fmt.Errorf("hunt: gangs of up to %d of %d GPUs", s.Gang, s.GPUs)
	case s.Longest < 1 || s.Longest > kind.most:
		return fmt.Errorf("hunt: jobs of up to %d s: at most 1,000,000, and 100 in slots", s.Longest)
	}
	return nil
}

// breed returns the genes of the space's instances, and what makes instances of
// them. The space must be valid and filled.
func (s Space) breed() *breed { return hunted[s.Model].breed(s) }

// Example returns an instance of the space: the one whose numbers are all least.
//
// Errors: those of Validate.
func (s Space) Example() (*sched.Instance, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := s.filled().breed()
	least := func(of []gene) (list []int64) {
		for _, g := range of {
			list = append(list, g.low)
		}
		return list
	}
	return b.build(&genes{Jobs: [][]int64{least(b.job)}, Shared: least(b.shared)}), nil
}

// breed is a kind of instance.
type breed struct {
	species
	build func(*genes) *sched.Instance
}

// cluster returns the servers. Between them runs a tenth of what runs inside, so
// that where a gang is matters if it has something to exchange.
func (s Space) cluster() sched.Cluster {
	c := sched.Uniform(s.Servers, s.GPUs/s.Servers, 1_000_000_000, 10_000_000_000)
	for i := range s.GPUs % s.Servers {
		c.Servers[i].GPUs++
	}
	return c
}

// weight is the gene for weights, which the last number of every job is.
func (s Space) weight() gene {
	k := gene{name: "weight", low: 1, high: 1}
	if s.Weighted {
		k.high = 9
	}
	return k
}

// seconds returns so many units as a stage computes for.
func seconds(n int64) sched.Duration { return sched.Duration(n) * sched.Duration(unit) * 1000 }

// size reports that the gene is a number of GPUs.
func (k *gene) size() bool { return k.name == "gang" || k.name == "workers" }
