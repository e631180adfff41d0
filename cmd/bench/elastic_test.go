package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// oneByOne runs the jobs one after the other, each on one server in the fewest
// slots.
func oneByOne(t *testing.T, in *sched.Instance) *sched.Schedule {
	t.Helper()
	s := &sched.Schedule{Class: sched.Class{Kind: sched.E, Slotted: true}}
	slot := int64(0)
	for i := range in.Jobs {
		id := sched.JobID(i)
		var best sched.ElasticConfig
		for _, c := range in.ElasticConfigs(id) {
			if c.OneServer && (best.Slots == 0 || c.Slots < best.Slots) {
				best = c
			}
		}
		for h := range in.Cluster.Servers {
			y, ps := make([]int, len(in.Cluster.Servers)), make([]int, len(in.Cluster.Servers))
			if y[h] = best.Workers; !in.Jobs[i].Elastic.Ring {
				ps[h] = in.ParameterServers(best.WorkerType, best.ServerType, 0)
			}
			place := in.ElasticPlacement(best.WorkerType, best.ServerType, y, ps)
			if c, err := in.ReadElastic(id, &place); err == nil && c == best {
				slot = max(slot, in.FirstSlot(id))
				s.Segments = append(s.Segments, in.ElasticSegment(id, slot, best.Slots, place))
				slot += best.Slots
				break
			}
		}
	}
	schedtest.Verify(t, in, s)
	return s
}

// TestElasticCommands takes elastic instances, by parameter servers and in a
// ring, from a trace to a verified schedule and to rejected ones.
func TestElasticCommands(t *testing.T) {
	for _, ring := range []string{"false", "true"} {
		dir := t.TempDir()
		path := func(name string) string { return filepath.Join(dir, name) }
		mustRun(t, "instance", "build", "builtin:philly-like", "-s", "model=elastic", "-s", "ring="+ring, "-s", "slice.jobs=4", "-s", "slice.at=busiest", "-o", path("in.json"))
		synchronised := map[string]string{"true": "4 by ring, 0 by parameter servers", "false": "0 by ring, 4 by parameter servers"}[ring]
		if out := mustRun(t, "instance", "describe", path("in.json")); !strings.Contains(out, "elastic model") || !strings.Contains(out, synchronised) {
			t.Errorf("describe:\n%s", out)
		}
		mustRun(t, "instance", "convert", path("in.json"), "-o", path("standard.json"))
		if a, b := read(t, path("in.json")), read(t, path("standard.json")); a != b {
			t.Error("the standard form is not what was built")
		}
		if code, _, errOut := benchCommand(t, "instance", "convert", path("in.json"), "-o", path("x.csv")); code != exitUsage || !strings.Contains(errOut, "no single duration") {
			t.Errorf("as a job list: exit code %d: %s", code, errOut)
		}
		if code, _, errOut := benchCommand(t, "simulate", path("in.json"), "--policy", "sjf"); code == exitOK || !strings.Contains(errOut, "elastic") {
			t.Errorf("simulate: exit code %d: %s", code, errOut)
		}
		in, err := sched.ReadInstance(strings.NewReader(read(t, path("in.json"))))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := oneByOne(t, in).Write(&b, in); err != nil {
			t.Fatal(err)
		}
		good := write(t, "s.json", b.String())
		if out := mustRun(t, "verify", path("in.json"), good); !strings.Contains(out, "holds: class Es, 4 jobs, verified") || !strings.Contains(out, "weighted-completion") {
			t.Errorf("verify:\n%s", out)
		}
		for rule, edit := range map[string]struct{ old, new string }{
			"class":             {`"class": "Es"`, `"class": "E"`},
			"parameter-servers": {`"stages":\[(\d+),\d+\]`, map[string]string{"true": `"stages":[$1,1]`, "false": `"stages":[$1,0]`}[ring]},
			"workers":           {`"stages":\[(\d+),`, `"stages":[99,`},
			"config":            {`"config":\{[^}]*\}`, `"config":{"workerType":99}`},
			"capacity":          {`"start":"[^"]*","end":`, `"start":"0s","end":`},
			"slot":              {`"end":"(\d+)h0m0s"`, `"end":"${1}h0m1s"`},
			"placement":         {`"server":\d+`, `"server":99`},
			"missing":           {`\{"job":1.*,\n`, ``},
		} {
			bad := regexp.MustCompile(edit.old).ReplaceAllString(b.String(), edit.new)
			if bad == b.String() {
				t.Errorf("%s: nothing to corrupt in\n%s", rule, bad)
			}
			code, out, errOut := benchCommand(t, "verify", path("in.json"), write(t, "bad.json", bad))
			if code != exitInvalid || !strings.Contains(out, rule+": ") {
				t.Errorf("%s: exit code %d, output %q %q", rule, code, out, errOut)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
