package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/record"
	"yardstick/bench/tables"
	"yardstick/bounds/certify"
	"yardstick/bounds/proof/tree"
	"yardstick/sched"
)

// modelsSuite has instances of all models: pipelines, GPUs that are shared, elastic
// configurations, and a weight to be done by a deadline.
const modelsSuite = `
name: models
instances:
  - {name: pipelines, trace: "builtin:philly?jobs=1000", slice: {jobs: 4, at: random, repeat: 2}, cluster: {servers: 4, gpusPerServer: 4}, tooLarge: drop, profiles: "builtin:v100",
     prove: {upTo: 4}, methods: [wcs-subtime, a-srpt, a-srpt-perfect], references: [exhaustive, lb0, hybrid]}
  - {name: preemptive, trace: "builtin:philly?jobs=1000", model: preemptive, where: {gpus: ["<=4"], duration_s: ["<8000", ">600"]}, slice: {jobs: 3, load: 0..5}, cluster: {servers: 1, gpusPerServer: 4},
     slotted: true, round: 5m, tooLarge: drop, methods: [srtf, lazer], references: [bout-dp, srpt-dff]}
  - {name: sharing, model: sharing, where: {gpus: ["<=2"], duration_s: ["<6000", ">600"]}, slice: {jobs: 3, at: busiest}, cluster: {servers: 2, gpusPerServer: 2},
     gpuMemory: 16GiB, slotted: true, round: 20m, tooLarge: drop, methods: [sjf-bsbf, sjf-ffs], references: [sharing-search, theta-eei]}
  - {name: elastic, trace: "builtin:philly?jobs=1000", model: elastic, slice: {jobs: 3, at: random, repeat: 2}, cluster: {servers: 2}, round: 240h, deadline: 720h,
     objectives: [scheduled-weight, weighted-completion], methods: [primal-dual, elastic-drf], references: [elastic-conf, elastic-mean-busy-time]}
objectives: [total-jct, makespan]
methods: [fifo]
references: [lb0]
`

func openRun(t *testing.T, dir string) *record.Run {
	t.Helper()
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// rewrite changes a result directory as somebody would who then makes its hashes fit.
func rewrite(t *testing.T, dir string, change func(*record.Run)) {
	t.Helper()
	run := openRun(t, dir)
	for i := range run.Bounds {
		if hash := run.Bounds[i].Certificate; hash != "" {
			text, err := record.ReadCertificate(dir, string(hash))
			if err != nil {
				t.Fatal(err)
			}
			run.AddCertificate(text)
		}
	}
	for i := range run.Ratios {
		hash := run.Ratios[i].InstanceSHA256
		text, err := record.ReadInstance(dir, hash)
		if err != nil {
			t.Fatal(err)
		}
		run.AddInstance(hash, func() []byte { return text })
	}
	for i := range run.Solves {
		if s := &run.Solves[i]; s.Proof != "" {
			proof, problem, err := record.ReadProof(dir, string(s.Proof), string(s.Problem))
			if err != nil {
				t.Fatal(err)
			}
			run.AddProof(proof, problem, tree.Checkers())
		}
	}
	change(run)
	if err := record.Write(dir, run); err != nil {
		t.Fatal(err)
	}
}

func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// files lists the files of a folder of a result directory with their content.
func files(t *testing.T, dir, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(filepath.Join(dir, folder)), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, folder, path))
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVerifyFolder: a result directory proves itself, however it was made.
func TestVerifyFolder(t *testing.T) {
	suite, dir := write(t, "suite.yaml", modelsSuite), t.TempDir()
	mustRun(t, "run", suite, "-q", "-o", dir+"/one")
	want := mustRun(t, "verify", dir+"/one")
	run := openRun(t, dir+"/one")
	schedules := map[[2]string]bool{}
	for i := range run.Ratios {
		if row := &run.Ratios[i]; row.Schedule.Valid {
			schedules[[2]string{row.CellID, fmt.Sprint(row.Schedule.V)}] = true
		}
	}
	stored, instances := files(t, dir+"/one", record.CertificateFolder), files(t, dir+"/one", record.InstanceFolder)
	counts := fmt.Sprintf("%d certificates and %d schedules of %d cells verified", len(stored), len(schedules), run.Manifest.Execution.Cells)
	if !strings.Contains(want, counts) || len(stored) < 10 || len(schedules) < 10 || len(instances) != 6 {
		t.Errorf("%swant %s; %d instances", want, counts, len(instances))
	}
	if got := mustRun(t, "verify", dir+"/one", "-j", "1", "-q"); got != want {
		t.Errorf("with one worker: %s", got)
	}

	var apart []string
	for i := range 3 {
		apart = append(apart, fmt.Sprintf("%s/apart%d", dir, i))
		mustRun(t, "run", suite, "-q", "--shard", fmt.Sprintf("%d/3", i+1), "-o", apart[i])
	}
	mustRun(t, append([]string{"merge", dir + "/merged"}, apart...)...)
	mustRun(t, "run", suite, "-q", "-o", dir+"/one") // all reused
	mustRun(t, "run", suite, "-q", "--force", "-o", dir+"/forced")
	for _, name := range []string{"merged", "one", "forced"} {
		if got := mustRun(t, "verify", filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %s", name, got)
		}
		if got := files(t, filepath.Join(dir, name), record.InstanceFolder); !reflect.DeepEqual(got, instances) {
			t.Errorf("%s has other instances", name)
		}
	}
	if code, _, errOut := benchCommand(t, "verify", apart[0]); code != exitUsage || !strings.Contains(errOut, "not a result directory") {
		t.Errorf("a shard: exit code %d: %s", code, errOut)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut bytes.Buffer
	if err := (&app{out: &out, err: &errOut}).verifyFolder(ctx, dir+"/one", 2, false); exitOf(err) != exitInterrupted || strings.Contains(out.String(), counts) {
		t.Errorf("interrupted: %v\n%s", err, out.String())
	}
	extractAll(t, dir+"/one", run)
}

// extractAll writes every instance and has the commands that take one read it.
func extractAll(t *testing.T, dir string, run *record.Run) {
	done := map[string]bool{}
	for i := range run.Ratios {
		row := &run.Ratios[i]
		if done[row.Instance] {
			continue
		}
		done[row.Instance] = true
		path := filepath.Join(t.TempDir(), "in.json")
		mustRun(t, "instance", "extract", dir, row.Instance, "-o", path)
		in, err := readInstance(path)
		if err != nil || in.Name != row.Instance || in.Hash() != row.InstanceSHA256 {
			t.Errorf("%s: %v, %v", row.Instance, in, err)
		}
		if got := mustRun(t, "instance", "extract", dir, row.Instance); !strings.Contains(got, in.Name) {
			t.Errorf("standard output: %s", got)
		}
	}
	path, schedule := filepath.Join(t.TempDir(), "in.json"), filepath.Join(t.TempDir(), "s.json")
	mustRun(t, "instance", "extract", dir, "pipelines/00", "-o", path)
	mustRun(t, "solve", path, "--schedule", schedule)
	mustRun(t, "verify", path, schedule)
	mustRun(t, "simulate", path, "--policy", "wcs-subtime")
	for _, name := range []string{"pipelines/7", "nothing like it"} {
		if code, _, errOut := benchCommand(t, "instance", "extract", dir, name); code != exitUsage || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "pipelines/0") && !strings.Contains(errOut, "elastic/00") {
			t.Errorf("%s: exit code %d: %s", name, code, errOut)
		}
	}
}

// changed is a certificate with another value and a seal that fits.
func changedCertificate(t *testing.T, text []byte, value string) []byte {
	t.Helper()
	var d map[string]json.RawMessage
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	out := bytes.Replace(text, d["value"], []byte(`"`+value+`"`), 1)
	return []byte(reseal(string(out)))
}

// TestVerifyFindsTampering: whatever of a result directory is changed, by somebody who
// makes all hashes fit, is found and named.
func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/r"
	mustRun(t, "run", write(t, "suite.yaml", modelsSuite), "-q", "-o", dir)
	ratio := func(run *record.Run) *record.Ratio { // of pipelines, whose schedule has a cost
		i := slices.IndexFunc(run.Ratios, func(r record.Ratio) bool { return r.Cost.Valid })
		return &run.Ratios[i]
	}
	bound := func(run *record.Run) *record.Bound {
		i := slices.IndexFunc(run.Bounds, func(b record.Bound) bool { return b.Certificate != "" })
		return &run.Bounds[i]
	}
	certificate := func(run *record.Run, value string) record.Text {
		b := bound(run)
		return run.AddCertificate(changedCertificate(t, run.Certificates[string(b.Certificate)], value))
	}
	proven := func(run *record.Run) *record.Solve {
		i := slices.IndexFunc(run.Solves, func(s record.Solve) bool { return s.Proof != "" })
		return &run.Solves[i]
	}
	// other changes the text of a proof or its problem, and makes all hashes fit.
	other := func(run *record.Run, ofProblem bool, old, text string) {
		s := proven(run)
		proof, problem := run.Proofs[string(s.Proof)], run.Problems[string(s.Problem)]
		change := func(b []byte) []byte {
			if !bytes.Contains(b, []byte(old)) {
				t.Fatalf("%q is not in\n%s", old, b)
			}
			return bytes.Replace(b, []byte(old), []byte(text), 1)
		}
		if ofProblem {
			problem = change(problem)
			sum := sha256.Sum256(problem)
			proof = bytes.Replace(proof, []byte(s.Problem), []byte(hex.EncodeToString(sum[:])), 1)
		} else {
			proof = change(proof)
		}
		s.ProofBytes = record.Some(int64(len(proof)))
		s.Proof, s.Problem = run.AddProof(proof, problem, tree.Checkers())
	}
	for name, c := range map[string]struct {
		change func(*record.Run)
		want   string
	}{
		"proof removed":   {func(run *record.Run) { delete(run.Proofs, string(proven(run).Proof)) }, "no such file"},
		"problem removed": {func(run *record.Run) { delete(run.Problems, string(proven(run).Problem)) }, "no such file"},
		"proof of nothing": {func(run *record.Run) {
			proven(run).Proof, proven(run).Problem = "", ""
		}, "the proof for strangers of exhaustive/proof"},
		"proof of another instance": {func(run *record.Run) { // each holds
			s := proven(run)
			for i := range run.Solves {
				if o := &run.Solves[i]; o.Proof != "" && o.Instance != s.Instance && o.Objective == s.Objective {
					o.Proof, o.Problem, o.Nodes, o.ProofBytes = s.Proof, s.Problem, s.Nodes, s.ProofBytes
				}
			}
		}, "not what follows from the instance"},
		"proof of another objective": {func(run *record.Run) {
			s := proven(run)
			for i := range run.Solves {
				if o := &run.Solves[i]; o.Proof != "" && o.Instance == s.Instance && o.Objective != s.Objective {
					o.Proof, o.Problem, o.Nodes, o.ProofBytes = s.Proof, s.Problem, s.Nodes, s.ProofBytes
				}
			}
		}, "not what follows from the instance"},
		"proof of a bound":       {func(run *record.Run) { other(run, false, "claim optimum", "claim bound") }, "does not hold"},
		"proof without its tree": {func(run *record.Run) { other(run, false, "end\n", "0 0\nend\n") }, "does not hold"},
		"proof with another problem": {func(run *record.Run) {
			other(run, true, "class N", "class Ns")
		}, "not what follows from the instance"},
		"nodes of a proof":  {func(run *record.Run) { proven(run).Nodes.V++ }, "something else is recorded"},
		"bytes of a proof":  {func(run *record.Run) { proven(run).ProofBytes.V++ }, "something else is recorded"},
		"status of a proof": {func(run *record.Run) { proven(run).ProofStatus = record.Certified }, "something else is recorded"},
		"format of a proof": {func(run *record.Run) { proven(run).ProofFormat = "veripb" }, "something else is recorded"},
		"cost": {func(run *record.Run) {
			r := ratio(run)
			r.Cost, r.CostExact = record.Some(1.0), "1"
		}, "the cost is recorded as 1"},
		"schedule shifted": {func(run *record.Run) {
			for i := range run.Segments {
				if s := &run.Segments[i]; s.CellID == ratio(run).CellID {
					s.Start, s.End = s.Start+1, s.End+1
				}
			}
		}, "the cost is recorded as"},
		"schedule cut":    {func(run *record.Run) { run.Segments[0].End-- }, "does not hold"},
		"segment removed": {func(run *record.Run) { run.Segments = run.Segments[1:] }, "the schedule of"},
		"jobs removed":    {func(run *record.Run) { run.Jobs = run.Jobs[1:] }, "jobs.arrow has"},
		"value of a certificate": {func(run *record.Run) { // above what it proves, with a row that says so
			b := bound(run)
			b.Certificate = certificate(run, "1000000000000000000")
			b.Value, b.ValueExact = record.Some(1e12), "1000000000000"
		}, "does not hold"},
		"value of a certificate below": {func(run *record.Run) { // true, and another than the row's
			bound(run).Certificate = certificate(run, "1")
		}, "its certificate states 1/1000000"},
		"certificate of another": {func(run *record.Run) {
			last := run.Bounds[len(run.Bounds)-1]
			bound(run).Certificate = last.Certificate
		}, "another instance"},
		"certificate removed": {func(run *record.Run) { delete(run.Certificates, string(bound(run).Certificate)) }, "no such file"},
		"certified without":   {func(run *record.Run) { bound(run).Certificate = "" }, "has no certificate"},
		"instance removed":    {func(run *record.Run) { delete(run.Instances, ratio(run).InstanceSHA256) }, "no such file"},
		"instance": {func(run *record.Run) { // with twice the weight of a job
			old := ratio(run).InstanceSHA256
			in, err := sched.ReadInstance(bytes.NewReader(run.Instances[old]()))
			if err != nil {
				t.Fatal(err)
			}
			in.Jobs[0].Iters++
			for i := range run.Ratios {
				if run.Ratios[i].InstanceSHA256 == old {
					run.Ratios[i].InstanceSHA256 = in.Hash()
				}
			}
			for i := range run.Bounds {
				if run.Bounds[i].InstanceSHA256 == old {
					run.Bounds[i].InstanceSHA256 = in.Hash()
				}
			}
			run.AddInstance(in.Hash(), in.Canonical)
		}, "another instance"},
		"ratio":   {func(run *record.Run) { ratio(run).RatioToLowerBound.V /= 2 }, "ratio_to_lower_bound is recorded"},
		"optimum": {func(run *record.Run) { ratio(run).OptimumStatus = "proven" }, "optimum_status is recorded"},
		"bound removed": {func(run *record.Run) {
			run.Bounds = slices.DeleteFunc(run.Bounds, func(b record.Bound) bool { return b.Instance == ratio(run).Instance })
		}, "is recorded as"},
	} {
		t.Run(name, func(t *testing.T) {
			copied := copyFolder(t, dir)
			rewrite(t, copied, c.change)
			code, out, errOut := benchCommand(t, "verify", copied)
			if code != exitInvalid || !strings.Contains(out, c.want) || strings.Count(errOut, "\n") != 1 {
				t.Errorf("exit code %d: %s%s", code, out, errOut)
			}
			if again, _, _ := benchCommand(t, "verify", copied, "-j", "1"); again != code {
				t.Errorf("the second time: exit code %d", again)
			}
		})
	}
	t.Run("fields", func(t *testing.T) { changeFields(t, dir) })
}

// unchecked are the fields of rows that bench verify does not hold to anything, and
// why.
var unchecked = map[string]string{
	"Ratio.Suite": "a name", "Ratio.Family": "a name", "Ratio.Method": "a name", "Ratio.MethodVersion": "a name", "Ratio.Kind": "of the method",
	"Ratio.Seed": "what an instance was drawn with cannot be seen from it", "Ratio.Clairvoyant": "of the method", "Ratio.Termination": "of the method",
	"Ratio.Theorem": "theorems.arrow is checked by bench validate", "Ratio.TheoremBound": "the same", "Ratio.TheoremHolds": "the same",
	"Ratio.Decisions": "of the method", "Ratio.DecisionP50": "a time by the clock", "Ratio.DecisionP99": "a time by the clock", "Ratio.Wall": "a time by the clock",
	"Ratio.CPU": "a time by the clock", "Ratio.PeakRSS": "of the machine", "Ratio.Message": "prose", "Ratio.WallLimited": "of the method", "Ratio.Params": "of the suite",
	"Ratio.Fresh":           "of the suite, for programs alone",
	"Job.ItersPredicted":    "what a policy was told",
	"Ratio.DeferralChoices": "counted by the policy", "Ratio.Deferrals": "the same", "Ratio.DeferralPromised": "what the policy's predictor believed, of which a schedule shows nothing", "Ratio.DeferralRealised": "the same",
	"Ratio.DeferralExplained": "the same", "Ratio.DeferralWithin": "the same",
	"Segment.Segment": "a number that orders segments",
	"Segment.Server":  "another server may do as well",
	"Bound.Suite":     "a name", "Bound.Bound": "a name", "Bound.Wall": "a time by the clock", "Bound.Message": "prose", "Bound.WallLimited": "of the method",
	"Instance.Suite": "a name", "Instance.Family": "a name", "Instance.Seed": "what an instance was drawn with cannot be seen from it",
	"Bound.CellID": "a bound counts for all cells of its instance",
}

// changeFields changes every field of every kind of row, one at a time, each on the
// first instance that has it.
func changeFields(t *testing.T, dir string) {
	runs := byInstance(openRun(t, dir))
	recheck := func(run *record.Run) []string {
		found, err := tables.Recheck(t.Context(), run, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		return found.Failed
	}
	count := 0
	for _, table := range []string{"Ratios", "Jobs", "Segments", "Bounds", "Features"} {
		row := reflect.TypeOf(record.Run{})
		field, _ := row.FieldByName(table)
		row = field.Type.Elem()
		for f := range row.NumField() {
			name := row.Name() + "." + row.Field(f).Name
			if unchecked[name] != "" {
				continue
			}
			run, value := alterable(runs, table, f)
			if run == nil {
				t.Errorf("no row has %s", name)
				continue
			}
			old := reflect.New(value.Type()).Elem()
			old.Set(value)
			alter(value)
			if len(recheck(run)) == 0 {
				t.Errorf("%s was changed, and nothing fails", name)
			}
			value.Set(old)
			count++
		}
	}
	if count < 50 {
		t.Errorf("only %d fields were changed", count)
	}
	for _, run := range runs {
		if failed := recheck(run); len(failed) > 0 {
			t.Errorf("as it was: %v", failed)
		}
	}
}

// byInstance cuts a run into those of its instances.
func byInstance(run *record.Run) []*record.Run {
	var list []*record.Run
	of := map[string]*record.Run{}
	cells := map[string]*record.Run{}
	for _, row := range run.Ratios {
		r := of[row.Instance]
		if r == nil {
			r = &record.Run{Dir: run.Dir}
			of[row.Instance], list = r, append(list, r)
		}
		r.Ratios = append(r.Ratios, row)
		cells[row.CellID] = r
	}
	for _, row := range run.Features {
		of[row.Instance].Features = append(of[row.Instance].Features, row)
	}
	for _, row := range run.Bounds {
		of[row.Instance].Bounds = append(of[row.Instance].Bounds, row)
	}
	for _, row := range run.Jobs {
		cells[row.CellID].Jobs = append(cells[row.CellID].Jobs, row)
	}
	for _, row := range run.Segments {
		cells[row.CellID].Segments = append(cells[row.CellID].Segments, row)
	}
	return list
}

// alterable returns the first run whose rows have a value in the field, and the value.
func alterable(runs []*record.Run, table string, f int) (*record.Run, reflect.Value) {
	for _, run := range runs {
		rows := reflect.ValueOf(run).Elem().FieldByName(table)
		for i := range rows.Len() {
			value := rows.Index(i).Field(f)
			old := reflect.New(value.Type()).Elem()
			old.Set(value)
			if alter(value) {
				value.Set(old)
				return run, value
			}
		}
	}
	return nil, reflect.Value{}
}

// alter changes a value that is there.
func alter(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		if v.Len() == 0 {
			return false
		}
		v.SetString(v.String() + "1")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Struct:
		return v.FieldByName("Valid").Bool() && alter(v.FieldByName("V"))
	default:
		return false
	}
	return true
}

// TestVerifyHunt: what a hunt writes holds, and not after a change.
func TestVerifyHunt(t *testing.T) {
	path := t.TempDir() + "/worst.json"
	mustRun(t, "hunt", "--policy", "srtf", "--model", "preemptive", "--jobs", "3", "--gpus", "2", "--evaluations", "200", "-q", "-o", path, "--resume", path+".state")
	for _, args := range [][]string{{path}, {path, proofPath(path)}} {
		if out := mustRun(t, append([]string{"verify"}, args...)...); !strings.Contains(out, "holds\nsrtf: ratio ") || !strings.Contains(out, "certified by "+certificatePath(path)) {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out := mustRun(t, "verify", path, certificatePath(path)); !strings.Contains(out, "holds") {
		t.Error(out)
	}
	if code, _, errOut := benchCommand(t, "verify", path, path+".state"); code != exitUsage || !strings.Contains(errOut, "state") && !strings.Contains(errOut, "left") {
		t.Errorf("the state: exit code %d: %s", code, errOut)
	}
	if code, _, errOut := benchCommand(t, "verify", write(t, "in.json", tinyInstance)); code != exitUsage || strings.Count(errOut, "\n") != 1 {
		t.Errorf("an instance alone: exit code %d: %s", code, errOut)
	}
	good := files(t, filepath.Dir(path), ".")
	restore := func() {
		for name, text := range good {
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	proof := good["worst.proof.json"]
	for name, change := range map[string]func(){
		"ratio":   func() { replaceIn(t, proofPath(path), `"ratio": "`, `"ratio": "9`) },
		"cost":    func() { replaceIn(t, proofPath(path), `"cost": "`, `"cost": "9`) },
		"optimum": func() { replaceIn(t, proofPath(path), `"value": "`, `"value": "9`) },
		"class": func() {
			replaceIn(t, proofPath(path), regexp.MustCompile(`"class": "\w+"`).FindString(proof), `"class": "Ns"`)
		},
		"certificate": func() { os.Remove(certificatePath(path)) },
		"another certificate": func() {
			text := changedCertificate(t, []byte(good["worst.certificate.json"]), "1")
			if err := os.WriteFile(certificatePath(path), text, 0o644); err != nil {
				t.Fatal(err)
			}
			replaceIn(t, proofPath(path), certify.SHA256([]byte(good["worst.certificate.json"])), certify.SHA256(text))
		},
		"segment":  func() { replaceIn(t, proofPath(path), `"end":`, `"start":`) },
		"instance": func() { replaceIn(t, path, `"iters": `, `"iters": 1`) },
	} {
		change()
		if code, out, errOut := benchCommand(t, "verify", path); code == exitOK || strings.Contains(out, "holds\n") || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s changed: exit code %d: %s%s", name, code, out, errOut)
		}
		restore()
	}
	mustRun(t, "verify", path)
}

func replaceIn(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s does not hold %s: %v", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
