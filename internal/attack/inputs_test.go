//go:build linux

package attack

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// target is an input, with a command that reads it.
type target struct {
	name   string
	folder string   // the folder that holds the input, copied for the attack
	file   string   // in the folder
	args   []string // with DIR for the copy of the folder and IN for the damaged file
	// accepted looks at a damaged input that was accepted: it says what is false in what
	// was made of it, or nothing.
	accepted func(t testing.TB, c *trial) string
}

// trial is one damaged input.
type trial struct {
	dir     string // the copy of the folder
	damaged []byte
	ending
	whole string // what the command prints of the undamaged input
}

// same accepts a damage only if nobody sees it.
func same(_ testing.TB, c *trial) string {
	if c.out != c.whole && !strings.Contains(c.err, "checksum") {
		return "accepted, and other output"
	}
	return ""
}

// anything accepts what is another input of its kind.
func anything(testing.TB, *trial) string { return "" }

var costLine = regexp.MustCompile(`(?m)^total-jct +([0-9.]+) s$`)

// notBelow holds what a schedule is said to cost against the optimum.
func notBelow(optimum string) func(testing.TB, *trial) string {
	least, _ := new(big.Rat).SetString(optimum)
	return func(_ testing.TB, c *trial) string {
		m := costLine.FindStringSubmatch(c.out)
		if m == nil {
			return "accepted without a cost"
		}
		if cost, ok := new(big.Rat).SetString(m[1]); !ok || cost.Cmp(least) < 0 {
			return "accepted at " + m[1] + " s below the optimum of " + optimum
		}
		return ""
	}
}

// leaves lists the values of a document by their paths.
func leaves(v any, path string, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			leaves(e, path+"."+k, out)
		}
	case []any:
		for i, e := range v {
			leaves(e, fmt.Sprint(path, "[", i, "]"), out)
		}
	default:
		out[path] = normal(fmt.Sprint(v))
	}
}

var quantity = regexp.MustCompile(`^([-+0-9.eE]+)([kKMGTP]?)([A-Za-z/]*)$`)

var thousands = map[string]int64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}

// normal writes a time in nanoseconds and a quantity as a fraction of its plain unit.
func normal(text string) string {
	if d, err := time.ParseDuration(text); err == nil {
		return fmt.Sprint(d.Nanoseconds(), "ns")
	}
	if m := quantity.FindStringSubmatch(text); m != nil {
		if v, ok := new(big.Rat).SetString(m[1]); ok {
			return v.Mul(v, new(big.Rat).SetInt64(thousands[m[2]])).RatString() + m[3]
		}
	}
	return text
}

func document(content []byte) (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	out := map[string]string{}
	leaves(v, "", out)
	return out, nil
}

// readAsWritten: every value of the damaged document is in the instance that was read.
func readAsWritten(t testing.TB, c *trial) string {
	in, err := document(c.damaged)
	if err != nil {
		return "accepted, and is no JSON: " + err.Error()
	}
	content, err := os.ReadFile(filepath.Join(c.dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := document(content)
	if err != nil {
		return "written as what is no JSON"
	}
	for path, v := range in {
		switch got, ok := out[path]; {
		case ok && got != v && !sameFloat(got, v):
			return fmt.Sprintf("%s is %s, read as %s", path, v, got)
		case !ok && !slices.Contains([]string{"0", "0ns", "", "false", "<nil>", "1"}, v): // a default is left out
			return fmt.Sprintf("%s = %s was dropped", path, v)
		}
	}
	return ""
}

// sameFloat reports whether two fractions are one number in floating point, in which
// weights are kept.
func sameFloat(a, b string) bool {
	x, okA := new(big.Rat).SetString(a)
	y, okB := new(big.Rat).SetString(b)
	if !okA || !okB {
		return false
	}
	p, _ := x.Float64()
	q, _ := y.Float64()
	return p == q
}

var rowsRead = regexp.MustCompile(`(?m)^([0-9]+) rows? in, `)

// everyRow: the rows that the import counts are those of the file.
func everyRow(_ testing.TB, c *trial) string {
	m := rowsRead.FindStringSubmatch(c.out + c.err)
	if m == nil {
		return "imported without a count of rows"
	}
	r := csv.NewReader(bytes.NewReader(c.damaged))
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		return "imported, and is no CSV: " + err.Error()
	}
	if want := fmt.Sprint(len(all) - 1); m[1] != want {
		return "rows read " + m[1] + " of " + want
	}
	return ""
}

var ratioLine = regexp.MustCompile(`(?m)^total-jct +[0-9.,e+]+ \S+ +[0-9.,e+]+ \S+ +([0-9.]+) `)

// neverBelowOne: a schedule that was accepted has a ratio of at least 1.
func neverBelowOne(_ testing.TB, c *trial) string {
	m := ratioLine.FindStringSubmatch(c.out)
	if m == nil {
		return "accepted without a ratio"
	}
	if ratio, ok := new(big.Rat).SetString(m[1]); !ok || ratio.Cmp(big.NewRat(1, 1)) < 0 {
		return "accepted with a ratio of " + m[1]
	}
	return ""
}

// takes: after what was accepted the library holds, and the evidence of the other side, which
// is that of the optimum, neither contradicts it nor is beaten by it.
func takes(other string) func(testing.TB, *trial) string {
	return func(t testing.TB, c *trial) string {
		for _, args := range [][]string{{"submit", filepath.Join(c.dir, other), "--by", "B"}, {"check", "attacked", "-q"}} {
			e := run(t, c.dir, append(append([]string{"library"}, args...), "--library", filepath.Join(c.dir, "lib"))...)
			if e.code != 0 {
				return fmt.Sprintf("accepted, and then library %s exits with %d: %s%s", args[0], e.code, e.out, e.err)
			}
		}
		return ""
	}
}

var provenLine = regexp.MustCompile(`costs less than ([0-9]+)`)

// noMoreProven: what is said to be the optimum is, and no bound is above it.
func noMoreProven(t testing.TB, c *trial) string {
	proven := func(out string) *big.Int {
		m := provenLine.FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("accepted without a claim: %s", out)
		}
		v, _ := new(big.Int).SetString(m[1], 10)
		return v
	}
	d := proven(c.out).Cmp(proven(c.whole))
	if d > 0 || d < 0 && strings.Contains(c.out, "it is the optimum") {
		return "accepted, and not true: " + c.out
	}
	return ""
}

// sameOrTrusted: what is said to be false is what was, or a certificate is said to be missing.
func sameOrTrusted(t testing.TB, c *trial) string {
	if strings.Contains(c.out, "without a certificate, not checked") {
		return ""
	}
	return same(t, c)
}

const suiteText = `
name: attacked
instances:
  - {name: gang, slice: {jobs: 3, repeat: 2}, tooLarge: drop, methods: [sjf, fifo, a-srpt], references: [exhaustive, lb0, srpt], prove: {upTo: 3}}
  - {name: bouts, model: preemptive, startup: 30s, slice: {jobs: 2}, tooLarge: drop, methods: [srtf], references: [lb0]}
objectives: [total-jct]
`

// world makes valid inputs of every kind, and returns how each is read.
func world(t testing.TB) []target {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("suite/in.yaml", suiteText)
	must(t, dir, "run", "suite/in.yaml", "-q", "-o", "result")
	for _, name := range []string{"schedule", "certificate", "hunt", "refuted", "trace", "profile", "score"} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	list := []target{
		{"suite", "suite", "in.yaml", []string{"plan", "IN"}, anything},
		{"journal", "result", "cells/000001-all.journal", []string{"run", "DIR", "-q"}, sameDigest},
		{"manifest", "result", "manifest.json", []string{"report", "DIR"}, anything},
		{"plan", "result", "plan.json", []string{"run", "DIR", "-q"}, sameDigest},
	}
	tables, err := filepath.Glob(at("result/*.arrow"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, path := range tables {
		list = append(list, target{"table " + filepath.Base(path), "result", filepath.Base(path), []string{"report", "DIR"}, same})
	}
	for _, pattern := range []string{"instances/*", "certificates/*", "proofs/*.txt", "proofs/*.cert"} {
		files, err := filepath.Glob(at("result/" + pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		list = append(list, target{"result " + pattern, "result", filepath.Join(filepath.Dir(pattern), filepath.Base(files[0])), []string{"verify", "DIR", "-q"}, same})
	}

	must(t, dir, "instance", "extract", "result", "gang/00", "-o", "gang.json")
	must(t, dir, "instance", "extract", "result", "bouts/00", "-o", "preemptive.json")
	for name, keys := range map[string]string{"sharing": "model=sharing slotted=true round=12h gpuMemory=32GB", "elastic": "model=elastic"} {
		args := []string{"instance", "build", "builtin:philly-like", "-o", name + ".json"}
		for k := range strings.FieldsSeq("slice.jobs=3 tooLarge=drop " + keys) {
			args = append(args, "-s", k)
		}
		must(t, dir, args...)
	}
	for _, model := range []string{"gang", "preemptive", "sharing", "elastic"} {
		content, err := os.ReadFile(at(model + ".json"))
		if err != nil {
			t.Fatal(err)
		}
		write("instance-"+model+"/in.json", string(content))
		list = append(list, target{"instance " + model, "instance-" + model, "in.json", []string{"instance", "convert", "IN", "-o", "DIR/out.json"}, readAsWritten},
			target{"bound " + model, "instance-" + model, "in.json", []string{"bound", "IN", "--time-limit", "1s", "--nodes", "100"}, anything})
	}
	must(t, dir, "solve", "gang.json", "--schedule", "schedule/in.json")
	costs := costLine.FindStringSubmatch(must(t, dir, "verify", "gang.json", "schedule/in.json"))
	schedule, err := os.ReadFile(at("schedule/in.json"))
	if err != nil {
		t.Fatal(err)
	}
	write("unsealed/in.json", regexp.MustCompile(`,\s*"seal": "[0-9a-f]*"`).ReplaceAllString(string(schedule), ""))
	must(t, dir, "bound", "gang.json", "--certificate", "certificate/in.json")
	list = append(list,
		target{"schedule", "schedule", "in.json", []string{"verify", at("gang.json"), "IN"}, same},
		target{"schedule without seal", "unsealed", "in.json", []string{"verify", at("gang.json"), "IN"}, notBelow(costs[1])},
		target{"certificate", "certificate", "in.json", []string{"verify", at("gang.json"), "IN"}, same})

	must(t, dir, "prove", "gang.json", "-q", "-o", "proof")
	for _, file := range []string{"instance.txt", "optimum.cert"} {
		list = append(list, target{"proof " + file, "proof", file, []string{"verify", at("gang.json"), "DIR"}, noMoreProven})
	}

	must(t, dir, "library", "add", "gang.json", "--name", "attacked", "--from", "a test", "--library", "submitted/lib")
	for _, file := range []string{"schedule/in.json", "certificate/in.json", "proof/instance.txt", "proof/optimum.cert"} {
		content, err := os.ReadFile(at(file))
		if err != nil {
			t.Fatal(err)
		}
		write("submitted/"+file, string(content))
		other := "schedule"
		if file == "schedule/in.json" {
			other = "certificate"
		}
		list = append(list, target{"submitted " + file, "submitted", file, []string{"library", "submit", filepath.Join("DIR", filepath.Dir(file)), "--by", "A", "--library", "DIR/lib"}, takes(other)})
	}
	list = append(list, target{"library entry", "submitted", "lib/instances/attacked/entry.json", []string{"library", "check", "attacked", "-q", "--library", "DIR/lib"}, anything})

	must(t, dir, "hunt", "--policy", "fifo", "--model", "gang", "--jobs", "3", "--gpus", "2", "--evaluations", "200", "-o", "hunt/worst.json", "-q")
	for _, file := range []string{"worst.json", "worst.proof.json", "worst.certificate.json"} {
		list = append(list, target{"hunt " + file, "hunt", file, []string{"verify", "DIR/worst.json"}, sameOptimum})
	}
	must(t, dir, "hunt", "--conjecture", "cost(fifo) <= opt", "--jobs", "3", "--gpus", "2", "--evaluations", "200", "-o", "refuted/found.json", "-q")
	for _, file := range []string{"found.json", "found.proof.json"} {
		list = append(list, target{"conjecture " + file, "refuted", file, []string{"verify", "DIR/found.json"}, sameOrTrusted})
	}
	family, err := os.ReadFile("../../bench/hunt/testdata/families/fifo.json")
	if err != nil {
		t.Fatal(err)
	}
	write("family/in.json", string(family))
	list = append(list, target{"family", "family", "in.json", []string{"hunt", "evaluate", "IN", "--n", "10"}, anything})

	must(t, dir, "dataset", "generate", "--like", "philly", "--jobs", "200", "-o", "trace/in.parquet")
	write("csv/in.csv", "submit,gpus,duration\n0,1,10\n5,2,20.5\n\"7\",1,3\n9,4,100\n")
	write("graph/in.txt", "node1 -- Conv2d(3, 64) -- forward_compute_time=1.000, backward_compute_time=2.000, activation_size=4000000.0, parameter_size=1000000.000\n")
	write("gavel/in.json", `{"v100": {"('a', 1)": {"null": 2.0, "('a', 1)": [1.0, 1.0]}}}`)
	write("score/jobs.csv", "job_id,submit,gpus,duration\na,0,1,10\nb,5,2,20\nc,7,1,3\nd,9,4,100\n")
	must(t, dir, "simulate", "score/jobs.csv", "--policy", "sjf", "--servers", "2", "--gpus-per-server", "4", "-o", "score/in.csv")
	for _, file := range []string{"jobs.csv", "in.csv"} {
		list = append(list, target{"scored " + file, "score", file, []string{"score", "DIR/jobs.csv", "DIR/in.csv", "--gpus", "8"}, neverBelowOne})
	}
	must(t, dir, "dataset", "profile", "builtin:v100", "-o", "profile/in.parquet")
	list = append(list,
		target{"trace", "trace", "in.parquet", []string{"dataset", "describe", "IN"}, same},
		target{"trace in a suite", "trace", "in.parquet", []string{"instance", "build", "IN", "-s", "slice.jobs=3", "-o", "DIR/out.json"}, anything},
		target{"CSV", "csv", "in.csv", []string{"dataset", "import", "--format", "generic", "IN", "--map", "submit_s=submit", "--map", "gpus=gpus",
			"--map", "duration_s=duration", "-o", "DIR/out.parquet"}, everyRow},
		target{"job list", "csv", "in.csv", []string{"simulate", "IN", "--policy", "sjf", "--servers", "2", "--gpus-per-server", "4"}, anything},
		target{"layer graph", "graph", "in.txt", []string{"dataset", "profile", "IN", "--format", "pipedream", "--model", "toy", "--gpu", "v100", "--batch", "8"}, anything},
		target{"profile", "profile", "in.parquet", []string{"dataset", "profile", "IN"}, same},
		target{"interference", "gavel", "in.json", []string{"dataset", "interference", "IN", "-o", "DIR/out.parquet"}, anything})
	for i := range list {
		list[i].folder = at(list[i].folder)
	}
	return list
}

// digest is what a manifest says about all values of a result.
func digest(t testing.TB, dir string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Digest string `json:"result_digest"`
	}
	if err := json.Unmarshal(content, &m); err != nil || m.Digest == "" {
		t.Fatalf("%s: digest %q, %v", dir, m.Digest, err)
	}
	return m.Digest
}

func sameDigest(t testing.TB, c *trial) string {
	if got := digest(t, c.dir); got != c.whole {
		return "other values"
	}
	return ""
}

var optimum = regexp.MustCompile(`optimum \d+`)

func sameOptimum(_ testing.TB, c *trial) string {
	if got, want := optimum.FindString(c.out), optimum.FindString(c.whole); got != want || want == "" {
		return got + " accepted for " + want
	}
	return ""
}

// tally counts what became of the inputs.
type tally struct{ tried, refused, right, trace, wrong, large atomic.Int64 }

// mostResident is what a reader may use of memory for inputs of up to 1 MB.
const mostResident = 256 << 20

// TestInputs damages inputs of every kind: each is refused with its reason, or read as
// what it says; never a trace, a value that is not there, or memory without bound.
func TestInputs(t *testing.T) {
	list := world(t)
	each := (count(inputs, 80, 1500) + len(list) - 1) / len(list)
	var all tally
	t.Run("targets", func(t *testing.T) {
		for i, target := range list {
			t.Run(target.name, func(t *testing.T) {
				t.Parallel()
				target.attack(t, rand.New(rand.NewPCG(*seed, uint64(i))), each, &all)
			})
		}
	})
	if more := left(t); len(more) > 0 {
		t.Errorf("processes outlive the attack: %q", more)
	}
	t.Logf("| inputs tried | refused with a reason | read as they are | traces or hangs | silently wrong | beyond %d MB |\n| %d | %d | %d | %d | %d | %d |", mostResident>>20,
		all.tried.Load(), all.refused.Load(), all.right.Load(), all.trace.Load(), all.wrong.Load(), all.large.Load())
}

func (x *target) attack(t *testing.T, rng *rand.Rand, times int, all *tally) {
	dir := filepath.Join(t.TempDir(), "attacked")
	restore := func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(x.folder)); err != nil {
			t.Fatal(err)
		}
	}
	restore()
	path := filepath.Join(dir, x.file)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Clone(x.args)
	for i := range args {
		args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], "IN", path), "DIR", dir)
	}
	whole := must(t, dir, args...)
	if reflect.ValueOf(x.accepted).Pointer() == reflect.ValueOf(sameDigest).Pointer() {
		whole = digest(t, dir)
	}
	for k := range times {
		c := trial{dir: dir, whole: whole, damaged: damage(rng, content)}
		restore()
		if err := os.WriteFile(path, c.damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		c.ending = run(t, dir, args...)
		all.tried.Add(1)
		keep := func(what string) {
			kept := filepath.Join(os.TempDir(), fmt.Sprintf("attack-%s-%d-%d%s", strings.NewReplacer(" ", "-", "/", "-").Replace(x.name), *seed, k, filepath.Ext(x.file)))
			if err := os.WriteFile(kept, c.damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Errorf("seed %d, input %d: %s: exit code %d, %d MB: %.300q: %s", *seed, k, what, c.code, c.maxResident>>20, c.err, kept)
		}
		switch why := c.broken(); {
		case why != "":
			all.trace.Add(1)
			keep(why)
		case c.code != 0:
			all.refused.Add(1)
		default:
			if why := x.accepted(t, &c); why != "" {
				all.wrong.Add(1)
				keep(why)
			} else {
				all.right.Add(1)
			}
		}
		if c.maxResident > mostResident && len(c.damaged) <= 1<<20 {
			all.large.Add(1)
			keep("memory")
		}
	}
}
