package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/internal/tier"
)

// damageSuite has a policy, bounds, optima with certificates, and cells that fail.
const damageSuite = `
name: damage
instances:
  - {name: small, trace: "builtin:philly?jobs=1000", slice: {jobs: 3, at: busiest}, tooLarge: drop, methods: [fifo, a-srpt, exhaustive], references: [lb0, srpt]}
  - {name: slots, trace: "builtin:philly?jobs=1000", where: {duration_s: ["<20000", ">1000"]}, slice: {jobs: 3, at: busiest}, cluster: {servers: 2, gpusPerServer: 2}, tooLarge: drop,
     round: 600s, methods: [fifo], references: [{name: time-indexed, params: {slot: 600s}}]}
objectives: [total-jct, makespan]
`

// wrongContents are what a line of a journal may hold although its hash is right.
func wrongContents(t *testing.T, content, other string) map[string]string {
	var cell map[string]any
	if err := json.Unmarshal([]byte(content), &cell); err != nil {
		t.Fatal(err)
	}
	with := func(change func(outcome map[string]any)) string {
		var c map[string]any
		if err := json.Unmarshal([]byte(content), &c); err != nil {
			t.Fatal(err)
		}
		list, _ := c["outcomes"].([]any)
		for _, o := range list {
			change(o.(map[string]any))
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	id := fmt.Sprintf(`{"id":%q`, cell["id"])
	wrong := map[string]string{
		"empty": "", "object": "{}", "null": "null", "list": "[]", "text": `"x"`, "number": "7",
		"cut": content[:len(content)/2], "another cell": other, "no outcomes": id + "}", "outcomes of another type": id + `,"outcomes":{}}`,
		"null outcomes": id + `,"outcomes":[null,null]}`, "empty outcomes": id + `,"outcomes":[{},{}]}`, "one outcome": id + `,"outcomes":[{"Termination":"COMPLETED"}]}`,
		"bare outcomes": id + `,"outcomes":[{"Termination":"COMPLETED"},{"Termination":"COMPLETED"}]}`,
		"twice":         content[:len(content)-1] + `,"limited":false,"limited":true}`, "case": strings.Replace(content, `"outcomes"`, `"Outcomes"`, 1),
		"error beside outcomes": content[:len(content)-1] + `,"error":{"text":"x"}}`, "limited": content[:len(content)-1] + `,"limited":true}`,
		"no schedule":      with(func(o map[string]any) { delete(o, "packed") }),
		"schedule of type": with(func(o map[string]any) { o["Schedule"] = 1 }),
		"schedule twice": with(func(o map[string]any) {
			if o["packed"] != nil {
				o["Schedule"] = map[string]any{"class": "N", "segments": []any{}}
			}
		}),
		"schedule cut": with(func(o map[string]any) {
			if text, ok := o["packed"].(string); ok {
				o["packed"] = text[:len(text)/8*4]
			}
		}),
		"schedule of text":  with(func(o map[string]any) { o["packed"] = "none" }),
		"no bounds' values": with(func(o map[string]any) { eachBound(o, func(b map[string]any) { delete(b, "Value") }) }),
		"raised bounds":     with(func(o map[string]any) { eachBound(o, func(b map[string]any) { b["Value"] = "999999999999999" }) }),
		"no certificate":    with(func(o map[string]any) { eachBound(o, func(b map[string]any) { delete(b, "Certificate") }) }),
		"bad prediction": with(func(o map[string]any) {
			if r, ok := o["Replay"].(map[string]any); ok {
				delete(o, "predictions")
				r["Predictions"] = []any{map[string]any{"Job": 99}}
			}
		}),
		"packed bad prediction": with(func(o map[string]any) {
			if o["predictions"] != nil {
				o["predictions"] = base64.StdEncoding.EncodeToString([]byte{1, 2 * 50, 2})
			}
		}),
		"predictions cut": with(func(o map[string]any) {
			if o["predictions"] != nil {
				o["predictions"] = base64.StdEncoding.EncodeToString([]byte{2, 0, 2})
			}
		}),
		"predictions twice": with(func(o map[string]any) {
			if r, ok := o["Replay"].(map[string]any); ok && o["predictions"] != nil {
				r["Predictions"] = []any{map[string]any{"Job": 0}}
			}
		}),
	}
	for name, text := range wrong {
		if same, err := json.Marshal(cell); text == content || err == nil && text == string(same) {
			delete(wrong, name) // a cell that has none of it
		}
	}
	return wrong
}

func eachBound(outcome map[string]any, do func(map[string]any)) {
	list, _ := outcome["Bounds"].([]any)
	for _, b := range list {
		do(b.(map[string]any))
	}
}

// TestJournalLines: whatever becomes of a line of a journal, to the bits or behind a
// hash that is right, its cell runs again or the command says so and fails; there is
// never another table.
func TestJournalLines(t *testing.T) {
	t.Parallel()
	const seed = 16
	rng := rand.New(rand.NewPCG(seed, 0))
	suite, dir := write(t, "suite.yaml", damageSuite), t.TempDir()+"/r"
	mustRun(t, "run", suite, "-q", "-o", dir)
	want, lines := digestOf(t, dir), journalLines(t, dir)
	whole, err := os.ReadFile(journalFile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	repaired, told := 0, 0
	check := func(what string) {
		t.Helper()
		code, out, errOut := benchCommand(t, "run", suite, "-q", "-o", dir)
		switch {
		case code == exitOK && digestOf(t, dir) == want:
			repaired++
			if code, _, again := benchCommand(t, "run", suite, "-q", "-o", dir); code != exitOK || !strings.Contains(again, "7 of 7 cells were finished before") {
				t.Errorf("seed %d: %s: not repaired for good: exit code %d: %s", seed, what, code, again)
			}
		case code != exitOK && strings.Contains(errOut, "bench: "):
			told++
		default:
			t.Errorf("seed %d: %s: exit code %d, digest %s, want %s: %s%s", seed, what, code, digestOf(t, dir), want, out, errOut)
		}
	}
	restore := func(content []byte) {
		name := filepath.Join(dir, "cells", "000001-all.journal")
		if err := os.RemoveAll(filepath.Dir(name)); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store := func(changed [][2]string) {
		restore(whole)
		writeJournal(t, journalFile(t, dir), changed)
	}
	check("as it was")
	for i, line := range lines {
		if line[0] == "header" {
			for name, content := range map[string]string{"empty": "", "null": "null", "list": "[]", "format": `{"format":2}`} {
				changed := append([][2]string{}, lines...)
				changed[i][1] = content
				store(changed)
				check("header " + name)
			}
			continue
		}
		wrong := wrongContents(t, line[1], lines[1+i%(len(lines)-1)][1])
		if tier.Long() {
			for name, content := range wrong {
				changed := append([][2]string{}, lines...)
				changed[i][1] = content
				store(changed)
				check(line[0] + " " + name)
			}
		}
	}
	// In the short run all lines are wrong at the same time, in every way that they
	// can be.
	names := map[string]bool{}
	for _, line := range lines[1:] {
		for name := range wrongContents(t, line[1], lines[1][1]) {
			names[name] = true
		}
	}
	for name := range names {
		changed := append([][2]string{}, lines...)
		for i := 1; i < len(lines); i++ {
			if content, ok := wrongContents(t, lines[i][1], lines[1+i%(len(lines)-1)][1])[name]; ok {
				changed[i][1] = content
			}
		}
		store(changed)
		check("all cells: " + name)
	}
	flips := tier.Draws(10, 20)
	for range flips {
		bad := append([]byte{}, whole...)
		switch rng.IntN(3) {
		case 0:
			bad = bad[:rng.IntN(len(bad))]
		default:
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			}
		}
		restore(bad)
		check("bits")
	}
	restore(nil)
	check("an empty file")
	t.Logf("%d repaired, %d told", repaired, told)
	if repaired < 10+flips || told < 3 {
		t.Errorf("%d repaired, %d told: the test did little", repaired, told)
	}
}

// TestUnreadableAtTabulation: a cell that cannot be read back when tables are made is
// a failed one.
func TestUnreadableAtTabulation(t *testing.T) {
	suite, dir := write(t, "suite.yaml", damageSuite), t.TempDir()+"/r"
	mustRun(t, "run", suite, "-q", "-o", dir)
	file, plan, err := readPlan([]string{suite}, nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := openStore(runFlags{out: dir}, file, bench.Shard{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.close()
	results := bench.Collect(t.Context(), plan, store.Store, nil)
	if err := os.Truncate(journalFile(t, dir), 1000); err != nil {
		t.Fatal(err)
	}
	a := &app{out: &strings.Builder{}, err: &strings.Builder{}}
	err = a.tabulate(t.Context(), plan, results, dir, tabulation{silent: true})
	if exitOf(err) != exitIncomplete || !strings.Contains(err.Error(), "run again") || openRun(t, dir).Manifest.Execution.Failed == 0 {
		t.Errorf("%v; manifest %+v", err, openRun(t, dir).Manifest.Execution)
	}
	mustRun(t, "run", suite, "-q", "-o", dir)
}

// TestDamagedFiles: whatever becomes of another file of a result directory, bench
// verify finds it, and running again repairs it.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	const seed = 17
	rng := rand.New(rand.NewPCG(seed, 0))
	suite, dir := write(t, "suite.yaml", damageSuite), t.TempDir()+"/r"
	mustRun(t, "run", suite, "-q", "-o", dir)
	want, report := mustRun(t, "verify", dir), mustRun(t, "report", dir)
	kinds := map[string]int{}
	for name, text := range files(t, dir, ".") {
		kind := filepath.Dir(name) + filepath.Ext(name)
		if name == bench.PlanFileName {
			kind = name
		}
		if kinds[kind]++; kinds[kind] > 2 || strings.HasPrefix(name, "cells") || strings.HasSuffix(name, ".html") || text == "" { // a lock is empty
			continue
		}
		flip := []byte(text)
		flip[rng.IntN(len(flip)-1)] ^= 1 << rng.IntN(7)
		for what, bad := range map[string]string{"empty": "", "cut": text[:len(text)/2], "bits": string(flip), "another": "{}", "null": "null", "gone": ""} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
				t.Fatal(err)
			}
			if what == "gone" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			switch name {
			case bench.FinishedName: // which only the next run looks at
			case bench.PlanFileName: // which proves nothing
				if code, _, errOut := benchCommand(t, "merge", dir); code == exitOK {
					t.Errorf("seed %d: %s, %s: merge: exit code %d: %s", seed, name, what, code, errOut)
				}
			default:
				if code, out, errOut := benchCommand(t, "verify", dir); code != exitInvalid && code != exitUsage || strings.Count(errOut, "\n") != 1 {
					t.Errorf("seed %d: %s, %s: verify: exit code %d: %s%s", seed, name, what, code, out, errOut)
				}
				if code, out, errOut := benchCommand(t, "report", dir); code == exitOK && out != report || code != exitOK && strings.Count(errOut, "\n") != 1 {
					t.Errorf("seed %d: %s, %s: report: exit code %d: %s%s", seed, name, what, code, out, errOut)
				}
			}
			mustRun(t, "run", suite, "-q", "-o", dir)
			if got := mustRun(t, "verify", dir); got != want {
				t.Errorf("seed %d: %s, %s: after another run: %s", seed, name, what, got)
			}
			report = mustRun(t, "report", dir) // it says how long the run took
		}
	}
	for _, kind := range []string{record.CertificateFolder + ".json", record.InstanceFolder + ".gz", bench.PlanFileName, "..json", "..arrow"} {
		if kinds[kind] == 0 {
			t.Errorf("no file of the kind %s among %v", kind, kinds)
		}
	}
}
