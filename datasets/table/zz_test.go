package table

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"bytes"
	"syscall"
)

// philly-shaped: 17 columns, 6 present.
func BenchmarkWriterPhilly(b *testing.B) {
	columns := []Column{{Name: "trace", Kind: Text}, {Name: "job_id", Kind: Text}, {Name: "user", Kind: Text, Nullable: true}, {Name: "vc", Kind: Text, Nullable: true}, {Name: "group", Kind: Text, Nullable: true},
		{Name: "submit_s", Kind: Number, Nullable: true}, {Name: "queue_s", Kind: Number, Nullable: true}, {Name: "duration_s", Kind: Number, Nullable: true}, {Name: "gpus", Kind: Number, Nullable: true},
		{Name: "cpus", Kind: Number, Nullable: true}, {Name: "batch", Kind: Number, Nullable: true}, {Name: "deadline", Kind: Number, Nullable: true}, {Name: "status", Kind: Text, Nullable: true}, {Name: "model", Kind: Text, Nullable: true},
		{Name: "type", Kind: Text, Nullable: true}, {Name: "it", Kind: Number, Nullable: true}, {Name: "weight", Kind: Number, Nullable: true}}
	const rows = 500000
	rng := rand.New(rand.NewPCG(1, 2))
	ids := make([]string, rows)
	vcs := make([]string, rows)
	submit, dur, gpus := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range rows {
		ids[i] = fmt.Sprintf("%06d", i)
		vcs[i] = fmt.Sprintf("%06x", rng.IntN(15))
		submit[i] = float64(7 * i)
		dur[i] = float64(1 + rng.IntN(100000))
		gpus[i] = float64(int(1) << rng.IntN(4))
	}
	b.ReportAllocs(); c0 := cpuNow()
	for b.Loop() {
		var out bytes.Buffer
		w := NewWriter(&out, columns)
		for i := range rows {
			w.Text(0, "philly")
			w.Text(1, ids[i])
			w.Text(3, vcs[i])
			w.Number(5, submit[i])
			w.Number(7, dur[i])
			w.Number(8, gpus[i])
			if err := w.EndRow(); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(out.Len())/rows, "B/row")
	}
	b.ReportMetric(float64(cpuNow()-c0)/float64(b.N)/rows, "cpu-ns/row")
}

func cpuNow() int64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
