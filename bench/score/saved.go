package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"yardstick/internal/strictjson"
	"yardstick/sched"
	"yardstick/sched/verify"
)

// savedFormat names the form of a file that Save writes.
const savedFormat = "yardstick-score/1"

// Saved is a schedule that was scored, as a file keeps it for what is asked of it later: a
// record that passed its check, or a schedule that the verifier accepted.
type Saved struct {
	Name     string           // the file that it was read from
	Checked  *Checked         // or nil
	Verified *verify.Verified // or nil
}

// saved is the file. Times are in microseconds, GPUs in thousandths.
type saved struct {
	Format   string          `json:"format"`
	Name     string          `json:"name"`
	Evidence string          `json:"evidence,omitempty"`
	GPUs     int64           `json:"gpus,omitempty"`
	Servers  []int           `json:"servers,omitempty"`
	Capacity []savedStep     `json:"capacity,omitempty"`
	Jobs     []savedJob      `json:"jobs,omitempty"`
	Pieces   []savedPiece    `json:"pieces,omitempty"`
	Instance json.RawMessage `json:"instance,omitempty"`
	Schedule json.RawMessage `json:"schedule,omitempty"`
}

// mostSaved is how many thousandths of GPUs a cluster may have, so that sums fit.
const mostSaved = 1 << 40

type savedStep struct {
	At   sched.Time `json:"at"`
	GPUs int64      `json:"gpus"`
}

type savedJob struct {
	Name    string     `json:"name"`
	User    string     `json:"user,omitempty"`
	Release sched.Time `json:"release"`
	Length  sched.Time `json:"length"`
	GPUs    int64      `json:"gpus"`
	Weight  float64    `json:"weight"`
}

type savedPiece struct {
	Job   int         `json:"job"`
	Start sched.Time  `json:"start,omitempty"`
	End   sched.Time  `json:"end"`
	Parts []savedPart `json:"parts,omitempty"`
}

type savedPart struct {
	Server  int   `json:"server"`
	GPUs    int   `json:"gpus"`
	Devices []int `json:"devices,omitempty"`
}

// Write writes the file.
func (s *Saved) Write(w io.Writer) error {
	out := saved{Format: savedFormat, Name: s.Name}
	if v := s.Verified; v != nil {
		var in, schedule bytes.Buffer
		if err := errors.Join(v.Instance().Write(&in), v.Schedule().Write(&schedule, v.Instance())); err != nil {
			return err
		}
		out.Instance, out.Schedule = in.Bytes(), schedule.Bytes()
		return json.NewEncoder(w).Encode(&out)
	}
	c := s.Checked
	out.Evidence, out.GPUs, out.Servers = c.Evidence.String(), c.Cluster.GPUs, c.Cluster.Servers
	for _, step := range c.Cluster.Capacity {
		out.Capacity = append(out.Capacity, savedStep(step))
	}
	for i := range c.Jobs {
		out.Jobs = append(out.Jobs, savedJob(c.Jobs[i]))
	}
	if c.Evidence == Completions {
		for j, end := range c.Ends {
			out.Pieces = append(out.Pieces, savedPiece{Job: j, End: end})
		}
		return json.NewEncoder(w).Encode(&out)
	}
	for i := range c.Pieces {
		p := &c.Pieces[i]
		piece := savedPiece{Job: p.Job, Start: p.Start, End: p.End}
		for _, part := range p.Parts {
			piece.Parts = append(piece.Parts, savedPart(part))
		}
		out.Pieces = append(out.Pieces, piece)
	}
	return json.NewEncoder(w).Encode(&out)
}

// IsSaved reports whether a document is one that Write wrote, whole or not.
func IsSaved(text []byte) bool {
	var keys map[string]json.RawMessage
	var format string
	return strictjson.Unmarshal(text, &keys) == nil && strictjson.Unmarshal(keys["format"], &format) == nil && format == savedFormat
}

// ReadSaved reads the file and checks the schedule again.
//
// Errors: it is no such file; what is in it is no schedule of its jobs.
func ReadSaved(text []byte) (*Saved, error) {
	var in saved
	if err := strictjson.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	if in.Format != savedFormat {
		return nil, fmt.Errorf("the format is %q, and not %s as bench score --save writes it", in.Format, savedFormat)
	}
	s := &Saved{Name: in.Name}
	var err error
	if in.Instance != nil {
		s.Verified, err = in.verified()
	} else {
		s.Checked, err = in.checked()
	}
	return s, err
}

func (s *saved) verified() (*verify.Verified, error) {
	in, err := sched.ReadInstance(bytes.NewReader(s.Instance))
	if err != nil {
		return nil, err
	}
	schedule, hash, err := sched.ReadSchedule(bytes.NewReader(s.Schedule))
	switch {
	case err != nil:
		return nil, err
	case hash != "" && hash != in.Hash():
		return nil, errors.New("the schedule was made for another instance")
	}
	return verify.Check(in, schedule)
}

func (s *saved) checked() (*Checked, error) {
	r := Record{}
	for e := Completions; e <= Placements; e++ {
		if e.String() == s.Evidence {
			r.Evidence = e
		}
	}
	if r.Evidence == 0 {
		return nil, fmt.Errorf("the evidence %q is none", s.Evidence)
	}
	c := Cluster{GPUs: s.GPUs, Servers: s.Servers}
	for _, step := range s.Capacity {
		c.Capacity = append(c.Capacity, Step(step))
	}
	if s.GPUs > mostSaved || slices.ContainsFunc(s.Servers, func(n int) bool { return n < 1 || n > sched.MaxGPUs }) {
		return nil, fmt.Errorf("the cluster has %d thousandths of GPUs on servers of %v", s.GPUs, s.Servers)
	}
	if slices.ContainsFunc(c.Capacity, func(step Step) bool { return step.GPUs < 0 }) {
		return nil, errors.New("the capacity is negative at some time")
	}
	var jobs []Job
	for _, j := range s.Jobs {
		jobs = append(jobs, Job(j))
	}
	for _, p := range s.Pieces {
		piece := Piece{Job: p.Job, Start: p.Start, End: p.End}
		for _, part := range p.Parts {
			piece.Parts = append(piece.Parts, Part(part))
		}
		r.Pieces = append(r.Pieces, piece)
	}
	checked, err := Check(jobs, c, r, Options{})
	if err == nil && checked.Broken > 0 {
		err = fmt.Errorf("it is no schedule of its jobs: %v", &checked.Violations[0])
	}
	return checked, err
}

// Pooled is a record on the pooled cluster, one server with all GPUs, which policies can be
// run on too. Times count from 0, or from the earliest release if that is before.
type Pooled struct {
	// Instance is what the schedule is one of: jobs may be stopped if it stops some.
	Instance *sched.Instance
	Rigid    *sched.Instance // the same jobs where none may be stopped
	Schedule *sched.Schedule // nil if the record has ends alone
}

// Pooled returns the record on the pooled cluster.
//
// Errors: jobs hold parts of GPUs; times are too long or GPUs too many for an instance.
func (c *Checked) Pooled() (*Pooled, error) {
	p, err := newPool(c)
	if err != nil {
		return nil, err
	}
	if !p.real() {
		return nil, errors.New("jobs hold parts of GPUs, or times or GPUs are more than an instance may have")
	}
	if c.Evidence == Completions {
		return &Pooled{Instance: p.in, Rigid: p.in}, nil
	}
	in, s := p.schedule(c)
	return &Pooled{in, p.in, s}, nil
}
