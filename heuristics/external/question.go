package external

import (
	"encoding/json"
	"slices"
	"strconv"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// greeting is bench's hello.
type greeting struct {
	Protocol     string      `json:"protocol"`
	Instance     string      `json:"instance"`
	Model        sched.Model `json:"model"`
	Servers      []int       `json:"servers"`
	Memory       []int64     `json:"memory"`
	Inter        int64       `json:"inter"`
	Intra        int64       `json:"intra"`
	Interference [][]float64 `json:"interference"`
	Slot         *int64      `json:"slot"`
	Deadline     *int64      `json:"deadline"`
	Objective    string      `json:"objective"`
	Seed         uint64      `json:"seed"`
	Predictor    string      `json:"predictor"`
	Elastic      *containers `json:"elastic,omitempty"`
}

func greet(in *sched.Instance, o Options) greeting {
	g := greeting{Protocol: Protocol, Instance: o.Instance, Model: in.Model, Inter: int64(in.Cluster.Inter), Intra: int64(in.Cluster.Intra),
		Interference: in.Interference, Slot: unlessZero(in.Slot), Deadline: unlessZero(in.Deadline), Objective: o.Objective, Seed: o.Seed, Predictor: o.Predictor, Elastic: containersOf(in)}
	for _, s := range in.Cluster.Servers {
		g.Servers = append(g.Servers, s.GPUs)
		if s.GPUMemory > 0 {
			g.Memory = append(g.Memory, int64(s.GPUMemory))
		}
	}
	return g
}

func unlessZero(t sched.Time) *int64 {
	if t == 0 {
		return nil
	}
	v := int64(t)
	return &v
}

// object is a line that holds one key.
func object(key string, value any) ([]byte, error) {
	line, err := json.Marshal(map[string]any{key: value})
	return append(line, '\n'), err
}

// question writes what happened since the last decision.
func (p *Policy) question(v *sim.View) error {
	b := append(p.line[:0], `{"now":`...)
	b = strconv.AppendInt(b, int64(v.Now()), 10)
	b = append(b, `,"arrived":[`...)
	for i, id := range v.Arrived() {
		if i > 0 {
			b = append(b, ',')
		}
		j, err := v.Job(id)
		if err != nil {
			return err
		}
		if b, err = p.job(b, v, &j); err != nil {
			return err
		}
	}
	b = p.numbers(append(b, `],"completed":[`...), v.Completed())
	b = p.numbers(append(b, `],"paused":[`...), v.Paused())
	b = append(b, `],"free":[`...)
	if p.amounts != nil {
		b = p.appendAmounts(b, v.Free())
	}
	comma := false
	for s := 0; s < len(p.free) && p.amounts == nil; s++ {
		if n := v.Cluster().FreeOn(s); n != p.free[s] {
			p.free[s] = n
			b = appendPair(b, comma, s, n)
			comma = true
		}
	}
	b = append(b, `],"wake":`...)
	b = strconv.AppendBool(b, p.wake != 0 && p.wake <= v.Now())
	if p.wants(wantPlacements) {
		b = p.appendPlaced(append(b, `,"placed":[`...))
		b = append(b, ']')
	}
	if p.wants(wantProgress) {
		var err error
		if b, err = p.appendProgress(append(b, `,"progress":[`...), v); err != nil {
			return err
		}
		b = append(b, ']')
	}
	p.line = append(b, "}\n"...)
	return nil
}

func appendPair(b []byte, comma bool, first, second int) []byte {
	if comma {
		b = append(b, ',')
	}
	b = strconv.AppendInt(append(b, '['), int64(first), 10)
	b = strconv.AppendInt(append(b, ','), int64(second), 10)
	return append(b, ']')
}

// numbers writes jobs by their numbers.
func (p *Policy) numbers(b []byte, list []sched.JobID) []byte {
	for i, id := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(p.number[id]), 10)
	}
	return b
}

// job writes a job that has arrived and gives it its number.
func (p *Policy) job(b []byte, v *sim.View, j *sim.Job) ([]byte, error) {
	for int(j.ID) >= len(p.number) {
		p.number = append(p.number, -1)
	}
	p.number[j.ID] = len(p.jobs)
	b = strconv.AppendInt(append(b, `{"job":`...), int64(len(p.jobs)), 10)
	p.jobs = append(p.jobs, j.ID)
	b = strconv.AppendInt(append(b, `,"gpus":`...), int64(j.Gang), 10)
	b = strconv.AppendFloat(append(b, `,"weight":`...), j.Weight, 'g', -1, 64)
	b = p.users.append(append(b, `,"user":`...), j.User)
	b = p.groups.append(append(b, `,"group":`...), j.Group)
	b = strconv.AppendInt(append(b, `,"release":`...), int64(j.Release), 10)
	if p.options.Predictor == NoPredictor || p.amounts != nil { // how much work elastic jobs are is told below
		b = append(b, `,"predicted":null,"duration":null`...)
	} else {
		n, err := v.Predicted(j.ID)
		if err != nil {
			return nil, err
		}
		t, err := v.PredictedTime(j.ID)
		if err != nil {
			return nil, err
		}
		b = strconv.AppendInt(append(b, `,"predicted":`...), n, 10)
		b = strconv.AppendInt(append(b, `,"duration":`...), int64(t), 10)
	}
	b = strconv.AppendInt(append(b, `,"load":`...), int64(j.Load), 10)
	b = strconv.AppendInt(append(b, `,"pause":`...), int64(j.Pause), 10)
	if p.amounts != nil {
		var err error
		if b, err = p.appendElastic(b, v, j.ID); err != nil {
			return nil, err
		}
	} else if p.wants(wantProfiles) {
		profile, err := json.Marshal(profileOf(j))
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"profile":`...), profile...)
	}
	return append(b, '}'), nil
}

// pseudonyms are names in order of first appearance: a prefix and a number.
type pseudonyms struct {
	prefix string
	known  map[string]int
}

func (p *pseudonyms) append(b []byte, name string) []byte {
	if name == "" {
		return append(b, "null"...)
	}
	n := p.known[name]
	if n == 0 {
		n = len(p.known) + 1
		p.known[name] = n
	}
	b = append(append(b, '"'), p.prefix...)
	return append(strconv.AppendInt(b, int64(n), 10), '"')
}

// profile is what decides how long an iteration takes.
type profile struct {
	Stages       []stage    `json:"stages"`
	Edges        [][3]int64 `json:"edges"`
	Task         *int       `json:"task"`
	Accumulation [][3]int64 `json:"accumulation"`
	Sizes        [][3]int64 `json:"sizes"`
}

type stage struct {
	Replicas  int   `json:"replicas"`
	Slices    int   `json:"slices"`
	Compute   int64 `json:"compute_ns"`
	Params    int64 `json:"params"`
	SliceSync int64 `json:"slice_sync"`
	Boundary  int64 `json:"boundary"`
}

func profileOf(j *sim.Job) profile {
	p := profile{Accumulation: [][3]int64{}, Sizes: [][3]int64{}}
	for _, s := range j.Stages {
		p.Stages = append(p.Stages, stage{s.Replicas, max(s.Slices, 1), int64(s.Compute), int64(s.Params), int64(s.SliceSync), int64(s.Boundary)})
	}
	for _, e := range j.Edges {
		p.Edges = append(p.Edges, [3]int64{int64(e.From), int64(e.To), int64(e.Bytes)})
	}
	if sh := j.Sharing; sh != nil {
		p.Task = &sh.Task
		for _, a := range sh.Accumulation {
			p.Accumulation = append(p.Accumulation, [3]int64{int64(a.Steps), int64(a.Iter), int64(a.Memory)})
		}
		for _, z := range sh.Sizes {
			p.Sizes = append(p.Sizes, [3]int64{int64(z.GPUs), int64(z.Iter), int64(z.Memory)})
		}
	}
	return p
}

// appendPlaced writes where the rule has put the starts of the last answer.
func (p *Policy) appendPlaced(b []byte) []byte {
	for i, a := range p.placed {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '['), int64(p.number[a.Job]), 10)
		b = append(b, ",["...)
		for k, sh := range a.Place.Shares {
			if sh.Devices == nil {
				b = appendPair(b, k > 0, sh.Server, sh.GPUs)
				continue
			}
			if k > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(append(b, '['), int64(sh.Server), 10)
			b = append(b, ",["...)
			for m, d := range sh.Devices {
				if m > 0 {
					b = append(b, ',')
				}
				b = strconv.AppendInt(b, int64(d), 10)
			}
			b = append(b, "]]"...)
		}
		b = append(b, "]]"...)
	}
	return b
}

// appendProgress writes the iterations that are done of the jobs that hold GPUs, or
// have just been paused.
func (p *Policy) appendProgress(b []byte, v *sim.View) ([]byte, error) {
	list := slices.Clone(v.Paused())
	held := p.held[:0]
	for _, id := range p.held {
		state, err := v.State(id)
		if err != nil {
			return nil, err
		}
		if state != sim.Waiting && state != sim.Done {
			held, list = append(held, id), append(list, id)
		}
	}
	p.held = held
	slices.SortFunc(list, func(a, c sched.JobID) int { return p.number[a] - p.number[c] })
	for i, id := range list {
		if i > 0 {
			b = append(b, ',')
		}
		done, err := v.Progress(id)
		if err != nil {
			return nil, err
		}
		b = strconv.AppendInt(append(b, '['), int64(p.number[id]), 10)
		b = append(append(append(b, `,"`...), done.RatString()...), `"]`...)
	}
	return b, nil
}
