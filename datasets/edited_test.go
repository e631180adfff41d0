package datasets

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets/table"
)

// editedTraces are what testdata/edited/edit.py makes of the first 60 rows of the
// embedded trace: whether the checksums are still there and apply no longer, and how the
// rows differ.
var editedTraces = []struct {
	name string
	note bool
	edit func(Row) (Row, bool)
}{
	{"arrow-copied", false, func(r Row) (Row, bool) { return r, true }},
	{"arrow-filtered", true, longRow},
	{"arrow-shortened", false, func(r Row) (Row, bool) {
		return Row{Trace: r.Trace, JobID: r.JobID, SubmitS: r.SubmitS, DurationS: r.DurationS, GPUs: r.GPUs}, true
	}},
	{"arrow-weighted", true, weightedRow},
	{"pandas-filtered", false, longRow}, // with an index, without checksums
	{"pandas-weighted", false, weightedRow},
}

func longRow(r Row) (Row, bool)     { return r, r.DurationS.V > 600 }
func weightedRow(r Row) (Row, bool) { r.Weight = Some(2.); return r, true }

// sampleRows are the first 60 rows of the embedded trace.
func sampleRows(t *testing.T) []Row {
	t.Helper()
	s, err := Open("builtin:philly-like")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := collect(s.Rows())
	if err != nil {
		t.Fatal(err)
	}
	return rows[:60]
}

// A trace that another program filtered or changed is a trace, and a line says that its
// checksums are those of other values.
func TestEditedTraces(t *testing.T) {
	all := sampleRows(t)
	for _, e := range editedTraces {
		var want []Row
		for _, r := range all {
			if r, kept := e.edit(r); kept {
				want = append(want, r)
			}
		}
		path := filepath.Join("testdata", "edited", e.name+".parquet")
		s, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		got, err := collect(s.Rows())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want the %d edited ones: %v", e.name, len(got), len(want), err)
		}
		trace, err := s.Load(Selection{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{s.Note(), trace.Summary().String()} {
			if said := strings.Contains(text, path+" was edited by parquet-cpp-arrow version "); said != e.note {
				t.Errorf("%s: %q", e.name, text)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file of ours is refused whatever else of it is damaged besides the name of its
// writer, and so is an edited one whose pages cannot be read.
func TestDamageIsNoEdit(t *testing.T) {
	want := randomRows(17, 700)
	data := encode(t, want)
	name := []byte("yardstick version 1(build 1)")
	at := bytes.Index(data, name)
	if at < 0 {
		t.Fatal("the writer is not named")
	}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 5))
		damaged := slices.Clone(data)
		for i := range name { // any other name of its length
			if rng.IntN(2) == 0 {
				damaged[at+i] = byte(' ' + rng.IntN(95))
			}
		}
		damaged[4+rng.IntN(footerStart(data)-4)] ^= 1 << rng.IntN(8)
		if got, _, err := decode(damaged); err == nil && !slices.Equal(got, want) {
			t.Errorf("seed %d: %d rows that are not those written, and no error", seed, len(got))
		}
	}
	edited, err := os.ReadFile("testdata/edited/arrow-weighted.parquet")
	if err != nil {
		t.Fatal(err)
	}
	checkDamaged(t, "edited", edited, 300)
	for _, cut := range []int{1, 100, len(edited) / 2, len(edited) - 13} {
		if _, err := table.New("cut", bytes.NewReader(edited[:len(edited)-cut]), int64(len(edited)-cut)); err == nil {
			t.Errorf("cut by %d bytes, it can be opened", cut)
		}
	}
}

// Checksums that another program kept without being known to do so are told from damage
// by the message alone.
func TestOtherProgramsThatKeepChecksums(t *testing.T) {
	data := encode(t, randomRows(19, 50))
	name := []byte("yardstick version 1(build 1)")
	at := bytes.Index(data, name)
	copy(data[at:], "someprogram version 3.14    ")
	if _, _, err := decode(data); err != nil {
		t.Errorf("with the values that were written: %v", err)
	}
	other := encode(t, randomRows(20, 50))
	sums := bytes.Index(other, []byte("yardstick.crc32c"))
	copy(other[bytes.Index(other, name):], "someprogram version 3.14    ")
	hex := bytes.IndexByte(other[sums:], '=') + sums + 1
	copy(other[hex:], "00000000")
	_, _, err := decode(other)
	if err == nil || !strings.Contains(err.Error(), `or "someprogram version 3.14    " edited it`) || !strings.Contains(err.Error(), "bench dataset slice") {
		t.Errorf("with other values: %v", err)
	}
}

func TestIndexOfPandas(t *testing.T) {
	for name, want := range map[string]bool{"__index_level_0__": true, "__index_level_12__": true, "__index_level___": false, "__index_level_x__": false, "index": false, "job_id": false} {
		if isIndex(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
