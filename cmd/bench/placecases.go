package main

import (
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/placing"
	"yardstick/bench/record"
	"yardstick/datasets/profile"
	"yardstick/sched"
)

// cases makes the cases, and lists the files that they come from.
func (f *placeFlags) cases(args []string) ([]*placing.Case, []record.Input, error) {
	if len(args) > 0 {
		return f.instanceCases(args[0])
	}
	cluster, err := f.uniform()
	if err != nil {
		return nil, nil, err
	}
	gpus, err := perProfile("--gpus", f.gpus, len(f.profiles))
	if err != nil {
		return nil, nil, err
	}
	stages := make([]int, len(f.profiles))
	if len(f.stages) > 0 {
		if stages, err = perProfile("--stages", f.stages, len(f.profiles)); err != nil {
			return nil, nil, err
		}
	}
	var cases []*placing.Case
	var inputs []record.Input
	for i, name := range f.profiles {
		p, file, err := findProfile(name)
		if err != nil {
			return nil, nil, err
		}
		if file != "" {
			if inputs, err = addInput(inputs, file); err != nil {
				return nil, nil, err
			}
		}
		job, err := placing.Plan(p, gpus[i], stages[i], cluster.Inter)
		if err != nil {
			return nil, nil, usageError("%w", err)
		}
		in := &sched.Instance{Name: job.Name, Model: sched.ModelGang, Cluster: cluster, Jobs: []sched.Job{job}}
		if err := in.Validate(); err != nil {
			return nil, nil, usageError("%w", err)
		}
		more, err := f.jobCases(in, 0, 1)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(cases, func(c *placing.Case) bool { return c.Family == in.Name }) {
			return nil, nil, usageError("--profile: %s is there twice", in.Name)
		}
		cases = append(cases, more...)
	}
	return cases, inputs, nil
}

// perProfile returns one number for each of n profiles.
func perProfile(flag string, values []int, n int) ([]int, error) {
	switch len(values) {
	case n:
		return values, nil
	case 1:
		return slices.Repeat(values, n), nil
	case 0:
		return nil, usageError("%s is missing: say how many for each model, such as %s 16", flag, flag)
	}
	return nil, usageError("%s has %d numbers for %d models: give one for all or one for each", flag, len(values), n)
}

// uniform reads the cluster of the flags.
func (f *placeFlags) uniform() (sched.Cluster, error) {
	var inter, intra sched.Bandwidth
	if err := inter.UnmarshalText([]byte(f.inter)); err != nil {
		return sched.Cluster{}, usageError("--inter: %w", err)
	}
	if err := intra.UnmarshalText([]byte(f.intra)); err != nil {
		return sched.Cluster{}, usageError("--intra: %w", err)
	}
	left, right, ok := strings.Cut(f.cluster, "x")
	servers, err1 := strconv.Atoi(left)
	gpus, err2 := strconv.Atoi(right)
	const most = 10_000 // of an instance
	if !ok || err1 != nil || err2 != nil || servers < 1 || gpus < 1 || servers > most || gpus > most {
		return sched.Cluster{}, usageError("--cluster %q: write SERVERSxGPUS, such as 250x8", f.cluster)
	}
	return sched.Uniform(servers, gpus, inter, intra), nil
}

// findProfile finds MODEL among the profiles of SOURCE. file is the file read,
// if any.
func findProfile(name string) (p *profile.Profile, file string, err error) {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return nil, "", usageError("--profile %q: write SOURCE/MODEL, such as builtin:v100/vgg19", name)
	}
	source, model := name[:slash], name[slash+1:]
	list, err := readProfiles(source, "", profile.Origin{})
	if err != nil {
		return nil, "", err
	}
	if !strings.HasPrefix(source, "builtin:") {
		file = source
	}
	var known []string
	for i := range list {
		if strings.EqualFold(list[i].Model, model) {
			return &list[i], file, nil
		}
		known = append(known, list[i].Model)
	}
	return nil, "", usageError("--profile: %s has no model %q: %s", source, model, strings.Join(known, ", "))
}

// instanceCases places one job of an instance, or all.
func (f *placeFlags) instanceCases(path string) ([]*placing.Case, []record.Input, error) {
	in, err := readInstance(path)
	if err != nil {
		return nil, nil, err
	}
	inputs, err := addInput(nil, path)
	if err != nil {
		return nil, nil, err
	}
	if in.Name == "" {
		in.Name = path
	}
	if !f.allJobs {
		id, err := f.findJob(in, path)
		if err != nil {
			return nil, nil, err
		}
		cases, err := f.jobCases(in, id, 1)
		return cases, inputs, err
	}
	var first []sched.JobID // of every shape
	alike := map[string]int{}
	for id := range in.Jobs {
		if !in.Jobs[id].Pipeline() {
			f.leftOut++
			continue
		}
		shape := placing.Shape(&in.Jobs[id])
		if alike[shape]++; alike[shape] == 1 {
			first = append(first, sched.JobID(id))
		}
	}
	if len(first) == 0 {
		return nil, nil, usageError("%s: all jobs are left out: bench place %w", path, sched.ErrStageGraph)
	}
	var cases []*placing.Case
	for _, id := range first {
		more, err := f.jobCases(in, id, alike[placing.Shape(&in.Jobs[id])])
		if err != nil {
			return nil, nil, err
		}
		cases = append(cases, more...)
	}
	return cases, inputs, nil
}

// findJob returns the job that --job names, by index or else by name, or the
// only one.
func (f *placeFlags) findJob(in *sched.Instance, path string) (sched.JobID, error) {
	if f.job == "" {
		if len(in.Jobs) > 1 {
			return 0, usageError("%s has %d jobs: name one with --job, or take --all-jobs", path, len(in.Jobs))
		}
		return 0, nil
	}
	if id, err := strconv.Atoi(f.job); err == nil && id >= 0 && id < len(in.Jobs) {
		return sched.JobID(id), nil
	}
	id := slices.IndexFunc(in.Jobs, func(j sched.Job) bool { return j.Name == f.job })
	if id < 0 {
		return 0, usageError("--job %q: %s has no such job: give an index from 0 to %d, or a name", f.job, path, len(in.Jobs)-1)
	}
	return sched.JobID(id), nil
}

// jobCases makes the cases of one job: one for every choice of parts.
func (f *placeFlags) jobCases(in *sched.Instance, id sched.JobID, alike int) ([]*placing.Case, error) {
	gang := in.Jobs[id].Gang()
	var cases []*placing.Case
	add := func(parts []placing.Part) (*placing.Case, error) {
		c, err := placing.NewCase(in, id, parts)
		if err != nil {
			return nil, usageError("%w", err)
		}
		c.Alike = alike
		cases = append(cases, c)
		return c, nil
	}
	switch {
	case f.fragmentations > 0:
		var order placing.Order
		if err := order.UnmarshalText([]byte(f.order)); err != nil {
			return nil, usageError("--order: %w", err)
		}
		for k := range f.fragmentations {
			free, seed, err := placing.Fragmentation(&in.Cluster, gang, f.seed, k)
			if err != nil {
				return nil, usageError("job %d: %w", id, err)
			}
			c, err := add(placing.Select(free, gang, order))
			if err != nil {
				return nil, err
			}
			c.Fragmentation, c.Seed = k, record.Some(int64(seed))
		}
	case len(f.parts) > 0:
		parts, err := placing.Fit(&in.Cluster, f.parts)
		if err != nil {
			return nil, usageError("--parts: %w", err)
		}
		if _, err := add(parts); err != nil {
			return nil, err
		}
	default:
		if _, err := add(placing.Select(placing.Free(&in.Cluster), gang, placing.MostFree)); err != nil {
			return nil, err
		}
	}
	return cases, nil
}
