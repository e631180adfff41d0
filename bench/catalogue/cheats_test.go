package catalogue

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"yardstick/bench/suite"
	"yardstick/sched"
)

var update = flag.Bool("update", false, "write the table of docs/cheats.md")

// cheat is a policy that tries to win dishonestly or to do harm.
type cheat struct {
	name, tries, must string
	with              map[string]string
}

// cheats reads the folder: every file says in its first lines what it tries, and what
// must become of it.
func cheats(t *testing.T) (all []cheat) {
	t.Helper()
	list, err := filepath.Glob("testdata/cheats/*.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		c := cheat{name: strings.TrimSuffix(filepath.Base(path), ".py"), with: map[string]string{}}
		if c.name == "honest" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
			switch {
			case ok && key == "# tries":
				c.tries = value
			case ok && key == "# must":
				c.must = value
			case ok && key == "# with":
				for _, option := range strings.Fields(value) {
					name, v, _ := strings.Cut(option, "=")
					c.with[name] = v
				}
			}
		}
		if c.tries == "" || c.must == "" {
			t.Fatalf("%s does not say what it tries and what must become of it", path)
		}
		all = append(all, c)
	}
	if len(all) < 50 {
		t.Fatalf("there are %d cheats", len(all))
	}
	return all
}

// target is an instance for the cheat.
func (c *cheat) target() *sched.Instance {
	in := small()
	model := c.with["model"]
	if model == "elastic" {
		return elasticTarget()
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		switch model {
		case "one", "sharing", "tight":
			j.Stages[0].Replicas = 1
		case "two", "two3":
			j.Stages[0].Replicas = 2
		}
		if model == "two3" || model == "sharing" || model == "tight" {
			j.Release = 0
		}
		if model == "preemptive" {
			in.Model, j.Load, j.Pause = sched.ModelPreemptive, 30*sched.Second, 10*sched.Second
		}
		if model == "sharing" || model == "tight" {
			j.Sharing = &sched.Sharing{Accumulation: []sched.Accumulation{{Steps: 1, Iter: 1e9, Memory: 60}}, Sizes: []sched.Size{{GPUs: 1, Iter: 1e9, Memory: 60}, {GPUs: 4, Iter: 4e8, Memory: 60}}}
		}
	}
	if model == "two3" {
		in.Cluster.Servers[0].GPUs = 4
	}
	if model == "sharing" || model == "tight" {
		in.Model, in.Interference = sched.ModelSharing, [][]float64{{1.5}}
		in.Cluster.Servers[0].GPUMemory = map[string]sched.Bytes{"sharing": 1000, "tight": 100}[model]
	}
	return in
}

// elasticTarget has three elastic jobs on two servers.
func elasticTarget() *sched.Instance {
	in := &sched.Instance{Name: "elastic", Model: sched.ModelElastic, Slot: 10 * sched.Second, Cluster: sched.Cluster{Inter: 1e9, Intra: 1e10},
		Elastic: &sched.ElasticTypes{Resources: []string{"gpu", "bw"}, Bandwidth: 1, Workers: []sched.Container{{Demand: []int64{1, 50}}}, Servers: []sched.Container{{Demand: []int64{0, 100}}}}}
	for range 2 {
		in.Cluster.Servers = append(in.Cluster.Servers, sched.Server{GPUs: 4, Capacity: []int64{4, 400}})
	}
	for range 3 {
		in.Jobs = append(in.Jobs, sched.Job{Weight: 1, Elastic: &sched.Elastic{MaxWorkers: 3, Batches: 120, Train: []sched.Duration{1e9}, Update: []sched.Duration{0}, Gradients: 1}})
	}
	return in
}

// Every cheat comes to what must become of it: its cell fails with an error of one line
// that says why, or it runs, and its verified schedule costs no less than the optimum of its
// class. No file of ours is changed, and no process is left.
func TestCheats(t *testing.T) {
	needsPython(t)
	optimum := runOn(t, suite.MethodRef{Name: "exhaustive"}, small(), suite.Limits{})
	if optimum.Err != nil || len(optimum.Outcomes[0].Bounds) == 0 {
		t.Fatal(optimum.Err)
	}
	least := optimum.Outcomes[0].Bounds[0].Value
	source, err := os.ReadDir("testdata/cheats")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("YARDSTICK_SECRET", "the policy must not see this")
	t.Run("all", func(t *testing.T) {
		for _, c := range cheats(t) {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				in := c.target()
				if err := in.Validate(); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(t.TempDir(), "instance.json")
				if err := os.WriteFile(file, in.Canonical(), 0o666); err != nil {
					t.Fatal(err)
				}
				// A command that names the file itself would have it copied.
				ref := programmed(interpreter+" testdata/cheats/"+c.name+".py "+strings.ReplaceAll(c.with["args"], "FOLDER", filepath.Dir(file)), "files", "testdata/cheats/honest.py")
				if runs := c.with["repeat"]; runs != "" {
					ref.Params["repeat"] = runs
				}
				limits := suite.Limits{Cell: 2 * time.Minute}
				if text := c.with["limit"]; text != "" {
					if limits.Cell, err = time.ParseDuration(text); err != nil {
						t.Fatal(err)
					}
				}
				if text := c.with["memory"]; text != "" {
					if err := limits.Memory.UnmarshalText([]byte(text)); err != nil {
						t.Fatal(err)
					}
				}
				r := runOn(t, ref, in, limits)
				if after, err := os.ReadFile(file); err != nil || string(after) != string(in.Canonical()) {
					t.Errorf("the instance's file was changed: %v", err)
				}
				if wanted, fails := strings.CutPrefix(c.must, "fail: "); fails {
					if r.Err == nil {
						t.Fatalf("it runs to its end")
					}
					if !containsAny(r.Err.Error(), strings.Split(wanted, " | ")) || strings.ContainsAny(r.Err.Error(), "\n\x1b\x07") || len(r.Err.Error()) > 1500 {
						t.Errorf("the error is %q, want one line with %q", r.Err, wanted)
					}
					return
				}
				if c.must != "run" {
					t.Fatalf("must be what: %s", c.must)
				}
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				if cost := r.Verified[0].Cost(sched.TotalJCT); in.Model == sched.ModelGang && cost.Cmp(least) < 0 {
					t.Errorf("it costs %v, and the optimum is %v", cost, least)
				}
			})
		}
	})
	if left := processes(t, "MARKER"); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	after, err := os.ReadDir("testdata/cheats")
	if err != nil || fmt.Sprint(after) != fmt.Sprint(source) {
		t.Errorf("the folder was changed: %v, before %v (%v)", after, source, err)
	}
}

func containsAny(text string, list []string) bool {
	for _, part := range list {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// processes lists those of this machine that run Python and have the word among their
// arguments.
func processes(t *testing.T, word string) (found []string) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		if text, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(text), interpreter) && strings.HasSuffix(string(text), "\x00"+word+"\x00") {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// The page's table is that of the folder.
func TestCheatsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| cheat | tries | what becomes of it |\n|---|---|---|\n")
	for _, c := range cheats(t) {
		end := "runs, and gains nothing by it"
		if wanted, fails := strings.CutPrefix(c.must, "fail: "); fails {
			end = "fails: " + strings.ReplaceAll(wanted, " | ", ", or: ")
			if wanted == "" {
				end = "fails"
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.name, c.tries, end)
	}
	const path, begin, end = "../../docs/cheats.md", "<!-- begin cheats: written by the tests of bench/catalogue with -update -->\n\n", "\n<!-- end cheats -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != b.String() {
		t.Errorf("the table of %s is not that of the folder: run this test with -update", path)
	}
}
