package certify

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// outcome runs f and says whether it ended in beyond.
func outcome(f func() int64) (v int64, ended bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ended = r.(beyond); !ended {
				panic(r)
			}
		}
	}()
	return f(), false
}

// TestChecked: operations give what integers of any size give, or end.
func TestChecked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() int64 {
		v := int64(r.Uint64()) >> r.IntN(64)
		switch r.IntN(4) {
		case 0:
			edges := []int64{0, 1, -1, 2, 1 << 31, 1<<31 - 1, 1 << 32, 3037000499, 3037000500, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1}
			v = edges[r.IntN(len(edges))]
		}
		return v
	}
	for range 50_000 {
		a, b := some(), some()
		x, y := big.NewInt(a), big.NewInt(b)
		for _, o := range []struct {
			name string
			got  func() int64
			want *big.Int
		}{
			{"+", func() int64 { return add(a, b) }, new(big.Int).Add(x, y)},
			{"-", func() int64 { return sub(a, b) }, new(big.Int).Sub(x, y)},
			{"*", func() int64 { return mul(a, b) }, new(big.Int).Mul(x, y)},
			{"small", func() int64 { return small(new(big.Int).Mul(x, y)) }, new(big.Int).Mul(x, y)},
		} {
			v, ended := outcome(o.got)
			if fits := o.want.IsInt64() && !(o.want.Int64() == math.MinInt64 && o.name == "*"); ended == fits || fits && v != o.want.Int64() {
				t.Fatalf("%d %s %d is %d, ended %v; want %v", a, o.name, b, v, ended, o.want)
			}
		}
		if a >= 0 && b > 0 {
			want := new(big.Int).Add(x, y)
			if want.Div(want.Sub(want, big.NewInt(1)), y); up(a, b) != want.Int64() {
				t.Fatalf("⌈%d/%d⌉ is %d, want %v", a, b, up(a, b), want)
			}
			c := some()
			if z := new(big.Int).Mul(big.NewInt(c), y); c >= 0 && a >= b && fraction(c, b, a) != z.Div(z, x).Int64() {
				t.Fatalf("%d·%d/%d is %d, want %v", c, b, a, fraction(c, b, a), z)
			}
		}
	}
}

// TestBoutMemo: a situation of the search over slots is not mistaken for another.
func TestBoutMemo(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	type situation struct {
		now, free int64
		jobs      [3]boutState
	}
	few := func() int64 { return int64(r.IntN(5)) }
	s := &boutSearch{known: memo{}}
	told := map[string]situation{}
	for range 20_000 {
		v := situation{now: few(), free: few()}
		for i := range v.jobs {
			b := boutState{phase: phase(r.IntN(5))}
			switch b.phase { // what the others hold is given
			case runsNow:
				b.load, b.train, b.fresh = few(), few(), r.IntN(2) == 0
			case pauses:
				b.train, b.until = few(), few()
			case waits, resumes:
				b.train = few()
			}
			v.jobs[i] = b
		}
		s.seen(v.now, v.free, v.jobs[:], 0)
		if before, ok := told[string(s.key)]; ok && before != v {
			t.Fatalf("%+v and %+v have one key", before, v)
		}
		told[string(s.key)] = v
	}
}
