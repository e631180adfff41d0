package generic

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/datasets/tracetest"
)

// BenchmarkImport imports 500,000 jobs, about 27 MB of CSV.
func BenchmarkImport(b *testing.B) {
	var s strings.Builder
	s.WriteString("job_id,user,submit,runtime,gpus,note\n")
	for i := range 500_000 {
		fmt.Fprintf(&s, "job-%06d,user-%03d,%d,%d.5,%d,some further words\n", i, i*7%400, i*3, i*7919%100000, 1+i%8)
	}
	in := tracetest.Write(b, "in.csv", []byte(s.String()))
	fields := fieldsOf(b, "job_id=job_id", "user=user", "submit_s=submit", "duration_s=runtime", "gpus=gpus")
	b.SetBytes(int64(s.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Import(in, filepath.Join(b.TempDir(), "out.parquet"), Options{Fields: fields})
		if err != nil || r.Kept != 500_000 {
			b.Fatal(r, err)
		}
	}
}
