package listsched_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"yardstick/heuristics/listsched"
	"yardstick/heuristics/sim"
	"yardstick/internal/tier"
	"yardstick/sched"
)

func order(t *testing.T, name string) listsched.Order {
	t.Helper()
	var o listsched.Order
	if err := o.UnmarshalText([]byte(name)); err != nil {
		t.Fatal(err)
	}
	if o.String() != name {
		t.Errorf("%s is read as %v", name, o)
	}
	return o
}

// TestOrdersAgainstScan compares every order, under all options, with a simulator that
// scans everything at every event. Most keys are equal.
func TestOrdersAgainstScan(t *testing.T) {
	columns := []float64{-math.MaxFloat64, -2, -1.5, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 0.1, 3, 1e300}
	for seed := range uint64(tier.Draws(100, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 11))
		in := randomInstance(rng)
		if seed%4 == 0 {
			for i := range in.Jobs {
				in.Jobs[i].Release = 0
			}
		}
		in.Keys = []string{"other", "est"}
		keys := map[string][]sched.Time{}
		for i := range in.Jobs {
			j := &in.Jobs[i]
			at := rng.IntN(len(columns))
			j.Keys = []float64{0, columns[at]}
			length := consolidated(t, in, sched.JobID(i), j.Iters)
			for name, key := range map[string]sched.Time{"release": j.Release, "shortest": length, "longest": -length, "fewest-gpus": sched.Time(j.Gang()), "most-gpus": sched.Time(-j.Gang()),
				"least-service": length * sched.Time(j.Gang()), "most-service": -length * sched.Time(j.Gang())} {
				keys[name] = append(keys[name], key)
			}
			rank := sched.Time(slices.Index(columns, columns[at])) // the zeros are one value
			keys["column:est"], keys["descending:est"] = append(keys["column:est"], rank), append(keys["descending:est"], -rank)
		}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		for name, key := range keys {
			for _, o := range allOptions {
				r, _ := run(t, in, listsched.Ordered(order(t, name), o), sim.Options{})
				if want := replayNaively(t, in, o, key); !reflect.DeepEqual(r.Schedule.Segments, want) {
					t.Fatalf("seed %d, %s %v:\n%v\nwant\n%v", seed, name, o, r.Schedule.Segments, want)
				}
				if knows := slices.Contains([]string{"shortest", "longest", "least-service", "most-service"}, name); r.Clairvoyant != knows {
					t.Fatalf("%s: clairvoyant is %t", name, r.Clairvoyant)
				}
			}
		}
	}
}

// TestColumns: a column that is not there is refused with those that are, and values are
// finite numbers, one for each.
func TestColumns(t *testing.T) {
	in := randomInstance(rand.New(rand.NewPCG(1, 1)))
	in.Keys = []string{"guess", "user_dur"}
	for i := range in.Jobs {
		in.Jobs[i].Keys = []float64{1, float64(i)}
	}
	p := listsched.Ordered(order(t, "column:est"), listsched.Options{})
	if err := sim.Suits(in, p, false); err == nil || !strings.Contains(err.Error(), `the column "est", and the instance has only: guess, user_dur`) {
		t.Errorf("an unknown column: %v", err)
	}
	for _, bad := range []string{"", "column", "column:", "descending:", "shortes"} {
		var o listsched.Order
		if err := o.UnmarshalText([]byte(bad)); err == nil || !strings.Contains(err.Error(), "is unknown: release, shortest") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for what, breakIt := range map[string]func(){
		"has 1 keys: the instance names 2": func() { in.Jobs[0].Keys = []float64{1} },
		"key user_dur is NaN":              func() { in.Jobs[0].Keys = []float64{1, math.NaN()} },
		`keys[1] is "guess"`:               func() { in.Keys = []string{"guess", "guess"} },
		`keys[0] is ""`:                    func() { in.Keys = []string{"", "guess"} },
	} {
		in.Keys, in.Jobs[0].Keys = []string{"guess", "user_dur"}, []float64{1, 0}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		breakIt()
		if err := in.Validate(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// ExampleOrdered orders by what somebody has predicted, and not by the truth.
func ExampleOrdered() {
	in := &sched.Instance{Name: "example", Model: sched.ModelGang, Cluster: sched.Uniform(1, 1, 1e9, 1e10), Keys: []string{"est_duration"}}
	for _, guess := range []float64{30, 10, 20} {
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 1, Compute: 1e9}}, Keys: []float64{guess}})
	}
	var o listsched.Order
	if err := o.UnmarshalText([]byte("column:est_duration")); err != nil {
		fmt.Println(err)
		return
	}
	r, err := sim.Run(context.Background(), in, listsched.Ordered(o, listsched.Options{}), sim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range r.Schedule.Segments {
		fmt.Printf("job %d [%v, %v)\n", s.Job, s.Start, s.End)
	}
	// Output:
	// job 1 [0s, 1s)
	// job 2 [1s, 2s)
	// job 0 [2s, 3s)
}
