package table

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// BenchmarkWriter writes batches of the shape that Philly's trace has: an
// identifier, two columns of few texts, two of times, one of few numbers, and
// eleven that are NULL throughout. It is what an import costs at least.
func BenchmarkWriter(b *testing.B) {
	columns := []Column{{Name: "trace", Kind: Text}, {Name: "id", Kind: Text, Distinct: true}, {Name: "vc", Kind: Text, Nullable: true},
		{Name: "submit", Kind: Number, Nullable: true, Distinct: true}, {Name: "duration", Kind: Number, Nullable: true, Distinct: true}, {Name: "gpus", Kind: Number, Nullable: true}}
	for i := range 11 {
		columns = append(columns, Column{Name: fmt.Sprint("null", i), Kind: []Kind{Text, Number}[i%2], Nullable: true})
	}
	const rows = 1 << 19
	rng := rand.New(rand.NewPCG(1, 2))
	var batches []*Batch
	for row := range rows {
		if row%BatchRows == 0 {
			batches = append(batches, NewBatch(columns))
		}
		batch := batches[len(batches)-1]
		i := batch.Rows
		batch.Rows++
		batch.SetText(0, i, "philly")
		batch.SetText(1, i, fmt.Sprintf("%06d", row))
		batch.SetText(2, i, fmt.Sprintf("%06x", rng.IntN(15)))
		batch.SetNumber(3, i, float64(7*row))
		batch.SetNumber(4, i, float64(1+rng.IntN(100000)))
		batch.SetNumber(5, i, float64(int(1)<<rng.IntN(4)))
	}
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(io.Discard, columns)
		for _, batch := range batches {
			if err := w.Write(batch); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
