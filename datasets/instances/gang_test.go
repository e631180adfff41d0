package instances

import (
	"math/big"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/profile"
	"yardstick/sched"
	"yardstick/sched/heavyedge"
)

// found returns the configuration that a job was given.
func found(t *testing.T, j *sched.Job) profile.Config {
	t.Helper()
	for _, c := range configs() {
		if c.Name == j.Model {
			if c.GPUs != j.Gang() {
				t.Fatalf("job %q of %s has a gang of %d", j.Name, c.Name, j.Gang())
			}
			return c
		}
	}
	t.Fatalf("job %q has the model %q", j.Name, j.Model)
	return profile.Config{}
}

func TestGangGroups(t *testing.T) {
	list := rows(400)
	// In group "mixed" one job before the window is of one GPU.
	for i, gpus := range map[int]float64{20: 1, 210: 4, 230: 4, 250: 8} {
		list[i].Group, list[i].GPUs = datasets.Some("mixed"), datasets.Some(gpus)
	}
	w := windows(t, list, datasets.Slice{Jobs: 200, At: datasets.At{Rule: datasets.AtIndex, Index: 200}}, 5)[0]
	in := must(t)(Gang(&w, gangOptions()))
	of := map[string]string{}
	for i, j := range w.List() {
		got := &in.Jobs[i]
		c := found(t, got)
		single := j.Gang == 1
		switch j.Group {
		case "":
		case "mixed":
			single = true
		default:
			single = j.Group == "g0" || j.Group == "g3" || j.Group == "g6" // of one GPU each
			if of[j.Group] != "" && of[j.Group] != c.Name {
				t.Errorf("group %q trains both %s and %s", j.Group, of[j.Group], c.Name)
			}
			of[j.Group] = c.Name
		}
		if single != (c.GPUs == 1) {
			t.Errorf("job %q of group %q and %d GPUs is given %s", j.ID, j.Group, j.Gang, c.Name)
		}
	}
	if len(of) != 9 {
		t.Errorf("%d groups, want 9", len(of))
	}
	if len(in.History) != 60 {
		t.Fatalf("history of %d, want 60", len(in.History))
	}
	for _, p := range in.History {
		if name := of[p.Group]; name != "" && name[len(name)-2] != byte('0'+p.Gang) {
			t.Errorf("past job of group %q has a gang of %d, the group trains %s", p.Group, p.Gang, name)
		}
	}
}

// n·alpha-tilde·shrink is the duration to within half an iteration.
func TestGangIterations(t *testing.T) {
	w := window(t)
	for _, shrink := range []int64{1, 10, 1_000_000} {
		o := gangOptions()
		o.Shrink = datasets.Some(shrink)
		in := must(t)(Gang(w, o))
		for i, j := range w.List() {
			alpha, err := heavyedge.AlphaTilde(in, sched.JobID(i), heavyedge.Ring)
			if err != nil {
				t.Fatal(err)
			}
			step := new(big.Rat).Mul(alpha, rat(max(shrink, 1), 1))
			n := in.Jobs[i].Iters
			off := new(big.Rat).Mul(step, rat(n, 1))
			off.Sub(off, rat(int64(j.Run), 1e9)).Quo(off, step)
			if off.Abs(off); off.Cmp(rat(1, 2)) > 0 && n != 1 {
				t.Errorf("shrink %d, job %d: %d iterations of %v for %v", shrink, i, n, step, j.Run)
			}
			want := (j.Submit - w.List()[0].Submit) / sched.Time(max(shrink, 1))
			if in.Jobs[i].Release != want {
				t.Errorf("shrink %d, job %d: released at %v, want %v", shrink, i, in.Jobs[i].Release, want)
			}
		}
	}
}

// By hand: 10 s at 200 ms.
func TestGangByHand(t *testing.T) {
	w := windows(t, []datasets.Row{{Trace: "t", JobID: "x", SubmitS: datasets.Some(3.0), DurationS: datasets.Some(10.0), GPUs: datasets.Some(0.5)}}, datasets.Slice{}, 1)[0]
	o := GangOptions{Common: Common{Cluster: cluster()}, Configs: configs()[1:2]}
	in := must(t)(Gang(&w, o))
	if j := in.Jobs[0]; j.Iters != 50 || j.Release != 0 || j.Weight != 1 || j.Model != "any-1g" {
		t.Errorf("%+v", j)
	}
	o.Configs[0].Stages[0].Compute = 30_000_000_000
	if in := must(t)(Gang(&w, o)); in.Jobs[0].Iters != 1 {
		t.Errorf("a third of an iteration is %d", in.Jobs[0].Iters)
	}
}

func TestSingleShare(t *testing.T) {
	w := window(t)
	before := map[string]bool{}
	for _, c := range []struct {
		share float64
		want  int
	}{{0, 0}, {0.2, 20}, {0.404, 40}, {0.8, 80}, {1, 100}} {
		o := gangOptions()
		o.SingleShare = datasets.Some(c.share)
		in := must(t)(Gang(w, o))
		now, of := map[string]bool{}, map[string]string{}
		for i := range in.Jobs {
			j := &in.Jobs[i]
			single := j.Gang() == 1
			if single {
				now[j.Name] = true
			}
			key := j.Group
			if single {
				key += " single"
			}
			if j.Group != "" && of[key] != "" && of[key] != j.Model {
				t.Errorf("share %v: group %q trains %s and %s", c.share, key, of[key], j.Model)
			}
			of[key] = j.Model
		}
		if len(now) != c.want {
			t.Errorf("share %v: %d jobs of one GPU, want %d", c.share, len(now), c.want)
		}
		for name := range before {
			if !now[name] {
				t.Errorf("share %v: job %q is not of one GPU any more", c.share, name)
			}
		}
		before = now
		past := 0
		for _, p := range in.History {
			if p.Gang == 1 {
				past++
			}
		}
		if share := float64(past) / float64(len(in.History)); share < c.share-0.2 || share > c.share+0.2 || c.share == 0 && past > 0 || c.share == 1 && past < len(in.History) {
			t.Errorf("share %v: %d of %d past jobs are of one GPU", c.share, past, len(in.History))
		}
	}
}

// Only the redrawn share changes: what stays single keeps its model.
func TestSingleShareKeepsModels(t *testing.T) {
	w := window(t)
	o := gangOptions()
	plain := must(t)(Gang(w, o))
	o.SingleShare = datasets.Some(0.5)
	drawn := must(t)(Gang(w, o))
	for i := range plain.Jobs {
		a, b := &plain.Jobs[i], &drawn.Jobs[i]
		if (a.Gang() == 1) == (b.Gang() == 1) && a.Model != b.Model {
			t.Errorf("job %q: %s becomes %s", a.Name, a.Model, b.Model)
		}
	}
}

func TestMatchDemand(t *testing.T) {
	w := window(t)
	o := gangOptions()
	o.MatchDemand = true
	in := must(t)(Gang(w, o))
	for i, j := range w.List() {
		want := map[int]int{1: 1, 2: 2, 3: 2, 4: 4, 8: 6}[j.Gang]
		if got := in.Jobs[i].Gang(); got != want {
			t.Errorf("job %q of %d GPUs has a gang of %d, want %d", j.ID, j.Gang, got, want)
		}
	}
}

// Models are drawn first, then configurations, both uniformly.
func TestGangDrawsUniformly(t *testing.T) {
	var list []datasets.Row
	for _, r := range rows(4000) {
		r.Group, r.GPUs = datasets.Opt[string]{}, datasets.Some(2.0)
		list = append(list, r)
	}
	w := windows(t, list, datasets.Slice{}, 9)[0]
	in := must(t)(Gang(&w, gangOptions()))
	seen := map[string]int{}
	for i := range in.Jobs {
		seen[in.Jobs[i].Model]++
	}
	for _, name := range []string{"any-2g", "any-4g", "large-4g", "large-6g"} {
		if n := seen[name]; n < 860 || n > 1140 { // 1000 ± 5 standard deviations
			t.Errorf("%s was drawn %d times of 4000, want about 1000", name, n)
		}
	}
	if len(seen) != 4 {
		t.Errorf("drawn: %v", seen)
	}
}
