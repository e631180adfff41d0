package importer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

type pair struct{ key, value string }

// sorted adds pairs to a sorter and reads them back.
func sorted(t *testing.T, s *Sorter, pairs []pair) []pair {
	t.Helper()
	for _, p := range pairs {
		if err := s.Add([]byte(p.key), []byte(p.value)); err != nil {
			t.Fatal(err)
		}
	}
	var got []pair
	for r, err := range s.Sorted() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, pair{string(r.Key), string(r.Value)})
	}
	return got
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v was left behind (%v)", left, err)
	}
}

func TestSorter(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, limit := range []int{0, 1, 100, 3000} { // all in memory; one record per run, merged in between; some runs
		dir := t.TempDir()
		for _, n := range []int{0, 1, 2, 500} {
			var pairs []pair
			for i := range n {
				key := make([]byte, rng.IntN(12))
				for k := range key {
					key[k] = byte(rng.IntN(3)) * 127
				}
				pairs = append(pairs, pair{string(key), fmt.Sprint(i, strings.Repeat("v", rng.IntN(40)))})
			}
			want := slices.Clone(pairs)
			slices.SortStableFunc(want, func(a, b pair) int { return strings.Compare(a.key, b.key) })
			s := NewSorter(dir, limit)
			if got := sorted(t, s, pairs); !slices.Equal(got, want) {
				t.Errorf("limit %d, %d records: the order is wrong", limit, n)
			}
			s.Close()
			empty(t, dir)
		}
	}
	s := NewSorter(t.TempDir()+"/none", 1)
	err := s.Add([]byte("a"), nil)
	if err == nil {
		err = s.Add([]byte("b"), nil)
	}
	if err == nil || !strings.HasPrefix(err.Error(), "temporary file: ") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Join is held against a map.
func TestJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		var left, right []pair
		for i := range rng.IntN(20) {
			left = append(left, pair{fmt.Sprint(rng.IntN(12)), fmt.Sprint("l", i)})
		}
		for i := range rng.IntN(20) {
			right = append(right, pair{fmt.Sprint(rng.IntN(12)), fmt.Sprint("r", i)})
		}
		matches := map[string]string{}
		for _, r := range right {
			matches[r.key] += r.value
		}
		var want []string
		slices.SortStableFunc(left, func(a, b pair) int { return strings.Compare(a.key, b.key) })
		for _, l := range left {
			want = append(want, l.value+matches[l.key])
			matches[l.key] = "" // all go to the first
		}
		dir := t.TempDir()
		a, b := NewSorter(dir, 200), NewSorter(dir, 200)
		for _, p := range left {
			_ = a.Add([]byte(p.key), []byte(p.value))
		}
		for _, p := range right {
			_ = b.Add([]byte(p.key), []byte(p.value))
		}
		var got []string
		var current bytes.Buffer
		err := Join(a.Sorted(), b.Sorted(),
			func(l Record) error { current.Reset(); current.Write(l.Value); return nil },
			func(r Record) error { current.Write(r.Value); return nil },
			func() error { got = append(got, current.String()); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v ⋈ %v = %v, not %v (%v)", left, right, got, want, err)
		}
		a.Close()
		b.Close()
		empty(t, dir)
	}
}
