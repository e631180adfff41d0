package theorems_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"yardstick/bounds/theorems"
	"yardstick/internal/tier"
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

// pairLaw is a law that pairs are drawn from: times up to 1000 evenly or evenly in
// their logarithms, and factors from 1 to most.
type pairLaw struct {
	even bool
	most float64
}

// TestPairTheorem1 draws pairs from six laws with five seeds each. Theorem 1 and the
// rule of comparing the two sums are right for every pair; the condition of Case 2
// is right for every pair in its case; applied to every pair, it is wrong for a
// share of them, but for none where both factors are below 3/2, as it then holds, and sharing
// at once is always best. With YARDSTICK_TESTS=long it draws twenty times as many pairs.
func TestPairTheorem1(t *testing.T) {
	draws := tier.Draws(200, 700)
	if tier.Long() {
		draws *= 20
	}
	inCase := 0
	for _, law := range []pairLaw{{true, 1.45}, {true, 3}, {true, 6}, {false, 1.45}, {false, 3}, {false, 6}} {
		least, most := 1.0, 0.0 // share of wrong choices of a seed
		loss, largest, wrong, outside := 0.0, 0.0, 0, 0
		for seed := range uint64(5) {
			rng := rand.New(rand.NewPCG(3, seed))
			wrongHere := 0
			for n := range draws {
				p := randomPair(rng, law.most, law.even)
				for _, r := range []theorems.Result{p.Theorem1(), p.Condition(theorems.CompareSums)} {
					if r.Verdict != theorems.Holds || !r.Met() {
						t.Fatalf("%+v, seed %d, pair %d %+v: %+v", law, seed, n, p, r)
					}
				}
				switch r := p.Condition(theorems.Printed); {
				case p.InCase2() && (r.Verdict != theorems.Holds || !r.Met()), !p.InCase2() && r.Verdict != theorems.NotApplicable:
					t.Fatalf("%+v, seed %d, pair %d %+v in its case %t: %+v", law, seed, n, p, p.InCase2(), r)
				}
				if p.InCase2() {
					inCase++
				} else {
					outside++
				}
				if r := p.Condition(theorems.Case2Everywhere); r.Verdict == theorems.Violated {
					if r.Met() {
						t.Fatalf("%+v, seed %d, pair %d %+v: wrong in its case", law, seed, n, p)
					}
					ratio, _ := new(big.Rat).Quo(r.Left, r.Right).Float64()
					wrongHere++
					loss += ratio - 1
					largest = max(largest, ratio-1)
				}
			}
			wrong += wrongHere
			share := float64(wrongHere) / float64(draws)
			least, most = min(least, share), max(most, share)
		}
		t.Logf("times even %t, factors to %g: applied to every pair, the condition of Case 2 is wrong for %.1f to %.1f %% by seed (%d draws each), %.1f %% of those outside the case; it loses %.0f %% there on average and %.0f %% at most",
			law.even, law.most, 100*least, 100*most, draws, 100*float64(wrong)/float64(outside), 100*loss/float64(max(wrong, 1)), 100*largest)
		if mild := law.most < 1.5; mild && wrong > 0 || !mild && least < 0.1 {
			t.Errorf("%+v: applied to every pair, the condition is wrong for %.1f to %.1f %%", law, 100*least, 100*most)
		}
	}
	t.Logf("%d pairs in Case 2, where the condition is never wrong", inCase)
	if 21*inCase < 10*30*draws { // of 30 draws, 10 in 21
		t.Errorf("only %d pairs are in Case 2", inCase)
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

// TestPairExample: a short job that would be done first is outside Case 2. The rule
// of comparing the sums lets it join; the condition of Case 2, out of its case, does not.
func TestPairExample(t *testing.T) {
	p := theorems.Pair{New: big.NewRat(1, 1), Running: big.NewRat(10, 1), XiNew: big.NewRat(5, 2), XiRunning: big.NewRat(5, 2)}
	if r := p.Condition(theorems.Printed); p.InCase2() || r.Verdict != theorems.NotApplicable || r.Met() {
		t.Errorf("the condition of Case 2 is applied outside its case: %+v", r)
	}
	r := p.Condition(theorems.Case2Everywhere)
	if p.ShareInCase2() || !p.Share() || r.Left.Cmp(big.NewRat(21, 1)) != 0 || r.Right.Cmp(big.NewRat(14, 1)) != 0 || r.Verdict != theorems.Violated || r.Contradiction() {
		t.Errorf("the pair costs %v by the condition of Case 2 and %v at best: want 21 and 14", r.Left, r.Right)
	}
	p.XiNew = big.NewRat(1, 2)
	for _, r := range []theorems.Result{p.Theorem1(), p.Condition(theorems.Printed), p.Condition(theorems.CompareSums), p.Condition(theorems.Case2Everywhere)} {
		if r.Verdict != theorems.NotApplicable || r.Met() {
			t.Errorf("a factor of 1/2 gives %+v", r)
		}
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
					if r := p.Condition(theorems.CompareSums); r.Verdict != theorems.Holds {
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
