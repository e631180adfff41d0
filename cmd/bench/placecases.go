package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/placing"
	"yardstick/bench/record"
	"yardstick/datasets/profile"
	"yardstick/sched"
)

// cases makes the cases, lists the files that they come from and counts the jobs that
// are left out.
func (f *placeFlags) cases(args []string) (cases []*placing.Case, inputs []record.Input, leftOut int, err error) {
	choice := placing.Choice{Sizes: f.Parts, Fragmentations: f.Fragmentations, Seed: f.Seed}
	if err := choice.Order.UnmarshalText([]byte(f.Order)); err != nil {
		return nil, nil, 0, usageError("--order: %w", err)
	}
	var files []string
	if len(args) > 0 {
		files = args
		cases, leftOut, err = f.ofInstance(choice, args[0])
	} else {
		cases, files, err = f.ofProfiles(choice)
	}
	if err == nil {
		inputs, err = record.ReadInputs(files...)
	}
	if err != nil {
		return nil, nil, 0, usageError("%w", err)
	}
	return cases, inputs, leftOut, nil
}

// ofInstance places one job of an instance, or all.
func (f *placeFlags) ofInstance(choice placing.Choice, path string) (cases []*placing.Case, leftOut int, err error) {
	in, err := readInstance(path)
	if err != nil {
		return nil, 0, err
	}
	in.Name = cmp.Or(in.Name, path)
	if f.AllJobs {
		return choice.CasesOfAll(in)
	}
	id, err := f.findJob(in, path)
	if err != nil {
		return nil, 0, err
	}
	cases, err = choice.Cases(in, id, 1)
	return cases, 0, err
}

// ofProfiles places models of layer profiles, and lists the files that have them.
func (f *placeFlags) ofProfiles(choice placing.Choice) (cases []*placing.Case, files []string, err error) {
	cluster, err := f.uniform()
	if err != nil {
		return nil, nil, err
	}
	gpus, err := perProfile("--gpus", f.GPUs, len(f.Profiles))
	if err != nil {
		return nil, nil, err
	}
	stages := make([]int, len(f.Profiles))
	if len(f.Stages) > 0 {
		if stages, err = perProfile("--stages", f.Stages, len(f.Profiles)); err != nil {
			return nil, nil, err
		}
	}
	for i, name := range f.Profiles {
		p, file, err := findProfile(name)
		if err != nil {
			return nil, nil, err
		}
		if file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
		in, err := placing.Profiled(p, gpus[i], stages[i], cluster)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(cases, func(c *placing.Case) bool { return c.Family == in.Name }) {
			return nil, nil, fmt.Errorf("--profile: %s is there twice", in.Name)
		}
		more, err := choice.Cases(in, 0, 1)
		if err != nil {
			return nil, nil, err
		}
		cases = append(cases, more...)
	}
	return cases, files, nil
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
	if err := inter.UnmarshalText([]byte(f.Inter)); err != nil {
		return sched.Cluster{}, usageError("--inter: %w", err)
	}
	if err := intra.UnmarshalText([]byte(f.Intra)); err != nil {
		return sched.Cluster{}, usageError("--intra: %w", err)
	}
	left, right, ok := strings.Cut(f.Cluster, "x")
	servers, err1 := strconv.Atoi(left)
	gpus, err2 := strconv.Atoi(right)
	if !ok || err1 != nil || err2 != nil || servers < 1 || gpus < 1 || servers > sched.MaxGPUs || gpus > sched.MaxGPUs {
		return sched.Cluster{}, usageError("--cluster %q: write SERVERSxGPUS, such as 250x8", f.Cluster)
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

// findJob returns the job that --job names, by index or else by name, or the
// only one.
func (f *placeFlags) findJob(in *sched.Instance, path string) (sched.JobID, error) {
	if f.Job == "" {
		if len(in.Jobs) > 1 {
			return 0, usageError("%s has %d jobs: name one with --job, or take --all-jobs", path, len(in.Jobs))
		}
		return 0, nil
	}
	if id, err := strconv.Atoi(f.Job); err == nil && id >= 0 && id < len(in.Jobs) {
		return sched.JobID(id), nil
	}
	id := slices.IndexFunc(in.Jobs, func(j sched.Job) bool { return j.Name == f.Job })
	if id < 0 {
		return 0, usageError("--job %q: %s has no such job: give an index from 0 to %d, or a name", f.Job, path, len(in.Jobs)-1)
	}
	return sched.JobID(id), nil
}
