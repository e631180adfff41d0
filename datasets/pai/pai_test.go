package pai

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets"
	"yardstick/datasets/importer"
)

const raw = "../../../shared/data/raw/"

// Small tables: a has two tasks and a tag, b failed and asks for no GPU, c
// comes twice, d still runs, e has no task.
const (
	smallJobs = `a,ia,u1,Terminated,1000.0,1600.0
b,ib,u1,Failed,1100.0,1200.0
c,ic,u2,Terminated,1200.0,3200.0
c,ic,u2,Terminated,1300.0,3200.0
d,id,u2,Running,1400.0,
e,ie,u3,Terminated,1500.0,1700.0
`
	smallTasks = `a,ps,1.0,Terminated,1010.0,1600.0,600.0,10.0,,
a,worker,2.0,Terminated,1020.0,1600.0,400.0,29.296875,50.0,T4
b,worker,1.0,Failed,0.0,0.0,100.0,1.0,0.0,CPU
c,tensorflow,1.0,Terminated,1205.0,3200.0,,,100.0,V100
d,worker,1.0,Running,1400.0,,600.0,1.0,25.0,MISC
z,worker,1.0,Running,1400.0,,600.0,1.0,25.0,MISC
`
	smallTags = `ia,u1,T4,g1,bert
ic,u2,,g2,
ic,u2,,g3,nmt
`
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func tables(t testing.TB, jobs, tasks, tags string) Tables {
	t.Helper()
	return Tables{Jobs: write(t, "jobs", jobs), Tasks: write(t, "tasks", tasks), Tags: write(t, "tags", tags)}
}

func read(t testing.TB, path string) []datasets.Row {
	t.Helper()
	s, err := datasets.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rows []datasets.Row
	for row, err := range s.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func load(t *testing.T, in Tables, o Options) (*importer.Report, []datasets.Row) {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "out.parquet")
	r, err := Import(in, out, o)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v was left behind", left)
	}
	return r, read(t, out)
}

func number(v float64) datasets.Opt[float64] { return datasets.Some(v) }

func TestImport(t *testing.T) {
	r, rows := load(t, tables(t, smallJobs, smallTasks, smallTags), Options{})
	want := []datasets.Row{
		{Trace: "pai", JobID: "a", User: datasets.Some("u1"), Group: datasets.Some("g1"), Model: datasets.Some("bert"), Status: datasets.Some("Terminated"),
			SubmitS: number(0), QueueS: number(10), DurationS: number(590), GPUs: number(1), CPUs: number(14), GPUType: datasets.Some("T4")},
		{Trace: "pai", JobID: "c", User: datasets.Some("u2"), Group: datasets.Some("g2"), Status: datasets.Some("Terminated"),
			SubmitS: number(200), QueueS: number(5), DurationS: number(1995), GPUs: number(1), GPUType: datasets.Some("V100")},
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v", rows)
	}
	if got := r.String(); got != "6 rows in, 2 kept, 1 dropped by duplicate, 2 dropped by gpu-only, 0 dropped by negative-time, 1 dropped by no-duration" {
		t.Error(got)
	}
	if r.StartS != 1000 || !r.Start.IsZero() {
		t.Errorf("starts at %v, %v", r.StartS, r.Start)
	}
	in := tables(t, smallJobs, smallTasks, smallTags)
	for names, want := range map[string]string{
		"none": "a b c c d e", "default,terminated": "a c", "default,hydra": "c", "none,gaia": "a c c", "duplicate": "a b c d e", "terminated,duplicate": "a c e",
	} {
		_, rows := load(t, in, Options{Rules: strings.Split(names, ",")})
		var ids []string
		for _, r := range rows {
			ids = append(ids, r.JobID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s keeps %s, not %s", names, got, want)
		}
	}
	in.Tags = ""
	if _, rows := load(t, in, Options{}); len(rows) != 2 || rows[0].Group.OK || rows[0].Model.OK {
		t.Errorf("without tags: %+v", rows)
	}
}

// The join in files gives what a join in maps does.
func TestJoinAgainstMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		var jobs, tasks, tags strings.Builder
		n := 1 + rng.IntN(200)
		type demand struct {
			gpus, start float64
			tasks       int
		}
		demands, groups := map[string]*demand{}, map[string]string{}
		for i := range n * 2 {
			name := fmt.Sprint("j", rng.IntN(2*n))
			inst, plan, start := 1+rng.IntN(3), 25*rng.IntN(5), 1000+rng.IntN(100)
			fmt.Fprintf(&tasks, "%s,t%d,%d.0,x,%d.0,1.0,1.0,1.0,%d.0,T4\n", name, i, inst, start, plan)
			d := demands[name]
			if d == nil {
				d = &demand{start: float64(start)}
				demands[name] = d
			}
			d.gpus += float64(inst * plan)
			d.start = min(d.start, float64(start))
			d.tasks++
			instance, group := fmt.Sprint("i", rng.IntN(2*n)), fmt.Sprint("g", rng.IntN(9))
			fmt.Fprintf(&tags, "%s,u,,%s,\n", instance, group)
			if groups[instance] == "" {
				groups[instance] = group
			}
		}
		var want []datasets.Row
		for i, k := range rng.Perm(n) {
			name, instance := fmt.Sprint("j", k), fmt.Sprint("i", rng.IntN(2*n))
			fmt.Fprintf(&jobs, "%s,%s,u%d,Terminated,%d.0,5000.0\n", name, instance, k%7, 900+i)
			row := datasets.Row{Trace: "pai", JobID: name, User: datasets.Some(fmt.Sprint("u", k%7)), Status: datasets.Some("Terminated"),
				SubmitS: number(float64(i)), DurationS: number(float64(4100 - i))}
			if d := demands[name]; d != nil {
				row.GPUs, row.CPUs = number(d.gpus/100), datasets.Opt[float64]{}
				row.QueueS, row.DurationS = number(d.start-float64(900+i)), number(5000-d.start)
				row.GPUType = datasets.Some("T4")
			}
			if g := groups[instance]; g != "" {
				row.Group = datasets.Some(g)
			}
			want = append(want, row)
		}
		in := tables(t, jobs.String(), tasks.String(), tags.String())
		for _, limit := range []int{0, 1000} {
			out := filepath.Join(t.TempDir(), "out.parquet")
			if _, err := Import(in, out, Options{Rules: []string{"negative-time"}, SortBytes: limit}); err != nil {
				t.Fatal(err)
			}
			got := read(t, out)
			for i := range got {
				got[i].CPUs = datasets.Opt[float64]{} // of no interest
				if want[i].QueueS.V < 0 {
					want[i].QueueS = datasets.Opt[float64]{}
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("limit %d: %+v\n%+v", limit, got[0], want[0])
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ jobs, tasks, tags, want string }{
		"fields": {"a,b,c\n", "", "", "jobs: line 1: has 3 fields, the header has 6"},
		"name":   {",i,u,s,1,2\n", "", "", "jobs: line 1: column job_name: is empty"},
		"number": {smallJobs, "a,t,one,s,1,2,3,4,5,T4\n", "", `tasks: line 1: column inst_num: "one" is not a number`},
		"sign":   {smallJobs, "a,t,1,s,1,2,3,4,-5,T4\n", "", `tasks: line 1: column plan_gpu: is -5`},
		"tags":   {smallJobs, smallTasks, "a,b\n", "tags: line 1: has 2 fields"},
	} {
		dir := t.TempDir()
		_, err := Import(tables(t, c.jobs, c.tasks, c.tags), filepath.Join(dir, "out"), Options{SortBytes: 1})
		if err == nil || !strings.HasPrefix(err.Error(), "pai: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s: %v was left behind", name, left)
		}
	}
	if _, err := Import(Tables{Jobs: "none"}, filepath.Join(t.TempDir(), "x"), Options{}); err == nil || err.Error() != "pai: none: no such file or directory" {
		t.Errorf("%v", err)
	}
}

// The columns are those of the published header files, and the rows that the
// trace's documentation shows are read.
func TestExamples(t *testing.T) {
	if _, err := os.Stat(raw + "format_examples"); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	for name, columns := range map[string][]string{"job_table": jobColumns(), "task_table": taskColumns(), "group_tag_table": tagColumns()} {
		header, err := os.ReadFile(raw + "pai/pai_" + name + ".header")
		if err != nil || strings.TrimSpace(string(header)) != strings.Join(columns, ",") {
			t.Errorf("%s: %s, %v", name, header, err)
		}
	}
	example := func(name string) string { return raw + "format_examples/pai_" + name + ".example.csv" }
	r, rows := load(t, Tables{example("job_table"), example("task_table"), example("group_tag_table")}, Options{Rules: []string{"none"}})
	want := datasets.Row{Trace: "pai", JobID: "4b3f04b66a525d2df903eb16", User: datasets.Some("58540f191766"), Status: datasets.Some("Terminated"), SubmitS: number(0), DurationS: number(537)}
	if r.Rows != 1 || r.StartS != 4550879 || !slices.Equal(rows, []datasets.Row{want}) { // the examples are of different jobs
		t.Errorf("%v: %+v", r, rows)
	}
	task, err := os.ReadFile(example("task_table"))
	if err != nil {
		t.Fatal(err)
	}
	in := tables(t, "4f057009a5d481acec67b088,f7f6218cb5cb82e00b85476691d15d5055c143a351396d8f81737421dbd6,u,Terminated,1739100.0,1739200.0\n", string(task), "")
	in.Tags = example("group_tag_table")
	_, rows = load(t, in, Options{})
	want = datasets.Row{Trace: "pai", JobID: "4f057009a5d481acec67b088", User: datasets.Some("u"), Status: datasets.Some("Terminated"),
		Group: datasets.Some("fbeb14d671c629b6e82bee889fe4bb4c"), Model: datasets.Some("nmt"), GPUType: datasets.Some("MISC"),
		SubmitS: number(0), QueueS: number(62), DurationS: number(38), GPUs: number(.5), CPUs: number(6)}
	if !slices.Equal(rows, []datasets.Row{want}) {
		t.Errorf("%+v", rows)
	}
}

// FuzzImport gives the importer arbitrary tables: an error or as many rows as
// it reports, and never a panic.
func FuzzImport(f *testing.F) {
	f.Add(smallJobs, smallTasks, smallTags)
	f.Add("a,,,,0,0\n", "a,,,,,,,,,\n", "")
	f.Fuzz(func(t *testing.T, jobs, tasks, tags string) {
		out := filepath.Join(t.TempDir(), "out.parquet")
		r, err := Import(tables(t, jobs, tasks, tags), out, Options{SortBytes: 200})
		if err != nil {
			return
		}
		sum := r.Kept
		for _, d := range r.Dropped {
			sum += d.Rows
		}
		if n := len(read(t, out)); n != r.Kept || sum != r.Rows {
			t.Errorf("%v, but %d rows were written", r, n)
		}
	})
}
