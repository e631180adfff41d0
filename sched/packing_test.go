package sched_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"yardstick/sched"
)

// packs tries every server for every replica.
func packs(replicas, room []int) bool {
	if len(replicas) == 0 {
		return true
	}
	for m := range room {
		if room[m] >= replicas[0] && !slices.Contains(room[:m], room[m]) {
			room[m] -= replicas[0]
			ok := packs(replicas[1:], room)
			room[m] += replicas[0]
			if ok {
				return true
			}
		}
	}
	return false
}

func randomWidths(r *rand.Rand) (widths []sched.Width, replicas []int) {
	sizes := [][]int{{1}, {4, 2, 1}, {6, 3, 1}, {3, 2}, {5, 3, 2}, {4, 3}, {6, 4, 1}, {5, 4, 3, 2}}[r.IntN(8)]
	for _, t := range sizes {
		if k := r.IntN(5); k > 0 {
			widths = append(widths, sched.Width{Slices: t, Replicas: k})
			replicas = append(replicas, slices.Repeat([]int{t}, k)...)
		}
	}
	return widths, replicas
}

// TestPack compares Pack with all ways to deal replicas out, and checks what it
// returns.
func TestPack(t *testing.T) {
	fits, tight := 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 6))
		widths, replicas := randomWidths(r)
		total := 0
		for _, w := range replicas {
			total += w
		}
		var room []int
		for left := total + r.IntN(4); left > 0; { // little room to spare
			room = append(room, 1+r.IntN(min(left, 9)))
			left -= room[len(room)-1]
		}
		want := packs(replicas, slices.Clone(room))
		fill := sched.Pack(widths, room)
		if (fill != nil) != want && len(room) > 0 {
			t.Fatalf("seed %d: %v on %v: %v, want %t", seed, widths, room, fill, want)
		}
		if fill == nil {
			tight++
			continue
		}
		fits++
		sum := make([]int, len(widths))
		for m := range room {
			used := 0
			for i, x := range fill[m] {
				used += x * widths[i].Slices
				sum[i] += x
			}
			if used > room[m] {
				t.Fatalf("seed %d: %v on %v: server %d holds %v", seed, widths, room, m, fill[m])
			}
		}
		for i, w := range widths {
			if sum[i] != w.Replicas {
				t.Fatalf("seed %d: %v on %v: %v places %v", seed, widths, room, fill, sum)
			}
		}
	}
	if fits < 1000 || tight < 500 {
		t.Errorf("%d packings and %d refusals", fits, tight)
	}
}

// TestPackSearch is decided by the search: widest first leaves no room for the
// last replica of two.
func TestPackSearch(t *testing.T) {
	if fill := sched.Pack([]sched.Width{{Slices: 3, Replicas: 2}, {Slices: 2, Replicas: 3}}, []int{6, 6}); fill == nil {
		t.Error("3+3 and 2+2+2 do not fit two servers of six")
	}
	if fill := sched.Pack([]sched.Width{{Slices: 3, Replicas: 2}, {Slices: 2, Replicas: 3}}, []int{5, 7}); fill == nil {
		t.Error("3+2 and 3+2+2 do not fit servers of five and seven")
	}
	if fill := sched.Pack([]sched.Width{{Slices: 3, Replicas: 1}, {Slices: 2, Replicas: 2}}, []int{4, 3}); fill == nil {
		t.Error("2+2 and 3 do not fit servers of four and three")
	}
	if fill := sched.Pack([]sched.Width{{Slices: 3, Replicas: 60}, {Slices: 2, Replicas: 60}}, slices.Repeat([]int{4}, 75)); fill != nil {
		t.Error("60 replicas of three and 60 of two fit 75 servers of four")
	}
}

// BenchmarkPack is the refusal of a job of two widths that do not divide each
// other, and of one whose widths do.
func BenchmarkPack(b *testing.B) {
	room := slices.Repeat([]int{8}, 250)
	for name, widths := range map[string][]sched.Width{
		"divide":    {{Slices: 8, Replicas: 128}, {Slices: 4, Replicas: 240}, {Slices: 1, Replicas: 17}},
		"otherwise": {{Slices: 5, Replicas: 200}, {Slices: 4, Replicas: 101}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if sched.Pack(widths, room) != nil {
					b.Fatal("they fit")
				}
			}
		})
	}
}
