package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"yardstick/bench/record"
	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/datasets/profile"
	"yardstick/internal/input"
	"yardstick/sched"
)

// Instance is one built instance of a suite.
type Instance struct {
	*sched.Instance
	Family string            // the source's name
	Swept  map[string]string // values that the suite's matrix gave
	SHA256 string
	Seed   uint64
	Note   string // what was dropped on the way from the trace, or is not right with it, on the first instance of a family
}

// OfferedLoad returns the offered load of the instance's jobs, as
// [instances.OfferedLoad] defines it: missing of a burst, of elastic jobs, and where a
// job would run for longer than there is time.
func (in *Instance) OfferedLoad() record.Opt[float64] {
	load, ok, err := instances.OfferedLoad(in.Instance)
	return record.Opt[float64]{V: load, Valid: ok && err == nil}
}

// Features returns what the instance is like, as a row without the suite. What is about
// gangs is missing of elastic jobs, and where a job would run for longer than there is time.
func (in *Instance) Features() record.Instance {
	f, _ := instances.FeaturesOf(in.Instance) // without gangs, after an error
	row := record.Instance{
		Instance: in.Name, InstanceSHA256: in.SHA256, Family: in.Family, Model: string(in.Model), Seed: record.Some(int64(in.Seed)),
		Jobs: len(in.Jobs), GPUs: in.Cluster.GPUs(), Servers: len(in.Cluster.Servers), History: f.History, Users: f.Users, Groups: f.Groups,
		Span: inSeconds(f.Span), Slot: positive(inSeconds(f.Slot)), Deadline: positive(inSeconds(in.Deadline)),
		Inter: positive(float64(in.Cluster.Inter)), Intra: positive(float64(in.Cluster.Intra)), LeastWeight: f.LeastWeight, MostWeight: f.MostWeight,
	}
	if g := f.Gangs.V; f.Gangs.OK {
		row.OfferedLoad = record.Opt[float64]{V: g.OfferedLoad.V, Valid: g.OfferedLoad.OK}
		row.Work, row.MeanRun = record.Some(g.Work/float64(sched.Second)), record.Some(g.MeanRun/float64(sched.Second))
		row.LargestGang, row.MeanGang, row.SingleShare = record.Some(g.Largest), record.Some(g.Mean), record.Some(g.Single)
		row.MedianRun, row.LongestRun = record.Some(inSeconds(g.MedianRun)), record.Some(inSeconds(g.LongestRun))
	}
	return row
}

func inSeconds(t sched.Time) float64 { return float64(t) / float64(sched.Second) }

// positive is a number that is missing where it is 0.
func positive(v float64) record.Opt[float64] { return record.Opt[float64]{V: v, Valid: v > 0} }

// Build makes the source's instances: the one of its file, or one per window
// of its trace. Their jobs are taken from the budget.
func (src *Source) Build(master uint64, jobs *Budget) ([]*Instance, error) {
	if err := src.validate(); err != nil {
		return nil, err
	}
	if src.File != "" {
		return src.readFile(master, jobs)
	}
	jobs.read(src.Trace)
	if err := jobs.spend(src.Cluster.Servers/serversPerJob+jobsPerInstance, src.Slice.Repeat); err != nil {
		return nil, err
	}
	if err := jobs.spend(src.Slice.Jobs, src.Slice.Repeat); err != nil {
		return nil, err
	}
	trace, err := src.load(jobs)
	if err != nil {
		return nil, err
	}
	// Sweeping a parameter leaves the seed as it is, so that random choices are
	// shared by all its values.
	slice := src.Slice
	slice.GPUs = src.Cluster.Servers * src.Cluster.GPUsPerServer
	windows, err := trace.Windows(slice, master, src.seedName())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Trace, err)
	}
	if src.Slice.Jobs == 0 { // all there are
		if err := jobs.spend(trace.Len(), src.Slice.Repeat); err != nil {
			return nil, err
		}
	}
	past := 0
	for i := range windows {
		past += min(src.history(), windows[i].First)/pastPerJob + min(src.Past, trace.Len())
	}
	if err := jobs.spend(past, 1); err != nil {
		return nil, err
	}
	if err := jobs.holds(trace.Len()); err != nil {
		return nil, err
	}
	configs, err := src.configurations(jobs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Trace, err)
	}
	var built []*Instance
	for _, w := range windows {
		in, err := src.buildWindow(&w, configs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.Trace, err)
		}
		built = append(built, &Instance{Instance: in, Family: src.Name, Swept: src.Swept, SHA256: in.Hash(), Seed: w.Seed})
	}
	if s := trace.Summary(); len(s.Dropped) > 0 || s.Note != "" {
		built[0].Note = fmt.Sprintf("%s: %v", src.Trace, s)
	}
	return built, nil
}

// TraceJobs returns how many jobs the source's trace has, of those that it takes.
func (src *Source) TraceJobs(jobs *Budget) (int, error) {
	if err := src.validate(); err != nil {
		return 0, err
	}
	jobs.read(src.Trace)
	trace, err := src.load(jobs)
	if err != nil {
		return 0, err
	}
	return trace.Len(), nil
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

func (src *Source) readFile(master uint64, jobs *Budget) ([]*Instance, error) {
	f, err := input.Document(src.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := sched.ReadInstance(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.File, err)
	}
	jobs.read(src.File)
	if err := jobs.spend(len(in.Jobs)+len(in.History)/pastPerJob, 1); err != nil {
		return nil, err
	}
	in.Name = src.Name
	return []*Instance{{Instance: in, Family: src.Name, SHA256: in.Hash(), Seed: datasets.Seed(master, src.seedName(), 0)}}, nil
}

func (src *Source) seedName() string { return cmp.Or(src.DrawAs, src.Name) }

func (src *Source) load(jobs *Budget) (*datasets.Trace, error) {
	filter, err := datasets.ParseFilter(src.Where)
	if err != nil {
		return nil, fmt.Errorf("where: %w", err)
	}
	selection := datasets.Selection{Where: filter}
	if src.TooLarge == "drop" {
		selection.MaxGPUs = src.Cluster.Servers * src.Cluster.GPUsPerServer
	}
	return jobs.kept.trace(src.key(selection), func() (*datasets.Trace, error) {
		if rows, n, ok, err := generated(src.Trace); err != nil {
			return nil, err
		} else if ok {
			if err := jobs.holds(n); err != nil {
				return nil, err
			}
			selection.Expect = n
			return datasets.NewTrace(rows, selection)
		}
		source, err := datasets.Open(src.Trace)
		if err != nil {
			return nil, err
		}
		defer source.Close()
		return source.Load(selection)
	})
}

// key says which rows of which trace the source wants.
func (src *Source) key(s datasets.Selection) string {
	return fmt.Sprintf("%q %#v %d", src.Trace, src.Where, s.MaxGPUs) // a map is printed in the order of its keys, with types
}

// buildWindow makes an instance of the source's model, in that of gangs of the
// configurations.
func (src *Source) buildWindow(w *datasets.Window, configs []profile.Config) (*sched.Instance, error) {
	c := src.Cluster
	cluster := sched.Uniform(c.Servers, c.GPUsPerServer, c.Inter, c.Intra)
	common := instances.Common{Name: src.instanceName(w.Repetition), Cluster: cluster, Weights: src.Weights, Round: src.Round,
		Slotted: src.Slotted, Deadline: src.Deadline, History: src.history(), OfferedLoad: optional(src, "offeredLoad", src.OfferedLoad)}
	for _, m := range models {
		if m.Model == src.Model {
			return m.build(src, w, common, configs)
		}
	}
	return nil, fmt.Errorf("model %q is unknown: %v", src.Model, sched.Models())
}

// BuildList makes an instance of the source's model of a plain list of jobs, each of
// which runs for exactly as long as the list says. Given are the keys that the source was
// given, checked as in suites; elastic jobs have no length of their own.
func (src *Source) BuildList(w *datasets.Window, common instances.Common, given ...string) (*sched.Instance, error) {
	for _, key := range given {
		if err := src.misplaced(key); err != nil {
			return nil, err
		}
	}
	src.given = given
	if src.misplaced("iteration") == nil {
		src.given = append(src.given, "iteration") // 0: a run is one
	}
	for _, m := range models {
		if m.Model == src.Model && m.Gangs() {
			return m.build(src, w, common, nil)
		}
	}
	var names []string
	for _, m := range models {
		if m.Gangs() {
			names = append(names, string(m.Model))
		}
	}
	return nil, fmt.Errorf("a job list makes no instance of the model %q: %s", src.Model, strings.Join(names, ", "))
}

// configurations returns those of the source's profiles, nil if it has none.
func (src *Source) configurations(jobs *Budget) ([]profile.Config, error) {
	if src.Profiles == "" {
		return nil, nil
	}
	configs, err := jobs.kept.configurations(src.Profiles, configurations)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	if len(configs) == 0 {
		return nil, fmt.Errorf("profiles: %s has none", src.Profiles)
	}
	return configs, nil
}

// configurations plans the pipeline configurations of the built-in models on a
// GPU (builtin:v100), or of the profiles in a Parquet file.
func configurations(name string) ([]profile.Config, error) {
	if gpu, ok := strings.CutPrefix(name, "builtin:"); ok {
		return profile.BuiltinConfigs(gpu)
	}
	profiles, err := profile.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []profile.Config
	for i := range profiles {
		configs, err := profile.Configs(&profiles[i], profile.ConfigOptions{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, configs...)
	}
	return all, nil
}
