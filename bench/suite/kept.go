package suite

import (
	"yardstick/datasets"
	"yardstick/datasets/profile"
)

// keptJobs is how many jobs the traces that are kept may have together.
const keptJobs = 1 << 17

// kept are traces and configurations of the sources before, which those after mostly share:
// a matrix makes a source of each of its combinations. The zero value has none.
type kept struct {
	traces  map[string]*datasets.Trace
	jobs    int // of the traces
	configs map[string][]profile.Config
}

// trace returns what load returns for the key, and keeps it while there is room.
func (k *kept) trace(key string, load func() (*datasets.Trace, error)) (*datasets.Trace, error) {
	if t := k.traces[key]; t != nil {
		return t, nil
	}
	t, err := load()
	if err != nil || t.Len() > keptJobs {
		return t, err
	}
	if k.traces == nil || k.jobs+t.Len() > keptJobs {
		k.traces, k.jobs = map[string]*datasets.Trace{}, 0
	}
	k.traces[key] = t
	k.jobs += t.Len()
	return t, nil
}

// configurations returns what plan returns for the name, and keeps it.
func (k *kept) configurations(name string, plan func(string) ([]profile.Config, error)) ([]profile.Config, error) {
	if list, ok := k.configs[name]; ok {
		return list, nil
	}
	list, err := plan(name)
	if err != nil {
		return nil, err
	}
	if k.configs == nil {
		k.configs = map[string][]profile.Config{}
	}
	k.configs[name] = list
	return list, nil
}
