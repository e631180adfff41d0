package instances

import (
	"math/big"
	"reflect"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/profile"
	"yardstick/sched"
)

// TestPipelining: iteration times by hand, and that options which change nothing leave
// the instance as it is.
func TestPipelining(t *testing.T) {
	chain := []sched.Stage{{Replicas: 2, Compute: 1_000_000, Params: 1000, Boundary: 300}, {Replicas: 1, Compute: 3_000_000}, {Replicas: 1, Compute: 2_000_000}}
	given := []profile.Config{{Name: "c", Model: "m", GPUs: 4, Stages: chain}}
	for _, c := range []struct {
		p    Pipelining
		want []sched.Stage
	}{
		{Pipelining{}, chain},
		{Pipelining{Overlap: datasets.Some(0.0)}, chain},
		{Pipelining{Overlap: datasets.Some(0.25)}, []sched.Stage{{Replicas: 2, Compute: 1_000_000, Params: 750, Boundary: 300}, chain[1], chain[2]}},
		{Pipelining{Overlap: datasets.Some(1.0)}, []sched.Stage{{Replicas: 2, Compute: 1_000_000, Boundary: 300}, chain[1], chain[2]}},
		// Three stages, one micro-batch: nothing overlaps, three times the slowest.
		{Pipelining{MicroBatches: datasets.Some(1)}, []sched.Stage{{Replicas: 2, Compute: 3_000_000, Params: 1000, Boundary: 900}, {Replicas: 1, Compute: 9_000_000}, {Replicas: 1, Compute: 6_000_000}}},
		{Pipelining{datasets.Some(0.5), datasets.Some(8)}, []sched.Stage{{Replicas: 2, Compute: 1_250_000, Params: 500, Boundary: 375}, {Replicas: 1, Compute: 3_750_000}, {Replicas: 1, Compute: 2_500_000}}},
	} {
		if got := c.p.configs(given)[0].Stages; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v:\n got %+v\nwant %+v", c.p, got, c.want)
		}
	}
	if given[0].Stages[0].Params != 1000 {
		t.Error("the given configurations were changed")
	}

	w := windows(t, rows(60), datasets.Slice{Jobs: 30}, 5)[0]
	plain := must(t)(Gang(&w, gangOptions()))
	build := func(p Pipelining) *sched.Instance {
		o := gangOptions()
		o.Pipelining = p
		return must(t)(Gang(&w, o))
	}
	if build(Pipelining{Overlap: datasets.Some(0.0)}).Hash() != plain.Hash() {
		t.Error("an overlap of 0 changes the instance")
	}
	// On the fewest servers, hiding more of the AllReduces takes no longer, and more
	// micro-batches take no longer, but never less than without a barrier.
	alphas := func(p Pipelining) (list []*big.Rat) {
		in := build(p)
		for i := range in.Jobs {
			place, _, err := onFewest(in, sched.JobID(i))
			if err != nil {
				t.Fatal(err)
			}
			alpha, err := in.IterTime(sched.JobID(i), place)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, alpha)
		}
		return list
	}
	less := 0
	for _, order := range [][]Pipelining{
		{{Overlap: datasets.Some(1.0)}, {Overlap: datasets.Some(0.6)}, {Overlap: datasets.Some(0.2)}, {}},
		{{}, {MicroBatches: datasets.Some(1 << 20)}, {MicroBatches: datasets.Some(8)}, {MicroBatches: datasets.Some(2)}, {MicroBatches: datasets.Some(1)}},
	} {
		for k := 1; k < len(order); k++ {
			a, b := alphas(order[k-1]), alphas(order[k])
			for i := range a {
				if a[i].Cmp(b[i]) > 0 {
					t.Errorf("job %d takes %v with %+v and %v with %+v", i, a[i], order[k-1], b[i], order[k])
				}
				less += b[i].Cmp(a[i])
			}
		}
	}
	if less < 50 {
		t.Errorf("the options matter %d times only", less)
	}
	for _, bad := range []Pipelining{{Overlap: datasets.Some(-0.1)}, {Overlap: datasets.Some(1.5)}, {MicroBatches: datasets.Some(0)}} {
		o := gangOptions()
		o.Pipelining = bad
		if _, err := Gang(&w, o); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	for _, bad := range []Pipelining{{Overlap: datasets.Some(0.5)}, {MicroBatches: datasets.Some(2)}} {
		if _, err := Gang(&w, GangOptions{Common: gangOptions().Common, Pipelining: bad}); err == nil {
			t.Errorf("%+v without profiles is accepted", bad)
		}
	}
}
