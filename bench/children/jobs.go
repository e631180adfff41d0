package children

import (
	"encoding/binary"
	"fmt"

	"yardstick/internal/pack"
	"yardstick/sched"
)

// packed returns the instance without its jobs, and its jobs packed, in less
// space than encoding/gob takes. Where a job has more than packJobs knows, it returns the instance as
// it is and nil.
func packed(in *sched.Instance) (*sched.Instance, []byte) {
	for i := range in.Jobs {
		if j := &in.Jobs[i]; j.Edges != nil || j.Keys != nil || !j.OnlyStages() {
			return in, nil
		}
	}
	bare := *in
	bare.Jobs = nil
	return &bare, packJobs(in.Jobs)
}

// packJobs packs jobs that are gangs of stages and nothing besides.
func packJobs(jobs []sched.Job) []byte {
	b := make([]byte, 0, 16+48*len(jobs))
	b = binary.AppendUvarint(b, uint64(len(jobs)))
	for i := range jobs {
		j := &jobs[i]
		for _, text := range []string{j.Name, j.User, j.Group, j.Model} {
			b = pack.AppendText(b, text)
		}
		b = pack.AppendFloat(b, j.Weight)
		for _, v := range []int64{int64(j.Release), j.Iters, int64(j.Load), int64(j.Pause)} {
			b = binary.AppendVarint(b, v)
		}
		b = binary.AppendUvarint(b, uint64(len(j.Stages)))
		for k := range j.Stages {
			s := &j.Stages[k]
			for _, v := range []int64{int64(s.Replicas), int64(s.Slices), int64(s.Compute), int64(s.Params), int64(s.SliceSync), int64(s.Boundary)} {
				b = binary.AppendVarint(b, v)
			}
		}
	}
	return b
}

// leastJob and leastStage are the fewest bytes that a job and a stage take.
const leastJob, leastStage = 10, 6

// unpackJobs reads what packJobs wrote.
func unpackJobs(data []byte) ([]sched.Job, error) {
	r := pack.NewReader(data)
	jobs := make([]sched.Job, r.Count(leastJob))
	stages := make([]sched.Stage, 0, len(jobs)) // most have one
	for i := range jobs {
		jobs[i] = sched.Job{Name: r.Text(), User: r.Text(), Group: r.Text(), Model: r.Text(), Weight: r.Float(),
			Release: sched.Time(r.Varint()), Iters: r.Varint(), Load: sched.Time(r.Varint()), Pause: sched.Time(r.Varint())}
		n := r.Count(leastStage)
		if r.Bad() {
			break
		}
		if n > cap(stages)-len(stages) {
			stages = make([]sched.Stage, 0, max(n, len(jobs)-i))
		}
		first := len(stages)
		for range n {
			stages = append(stages, sched.Stage{Replicas: r.Int(), Slices: r.Int(), Compute: sched.Duration(r.Varint()),
				Params: sched.Bytes(r.Varint()), SliceSync: sched.Bytes(r.Varint()), Boundary: sched.Bytes(r.Varint())})
		}
		jobs[i].Stages = stages[first:len(stages):len(stages)]
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return jobs, nil
}
