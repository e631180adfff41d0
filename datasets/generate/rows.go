package generate

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"yardstick/datasets"
	"yardstick/datasets/generate/law"
)

// Rows generates the trace, in order of submission. It starts on a Monday at
// midnight and lasts as long as so many jobs take at its rate: half of the jobs
// are half of the time, not every other job. The rows depend on the spec alone,
// bit for bit.
//
// Iterations are the running time divided by the program's time per iteration;
// trace is the name of what it is like. NULL: queue_s, cpus, batch_size,
// deadline_s, gpu_type, weight, and where the profile has none, vc, status and
// model.
//
// Cost: O(n log n), before the first row; about 60 bytes of memory per job.
// Errors, as the sequence's only element: those of Check.
func (s Spec) Rows() iter.Seq2[datasets.Row, error] {
	return func(yield func(datasets.Row, error) bool) {
		p, err := s.profile()
		if err != nil {
			yield(datasets.Row{}, err)
			return
		}
		t := newTrace(&p, s.Jobs, rand.New(rand.NewPCG(s.Seed, stream)))
		for i := range t.runs {
			if !yield(t.row(s.Like.String(), i), nil) {
				return
			}
		}
	}
}

// stream tells the random numbers of this package from others drawn from the
// same seed.
const stream = 0x67656e6572617465

// trace is a generated trace before its rows are written out.
type trace struct {
	profile *profile
	groups  []group
	runs    []run // in order of submission
}

// group is a set of jobs that run the same program.
type group struct {
	size      int32
	kind      int16 // of profile.kinds
	vc        int16
	user      int32 // within the virtual cluster
	iteration float64
}

type run struct {
	submit  float64
	group   int32
	status  int16
	repeats bool // the length of its group
	seconds uint32
}

// rank is what the running times are ranked by.
type rank struct {
	z   float64
	run int32
}

func newTrace(p *profile, jobs int, rng *rand.Rand) *trace {
	t := &trace{profile: p, groups: drawGroups(p, jobs, rng), runs: make([]run, 0, jobs)}
	if jobs == 0 {
		return t
	}
	t.dealKinds(jobs, rng)
	length := p.interArrival * float64(jobs)
	clock := law.NewCycle(p.hours, p.days, length)
	sittings := law.Sittings{Batch: p.batch, Gap: p.gap, Window: min(1, p.recurrence/length)}

	ranks := make([][]rank, len(p.kinds))
	var times []float64
	for g := range t.groups {
		kind := t.groups[g].kind
		program := math.Sqrt(p.correlation) * rng.NormFloat64()
		times = clock.Submissions(rng, times[:0], int(t.groups[g].size), sittings)
		usual := 0.0 // what the group's length is ranked by
		if p.repeat > 0 {
			usual = program + math.Sqrt(1-p.correlation)*rng.NormFloat64()
		}
		for _, submit := range times {
			repeats, z := p.repeat > 0 && rng.Float64() < p.repeat, usual
			if !repeats {
				z = program + math.Sqrt(1-p.correlation)*rng.NormFloat64()
			}
			ranks[kind] = append(ranks[kind], rank{z, int32(len(t.runs))})
			t.runs = append(t.runs, run{submit: submit, group: int32(g), status: drawStatus(p.status, rng), repeats: repeats})
		}
	}
	var together []rank // of the kinds that share the profile's law
	for k, list := range ranks {
		if d := p.kinds[k].duration; d != nil {
			t.dealDurations(list, d, rng)
			continue
		}
		score(list, p.kinds[k].shift)
		together = append(together, list...)
	}
	t.dealDurations(together, p.duration, rng)
	if p.repeat > 0 {
		t.repeatDurations(rng)
	}
	slices.SortStableFunc(t.runs, func(a, b run) int { return cmp.Compare(a.submit, b.submit) })
	return t
}

// drawGroups draws groups until they hold all jobs, the recurrent ones first:
// sizes from a Pareto law cut in two at often, so that the share of jobs in
// recurrent groups comes out exactly.
func drawGroups(p *profile, jobs int, rng *rand.Rand) []group {
	var groups []group
	most := max(2*often, min(largest, jobs/20))
	left := int(math.Round(p.recurrent * float64(jobs)))
	if left < often {
		left = 0
	}
	single := jobs - left
	for left > 0 {
		size := min(int(often*math.Pow(1-rng.Float64(), -1/tail)), most, left)
		if left-size < often {
			size = left // what is left over is too little for a group of its own
		}
		left -= size
		groups = append(groups, newGroup(p, size, rng))
	}
	for single > 0 {
		// The law of sizes below often: 1−(1−often^−tail)·U is uniform on
		// (often^−tail, 1].
		u := 1 - (1-math.Pow(often, -tail))*rng.Float64()
		size := min(int(math.Pow(u, -1/tail)), often-1, single)
		single -= size
		groups = append(groups, newGroup(p, size, rng))
	}
	return groups
}

// newGroup draws who submits a program, and its time per iteration.
func newGroup(p *profile, size int, rng *rand.Rand) group {
	g := group{size: int32(size), vc: -1, iteration: fastest * math.Pow(slowest/fastest, rng.Float64())}
	part := 1.0
	if len(p.vcs) > 0 {
		u := rng.Float64()
		for g.vc = 0; int(g.vc) < len(p.vcs)-1 && u >= p.vcs[g.vc]; g.vc++ {
			u -= p.vcs[g.vc]
		}
		part = p.vcs[g.vc]
	}
	// The users of a virtual cluster are in proportion to its jobs.
	users := max(1, math.Round(float64(p.users)*part))
	g.user = int32(users * math.Pow(rng.Float64(), skew))
	return g
}

// dealKinds gives whole groups their kinds, in random order, so that the shares
// of jobs come out exactly or, where no group is small enough, nearly so.
func (t *trace) dealKinds(jobs int, rng *rand.Rand) {
	waiting := rng.Perm(len(t.groups))
	last := len(t.profile.kinds) - 1
	for k, kind := range t.profile.kinds[:last] {
		quota := int32(math.Round(kind.share * float64(jobs)))
		rest := waiting[:0]
		for i, g := range waiting {
			if quota == 0 {
				rest = append(rest, waiting[i:]...)
				break
			}
			if t.groups[g].size > quota {
				rest = append(rest, g)
				continue
			}
			t.groups[g].kind = int16(k)
			quota -= t.groups[g].size
		}
		waiting = rest
	}
	for _, g := range waiting {
		t.groups[g].kind = int16(last)
	}
}

// score replaces each z by the normal score of its rank in the list, plus a
// shift. Without it, GPU-time per job would depend on the few largest jobs that
// happen to be long, and differ by half between seeds.
func score(list []rank, shift float64) {
	sortRanks(list)
	for r := range list {
		list[r].z = shift + math.Sqrt2*math.Erfinv((2*float64(r)+1)/float64(len(list))-1)
	}
}

func sortRanks(list []rank) {
	slices.SortFunc(list, func(a, b rank) int { return cmp.Or(cmp.Compare(a.z, b.z), cmp.Compare(a.run, b.run)) })
}

// dealDurations gives the run of rank r out of n the quantile (r+U)/n, in whole
// seconds, at least one.
func (t *trace) dealDurations(list []rank, duration law.Law, rng *rand.Rand) {
	sortRanks(list)
	for r, at := range list {
		v := duration.At((float64(r) + rng.Float64()) / float64(len(list)))
		t.runs[at.run].seconds = whole(v)
	}
}

// whole returns a running time in whole seconds, at least one.
func whole(seconds float64) uint32 { return uint32(max(1, math.Round(seconds))) }

// repeatDurations gives the runs of a group that repeat its length that of the
// middle one of them, times 1 plus a normal relative error. They have consecutive
// ranks among those of their demand, so that the law stays met but for the
// distance between the ranks of one group. The runs of a group must follow each
// other.
func (t *trace) repeatDurations(rng *rand.Rand) {
	var lengths []uint32
	for from := 0; from < len(t.runs); {
		end := from + int(t.groups[t.runs[from].group].size)
		lengths = lengths[:0]
		for _, r := range t.runs[from:end] {
			if r.repeats {
				lengths = append(lengths, r.seconds)
			}
		}
		slices.Sort(lengths)
		for i := range t.runs[from:end] {
			if r := &t.runs[from+i]; r.repeats {
				r.seconds = whole(float64(lengths[len(lengths)/2]) * (1 + noise*rng.NormFloat64()))
			}
		}
		from = end
	}
}

// drawStatus returns the index of a status, or −1 if there is none to draw.
func drawStatus(list []share, rng *rand.Rand) int16 {
	if len(list) == 0 {
		return -1
	}
	u := rng.Float64()
	for i, s := range list[:len(list)-1] {
		if u < s.p {
			return int16(i)
		}
		u -= s.p
	}
	return int16(len(list) - 1)
}

// row writes out the i-th run.
func (t *trace) row(name string, i int) datasets.Row {
	r := &t.runs[i]
	g := &t.groups[r.group]
	k := &t.profile.kinds[g.kind]
	seconds := float64(r.seconds)
	row := datasets.Row{
		Trace: name, JobID: "j" + number(i, 7), Group: datasets.Some("g" + number(int(r.group), 6)),
		SubmitS: datasets.Some(r.submit), DurationS: datasets.Some(seconds), GPUs: datasets.Some(k.gpus),
		Iterations: datasets.Some(max(1, math.Round(seconds/g.iteration))),
	}
	user := "u" + number(int(g.user), 4)
	if g.vc >= 0 {
		vc := number(int(g.vc), 2)
		row.VC = datasets.Some("vc" + vc)
		user = "u" + vc + "-" + number(int(g.user), 3)
	}
	row.User = datasets.Some(user)
	if r.status >= 0 {
		row.Status = datasets.Some(t.profile.status[r.status].name)
	}
	if k.model != "" {
		row.Model = datasets.Some(k.model)
	}
	return row
}

// number writes v with at least the given number of digits.
func number(v, digits int) string {
	text := strconv.Itoa(v)
	for len(text) < digits {
		text = "0" + text
	}
	return text
}
