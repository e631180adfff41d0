package bench

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"yardstick/datasets"
	"yardstick/sched"
)

// build makes the source's instances: the one of its file, or one per window
// of its trace.
func (src *Source) build(master uint64) ([]*Instance, error) {
	if src.File != "" {
		return src.readFile(master)
	}
	trace, err := src.load()
	if err != nil {
		return nil, err
	}
	// Sweeping a parameter leaves the seed as it is, so that random choices are
	// shared by all its values.
	windows, err := trace.Windows(src.Slice, master, src.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Trace, err)
	}
	var built []*Instance
	for _, w := range windows {
		in, err := w.Build(src.options(src.instanceName(w.Repetition)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.Trace, err)
		}
		built = append(built, &Instance{Instance: in, Family: src.Name, Swept: src.Swept, SHA256: in.Hash(), Seed: w.Seed})
	}
	if s := trace.Summary(); len(s.Dropped) > 0 {
		built[0].Note = fmt.Sprintf("%s: %v", src.Trace, s)
	}
	return built, nil
}

// instanceName is the source's name, the repetition and the swept values:
// "small/03" or "small/03 cluster.inter=1Gbps".
func (src *Source) instanceName(repetition int) string {
	name := fmt.Sprintf("%s/%02d", src.Name, repetition)
	for _, key := range slices.Sorted(maps.Keys(src.Swept)) {
		name += " " + key + "=" + src.Swept[key]
	}
	return name
}

func (src *Source) readFile(master uint64) ([]*Instance, error) {
	f, err := os.Open(src.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := sched.ReadInstance(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.File, err)
	}
	in.Name = src.Name
	return []*Instance{{Instance: in, Family: src.Name, SHA256: in.Hash(), Seed: datasets.Seed(master, src.Name, 0)}}, nil
}

func (src *Source) load() (*datasets.Trace, error) {
	filter, err := datasets.ParseFilter(src.Where)
	if err != nil {
		return nil, fmt.Errorf("where: %w", err)
	}
	source, err := datasets.Open(src.Trace)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	selection := datasets.Selection{Where: filter}
	if src.TooLarge == "drop" {
		selection.MaxGPUs = src.Cluster.Servers * src.Cluster.GPUsPerServer
	}
	return source.Load(selection)
}

func (src *Source) options(name string) datasets.Options {
	c := src.Cluster
	return datasets.Options{
		Name:      name,
		Cluster:   sched.Uniform(c.Servers, c.GPUsPerServer, c.Inter, c.Intra),
		Model:     src.Model,
		Round:     src.Round,
		Weights:   src.Weights,
		Iteration: src.Iterate,
		Params:    src.Params,
		History:   src.History,
	}
}
