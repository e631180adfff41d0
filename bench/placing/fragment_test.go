package placing

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

func randomCluster(rng *rand.Rand) sched.Cluster {
	c := sched.Cluster{Inter: 1, Intra: 1}
	for range 1 + rng.IntN(8) {
		c.Servers = append(c.Servers, sched.Server{GPUs: rng.IntN(9)})
	}
	c.Servers[0].GPUs++
	return c
}

// What Draw gives is within the servers and enough; every number is as likely.
func TestDraw(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	c := sched.Uniform(50, 8, 1, 1)
	var seen [9]int
	for range 400 {
		free, err := Draw(&c, 16, rng)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range free {
			seen[n]++
		}
	}
	const want = 50 * 400 / 9
	for n, count := range seen {
		if count < want*85/100 || count > want*115/100 { // seven standard deviations
			t.Errorf("seed %d: %d GPUs are free %d times, not about %d: %v", seed, n, count, want, seen)
		}
	}
	tiny := sched.Uniform(2, 4, 1, 1)
	for range 100 { // half of all draws have fewer
		free, err := Draw(&tiny, 5, rng)
		if err != nil || free[0]+free[1] < 5 {
			t.Fatalf("free %v, error %v", free, err)
		}
	}
	huge := sched.Uniform(200, 8, 1, 1)
	if _, err := Draw(&huge, 1600, rng); !errors.Is(err, ErrFragments) {
		t.Errorf("drew a whole cluster: %v", err)
	}
}

// A fragmentation depends on master seed and number alone.
func TestFragmentation(t *testing.T) {
	c := sched.Uniform(20, 8, 1, 1)
	seeds, first := map[uint64]bool{}, map[int][]int{}
	for round := range 2 {
		for k := range 10 {
			free, seed, err := Fragmentation(&c, 16, 7, k)
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				seeds[seed], first[k] = true, free
			} else if !slices.Equal(free, first[k]) {
				t.Errorf("fragmentation %d is %v, then %v", k, first[k], free)
			}
		}
	}
	if other, _, _ := Fragmentation(&c, 16, 8, 0); slices.Equal(other, first[0]) || len(seeds) != 10 {
		t.Errorf("fragmentations repeat: %d seeds", len(seeds))
	}
}

func TestSelect(t *testing.T) {
	free := []int{3, 0, 8, 1, 8, 2}
	for _, c := range []struct {
		gang  int
		order Order
		want  []Part
	}{
		{5, ByIndex, []Part{{0, 3}, {2, 2}}},
		{5, MostFree, []Part{{2, 5}}},
		{17, MostFree, []Part{{2, 8}, {4, 8}, {0, 1}}},
		{5, LeastFree, []Part{{3, 1}, {5, 2}, {0, 2}}},
		{22, LeastFree, []Part{{3, 1}, {5, 2}, {0, 3}, {2, 8}, {4, 8}}},
		{23, ByIndex, nil},
	} {
		if got := Select(free, c.gang, c.order); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d GPUs by order %d: %v, want %v", c.gang, c.order, got, c.want)
		}
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cluster := randomCluster(rng)
		gang := 1 + rng.IntN(cluster.GPUs())
		var want []Part
		for _, p := range heavyedge.Consolidated(&cluster, gang) {
			want = append(want, Part(p))
		}
		if got := Select(Free(&cluster), gang, MostFree); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, consolidated is %v", seed, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	c := sched.Cluster{Servers: []sched.Server{{GPUs: 2}, {GPUs: 8}, {GPUs: 4}}}
	if got, err := Fit(&c, []int{1, 6, 4}); err != nil || !reflect.DeepEqual(got, []Part{{1, 6}, {2, 4}, {0, 1}}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]int{{5, 5}, {1, 1, 1, 1}, {0}, {-1, 4}, {9}} {
		if got, err := Fit(&c, bad); err == nil {
			t.Errorf("parts %v fit as %v", bad, got)
		}
	}
}

func TestOrderText(t *testing.T) {
	for text, want := range map[string]Order{"index": ByIndex, "most": MostFree, "least": LeastFree} {
		var got Order
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s reads as order %d, want %d: %v", text, got, want, err)
		}
	}
	if err := new(Order).UnmarshalText([]byte("best")); err == nil {
		t.Error("best is an order")
	}
}
