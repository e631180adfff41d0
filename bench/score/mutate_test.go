package score

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/internal/tier"
	"yardstick/sched"
)

// site is a cluster of servers whose GPUs have names.
var site = Cluster{GPUs: 10 * Milli, Servers: []int{4, 4, 2}}

// drawn makes a legal schedule: jobs start on random free GPUs, and some stop and go on
// elsewhere.
func drawn(rng *rand.Rand) ([]Job, Record) {
	jobs := make([]Job, 4+rng.IntN(12))
	left := make([]sched.Time, len(jobs))
	for j := range jobs {
		jobs[j] = Job{Name: fmt.Sprint(j), Release: sched.Time(rng.IntN(20)), Length: sched.Time(1 + rng.IntN(12)), GPUs: Milli * int64(1+rng.IntN(6)), Weight: 1}
		left[j] = jobs[j].Length
	}
	r := Record{Evidence: Placements}
	held := map[[2]int]int{} // server and device: 1 + piece
	open := make([]int, len(jobs))
	for now := sched.Time(0); slices.Max(left) > 0; now++ {
		for _, j := range rng.Perm(len(jobs)) {
			if open[j] > 0 && (left[j] == 0 || rng.IntN(8) == 0) { // done, or stopped
				for at, i := range held {
					if i == open[j] {
						delete(held, at)
					}
				}
				open[j] = 0
			}
		}
		for _, j := range rng.Perm(len(jobs)) {
			if open[j] > 0 || left[j] == 0 || jobs[j].Release > now || rng.IntN(5) == 0 {
				continue
			}
			var free [][2]int
			for s, n := range site.Servers {
				for d := range n {
					if held[[2]int{s, d}] == 0 {
						free = append(free, [2]int{s, d})
					}
				}
			}
			if int64(len(free))*Milli < jobs[j].GPUs {
				continue
			}
			rng.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
			p := Piece{Job: j, Start: now, GPUs: jobs[j].GPUs}
			open[j] = len(r.Pieces) + 1
			mine := free[:jobs[j].GPUs/Milli]
			slices.SortFunc(mine, func(a, b [2]int) int { return (a[0]-b[0])*100 + a[1] - b[1] })
			for _, at := range mine {
				held[at] = open[j]
				if n := len(p.Parts); n == 0 || p.Parts[n-1].Server != at[0] {
					p.Parts = append(p.Parts, Part{Server: at[0]})
				}
				last := &p.Parts[len(p.Parts)-1]
				last.GPUs, last.Devices = last.GPUs+1, append(last.Devices, at[1])
			}
			r.Pieces = append(r.Pieces, p)
		}
		for j := range jobs {
			if open[j] > 0 {
				r.Pieces[open[j]-1].End = now + 1
				left[j]--
			}
		}
	}
	return jobs, r
}

// mutation changes a record, which may stay legal.
type mutation struct {
	name string
	do   func(rng *rand.Rand, jobs []Job, r *Record)
}

func mutations() []mutation {
	pick := func(rng *rand.Rand, r *Record) *Piece { return &r.Pieces[rng.IntN(len(r.Pieces))] }
	return []mutation{
		{"nothing", func(*rand.Rand, []Job, *Record) {}},
		{"other order", func(rng *rand.Rand, _ []Job, r *Record) {
			rng.Shuffle(len(r.Pieces), func(a, b int) { r.Pieces[a], r.Pieces[b] = r.Pieces[b], r.Pieces[a] })
		}},
		{"split", func(rng *rand.Rand, _ []Job, r *Record) {
			p := pick(rng, r)
			if q := *p; p.End-p.Start > 1 {
				p.End--
				q.Start = p.End
				r.Pieces = append(r.Pieces, q)
			}
		}},
		{"moved", func(rng *rand.Rand, _ []Job, r *Record) {
			p := pick(rng, r)
			by := sched.Time(rng.IntN(7) - 3)
			p.Start, p.End = p.Start+by, p.End+by
		}},
		{"all later", func(rng *rand.Rand, _ []Job, r *Record) {
			for i := range r.Pieces {
				r.Pieces[i].Start += 5
				r.Pieces[i].End += 5
			}
		}},
		{"shorter", func(rng *rand.Rand, _ []Job, r *Record) { pick(rng, r).End-- }},
		{"longer", func(rng *rand.Rand, _ []Job, r *Record) { pick(rng, r).End += sched.Time(1 + rng.IntN(3)) }},
		{"earlier", func(rng *rand.Rand, _ []Job, r *Record) { pick(rng, r).Start -= sched.Time(1 + rng.IntN(20)) }},
		{"backwards", func(rng *rand.Rand, _ []Job, r *Record) { p := pick(rng, r); p.Start, p.End = p.End, p.Start }},
		{"resized", func(rng *rand.Rand, _ []Job, r *Record) { pick(rng, r).GPUs += Milli }},
		{"dropped", func(rng *rand.Rand, _ []Job, r *Record) {
			i := rng.IntN(len(r.Pieces))
			r.Pieces = slices.Delete(r.Pieces, i, i+1)
		}},
		{"twice", func(rng *rand.Rand, _ []Job, r *Record) { r.Pieces = append(r.Pieces, *pick(rng, r)) }},
		{"another's", func(rng *rand.Rand, jobs []Job, r *Record) { pick(rng, r).Job = rng.IntN(len(jobs) + 2) }},
		{"elsewhere", func(rng *rand.Rand, _ []Job, r *Record) {
			p := pick(rng, r)
			p.Parts = slices.Clone(p.Parts)
			p.Parts[0].Server = rng.IntN(5) - 1
		}},
		{"another GPU", func(rng *rand.Rand, _ []Job, r *Record) {
			p := pick(rng, r)
			p.Parts = slices.Clone(p.Parts)
			p.Parts[0].Devices = slices.Clone(p.Parts[0].Devices)
			p.Parts[0].Devices[0] = rng.IntN(5) - 1
		}},
		{"one GPU less", func(rng *rand.Rand, _ []Job, r *Record) {
			p := pick(rng, r)
			p.Parts = slices.Clone(p.Parts)
			p.Parts[0].GPUs--
		}},
	}
}

// broken lists the rules that a record breaks, from looking at every unit of time.
func broken(jobs []Job, r Record, places bool) map[string]bool {
	out := map[string]bool{}
	rows := make([][]Piece, len(jobs))
	for _, p := range r.Pieces {
		if p.Job < 0 || p.Job >= len(jobs) {
			out[RuleJob] = true
			continue
		}
		rows[p.Job] = append(rows[p.Job], p)
	}
	const late = 400
	pool := make([]int64, late)
	server := map[[2]int]int{}
	device := map[[3]int]int{}
	for j := range jobs {
		if len(rows[j]) == 0 {
			out[RuleMissing] = true
			continue
		}
		held, mine := sched.Time(0), map[sched.Time]int{}
		for _, p := range rows[j] {
			if p.End <= p.Start {
				out[RuleSegment] = true
			}
			if p.Start < jobs[j].Release {
				out[RuleRelease] = true
			}
			if p.GPUs != jobs[j].GPUs {
				out[RuleGang] = true
			}
			held += p.End - p.Start
			sum := 0
			for _, part := range p.Parts {
				sum += part.GPUs
				switch {
				case part.Server < 0 || part.Server >= len(site.Servers), part.GPUs < 1, part.GPUs != len(part.Devices):
					out[RulePlacement] = out[RulePlacement] || places
				case part.GPUs > site.Servers[part.Server]:
					out[RulePlacement] = out[RulePlacement] || places
				}
				for d, x := range part.Devices {
					if part.Server >= 0 && part.Server < len(site.Servers) && (x < 0 || x >= site.Servers[part.Server]) || d > 0 && x <= part.Devices[d-1] {
						out[RuleDevice] = out[RuleDevice] || places
					}
				}
			}
			for a := range p.Parts {
				for b := range a {
					if p.Parts[a].Server == p.Parts[b].Server {
						out[RulePlacement] = out[RulePlacement] || places
					}
				}
			}
			if int64(sum)*Milli != jobs[j].GPUs {
				out[RuleGang] = out[RuleGang] || places
			}
			for t := max(p.Start, -50); t < p.End; t++ {
				if mine[t]++; mine[t] > 1 {
					out[RuleOverlap] = true
				}
				pool[t+50] += jobs[j].GPUs
				for _, part := range p.Parts {
					server[[2]int{part.Server, int(t)}] += part.GPUs
					for _, x := range part.Devices {
						if device[[3]int{part.Server, x, int(t)}]++; device[[3]int{part.Server, x, int(t)}] > 1 {
							out[RuleDevice] = out[RuleDevice] || places
						}
					}
				}
			}
		}
		if held < jobs[j].Length {
			out[RuleLength] = true
		}
	}
	for _, used := range pool {
		out[RuleCapacity] = out[RuleCapacity] || used > site.GPUs
	}
	for at, used := range server {
		if places && at[0] >= 0 && at[0] < len(site.Servers) && used > site.Servers[at[0]] {
			out[RuleCapacity] = true
		}
	}
	for rule, yes := range out {
		if !yes {
			delete(out, rule)
		}
	}
	return out
}

// Of mutated schedules with intervals and with placements every illegal one is refused, for
// rules that it breaks, and no legal one is; those that pass have no bound above their cost.
func TestMutatedSchedules(t *testing.T) {
	for _, places := range []bool{false, true} {
		caught, legal := map[string]int{}, 0
		for seed := range uint64(tier.Draws(1_000, 5_000)) {
			rng := rand.New(rand.NewPCG(seed, 5))
			jobs, r := drawn(rng)
			all := mutations()
			m := all[int(seed)%len(all)]
			m.do(rng, jobs, &r)
			if !places {
				r.Evidence = Intervals
				for i := range r.Pieces {
					r.Pieces[i].Parts = nil
				}
			}
			c := site
			if !places {
				c.Servers = nil
			}
			k, err := Check(jobs, c, r, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := broken(jobs, r, places)
			if (k.Broken == 0) != (len(want) == 0) {
				t.Fatalf("seed %d, %s: found %v, broken are %v: %+v %+v", seed, m.name, k.Violations, want, jobs, r.Pieces)
			}
			for _, v := range k.Violations {
				if !want[v.Rule] {
					t.Fatalf("seed %d, %s: %v, but broken are %v", seed, m.name, v.String(), want)
				}
				caught[v.Rule]++
			}
			if k.Broken == 0 {
				if legal++; legal%20 == 0 {
					checkDivision(t, k, seed, totals...)
				}
			}
		}
		rules := []string{RuleJob, RuleMissing, RuleSegment, RuleRelease, RuleOverlap, RuleGang, RuleLength, RuleCapacity}
		if places {
			rules = append(rules, RulePlacement, RuleDevice)
		}
		for _, rule := range rules {
			if caught[rule] == 0 {
				t.Errorf("places %t: nothing was caught by the rule %s", places, rule)
			}
		}
		if legal < 300 {
			t.Errorf("only %d of the mutated schedules are legal", legal)
		}
	}
}

// Of mutated ends every vector that no fluid schedule has is refused, and no other.
func TestMutatedEnds(t *testing.T) {
	refused, legal := 0, 0
	for seed := range uint64(tier.Draws(1_000, 5_000)) {
		rng := rand.New(rand.NewPCG(seed, 6))
		jobs, c := tiny(rng)
		ends := make([]sched.Time, len(jobs))
		free := c.GPUs
		for j := range jobs { // one after the other, or at once where all fit
			jobs[j].Length, jobs[j].Release = min(jobs[j].Length, 2), min(jobs[j].Release, 1)
			start := jobs[j].Release
			if free -= jobs[j].GPUs; free < 0 && j > 0 {
				start, free = max(start, slices.Max(ends[:j])), c.GPUs-jobs[j].GPUs
			}
			ends[j] = start + jobs[j].Length
		}
		if slices.Max(ends) > horizon {
			continue
		}
		if rng.IntN(4) > 0 {
			j := rng.IntN(len(ends))
			ends[j] = min(horizon, max(0, ends[j]+sched.Time(rng.IntN(5)-3)))
		}
		r := Record{Evidence: Completions}
		for j := range jobs {
			r.Pieces = append(r.Pieces, Piece{Job: j, End: ends[j]})
		}
		k, err := Check(jobs, c, r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := fluidOracle(jobs, c, ends); (k.Broken == 0) != want {
			t.Fatalf("seed %d: %v, feasible %t", seed, k.Violations, want)
		}
		if k.Broken > 0 {
			refused++
		} else if legal++; legal%20 == 0 {
			checkDivision(t, k, seed, totals...)
		}
	}
	if refused < 300 || legal < 300 {
		t.Errorf("%d refused, %d legal: the test has lost its subject", refused, legal)
	}
}

// With a tolerance, noise below it makes no violation, and the ratio stays at least 1: what
// is forgiven counts in the bound. Noise above it is refused.
func TestTolerance(t *testing.T) {
	const unit, noise = 1000, 40
	shortened, early := 0, 0
	for seed := range uint64(tier.Draws(250, 800)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		jobs, r := drawn(rng)
		for j := range jobs {
			jobs[j].Release, jobs[j].Length = jobs[j].Release*unit, jobs[j].Length*unit
		}
		stops := map[int]int{}
		for i := range r.Pieces {
			p := &r.Pieces[i]
			p.Start, p.End = p.Start*unit+sched.Time(rng.IntN(noise))-noise/2, p.End*unit+sched.Time(rng.IntN(noise))-noise/2
			stops[p.Job]++
		}
		r.Evidence = []Evidence{Intervals, Placements}[seed%2]
		most := 0
		for _, n := range stops {
			most = max(most, n)
		}
		k, err := Check(jobs, site, r, Options{Tolerance: sched.Time(noise * (most + 1))})
		if err != nil || k.Broken > 0 {
			t.Fatalf("seed %d: %v %v", seed, k.Violations, err)
		}
		shortened, early = shortened+k.Shortened, early+k.Early
		if seed%10 == 0 {
			checkDivision(t, k, seed, totals...)
		}
		ends := Record{Evidence: Completions}
		for j := range jobs {
			ends.Pieces = append(ends.Pieces, Piece{Job: j, End: k.Ends[j]})
		}
		if f, err := Check(jobs, site, ends, Options{Tolerance: sched.Time(noise * (most + 1))}); err != nil || f.Broken > 0 {
			t.Fatalf("seed %d: ends: %v %v", seed, f.Violations, err)
		} else if seed%10 == 0 {
			checkDivision(t, f, seed, totals...)
		}
		j := rng.IntN(len(jobs))
		jobs[j].Length += unit * 30
		if k, err := Check(jobs, site, r, Options{Tolerance: noise}); err != nil || k.Broken == 0 {
			t.Fatalf("seed %d: a job that is too short by 30 units passes: %v", seed, err)
		}
	}
	if shortened < 100 || early < 100 {
		t.Errorf("%d jobs shortened, %d early: the test has lost its subject", shortened, early)
	}
}

// Legal schedules whose times were rounded to microseconds pass as rounded, however many
// intervals a job has, and would not all without.
func TestRounded(t *testing.T) {
	without := 0
	for seed := range uint64(tier.Draws(150, 1_000)) {
		rng := rand.New(rand.NewPCG(seed, 10))
		jobs, r := drawn(rng)
		scale := func(v sched.Time) sched.Time { return (2*v*1e6 + 7) / 14 } // v·10⁶/7, to the nearest
		for j := range jobs {
			jobs[j].Release, jobs[j].Length = scale(jobs[j].Release), scale(jobs[j].Length)
		}
		for i := range r.Pieces {
			r.Pieces[i].Start, r.Pieces[i].End = scale(r.Pieces[i].Start), scale(r.Pieces[i].End)
		}
		k, err := Check(jobs, site, r, Options{Rounded: true})
		if err != nil || k.Broken > 0 {
			t.Fatalf("seed %d: %v %v", seed, k.Violations, err)
		}
		if k, err := Check(jobs, site, r, Options{}); err != nil || k.Broken > 0 {
			without++
		}
		if seed%10 == 0 {
			checkDivision(t, k, seed, totals...)
		}
	}
	if without < 20 {
		t.Errorf("only %d are refused without: the test has lost its subject", without)
	}
}
