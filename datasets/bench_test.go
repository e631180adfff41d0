package datasets

import (
	"path/filepath"
	"testing"
)

func BenchmarkScanSample(b *testing.B) {
	for b.Loop() {
		s, err := Open("builtin:philly-like")
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range s.Rows() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkLoadPublicTrace(b *testing.B) { // 305,374 rows, of which 70,063 are kept
	s := openShared(b)
	where, err := ParseFilter(map[string]any{"trace": "philly"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Load(Selection{Where: where}); err != nil {
			b.Fatal(err)
		}
	}
}

// millionRows repeats the sample until it has 10^6 rows, later each time.
func millionRows() []Row {
	sample := generateSample()
	rows := make([]Row, 0, 1_000_000)
	for i := range cap(rows) {
		r := sample[i%len(sample)]
		r.SubmitS.V += float64(i/len(sample)) * sampleHours * 3600
		rows = append(rows, r)
	}
	return rows
}

func BenchmarkMillionRows(b *testing.B) {
	path := filepath.Join(b.TempDir(), "million.parquet")
	rows := millionRows()
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if err := WriteFile(path, All(rows)); err != nil {
				b.Fatal(err)
			}
		}
	})
	s, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			for _, err := range s.Rows() {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Load(Selection{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	trace, err := s.Load(Selection{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("busiest", func(b *testing.B) {
		for b.Loop() {
			if _, err := trace.Windows(Slice{Jobs: 20_000, At: At{Rule: AtBusiest}, Repeat: 20}, 1, "x"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
