package joblist

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestWholeMicroseconds: a number that is taken is the rational one.
func TestWholeMicroseconds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	texts := []string{"", ".", "0", "0.", ".5", "5.", "1.2.3", "007.100", "9007199254.740992", "9007199254.740993", "99999999999", "1.0000001", "1.0000000", "-1", "1e3", "x"}
	for range 2000 {
		texts = append(texts, fmt.Sprintf("%d.%0*d", r.Int64N(1e11)>>r.IntN(30), 1+r.IntN(7), r.IntN(10)))
	}
	taken := 0
	for _, text := range texts {
		micros, ok := wholeMicroseconds(text)
		if !ok {
			continue
		}
		taken++
		want, good := new(big.Rat).SetString(text)
		if !good || want.Mul(want, big.NewRat(1e6, 1)).Cmp(new(big.Rat).SetInt64(micros)) != 0 || micros > mostMicroseconds {
			t.Errorf("%q is %d microseconds", text, micros)
		}
	}
	if taken < 1000 || taken == len(texts) {
		t.Errorf("%d of %d were taken", taken, len(texts))
	}
}

// TestSinceFirst: by whole microseconds or by rationals, jobs are submitted at the same times.
func TestSinceFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	for range 200 {
		var fast, exact List
		for range 1 + r.IntN(20) {
			text := strings.TrimSuffix(fmt.Sprintf("%d.%0*d", r.Int64N(9e9)>>r.IntN(30), r.IntN(7), r.IntN(10)), ".")
			n, _ := new(big.Rat).SetString(text)
			f, _ := n.Float64()
			fast.Jobs = append(fast.Jobs, Job{Submit: text, SubmitS: f})
		}
		exact.Jobs = append(exact.Jobs, fast.Jobs...)
		exact.sinceFirstExactly()
		if !fast.sinceFirst() {
			t.Fatalf("not whole microseconds: %+v", exact.Jobs)
		}
		if fast.Origin != exact.Origin {
			t.Fatalf("origins %v and %v", fast.Origin, exact.Origin)
		}
		for i := range fast.Jobs {
			if fast.Jobs[i].SubmitS != exact.Jobs[i].SubmitS {
				t.Fatalf("%s: %v and %v", fast.Jobs[i].Submit, fast.Jobs[i].SubmitS, exact.Jobs[i].SubmitS)
			}
		}
	}
	if l := (List{Jobs: []Job{{Submit: "1", SubmitS: 1}, {Submit: "0.0000001", SubmitS: 1e-7}}}); l.sinceFirst() || l.Jobs[0].SubmitS != 1 {
		t.Error("a tenth of a microsecond was taken for a whole number of them")
	}
}
