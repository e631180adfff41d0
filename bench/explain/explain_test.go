package explain

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"yardstick/internal/tier"
	"yardstick/sched"
)

// randomSchedule gives every job a run of its length on its GPUs, in a random order, when
// there is room, and stops some in between.
func randomSchedule(r *rand.Rand, jobs []Job, lengths []int64, gpus int64, stop bool) Schedule {
	s := Schedule{Ends: make([]int64, len(jobs)), Pieces: []Piece{}}
	room := func(from, to, need int64) bool {
		for t := from; t < to; t++ {
			used := int64(0)
			for _, p := range s.Pieces {
				if p.Start <= t && t < p.End {
					used += p.GPUs
				}
			}
			if used+need > gpus {
				return false
			}
		}
		return true
	}
	for _, j := range r.Perm(len(jobs)) {
		at, left := jobs[j].Release, lengths[j]
		for left > 0 {
			n := left
			if stop {
				n = 1 + r.Int64N(left)
			}
			at += r.Int64N(3)
			for !room(at, at+n, jobs[j].GPUs) {
				at++
			}
			s.Pieces = append(s.Pieces, Piece{j, at, at + n, jobs[j].GPUs})
			at, left = at+n, left-n
		}
		s.Ends[j] = at
	}
	return s
}

func randomInput(r *rand.Rand) Input {
	in := Input{GPUs: (1 + r.Int64N(4)) * Milli, Objective: sched.Objectives()[r.IntN(len(sched.Objectives()))].String(), Deadline: r.Int64N(30)}
	var lengths []int64
	for j := range 1 + r.IntN(7) {
		in.Jobs = append(in.Jobs, Job{Name: fmt.Sprintf("j%d", j), User: []string{"", "ann", "bob"}[r.IntN(3)], Release: r.Int64N(8), GPUs: 1 + r.Int64N(in.GPUs), Weight: []float64{1, 2, 0.1, 2.5}[r.IntN(4)]})
		lengths = append(lengths, 1+r.Int64N(6))
	}
	in.This = randomSchedule(r, in.Jobs, lengths, in.GPUs, r.IntN(3) == 0)
	in.Reference = randomSchedule(r, in.Jobs, lengths, in.GPUs, r.IntN(3) == 0)
	if in.Objective == sched.ScheduledWeight.String() {
		in.This.Ends[0] = -1 // left out
		in.This.Pieces = slices.DeleteFunc(in.This.Pieces, func(p Piece) bool { return p.Job == 0 })
	}
	return in
}

// What jobs add, adds up to the difference, by job and by any group; integers where the
// objective has no others.
func TestSums(t *testing.T) {
	for seed := range uint64(tier.Draws(2000, 10_000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		in := randomInput(r)
		e, err := New(in)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if want := bruteDifference(in); e.Difference.Cmp(want) != 0 {
			t.Fatalf("seed %d: %s: the difference is %v, want %v", seed, in.Objective, e.Difference, want)
		}
		sum := new(big.Rat)
		for _, s := range e.Shares {
			sum.Add(sum, s.Adds)
			var o sched.Objective
			_ = o.UnmarshalText([]byte(in.Objective))
			if o.IsTotal() && !o.Weighted() && o.Sum() == o && !s.Adds.IsInt() {
				t.Fatalf("seed %d: %s: job %d adds %v", seed, in.Objective, s.Job, s.Adds)
			}
			if e.Started() && in.This.Ends[s.Job] >= 0 && s.Later+s.Longer != in.This.Ends[s.Job]-in.Reference.Ends[s.Job] {
				t.Fatalf("seed %d: job %d starts %d later and takes %d longer", seed, s.Job, s.Later, s.Longer)
			}
		}
		if sum.Cmp(e.Difference) != 0 {
			t.Fatalf("seed %d: %s: the jobs add %v to a difference of %v", seed, in.Objective, sum, e.Difference)
		}
		for name, key := range map[string]Key{"gang": GangSize, "user": User, "hour": Hour} {
			sum, jobs := new(big.Rat), 0
			for _, g := range e.Groups(key) {
				sum.Add(sum, g.Adds)
				jobs += g.Jobs
				if new(big.Rat).Sub(g.Worse, g.Better).Cmp(g.Adds) != 0 || g.Worse.Sign() < 0 || g.Better.Sign() < 0 {
					t.Fatalf("seed %d: by %s: %+v", seed, name, g)
				}
			}
			if sum.Cmp(e.Difference) != 0 || jobs != len(in.Jobs) {
				t.Fatalf("seed %d: by %s: %d jobs add %v to a difference of %v", seed, name, jobs, sum, e.Difference)
			}
		}
		swapped := in
		swapped.This, swapped.Reference = in.Reference, in.This
		back, err := New(swapped)
		if err != nil {
			t.Fatal(err)
		}
		for j := range back.Shares {
			if new(big.Rat).Neg(back.Shares[j].Adds).Cmp(e.Shares[j].Adds) != 0 {
				t.Fatalf("seed %d: %s: job %d adds %v, and %v the other way round", seed, in.Objective, j, e.Shares[j].Adds, back.Shares[j].Adds)
			}
		}
	}
}

// bruteDifference evaluates both costs from their definitions.
func bruteDifference(in Input) *big.Rat {
	cost := func(ends []int64) *big.Rat {
		sum, last := new(big.Rat), int64(0)
		for j, end := range ends {
			term := big.NewRat(end, 1)
			weight := new(big.Rat).SetFloat64(in.Jobs[j].Weight)
			last = max(last, end)
			switch in.Objective {
			case "total-jct", "mean-jct":
				term.Sub(term, big.NewRat(in.Jobs[j].Release, 1))
			case "weighted-completion":
				term.Mul(term, weight)
			case "scheduled-weight":
				if term.SetInt64(0); end >= 0 && end <= in.Deadline {
					term.Neg(weight)
				}
			}
			sum.Add(sum, term)
		}
		switch in.Objective {
		case "mean-jct":
			sum.Quo(sum, big.NewRat(int64(len(ends)), 1))
		case "makespan":
			sum.SetInt64(last)
		}
		return sum
	}
	return new(big.Rat).Sub(cost(in.This.Ends), cost(in.Reference.Ends))
}

// The share of a makespan is the Shapley value: the mean, over all orders of the jobs, of
// what each raises the latest end by that is beyond the reference's.
func TestMakespanIsShapley(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		in := Input{Objective: "makespan", GPUs: Milli, Jobs: make([]Job, 1+r.IntN(5))}
		for range in.Jobs {
			in.This.Ends = append(in.This.Ends, 1+r.Int64N(20))
			in.Reference.Ends = append(in.Reference.Ends, 1+r.Int64N(20))
		}
		e, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		ends, from, sign := in.This.Ends, slices.Max(in.Reference.Ends), int64(1)
		if slices.Max(ends) < from {
			ends, from, sign = in.Reference.Ends, slices.Max(ends), -1
		}
		sums, orders := make([]int64, len(ends)), int64(0)
		var walk func(left []int, late int64)
		walk = func(left []int, late int64) {
			if len(left) == 0 {
				orders++
			}
			for i, j := range left {
				rest := slices.Delete(slices.Clone(left), i, i+1)
				next := max(late, ends[j])
				before := orders
				walk(rest, next)
				sums[j] += (orders - before) * (next - late)
			}
		}
		all := make([]int, len(ends))
		for j := range all {
			all[j] = j
		}
		walk(all, from)
		for j := range ends {
			if want := big.NewRat(sign*sums[j], orders); e.Shares[j].Adds.Cmp(want) != 0 {
				t.Fatalf("seed %d: %v beside %v: job %d adds %v, want %v", seed, in.This.Ends, in.Reference.Ends, j, e.Shares[j].Adds, want)
			}
		}
	}
}

// Who held what a job lacked, instant by instant.
func TestDelaysByBruteForce(t *testing.T) {
	delayed, blamed := 0, 0
	for seed := range uint64(tier.Draws(2000, 10_000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		in := randomInput(r)
		e, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		most := int64(1) << 40
		for _, d := range e.Delays(len(in.Jobs)) {
			delayed++
			start := func(s *Schedule) (at, need int64) {
				at = 1 << 40
				for _, p := range s.Pieces {
					if p.Job == d.Job && p.Start < at {
						at, need = p.Start, p.GPUs
					}
				}
				return at, need
			}
			from, need := start(&in.Reference)
			to, _ := start(&in.This)
			if d.From != from || d.To != to || from >= to || to-from > most {
				t.Fatalf("seed %d: job %d: from %d to %d, want %d to %d, at most %d", seed, d.Job, d.From, d.To, from, to, most)
			}
			most = to - from
			lacked, free, held := int64(0), int64(0), map[int]int64{}
			for at := from; at < to; at++ {
				used := int64(0)
				since := map[int]int64{} // when who runs at the instant began to run
				for _, p := range in.This.Pieces {
					if p.Start <= at && at < p.End {
						used += p.GPUs
						since[p.Job] = p.Start
						for slices.ContainsFunc(in.This.Pieces, func(q Piece) bool { return q.Job == p.Job && q.End == since[p.Job] }) {
							i := slices.IndexFunc(in.This.Pieces, func(q Piece) bool { return q.Job == p.Job && q.End == since[p.Job] })
							since[p.Job] = in.This.Pieces[i].Start
						}
					}
				}
				l := max(0, need-(in.GPUs-used))
				lacked += l
				if l == 0 {
					free++
				}
				for l > 0 { // the latest of those that are left
					last := -1
					for k := range in.Jobs {
						if s, ok := since[k]; ok && (last < 0 || s >= since[last]) {
							last = k
						}
					}
					part := min(l, in.Jobs[last].GPUs)
					held[last] += part
					l -= part
					delete(since, last)
				}
			}
			if d.Lacked.Cmp(big.NewInt(lacked)) != 0 || d.Free != free || len(d.By) != len(held) {
				t.Fatalf("seed %d: job %d lacked %v, free for %d, by %v; want %d, %d, %v", seed, d.Job, d.Lacked, d.Free, d.By, lacked, free, held)
			}
			for _, b := range d.By {
				blamed++
				if b.Held.Cmp(big.NewInt(held[b.Job])) != 0 || b.Job == d.Job {
					t.Fatalf("seed %d: job %d lacked what %d held: %v, want %d", seed, d.Job, b.Job, b.Held, held[b.Job])
				}
			}
		}
	}
	if delayed < 100 || blamed < 100 {
		t.Errorf("%d delays by %d jobs: the test has lost its subject", delayed, blamed)
	}
}

// Ends alone say what jobs add, and not who waited for whom.
func TestEndsAlone(t *testing.T) {
	in := Input{Objective: "total-jct", GPUs: Milli, Jobs: make([]Job, 2), This: Schedule{Ends: []int64{5, 9}}, Reference: Schedule{Ends: []int64{4, 9}, Pieces: []Piece{{0, 0, 4, Milli}, {1, 4, 9, Milli}}}}
	e, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	if e.Started() || e.Delays(3) != nil || e.Text(e.Window(5), "a", "b", 80) != "" || e.Shares[0].Adds.RatString() != "1" || len(e.Most(5)) != 1 {
		t.Errorf("got %+v", e)
	}
}

func TestRefused(t *testing.T) {
	good := func() Input {
		return Input{Objective: "makespan", GPUs: Milli, Jobs: make([]Job, 1), This: Schedule{Ends: []int64{5}}, Reference: Schedule{Ends: []int64{4}}}
	}
	if _, err := New(good()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Input){
		"objective": func(in *Input) { in.Objective = "speed" },
		"no jobs":   func(in *Input) { in.Jobs = nil },
		"too few":   func(in *Input) { in.This.Ends = nil },
		"late":      func(in *Input) { in.This.Ends[0] = 1 << 62 },
		"release":   func(in *Input) { in.Jobs[0].Release = -1 << 62 },
		"left out":  func(in *Input) { in.This.Ends[0] = -1 },
		"piece":     func(in *Input) { in.This.Pieces = []Piece{{1, 0, 1, 1}} },
		"backwards": func(in *Input) { in.This.Pieces = []Piece{{0, 2, 1, 1}} },
	} {
		in := good()
		change(&in)
		if _, err := New(in); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A reference is the best of what the class could have done too.
func TestChoose(t *testing.T) {
	list := []Candidate{{"a", "P", big.NewRat(1, 1)}, {"b", "N", big.NewRat(5, 1)}, {"c", "N", nil}, {"d", "N", big.NewRat(4, 1)}, {"e", "N", big.NewRat(4, 1)}}
	for _, c := range []struct {
		class, objective string
		want             int
	}{{"N", "total-jct", 3}, {"P", "total-jct", 0}, {"F(1)", "makespan", 0}, {"E", "total-jct", -1}, {"N", "scheduled-weight", 1}} {
		if got, err := Choose(c.class, c.objective, list); got != c.want || err != nil {
			t.Errorf("%s, %s: %d, %v, want %d", c.class, c.objective, got, err, c.want)
		}
	}
	if Comparable("N", "P") == nil || Comparable("P", "N") != nil || Comparable("X", "N") == nil {
		t.Error("classes")
	}
}

// The terminal's chart of a delay, as it stands.
func TestText(t *testing.T) {
	in := Input{Objective: "total-jct", GPUs: 2 * Milli, Jobs: []Job{{Name: "long", GPUs: 2 * Milli, Weight: 1}, {Name: "short", GPUs: Milli, Weight: 1, Release: 1}},
		This:      Schedule{Ends: []int64{8, 10}, Pieces: []Piece{{0, 0, 8, 2 * Milli}, {1, 8, 10, Milli}}},
		Reference: Schedule{Ends: []int64{11, 3}, Pieces: []Piece{{1, 1, 3, Milli}, {0, 3, 11, 2 * Milli}}}}
	e, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	const want = `job    GPUs   fifo                     best
long      2  |################      | |......################|
short     1  |  ..............####  | |  ####                |
`
	if got := e.Text(e.Window(5), "fifo", "best", 61); got != want {
		t.Errorf("got\n%s", got)
	}
	// Of many jobs, those are shown that were delayed, with those that they waited for.
	for n := range 50 {
		in.Jobs = append(in.Jobs, Job{Name: fmt.Sprint(n), GPUs: Milli, Release: 100, Weight: 1})
		in.This.Ends, in.Reference.Ends = append(in.This.Ends, 101), append(in.Reference.Ends, 101)
		in.This.Pieces = append(in.This.Pieces, Piece{n + 2, 100, 101, Milli})
		in.Reference.Pieces = append(in.Reference.Pieces, Piece{n + 2, 100, 101, Milli})
	}
	if e, err = New(in); err != nil {
		t.Fatal(err)
	}
	if w := e.Window(20); w.All || !slices.Equal(w.Jobs, []int{0, 1}) || w.From != 1 || w.To != 10 {
		t.Errorf("window %+v", w)
	}
}
