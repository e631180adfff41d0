package instances

import (
	"testing"

	"yardstick/datasets"
)

// BenchmarkGang builds an instance of 20,000 jobs.
func BenchmarkGang(b *testing.B) {
	w := windows(b, rows(20_000), datasets.Slice{}, 1)[0]
	o := gangOptions()
	o.History = 0
	for b.Loop() {
		if _, err := Gang(&w, o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSharing does so for the sharing model.
func BenchmarkSharing(b *testing.B) {
	w := windows(b, rows(20_000), datasets.Slice{}, 1)[0]
	o := sharingOptions()
	o.History = 0
	for b.Loop() {
		if _, err := Sharing(&w, o); err != nil {
			b.Fatal(err)
		}
	}
}
