package score

import (
	"cmp"
	"fmt"
	"slices"

	"yardstick/sched"
)

// Check decides whether a record is a schedule of the jobs on the cluster, and of which
// class.
//
// Errors: the input is none: a job without GPUs or length, a cluster without GPUs, lengths
// of a record that has no starts. What is wrong with the schedule is a violation.
func Check(jobs []Job, c Cluster, r Record, o Options) (*Checked, error) {
	if err := checkInput(jobs, c, r, o); err != nil {
		return nil, err
	}
	k := &checker{Checked: Checked{Evidence: r.Evidence, Jobs: slices.Clone(jobs), Ends: make([]sched.Time, len(jobs)), Cluster: c},
		options: o, bad: violations{jobs: jobs}, of: make([][]int32, len(jobs)), out: make([]bool, len(jobs))}
	if o.Rounded {
		k.options.Tolerance = max(o.Tolerance, rounding)
	}
	k.read(r)
	switch {
	case r.Evidence != Completions:
		k.intervals()
	case k.bad.n == 0:
		if err := k.completions(); err != nil {
			return nil, err
		}
	}
	k.Violations, k.Broken = k.bad.list, k.bad.n
	return &k.Checked, nil
}

func checkInput(jobs []Job, c Cluster, r Record, o Options) error {
	switch {
	case len(jobs) == 0:
		return fmt.Errorf("score: there are no jobs")
	case c.GPUs < 1:
		return fmt.Errorf("score: the cluster has no GPUs")
	case r.Evidence == Completions && o.Recorded:
		return fmt.Errorf("score: the record has ends alone, so that lengths cannot be taken from it")
	case o.Tolerance < 0 || o.Tolerance > sched.MaxTime:
		return fmt.Errorf("score: a tolerance of %v: it must be between 0s and %v", o.Tolerance, sched.MaxTime)
	}
	for i := range jobs {
		j := &jobs[i]
		switch {
		case j.GPUs < 1:
			return fmt.Errorf("score: job %s asks for no GPUs: leave it out", j.Name)
		case j.Length < 0 || j.Length == 0 && !o.Recorded || j.Length > sched.MaxTime:
			return fmt.Errorf("score: job %s runs for %v: a length must be positive and at most %v", j.Name, j.Length, sched.MaxTime)
		case j.Release < -sched.MaxTime || j.Release > sched.MaxTime:
			return fmt.Errorf("score: job %s is released at %v: no time is later than %v", j.Name, j.Release, sched.MaxTime)
		case !(j.Weight > 0):
			return fmt.Errorf("score: job %s weighs %v: a weight must be positive", j.Name, j.Weight)
		}
	}
	for i := range c.Capacity {
		if c.Capacity[i].GPUs > c.GPUs || i > 0 && c.Capacity[i].At <= c.Capacity[i-1].At {
			return fmt.Errorf("score: the capacity over time must be in order of time and never above that of the cluster")
		}
	}
	return nil
}

// rounding is by how much the length of an interval may be off whose ends were rounded to
// microseconds, with that of the job.
const rounding = 2

type checker struct {
	Checked
	options Options
	bad     violations
	of      [][]int32 // the pieces of each job, in order of start
	out     []bool    // jobs that are broken by themselves
}

// read looks at each piece by itself, and at those of each job together.
func (k *checker) read(r Record) {
	k.Pieces = slices.Clone(r.Pieces)
	for i := range k.Pieces {
		p := &k.Pieces[i]
		if p.Job < 0 || p.Job >= len(k.Jobs) {
			k.bad.add(RuleJob, -1, p.End, "row %d is of a job that there is none of", i+1)
			continue
		}
		k.of[p.Job] = append(k.of[p.Job], int32(i))
	}
	for j := range k.Jobs {
		if len(k.of[j]) == 0 {
			k.bad.add(RuleMissing, j, k.Jobs[j].Release, "is not in the schedule")
			continue
		}
		before := k.bad.n
		if k.Evidence == Completions {
			k.end(j)
		} else {
			k.job(j)
		}
		k.out[j] = k.bad.n > before
	}
}

// outOfRange reports times that no instance may have.
func (k *checker) outOfRange(j int, times ...sched.Time) bool {
	for _, t := range times {
		if t < -sched.MaxTime || t > sched.MaxTime {
			k.bad.add(RuleSegment, j, 0, "has a time further than %v from the first release", sched.MaxTime)
			return true
		}
	}
	return false
}

// end checks the end of a job by itself.
func (k *checker) end(j int) {
	if n := len(k.of[j]); n > 1 {
		k.bad.add(RuleJob, j, k.Jobs[j].Release, "has %d ends", n)
		return
	}
	end, job := k.Pieces[k.of[j][0]].End, &k.Jobs[j]
	k.Ends[j] = end
	if k.outOfRange(j, end) {
		return
	}
	short := job.Release + job.Length - end
	switch {
	case short <= 0:
	case short <= k.options.Tolerance && short < job.Length:
		job.Length -= short
		k.Shortened++
	default:
		k.bad.add(RuleLength, j, end, "ends %v after its release, and runs for %v", end-job.Release, job.Length)
	}
}

// job checks the intervals of one job, and shortens those that overlap within the
// tolerance.
func (k *checker) job(j int) {
	job, of := &k.Jobs[j], k.of[j]
	slices.SortFunc(of, func(a, b int32) int {
		return cmp.Or(cmp.Compare(k.Pieces[a].Start, k.Pieces[b].Start), cmp.Compare(k.Pieces[a].End, k.Pieces[b].End))
	})
	k.Ends[j] = k.Pieces[of[0]].End
	for n, i := range of {
		p := &k.Pieces[i]
		if k.outOfRange(j, p.Start, p.End) {
			return
		}
		switch {
		case p.End <= p.Start:
			k.bad.add(RuleSegment, j, p.Start, "an interval ends %v after it starts", p.End-p.Start)
			return
		case p.GPUs != 0 && p.GPUs != job.GPUs:
			k.bad.add(RuleGang, j, p.Start, "holds %s GPUs and asks for %s: it was resized (class M), and its ratio needs speeds by number of GPUs", GPUs(p.GPUs), GPUs(job.GPUs))
			return
		}
		p.GPUs = job.GPUs
		if k.Evidence == Placements && !k.parts(j, p) {
			return
		}
		if before := p.Start; n > 0 && before < k.Ends[j] {
			if k.Ends[j]-before > k.options.Tolerance || k.Ends[j] >= p.End {
				k.bad.add(RuleOverlap, j, before, "starts again before %v have passed that it still runs", k.Ends[j]-before)
				return
			}
			p.Start = k.Ends[j]
		}
		k.Ends[j] = p.End
	}
	first := k.Pieces[of[0]].Start
	switch early := job.Release - first; {
	case early <= 0:
	case early <= k.options.Tolerance:
		job.Release = first
		k.Early++
	default:
		k.bad.add(RuleRelease, j, first, "starts %v before its release", early)
		return
	}
	held, allowed := k.held(j), k.options.Tolerance
	if k.options.Rounded {
		allowed += rounding * sched.Time(len(of)-1)
	}
	if k.options.Recorded {
		job.Length = held
	} else if job.Length-held > allowed {
		k.bad.add(RuleLength, j, k.Ends[j], "holds its GPUs for %v and runs for %v", held, job.Length)
	}
}

// held returns how long a job holds its GPUs.
func (k *checker) held(j int) (sum sched.Time) {
	for _, i := range k.of[j] {
		sum += k.Pieces[i].End - k.Pieces[i].Start
	}
	return sum
}

// parts checks where a piece is, by itself.
func (k *checker) parts(j int, p *Piece) bool {
	sum, seen := 0, -1
	slices.SortFunc(p.Parts, func(a, b Part) int { return cmp.Compare(a.Server, b.Server) })
	for _, part := range p.Parts {
		switch {
		case part.Server < 0 || part.Server >= len(k.Cluster.Servers):
			k.bad.add(RulePlacement, j, p.Start, "is on server %d of %d", part.Server, len(k.Cluster.Servers))
			return false
		case part.Server == seen:
			k.bad.add(RulePlacement, j, p.Start, "names server %d twice", part.Server)
			return false
		case part.GPUs < 1 || part.GPUs > k.Cluster.Servers[part.Server]:
			k.bad.add(RulePlacement, j, p.Start, "holds %d GPUs of server %d, which has %d", part.GPUs, part.Server, k.Cluster.Servers[part.Server])
			return false
		case part.Devices != nil && len(part.Devices) != part.GPUs:
			k.bad.add(RulePlacement, j, p.Start, "names %d of its %d GPUs on server %d", len(part.Devices), part.GPUs, part.Server)
			return false
		}
		for d, device := range part.Devices {
			if device < 0 || device >= k.Cluster.Servers[part.Server] || d > 0 && device <= part.Devices[d-1] {
				k.bad.add(RuleDevice, j, p.Start, "GPUs %v of server %d are not some of its %d, each once", part.Devices, part.Server, k.Cluster.Servers[part.Server])
				return false
			}
		}
		sum, seen = sum+part.GPUs, part.Server
	}
	if int64(sum)*Milli != p.GPUs {
		k.bad.add(RuleGang, j, p.Start, "is placed on %d GPUs and asks for %s", sum, GPUs(p.GPUs))
		return false
	}
	return true
}

// intervals checks all intervals together, and what the tolerance has made of them.
func (k *checker) intervals() {
	// A job that is broken by itself takes no part: the others are checked without it.
	k.sweep()
	if k.bad.n > 0 {
		return
	}
	for j := range k.Jobs {
		job := &k.Jobs[j]
		held := k.held(j)
		switch {
		case held <= 0:
			k.bad.add(RuleLength, j, k.Ends[j], "has no time left once overlaps within the tolerance are taken away")
		case held < job.Length:
			job.Length = held
			k.Shortened++
		}
	}
	kind := k.merge()
	k.Class = sched.Class{Kind: kind}
}

// merge joins intervals of a job that touch in the same place, and returns the class that
// the number of intervals gives.
func (k *checker) merge() sched.Kind {
	kind := sched.N
	gone := make([]bool, len(k.Pieces))
	for j := range k.of {
		last := int32(-1)
		for _, i := range k.of[j] {
			p := &k.Pieces[i]
			switch {
			case p.End <= p.Start: // the tolerance took it all
				gone[i] = true
			case last < 0:
				last = i
			case k.Pieces[last].End == p.Start && samePlace(k.Pieces[last].Parts, p.Parts):
				k.Pieces[last].End = p.End
				gone[i] = true
			default:
				kind, last = sched.P0, i
			}
		}
	}
	kept := k.Pieces[:0]
	for i := range k.Pieces {
		if !gone[i] {
			kept = append(kept, k.Pieces[i])
		}
	}
	k.Pieces, k.of = kept, nil
	slices.SortFunc(k.Pieces, func(a, b Piece) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Job, b.Job)) })
	return kind
}

func samePlace(a, b []Part) bool {
	return slices.EqualFunc(a, b, func(x, y Part) bool {
		return x.Server == y.Server && x.GPUs == y.GPUs && slices.Equal(x.Devices, y.Devices)
	})
}
