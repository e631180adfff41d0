package sched

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"yardstick/internal/strictjson"
)

// Placement says where a job runs: one Share per server used, in ascending
// order of server.
type Placement struct {
	Shares []Share `json:"on"`
	Config *Config `json:"config,omitempty"` // what the scheduler chose besides the place; nil if nothing
}

// Share is what a job holds on one server.
type Share struct {
	Server int `json:"server"`
	// GPUs is how many GPUs the job holds; for an elastic job, what its
	// containers demand of the resource gpu, and 0 if there is none.
	GPUs int `json:"gpus"`
	// Stages[s] is x_s, the replicas of stage s on this server, so that GPUs is
	// the sum of x_s·t_s; for an elastic job, Stages is {y_h, s_h}, workers and
	// parameter servers, not both 0. It may be nil for a job of one stage without
	// slices: then all GPUs belong to it.
	Stages []int `json:"stages,omitempty"`
	// Devices are the indices of the GPUs on the server, ascending. It is nil
	// in exclusive classes, where any free GPUs will do.
	Devices []int `json:"devices,omitempty"`
}

// Config is a choice that elastic and sharing schedulers make besides the
// place.
type Config struct {
	WorkerType   int `json:"workerType,omitempty"`
	ServerType   int `json:"serverType,omitempty"`
	Accumulation int `json:"accumulation,omitempty"` // gradient accumulation steps; a Steps value of the job
}

// GPUs returns the number of GPUs in the placement.
func (p *Placement) GPUs() int {
	n := 0
	for i := range p.Shares {
		n += p.Shares[i].GPUs
	}
	return n
}

// Replicas returns x_s on the share, for a job of the given number of stages.
func (sh *Share) Replicas(stage int) int {
	if sh.Stages == nil {
		if stage == 0 {
			return sh.GPUs
		}
		return 0
	}
	if stage < 0 || stage >= len(sh.Stages) {
		return 0
	}
	return sh.Stages[stage]
}

// Phase is what a job does during a segment.
type Phase uint8

// The phases of a segment.
const (
	Train Phase = iota // progress is made
	Load               // state is loaded at a (re)start
	Pause              // state is saved at a preemption; the GPUs stay held
)

var phaseNames = []string{"train", "load", "pause"}

func (p Phase) String() string { return phaseNames[p] }

// MarshalText implements encoding.TextMarshaler.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Phase) UnmarshalText(text []byte) error {
	i := slices.Index(phaseNames, string(text))
	if i < 0 {
		return fmt.Errorf("phase %q: it must be train, load or pause", text)
	}
	*p = Phase(i)
	return nil
}

// Segment is a stretch of time [Start, End) in which one job is in one phase
// on one placement.
type Segment struct {
	Job   JobID     `json:"job"`
	Start Time      `json:"start"`
	End   Time      `json:"end"`
	Phase Phase     `json:"phase"`
	Place Placement `json:"place"`
}

// Schedule is what both arms, exact and online, produce. It is a claim: only
// verify.Check turns it into something whose cost may be compared.
type Schedule struct {
	// Class is the execution class whose rules the schedule claims to keep.
	Class Class `json:"class"`
	// Segments are in order of (Start, Job).
	Segments []Segment `json:"segments"`
}

// CheckEnd returns an error that names the first job with a segment that ends
// after MaxTime, if there is one.
func (s *Schedule) CheckEnd() error {
	for i := range s.Segments {
		if seg := &s.Segments[i]; seg.End > MaxTime {
			return fmt.Errorf("job %d would hold GPUs until %v, and there is no time after %v", seg.Job, seg.End, MaxTime)
		}
	}
	return nil
}

// Sort puts the segments in order of (Start, Job, End).
func (s *Schedule) Sort() {
	slices.SortFunc(s.Segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Job, b.Job), cmp.Compare(a.End, b.End))
	})
}

// scheduleFile is the JSON form: a schedule, the hash of the instance it was made
// for, and a seal over both, without which a file that was written by hand is
// read too.
type scheduleFile struct {
	Instance string `json:"instance_sha256"`
	*Schedule
	Seal string `json:"seal,omitempty"`
}

// ErrDamaged reports a schedule that is not the one that was written.
var ErrDamaged = errors.New("the seal does not fit the schedule: it was changed or damaged")

// seal returns the sha256 of the file without spaces and without a seal, in hex.
func (f *scheduleFile) seal() (string, error) {
	bare := scheduleFile{Instance: f.Instance, Schedule: &Schedule{f.Class, append([]Segment{}, f.Segments...)}}
	b, err := json.Marshal(&bare)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// Write encodes the schedule as JSON, with one segment per line.
func (s *Schedule) Write(w io.Writer, in *Instance) error {
	class, err := json.Marshal(s.Class)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\n  \"instance_sha256\": %q,\n  \"class\": %s,\n  \"segments\": [", in.Hash(), class); err != nil {
		return err
	}
	for i := range s.Segments {
		b, err := json.Marshal(&s.Segments[i])
		if err != nil {
			return err
		}
		sep := ",\n    "
		if i == 0 {
			sep = "\n    "
		}
		if _, err := fmt.Fprintf(w, "%s%s", sep, b); err != nil {
			return err
		}
	}
	seal, err := (&scheduleFile{Instance: in.Hash(), Schedule: s}).seal()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n  ],\n  \"seal\": %q\n}\n", seal)
	return err
}

// ReadSchedule decodes a schedule. It also returns the hash of the instance
// the schedule was written for, which the caller compares with Instance.Hash.
//
// Errors: ErrDamaged, with the schedule as it was found; what is not a schedule.
func ReadSchedule(r io.Reader) (s *Schedule, instanceHash string, err error) {
	f := scheduleFile{Schedule: &Schedule{}}
	if err := strictjson.Read(r, &f); err != nil {
		return nil, "", err
	}
	if f.Seal != "" {
		switch seal, err := f.seal(); {
		case err != nil:
			return nil, "", err
		case seal != f.Seal:
			return f.Schedule, f.Instance, ErrDamaged
		}
	}
	return f.Schedule, f.Instance, nil
}
