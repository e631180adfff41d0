package instances

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"yardstick/internal/output"
	"yardstick/sched"
)

// Describe says in some lines of text what an instance is made of. The instance
// must be valid. Its last line ends with a newline.
//
// Durations are running times on the fewest servers of the empty cluster, and the
// offered load, [OfferedLoad], is of these. Of a burst the work is given.
//
// Errors: a running time beyond sched.MaxTime.
func Describe(in *sched.Instance) (string, error) {
	d := &description{in: in}
	d.line("instance", "%q, %s model, %s", in.Name, in.Model, in.Hash()[:12])
	d.cluster()
	d.population()
	if err := said[in.Model](d); err != nil {
		return "", fmt.Errorf("instances: instance %q: %w", in.Name, err)
	}
	return d.text.String(), nil
}

type description struct {
	in   *sched.Instance
	text strings.Builder
}

// said has a row for each model: what is said of its jobs.
var said = map[sched.Model]func(*description) error{
	sched.ModelGang:       (*description).gang,
	sched.ModelElastic:    (*description).elastic,
	sched.ModelPreemptive: (*description).preemptive,
	sched.ModelSharing:    (*description).sharing,
}

// line writes a label and what it is.
func (d *description) line(label, format string, args ...any) {
	fmt.Fprintf(&d.text, "%-16s %s\n", label, fmt.Sprintf(format, args...))
}

func (d *description) cluster() {
	c := &d.in.Cluster
	sizes := map[string]int{}
	for _, s := range c.Servers {
		size := fmt.Sprintf("of %d GPUs", s.GPUs)
		if s.GPUMemory > 0 {
			size += fmt.Sprintf(" with %v each", s.GPUMemory)
		}
		if len(s.Capacity) > 0 {
			size = fmt.Sprintf("of %v", s.Capacity)
		}
		sizes[size]++
	}
	d.line("cluster", "%s, %s; %v between and %v within servers", output.Count(len(c.Servers), "server"), output.Count(c.GPUs(), "GPU"), c.Inter, c.Intra)
	d.line("  servers", "%s", counts(sizes))
	if d.in.Slot > 0 {
		d.line("slot", "%v", d.in.Slot)
	}
	if d.in.Deadline > 0 {
		d.line("deadline", "%v", d.in.Deadline)
	}
}

func (d *description) population() {
	jobs := d.in.Jobs
	users, groups, models := map[string]bool{}, map[string]bool{}, map[string]int{}
	var releases []sched.Time
	var weights []float64
	for i := range jobs {
		j := &jobs[i]
		releases, weights = append(releases, j.Release), append(weights, j.Weight)
		if j.User != "" {
			users[j.User] = true
		}
		if j.Group != "" {
			groups[j.Group] = true
		}
		if j.Model != "" {
			models[j.Model]++
		}
	}
	d.line("jobs", "%d of %s in %s; %d past jobs", len(jobs), output.Count(len(users), "user"), output.Count(len(groups), "group"), len(d.in.History))
	d.line("releases", "%v to %v", slices.Min(releases), slices.Max(releases))
	d.line("weights", "%s", quantiles(weights))
	if len(models) > 0 {
		d.line("models", "%s", counts(models))
	}
}

// gangs describes what all models with gangs have, with a label for the iteration time.
func (d *description) gangs(iteration string) error {
	in := d.in
	gangs := map[int]int{}
	var runs []sched.Time
	var iters []int64
	var alphas []sched.Duration
	var total demand
	for i := range in.Jobs {
		j, id := &in.Jobs[i], sched.JobID(i)
		place, run, err := onFewest(in, id)
		if err != nil {
			return err
		}
		alpha, err := in.IterTime(id, place)
		if err != nil {
			return err
		}
		gangs[j.Gang()]++
		runs, iters = append(runs, run), append(iters, j.Iters)
		alphas = append(alphas, nanoseconds(alpha))
		total.add(j.Gang(), run)
	}
	var sizes []string
	for _, g := range slices.Sorted(maps.Keys(gangs)) {
		sizes = append(sizes, fmt.Sprintf("%d×%d", gangs[g], g))
	}
	d.line("gangs", "%s (jobs×GPUs); %.1f %% of one GPU", strings.Join(sizes, " "), 100*float64(gangs[1])/float64(len(in.Jobs)))
	d.line("durations", "%s", quantiles(runs))
	d.line("iterations", "%s", quantiles(iters))
	d.line(iteration, "%s", quantiles(alphas))
	d.load(&total)
	return nil
}

// load says what the jobs ask of the cluster.
func (d *description) load(total *demand) {
	span, gpus := releaseSpan(d.in), d.in.Cluster.GPUs()
	if load, ok := total.over(span, gpus); ok {
		d.line("offered load", "%.2f of the cluster's %d GPUs, %.1f %%, over %v", load*float64(gpus), gpus, 100*load, span)
		return
	}
	hours := total.gpuTime() / float64(3600*sched.Second)
	d.line("offered load", "none, a burst: all within %v, less than the mean running time; %.2f GPU-hours, %.2f h of the whole cluster", span, hours, hours/float64(gpus))
}

// quantiles writes the least, the lower median and the largest value, or one
// value if all are equal.
func quantiles[T cmp.Ordered](values []T) string {
	slices.Sort(values)
	n := len(values)
	switch {
	case n == 0:
		return "none"
	case values[0] == values[n-1]:
		return fmt.Sprint(values[0])
	}
	return fmt.Sprintf("%v to %v, median %v", values[0], values[n-1], values[(n-1)/2])
}

// counts writes how many there are of each, the most frequent first, ten at
// most.
func counts(of map[string]int) string {
	names := slices.Sorted(maps.Keys(of))
	slices.SortStableFunc(names, func(a, b string) int { return of[b] - of[a] })
	var parts []string
	for i, name := range names {
		if i == 10 {
			parts = append(parts, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", of[name], name))
	}
	return strings.Join(parts, ", ")
}

// nanoseconds returns a time in seconds, rounded down, for display.
func nanoseconds(seconds *big.Rat) sched.Duration {
	n := new(big.Int).Mul(seconds.Num(), big.NewInt(1e9))
	return sched.Duration(n.Quo(n, seconds.Denom()).Int64())
}
