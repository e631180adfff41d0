package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/bench/library"
)

// libraryEntry of the committed library that the tests below are about: small, and proven.
const libraryEntry = "gang-000010-01"

// ownLibrary returns a library of one entry, which tests may change.
func ownLibrary(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "library")
	if err := os.CopyFS(filepath.Join(dir, "instances", libraryEntry), os.DirFS(filepath.Join("../../library/instances", libraryEntry))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLibraryReader: a reader fetches an instance, beats the schedule that is known by one
// of their own, submits it, and sees the table change.
func TestLibraryReader(t *testing.T) {
	dir, mine := ownLibrary(t), filepath.Join(t.TempDir(), "mine")
	lib := "--library=" + dir
	exits(t, exitOK, "library", "fetch", libraryEntry, "-o", mine, lib)
	best, err := os.ReadFile(filepath.Join(mine, "schedule.json"))
	if err != nil {
		t.Fatal(err)
	}
	exits(t, exitOK, "verify", filepath.Join(mine, "instance.json"), filepath.Join(mine, "schedule.json"))
	if _, err := os.Stat(filepath.Join(mine, "proof", "check_tree.py")); err != nil {
		t.Error(err)
	}
	exits(t, exitOK, "verify", filepath.Join(mine, "instance.json"), filepath.Join(mine, "proof"))
	out := exits(t, exitIncomplete, "library", "submit", mine, "--by", "A. Reader", lib)
	if !strings.Contains(out, "no less than") {
		t.Errorf("what is no better: %s", out)
	}

	// The library has a worse schedule, by a reader: first come first served.
	worse := filepath.Join(t.TempDir(), "worse")
	forget(t, dir)
	if err := os.MkdirAll(worse, 0o755); err != nil {
		t.Fatal(err)
	}
	exits(t, exitOK, "simulate", filepath.Join(mine, "instance.json"), "--policy", "fifo", "--schedule", filepath.Join(worse, "a.json"))
	exits(t, exitOK, "library", "submit", worse, "--by", "First", lib)
	before := exits(t, exitOK, "library", "table", "--format", "csv", "-q", lib)
	if err := os.WriteFile(filepath.Join(worse, "a.json"), best, 0o644); err != nil {
		t.Fatal(err)
	}
	exits(t, exitOK, "library", "submit", worse, "--by", "A. Reader", lib)
	after := exits(t, exitOK, "library", "table", "--format", "csv", "-q", lib)
	if before == after || !strings.Contains(after, "A. Reader") || strings.Contains(after, "First") {
		t.Errorf("before %s\nafter %s", before, after)
	}
	if out := exits(t, exitOK, "library", "show", libraryEntry, lib); !strings.Contains(out, "by A. Reader") {
		t.Error(out)
	}
}

// TestLibraryHeld: while one command writes into a library no other does, and all may read.
func TestLibraryHeld(t *testing.T) {
	dir := ownLibrary(t)
	lib := "--library=" + dir
	release, err := (&library.Library{Dir: dir}).Hold()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"submit", t.TempDir(), "--by", "A. Reader"}, {"improve", "-q"}, {"freeze"}, {"select", "-q"}} {
		if code, _, errOut := benchCommand(t, append(append([]string{"library"}, args...), lib)...); code != exitUsage || !strings.Contains(errOut, "is being written by another") {
			t.Errorf("%s: exit code %d, %s", args[0], code, errOut)
		}
	}
	exits(t, exitOK, "library", "show", libraryEntry, lib)
	release()
	exits(t, exitOK, "library", "freeze", lib)
	exits(t, exitOK, "library", "check", libraryEntry, "-q", lib)
}

// TestLibraryLogs: an entry that is made of a public log holds none of it, and the reader's own
// copy makes the instance, packed or not; another file, or none, is told of.
func TestLibraryLogs(t *testing.T) {
	lib := "--library=" + t.TempDir()
	log := write(t, "jobs.csv", "job_id,num_gpu,submit_time,iterations,model_name,duration\n1,2,0,10,vgg16,100\n2,1,5,10,vgg16,50\n3,4,9,10,vgg16,80\n")
	add := []string{"library", "add", log, "--log", "toy-3", "--format", "tiresias", "-s", "slice.jobs=3", "-s", "cluster.servers=1", "-s", "cluster.gpusPerServer=4", "--name", "toy", lib}
	exits(t, exitOK, add...)
	entry, err := os.ReadFile(filepath.Join(strings.TrimPrefix(lib, "--library="), "instances", "toy", "entry.json"))
	if err != nil || strings.Contains(string(entry), log) || !strings.Contains(string(entry), `"log": "toy-3"`) {
		t.Errorf("%s, %v", entry, err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	packed := write(t, "jobs.csv.gz", string(zippedOnce(t, string(text))))
	for _, copied := range []string{log, packed} {
		mine := t.TempDir()
		exits(t, exitOK, "library", "fetch", "toy", "-o", mine, "--from", copied, lib)
		exits(t, exitOK, "simulate", filepath.Join(mine, "instance.json"), "--policy", "fifo", "--schedule", filepath.Join(mine, "a.json"))
	}
	mine := t.TempDir()
	exits(t, exitOK, "library", "fetch", "toy", "-o", mine, "--from", log, lib)
	exits(t, exitOK, "simulate", filepath.Join(mine, "instance.json"), "--policy", "fifo", "--schedule", filepath.Join(mine, "a.json"))
	exits(t, exitIncomplete, "library", "submit", mine, "--by", "A", lib) // it has no copy of the log
	exits(t, exitOK, "library", "submit", mine, "--by", "A", "--from", log, lib)
	if out := exits(t, exitOK, "library", "show", "toy", "--from", log, lib); !strings.Contains(out, "made of   the public log toy-3") || !strings.Contains(out, "by A,") {
		t.Error(out)
	}
	other := write(t, "other.csv", string(text)+"4,1,10,10,vgg16,3\n")
	for want, args := range map[string][]string{
		"--from names your copy": {"library", "fetch", "toy", "-o", mine, lib},
		"unpacks to sha256":      {"library", "fetch", "toy", "-o", mine, "--from", other, lib},
		"is there already":       add,
		"goes with --format":     {"library", "add", log, "--log", "toy", "--name", "b", lib},
		"go with --log":          {"library", "add", log, "--name", "b", "--from", "x", "-s", "slice.jobs=3", lib},
		"is unknown":             {"library", "add", log, "--log", "toy", "--format", "nothing", "--name", "b", lib},
	} {
		if code, _, errOut := benchCommand(t, args...); code != exitUsage || !strings.Contains(errOut, want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
}

// TestPublicEntries: the recipes of public logs that are committed hold no schedule and no
// instance, and make their instances of the logs where those are here.
func TestPublicEntries(t *testing.T) {
	l := &library.Library{Dir: "../../library/public", Import: importLog}
	all, err := l.Entries()
	if err != nil || len(all) < 5 {
		t.Fatal(len(all), err)
	}
	for _, e := range all {
		if e.Recipe.Log == "" || e.Schedule != nil || e.Bound != nil || e.Proof != nil {
			t.Errorf("%s holds what may be somebody's", e.Name)
		}
	}
	if extra, err := l.Extra(all); err != nil || len(extra) > 0 {
		t.Errorf("files that belong to nothing: %v, %v", extra, err)
	}
	logs := map[string]string{"tiresias-60": "tiresias/60_job.csv.gz", "openb": "alibaba_gpu_v2023/openb_pod_list_default.csv.gz"}
	for _, e := range all {
		l.Log = sharedData(t, filepath.Join("raw", logs[e.Recipe.Log]))
		if _, err := l.Build(e); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

// exits runs the command, which must end with the code, and returns what it prints.
func exits(t *testing.T, code int, args ...string) string {
	t.Helper()
	got, out, errOut := benchCommand(t, args...)
	if got != code {
		t.Fatalf("bench %s: exit code %d, want %d: %s%s", strings.Join(args, " "), got, code, out, errOut)
	}
	return out
}

// forget removes the evidence of the entry.
func forget(t *testing.T, dir string) {
	t.Helper()
	folder := filepath.Join(dir, "instances", libraryEntry)
	text, err := os.ReadFile(filepath.Join(folder, "entry.json"))
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), ",\n  \"schedule\": {")
	if !ok {
		t.Fatalf("%s has no schedule", text)
	}
	if err := os.WriteFile(filepath.Join(folder, "entry.json"), []byte(head+"\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLibraryTable: the table is what the files prove, in every format, and a library
// whose table or files are others does not hold.
func TestLibraryTable(t *testing.T) {
	dir := ownLibrary(t)
	lib := "--library=" + dir
	table := filepath.Join(dir, "table.csv")
	exits(t, exitOK, "library", "table", "--format", "csv", "-o", table, "-q", lib)
	exits(t, exitOK, "library", "freeze", lib)
	exits(t, exitUsage, "library", "freeze", lib)
	if out := exits(t, exitOK, "library", "check", "-q", lib); !strings.Contains(out, "1 instance checked, all hold: 1 optimal") {
		t.Error(out)
	}
	for format, want := range map[string]string{"table": "1 optimal", "md": "| " + libraryEntry, "json": `"status": "optimal"`, "latex": `\begin{tabular}`, "html": `class="good">optimal`} {
		if out := exits(t, exitOK, "library", "table", "--format", format, "-q", lib); !strings.Contains(out, want) {
			t.Errorf("%s: %s", format, out)
		}
	}
	arrow := filepath.Join(t.TempDir(), "t.arrow")
	exits(t, exitOK, "library", "table", "--format", "arrow", "-o", arrow, "-q", lib)
	exits(t, exitUsage, "library", "table", "--format", "arrow", "-q", lib)
	exits(t, exitUsage, "library", "table", "--format", "nonsense", "-q", lib)

	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(table, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	exits(t, exitInvalid, "library", "check", "-q", lib)
	if err := os.WriteFile(table, text, 0o644); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(dir, "instances", libraryEntry, "stray")
	if err := os.WriteFile(stray, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	exits(t, exitInvalid, "library", "check", "-q", lib)
}

// TestLibraryRun: a policy is compared with what is known, and one that is not made for
// the instances says so.
func TestLibraryRun(t *testing.T) {
	lib, out := "--library="+ownLibrary(t), filepath.Join(t.TempDir(), "runs.csv")
	text := exits(t, exitOK, "library", "run", "--policy", "sjf", "-o", out, "-q", lib)
	if !strings.Contains(text, "1 of 1 instances suit it, 0 without a schedule") {
		t.Error(text)
	}
	rows, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(rows), libraryEntry) {
		t.Error(string(rows), err)
	}
	exits(t, exitUsage, "library", "run", "--policy", "elastic-fifo", "-q", lib)
	for format, want := range map[string]string{"table": "over best known", "csv": "fifo(", "latex": `\begin{tabular}`} {
		got := exits(t, exitOK, "library", "run", "--policy", "fifo", "--beside", out, "--format", format, "-q", lib)
		if !strings.Contains(got, want) || !strings.Contains(got, "sjf") {
			t.Errorf("%s: %s", format, got)
		}
	}
	exits(t, exitUsage, "library", "run", "--policy", "fifo", "--format", "nothing", "-q", lib)
	for name, damaged := range map[string]string{"empty": "", "other": "a,b\n1,2\n", "more": string(rows) + string(rows)[strings.Index(string(rows), "\n")+1:],
		"instance": strings.ReplaceAll(string(rows), libraryEntry, "gang-000010-02"), "cost": strings.Replace(string(rows), ",true,", ",true,x", 1)} {
		if code, _, errOut := benchCommand(t, "library", "run", "--policy", "fifo", "--beside", write(t, name+".csv", damaged), "--format", "md", "-q", lib); code != exitUsage || !strings.Contains(errOut, "--beside") {
			t.Errorf("%s: exit code %d, %s", name, code, errOut)
		}
	}
	exits(t, exitUsage, "library", "run", "--policy", "fifo", "--beside", out, "-q", lib)
	exits(t, exitUsage, "library", "run", "--policy", "exhaustive", "-q", lib)
	exits(t, exitUsage, "library", "run", "nothing", "--policy", "sjf", "-q", lib)
}
