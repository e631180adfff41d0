package suite

import (
	"fmt"

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

// key says which rows of which trace the source wants.
func (src *Source) key(s datasets.Selection) string {
	return fmt.Sprintf("%q %#v %d", src.Trace, src.Where, s.MaxGPUs) // a map is printed in the order of its keys, with types
}

// configurations returns those of a name, planned once.
func (k *kept) configurations(name string) ([]profile.Config, error) {
	if list, ok := k.configs[name]; ok {
		return list, nil
	}
	list, err := configurations(name)
	if err != nil {
		return nil, err
	}
	if k.configs == nil {
		k.configs = map[string][]profile.Config{}
	}
	k.configs[name] = list
	return list, nil
}
