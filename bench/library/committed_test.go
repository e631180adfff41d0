package library

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"yardstick/internal/tier"
)

// digestOfVersion1 is that of the library's first version, which papers may name. It never
// changes: if this test fails, put the instances back.
const digestOfVersion1 = "6a4eb07595b729cf6e8a56cb1908da878678e08ac00b306593217715299edd63"

// TestCommitted checks the library that is committed: its version, and its entries, of
// which a brief run takes the small ones. (That table.csv is what they prove is tested
// where the command is.)
func TestCommitted(t *testing.T) {
	l := &Library{Dir: "../../library"}
	all := entries(t, l)
	v, err := l.Version(all)
	if err != nil {
		t.Fatal(err)
	}
	if v.Version != 1 || v.Digest != digestOfVersion1 {
		t.Errorf("version %d has digest %s", v.Version, v.Digest)
	}
	if len(v.Instances) < 300 {
		t.Errorf("version 1 has %d instances", len(v.Instances))
	}
	if size, err := sizeOf(l.Dir); err != nil || size > 10<<20 {
		t.Errorf("the library has %d bytes, %v: at most 10 MB are committed", size, err)
	}
	if extra, err := l.Extra(all); err != nil || len(extra) > 0 {
		t.Errorf("files that belong to nothing: %v, %v", extra, err)
	}
	most := tier.Draws(20, 100_000) // jobs
	all = slices.DeleteFunc(all, func(e *Entry) bool { return e.Features.Jobs > most })
	if tier.Raced() {
		all = tier.Share(all, 10) // a race run takes ten times as long, and sees as much in a few
	}
	r, err := l.Check(t.Context(), all, runtime.GOMAXPROCS(0), ignore)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range r.Failed {
		t.Error(text)
	}
	if len(r.Absent) > 0 {
		t.Errorf("instances of traces that are files: %v", r.Absent)
	}
	t.Logf("%+v", Sum(r.Rows))
}

// TestSelection: the seed chooses the instances that are committed.
func TestSelection(t *testing.T) {
	tier.Unraced(t)
	l := &Library{Dir: "../../library"}
	for i, s := range Strata() {
		if s.Most > tier.Draws(10, 20) {
			continue
		}
		chosen, err := s.Choose(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if added, err := l.Add(s, chosen); err != nil || added != 0 {
			t.Errorf("stratum %d: %d entries are new, %v", i, added, err)
		}
	}
}

// sizeOf returns how many bytes the files of a folder have.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
