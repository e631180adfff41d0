package theorems_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/bounds/theorems"
)

// randomPair draws times up to 1000, evenly or evenly in their logarithms, and
// factors from 1 to most, all on a coarse grid so that equality happens.
func randomPair(rng *rand.Rand, most float64, even bool) theorems.Pair {
	length := func() *big.Rat {
		if even {
			return big.NewRat(1+rng.Int64N(4000), 4)
		}
		return big.NewRat(int64(4*math.Pow(1000, rng.Float64())), 4)
	}
	factor := func() *big.Rat { return big.NewRat(64+int64(rng.Float64()*64*(most-1)+0.5), 64) }
	return theorems.Pair{New: length(), Running: length(), XiNew: factor(), XiRunning: factor()}
}

// replayPair returns the completions of a pair by going from event to event:
// it knows rates, and no formula.
func replayPair(p theorems.Pair, k *big.Rat) (a, b *big.Rat) {
	left := [2]*big.Rat{new(big.Rat).Set(p.New), new(big.Rat).Set(p.Running)}
	xi := [2]*big.Rat{p.XiNew, p.XiRunning}
	done := [2]*big.Rat{}
	now := new(big.Rat)
	for done[0] == nil || done[1] == nil {
		running := [2]bool{done[0] == nil && now.Cmp(k) >= 0, done[1] == nil}
		var next *big.Rat
		consider := func(t *big.Rat) {
			if next == nil || t.Cmp(next) < 0 {
				next = t
			}
		}
		if done[0] == nil && !running[0] {
			consider(k)
		}
		pace := func(i int) *big.Rat { // time per unit of work
			if running[1-i] {
				return xi[i]
			}
			return big.NewRat(1, 1)
		}
		for i := range left {
			if running[i] {
				t := new(big.Rat).Mul(left[i], pace(i))
				consider(t.Add(t, now))
			}
		}
		for i := range left {
			if running[i] {
				spent := new(big.Rat).Sub(next, now)
				left[i].Sub(left[i], spent.Quo(spent, pace(i)))
			}
		}
		now = next
		for i := range left {
			if running[i] && left[i].Sign() == 0 {
				done[i] = now
			}
		}
	}
	return done[0], done[1]
}

// TestPairCompletions compares the closed forms with a replay, and the least sum
// with the sums on a grid of starts.
func TestPairCompletions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		p := randomPair(rng, 4, n%2 == 0)
		_, least := p.Least()
		for i := range int64(13) {
			k := new(big.Rat).Mul(p.Running, big.NewRat(i, 12))
			a, b := p.Completions(k)
			wantA, wantB := replayPair(p, k)
			if a.Cmp(wantA) != 0 || b.Cmp(wantB) != 0 {
				t.Fatalf("pair %d %+v at %v: completions %v and %v, want %v and %v", n, p, k, a, b, wantA, wantB)
			}
			if p.Sum(k).Cmp(least) < 0 {
				t.Fatalf("pair %d %+v: %v at %v is less than the least sum %v", n, p, p.Sum(k), k, least)
			}
		}
	}
}

// TestPairTheorem1: the corrected condition is never wrong, the best start is
// always an end of the interval, and the printed conditions are often wrong.
func TestPairTheorem1(t *testing.T) {
	for _, even := range []bool{true, false} {
		const draws = 4000
		rng := rand.New(rand.NewPCG(3, 4))
		wrong, loss, most := map[string]int{}, map[string]float64{}, map[string]float64{}
		for n := range draws {
			p := randomPair(rng, 3, even)
			_, least := p.Least()
			if p.Sum(new(big.Rat)).Cmp(least) != 0 && p.Sum(p.Running).Cmp(least) != 0 {
				t.Fatalf("pair %d %+v: neither end has the least sum %v", n, p, least)
			}
			for _, form := range []string{theorems.Sharp, theorems.Printed, theorems.Swapped} {
				if r := p.Theorem1(form); r.Verdict == theorems.Violated {
					wrong[form]++
					ratio, _ := new(big.Rat).Quo(r.Left, r.Right).Float64()
					loss[form] += ratio - 1
					most[form] = max(most[form], ratio-1)
					if r.Contradiction() {
						t.Fatalf("pair %d %+v: %s is wrong where its assumptions are met", n, p, form)
					}
				} else if r.Verdict != theorems.Holds {
					t.Fatalf("pair %d: %+v", n, r)
				}
			}
		}
		for form, n := range wrong {
			t.Logf("times even %t, %s: wrong for %.1f %% of pairs, where it loses %.0f %% on average and %.0f %% at most",
				even, form, 100*float64(n)/draws, 100*loss[form]/float64(n), 100*most[form])
		}
		if wrong[theorems.Sharp] > 0 || wrong[theorems.Printed] < draws/5 || wrong[theorems.Swapped] < draws/10 {
			t.Errorf("wrong decisions: %v", wrong)
		}
	}
}

// TestPairPrintedAssumptions: where the printed conditions' unstated assumptions are
// met, they are never wrong.
func TestPairPrintedAssumptions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	met := 0
	for n := range 4000 {
		p := randomPair(rng, 3, n%2 == 0)
		if n%3 == 0 {
			p.XiRunning = p.XiNew
		}
		for _, form := range []string{theorems.Printed, theorems.Swapped} {
			r := p.Theorem1(form)
			if r.Contradiction() {
				t.Fatalf("pair %d %+v: %s", n, p, form)
			}
			if r.Met() {
				met++
			}
		}
	}
	if met < 1000 {
		t.Errorf("met only %d times", met)
	}
}

// TestPairMonotone: with given factors and b, a new job joins iff it is short
// enough; a policy may stop looking at the first that does not.
func TestPairMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 5000 {
		p := randomPair(rng, 3, n%2 == 0)
		q := p
		q.New = new(big.Rat).Mul(p.New, big.NewRat(1+rng.Int64N(8), 8))
		if p.Share() && !q.Share() {
			t.Fatalf("pair %d %+v joins, but not if its new job takes %v", n, p, q.New)
		}
		q = p
		q.Running = new(big.Rat).Mul(p.Running, big.NewRat(8+rng.Int64N(8), 8))
		if p.Share() && !q.Share() {
			t.Fatalf("pair %d %+v joins, but not beside a job that has %v to go", n, p, q.Running)
		}
	}
}

// TestPairExample: a short job joins a long one at once, whatever the printed
// condition says.
func TestPairExample(t *testing.T) {
	p := theorems.Pair{New: big.NewRat(1, 1), Running: big.NewRat(10, 1), XiNew: big.NewRat(5, 2), XiRunning: big.NewRat(5, 2)}
	r := p.Theorem1(theorems.Printed)
	if p.SharePrinted() || !p.Share() || r.Left.Cmp(big.NewRat(21, 1)) != 0 || r.Right.Cmp(big.NewRat(14, 1)) != 0 || r.Verdict != theorems.Violated || r.Contradiction() {
		t.Errorf("the pair costs %v by the printed condition and %v at best: want 21 and 14", r.Left, r.Right)
	}
	p.XiNew = big.NewRat(1, 2)
	if r := p.Theorem1(theorems.Sharp); r.Verdict != theorems.NotApplicable || r.Met() {
		t.Errorf("a factor of 1/2 gives %+v", r)
	}
}

// TestPairEdges: jobs with nothing left, and factors of 1, at which sharing is free.
func TestPairEdges(t *testing.T) {
	zero, one, two := new(big.Rat), big.NewRat(1, 1), big.NewRat(2, 1)
	for _, a := range []*big.Rat{zero, one, two} {
		for _, b := range []*big.Rat{zero, one, two} {
			for _, xa := range []*big.Rat{one, two} {
				for _, xb := range []*big.Rat{one, two} {
					p := theorems.Pair{New: a, Running: b, XiNew: xa, XiRunning: xb}
					if r := p.Theorem1(theorems.Sharp); r.Verdict != theorems.Holds {
						t.Errorf("%v: %+v", p, r)
					}
					if xa == one && xb == one && !p.Share() {
						t.Errorf("%v and %v do not share although it is free", a, b)
					}
				}
			}
		}
	}
}
