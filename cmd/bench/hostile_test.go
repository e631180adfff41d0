package main

import (
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"yardstick/datasets/tracetest"
	"yardstick/internal/output"
	"yardstick/sched"
)

// TestUnknownCommands: every group of commands refuses what it does not have, and names
// what is near.
func TestUnknownCommands(t *testing.T) {
	groups := 0
	for name, c := range everyCommand() {
		if c.Runnable() || name == "bench" {
			continue
		}
		groups++
		for _, args := range [][]string{strings.Fields(name), append([]string{"help"}, strings.Fields(name)...)} {
			refused(t, "nonsense of "+name, `has no command "nonsense"`, append(args, "nonsense"))
			first := c.Commands()[0].Name()
			refused(t, "nearly "+first, "do you mean "+first+"?", append(args, first+"x"))
		}
	}
	if groups < 4 {
		t.Errorf("%d groups", groups)
	}
	refused(t, "help of nothing", `no command "nonsense"`, []string{"help", "nonsense"})
}

// Flags that mean nothing for what they are given with are refused.
func TestIgnoredFlags(t *testing.T) {
	instance := instanceFile(t, models()["gang"])
	for _, flag := range []string{"--gpus=4", "--servers=2", "--gpus-per-server=2", "--inter=1Gbps", "--intra=1GB/s"} {
		name, _, _ := strings.Cut(flag, "=")
		refused(t, flag, name+" goes with a job list", []string{"simulate", instance, "--policy", "sjf", flag})
	}
	for name, f := range formulations() {
		if !f.slots {
			refused(t, name, "has no slots", []string{"export", instance, "--formulation", name, "--slot", "60s"})
		}
	}
	mustRun(t, "export", instance, "--formulation", "time-indexed", "--slot", "60s")
}

// A user's folder of settings that cannot be read is told of, and is no reason not to run.
func TestUnreadableConfiguration(t *testing.T) {
	file := write(t, "config", "")
	t.Setenv("XDG_CONFIG_HOME", file)
	t.Setenv("HOME", file)
	code, out, errOut := benchCommand(t, "config", "show")
	if code != exitOK || out == "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "settings there do not count") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

// inUTF16 is a text as some spreadsheets save it.
func inUTF16(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// TestEncodings: a byte order mark is no part of a suite or a list; other encodings and
// separators are named.
func TestEncodings(t *testing.T) {
	suite := "name: s\ninstances: [{slice: {jobs: 2}}]\nmethods: [sjf]\n"
	if plain, marked := mustRun(t, "plan", write(t, "s.yaml", suite)), mustRun(t, "plan", write(t, "s.yaml", "\ufeff"+suite)); plain != marked {
		t.Errorf("%s\nwith a mark:\n%s", plain, marked)
	}
	list := "submit,gpus,duration\n0,1,10\n"
	simulate := func(text string) []string {
		return []string{"simulate", write(t, "jobs.csv", text), "--gpus", "2", "--policy", "sjf"}
	}
	mustRun(t, simulate("\ufeff"+list)...)
	imported := func(text string) []string {
		return []string{"dataset", "import", "--format", "generic", write(t, "jobs.csv", text), "--map", "submit_s=submit", "--map", "gpus=gpus",
			"--map", "duration_s=duration", "-o", filepath.Join(t.TempDir(), "t.parquet")}
	}
	mustRun(t, imported("\ufeff"+list)...)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		refused(t, "suite", "UTF-16", []string{"plan", write(t, "s.yaml", inUTF16(suite, order))})
		refused(t, "list", "UTF-16", simulate(inUTF16(list, order)))
		refused(t, "import", "UTF-16", imported(inUTF16(list, order)))
	}
	refused(t, "Latin-1", "line 2 is not UTF-8", []string{"plan", write(t, "s.yaml", "name: s\n# \xe9\n")})
	for separator, name := range map[string]string{";": `";"`, "\t": `"\t"`, "|": `"|"`} {
		text := strings.ReplaceAll(list, ",", separator)
		refused(t, "list", "separated by "+name, simulate(text))
		refused(t, "import", "separated by "+name, imported(text))
	}
}

// TestHostileSuiteNames: a suite's name is that of a folder within results, or refused;
// nothing lands elsewhere.
func TestHostileSuiteNames(t *testing.T) {
	root := t.TempDir()
	here := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(here, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	names := []string{"..", ".", "../..", "/tmp/x", `..\x`, "a/b", "a\x00b", "a\nb", "\x1b[2J", "\u202ex", "\u200b", "-o", strings.Repeat("x", 4000), strings.Repeat("é", 51)}
	for _, name := range names {
		text := fmt.Sprintf("name: %s\ninstances: [{slice: {jobs: 2}}]\nmethods: [sjf]\n", quotedYAML(name))
		refused(t, fmt.Sprintf("suite %.50q", name), "name", []string{"run", write(t, "s.yaml", text), "-q"})
		suite := write(t, "s.yaml", "name: s\ninstances: [{slice: {jobs: 2}}]\nmethods: [sjf]\n")
		refused(t, fmt.Sprintf("--set name=%.50q", name), "name", []string{"run", suite, "-q", "--set", "name=" + quotedYAML(name)})
	}
	mustRun(t, "run", write(t, "s.yaml", "name: \"a name of 100 bytes: "+strings.Repeat("x", 79)+"\"\ninstances: [{slice: {jobs: 2}}]\nmethods: [sjf]\n"), "-q")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() && !strings.HasPrefix(path, filepath.Join(here, "results", "a name")) {
			t.Errorf("%s is outside", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range []string{`name: "a\eb"`, `name: "a\nb"`, "name: " + strings.Repeat("x", 600), `file: "a\eb.json"`, `trace: "a\nb.parquet"`} {
		refused(t, keys, "", []string{"plan", write(t, "s.yaml", "name: s\nmethods: [sjf]\ninstances: [{"+keys+"}]\n")})
	}
}

// quotedYAML is a text in double quotes, as YAML has them.
func quotedYAML(s string) string {
	return strings.NewReplacer(`\U`, `\U`).Replace(fmt.Sprintf("%+q", s))
}

// hostileName has what a terminal takes for commands, a line's end and a formula.
const hostileName = "=cmd|' /C calc'!A0\x1b]0;owned\x07\x1b[2J\n\u202e\u009b31m"

// namedFile is an instance file whose names are all of the given kind.
func namedFile(t *testing.T, in *sched.Instance, name string) string {
	in.Name = name
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.Name, j.User, j.Group = fmt.Sprint(name, i), name, name
	}
	for i := range in.History {
		in.History[i].User, in.History[i].Group = name, name
	}
	return instanceFile(t, in)
}

// TestHostileNamesAreShown: whatever names instances, lists and traces have, what commands print
// has as many lines as with plain names, and nothing that a terminal obeys.
func TestHostileNamesAreShown(t *testing.T) {
	tried := 0
	both := func(what string, args func(name string) []string) {
		tried++
		var lines [2]int
		for i, name := range []string{"plain", hostileName} {
			_, out, errOut := benchCommand(t, args(name)...)
			for _, text := range []string{out, errOut} {
				if output.Text(text) != text {
					t.Errorf("%s: obeyed by terminals: %q", what, text)
				}
			}
			lines[i] = strings.Count(out+errOut, "\n")
		}
		if lines[0] != lines[1] || lines[0] == 0 {
			t.Errorf("%s: %d lines with plain names, %d with others", what, lines[0], lines[1])
		}
	}
	for model := range models() {
		file := func(name string) string { return namedFile(t, models()[model], name) }
		for _, args := range [][]string{{"instance", "describe"}, {"solve"}, {"bound"}, {"validate"}, {"export", "--formulation", "npti"}, {"place"}, {"place", "--all-jobs"}, {"place", "--job", "x"},
			{"simulate", "--policy", "fifo"}, {"simulate", "--policy", "sharing-fifo"}, {"simulate", "--policy", "elastic-fifo"}} {
			both(model+" "+strings.Join(args, " "), func(name string) []string { return append(slices.Clone(args), file(name)) })
		}
		both(model+" run", func(name string) []string {
			suite := fmt.Sprintf("name: s\nmethods: [exhaustive]\nreferences: []\nlimits: {solve: 1s}\ninstances: [{name: plain, file: %s}]\n", file(name))
			return []string{"run", write(t, "s.yaml", suite), "-q", "-o", filepath.Join(t.TempDir(), "r")}
		})
	}
	list := func(name string) string {
		return tracetest.Write(t, "jobs.csv", records(t, [][]string{{"submit", "gpus", "duration", "id", "user"}, {"0", "1", "10", name, name}, {"0", "1", "10", name + "x", name}}))
	}
	both("list", func(name string) []string { return []string{"simulate", list(name), "--gpus", "1", "--policy", "fifo"} })
	both("list that does not fit", func(name string) []string {
		return []string{"simulate", tracetest.Write(t, "jobs.csv", records(t, [][]string{{"submit", "gpus", "duration", "id"}, {"0", "9", "10", name}})), "--gpus", "1", "--policy", "fifo"}
	})
	both("a column of another name", func(name string) []string {
		return []string{"simulate", tracetest.Write(t, "jobs.csv", records(t, [][]string{{name, "gpus", "duration", "id"}, {"0", "9", "10", "a"}})), "--gpus", "1", "--policy", "fifo"}
	})
	trace := filepath.Join(t.TempDir(), "t.parquet")
	mustRun(t, "dataset", "import", "--format", "generic", list(hostileName), "--map", "job_id=id", "--map", "user=user", "--map", "group=id", "--map", "status=user", "--map", "model=user", "--map", "submit_s=submit", "--map", "gpus=gpus", "--map", "duration_s=duration", "-o", trace)
	plain := filepath.Join(t.TempDir(), "t.parquet")
	mustRun(t, "dataset", "import", "--format", "generic", list("plain"), "--map", "job_id=id", "--map", "user=user", "--map", "group=id", "--map", "status=user", "--map", "model=user", "--map", "submit_s=submit", "--map", "gpus=gpus", "--map", "duration_s=duration", "-o", plain)
	for _, args := range [][]string{{"dataset", "describe"}, {"dataset", "slice", "-w", "gpus=1", "-o", filepath.Join(t.TempDir(), "o.parquet")}, {"instance", "build", "-s", "slice.jobs=2", "-o", filepath.Join(t.TempDir(), "o.json")},
		{"instance", "build", "-s", "slice.jobs=2", "-s", "cluster.servers=1", "-s", "where.user=none", "-o", filepath.Join(t.TempDir(), "o.json")}} {
		both(strings.Join(args[:2], " "), func(name string) []string {
			return append(slices.Clone(args), map[bool]string{true: plain, false: trace}[name == "plain"])
		})
	}
	if tried < 40 {
		t.Errorf("only %d were tried", tried)
	}
}

// TestCSVOfHostileNames: every command that writes CSV guards its cells, unless told not to.
func TestCSVOfHostileNames(t *testing.T) {
	file := namedFile(t, models()["preemptive"], "=1+1")
	list := tracetest.Write(t, "jobs.csv", []byte("id,user,submit,gpus,duration\n=1+1,@x,0,1,10\n"))
	commands := map[string][]string{"convert": {"instance", "convert", file}, "instance": {"simulate", file, "--policy", "fifo"}, "list": {"simulate", list, "--policy", "fifo", "--gpus", "1"}}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		for _, raw := range []string{"", "1"} {
			t.Setenv(output.RawCSV, raw)
			out := filepath.Join(t.TempDir(), "out.csv")
			if code, _, errOut := benchCommand(t, append(commands[name], "-o", out)...); code != exitOK {
				t.Fatal(errOut)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
			if err != nil || len(rows) < 2 {
				t.Fatal(rows, err)
			}
			for _, row := range rows {
				for _, cell := range row {
					if formula := strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "@"); formula && raw == "" {
						t.Errorf("%s: %q", name, cell)
					}
				}
			}
			if raw != "" && !strings.HasPrefix(rows[1][0], "=") {
				t.Errorf("%s: %q is not raw", name, rows[1][0])
			}
		}
	}
}

func records(t *testing.T, rows [][]string) []byte {
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := errors.Join(w.WriteAll(rows), w.Error()); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}
