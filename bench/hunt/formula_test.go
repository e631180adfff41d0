package hunt

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
)

// drawn is a random formula with its value by int64, or false where that has none.
func drawn(r *rand.Rand, depth int) (text string, value *big.Rat, ok bool) {
	if depth == 0 || r.IntN(4) == 0 {
		if r.IntN(2) == 0 {
			return "n", big.NewRat(12, 1), true
		}
		v := r.Int64N(20)
		return fmt.Sprint(v), big.NewRat(v, 1), true
	}
	l, x, okL := drawn(r, depth-1)
	s, y, okR := drawn(r, depth-1)
	if !okL || !okR {
		return "", nil, false
	}
	v := new(big.Rat)
	switch op := "+-*/m"[r.IntN(5)]; op {
	case '+':
		v.Add(x, y)
		return "(" + l + " + " + s + ")", v, true
	case '-':
		v.Sub(x, y)
		return "(" + l + ") - (" + s + ")", v, true
	case '*':
		v.Mul(x, y)
		return "(" + l + ")*(" + s + ")", v, true
	case '/':
		if y.Sign() == 0 {
			return "", nil, false
		}
		v.Quo(x, y)
		return "((" + l + "))/(" + s + ")", v, true
	}
	if x.Cmp(y) > 0 {
		x = y
	}
	return "min(" + l + ", " + s + ")", x, true
}

// TestFormula: a formula has the value that its parts have, also once it is written, with
// the fewest parentheses, and read again.
func TestFormula(t *testing.T) {
	values := map[string]*big.Rat{"n": big.NewRat(12, 1)}
	schedtest.EachSeed(t, 2000, func(t *testing.T, r *rand.Rand) {
		text, want, ok := drawn(r, 4)
		if !ok || len(text) > maxFormula {
			return
		}
		f, err := ParseFormula(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Eval(values)
		if err != nil || got.Cmp(want) != 0 {
			t.Fatalf("%s: %v, %v, not %v", text, got, err, want)
		}
		again, err := ParseFormula(f.String())
		if err != nil || again.String() != f.String() {
			t.Fatalf("%s: %s: %v", text, f, err)
		}
		if got, err = again.Eval(values); err != nil || got.Cmp(want) != 0 {
			t.Fatalf("%s, written %s: %v, %v, not %v", text, f, got, err, want)
		}
	})
}

// TestFormulaByHand has precedences and functions, and what is refused.
func TestFormulaByHand(t *testing.T) {
	values := map[string]*big.Rat{"n": big.NewRat(1000, 1), "G": big.NewRat(8, 1)}
	for text, want := range map[string]string{
		"1 + 2*3": "7", "10 - 3 - 2": "5", "10 - (3 - 2)": "9", "2^3^2": "512", "(2^3)^2": "64", "n/G/5": "25", "7/2": "7/2", "lg(n)": "9", "2^lg(n) + 1": "513",
		"max(n, G)": "1000", "min(n,G) ": "8", "2*n^2": "2000000", "lg(8)": "3", "lg(7/2)": "1",
	} {
		f, err := ParseFormula(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v, err := f.Eval(values); err != nil || v.RatString() != want {
			t.Errorf("%s is %v, %v, not %s", text, v, err, want)
		}
	}
	for _, text := range []string{"", "1 +", "(1", "1)", "1 2", "lg(1, 2)", "max(1)", "sin(1)", "99999999999999999999", "n n", "*", "1 ** 2", "-1", strings.Repeat("(", 500)} {
		if f, err := ParseFormula(text); err == nil {
			t.Errorf("%q is read as %s", text, f)
		}
	}
	for _, text := range []string{"1/0", "lg(0)", "lg(1/2)", "2^(1/2)", "2^65", "n^64^2", "x", "((n^64)^64)", "2^(0 - 1)"} {
		f, err := ParseFormula(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if v, err := f.Eval(values); err == nil {
			t.Errorf("%s is %v", text, v)
		}
	}
}

// TestFormulaSmaller: what shrinking tries is shorter, or as long with smaller numbers, so
// that shrinking ends.
func TestFormulaSmaller(t *testing.T) {
	f, err := ParseFormula("2*n^2 + max(G - 3, 10)")
	if err != nil {
		t.Fatal(err)
	}
	var sum func(*Formula) int64
	sum = func(f *Formula) int64 {
		if f == nil {
			return 0
		}
		return f.number + sum(f.left) + sum(f.right)
	}
	list := f.smaller()
	for _, g := range list {
		if g.size() > f.size() || g.size() == f.size() && sum(g) >= sum(f) {
			t.Errorf("%s is not smaller than %s", g, f)
		}
	}
	if len(list) < 20 {
		t.Errorf("only %d", len(list))
	}
}
