package score

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"yardstick/sched"
)

// A million intervals, checked and divided; a row of bench score takes the reading besides.
func BenchmarkMillion(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := 1_000_000
	jobs := make([]Job, n)
	r := Record{Evidence: Intervals}
	for j := range jobs {
		jobs[j] = Job{Name: strconv.Itoa(j), Release: sched.Time(j) * 16 * sched.Second, Length: sched.Time(1 + rng.IntN(1e9)), GPUs: Milli * int64(1+rng.IntN(8)), Weight: 1}
		r.Pieces = append(r.Pieces, Piece{Job: j, Start: jobs[j].Release, End: jobs[j].Release + jobs[j].Length})
	}
	for b.Loop() {
		k, err := Check(jobs, Cluster{GPUs: 2000 * Milli}, r, Options{})
		if err != nil || k.Broken > 0 {
			b.Fatal(k.Violations, err)
		}
		if _, err := Divide(context.Background(), k, sched.TotalJCT); err != nil {
			b.Fatal(err)
		}
	}
}
