package journal

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func fill(t *testing.T, folder, shard string, entries ...[2]string) string {
	t.Helper()
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	w.Start(folder, Header{Build: "b", Machine: "m", Shard: shard})
	for _, e := range entries {
		if err := w.Append(e[0], []byte(e[1])); err != nil {
			t.Fatal(err)
		}
		written, _ := w.Find(e[0])
		if back, err := w.Read(written); err != nil || string(back) != e[1] {
			t.Fatalf("%s reads as %q, %v", e[0], back, err)
		}
	}
	name := slices.Sorted(maps.Keys(w.files))[0]
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func contents(t *testing.T, folders ...string) (map[string]string, int) {
	t.Helper()
	j, err := Open(folders...)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	all := map[string]string{}
	for id, e := range j.entries {
		content, err := j.Read(e)
		if err != nil {
			t.Fatal(err)
		}
		all[id] = string(content)
	}
	return all, len(j.Damaged)
}

func TestLastEntryCounts(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, "", [2]string{"a", "1"}, [2]string{"b", "2"}, [2]string{"a", "3"})
	fill(t, dir, "2/3", [2]string{"b", "4"}, [2]string{"c", "5 6"})
	got, damaged := contents(t, dir, filepath.Join(dir, "missing"))
	if fmt.Sprint(got) != "map[a:3 b:4 c:5 6]" || damaged != 0 {
		t.Errorf("%v, %d damaged", got, damaged)
	}
}

// A journal cut at any byte holds exactly the lines that were complete.
func TestCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	name := fill(t, dir, "", [2]string{"a", "1"}, [2]string{"b", "22"}, [2]string{"c", "333"})
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if err := os.WriteFile(name, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		got, _ := contents(t, dir)
		if want := max(bytes.Count(whole[:n], []byte("\n"))-1, 0); len(got) != want {
			t.Fatalf("cut at %d: %v, want %d entries", n, got, want)
		}
	}
}

// A damaged byte costs the line it is in, or the file where it is in the
// header, and never changes an entry.
func TestDamageIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	want := map[string]string{"a": "1", "b": "22", "c": "333"}
	name := fill(t, dir, "", [2]string{"a", "1"}, [2]string{"b", "22"}, [2]string{"c", "333"})
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for at := range whole {
		bad := bytes.Clone(whole)
		bad[at] ^= byte(1 + rng.IntN(255))
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		got, damaged := contents(t, dir)
		if damaged == 0 || len(got) == len(want) {
			t.Fatalf("byte %d: no damage found, %v", at, got)
		}
		for id, content := range got {
			if content != want[id] {
				t.Fatalf("byte %d: entry %s is %q", at, id, content)
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	w, err := Open()
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	w.Start(b.TempDir(), Header{})
	content := bytes.Repeat([]byte("x"), 2000)
	for i := range b.N {
		if err := w.Append(fmt.Sprint(i), content); err != nil {
			b.Fatal(err)
		}
	}
}
