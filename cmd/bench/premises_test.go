package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"yardstick/bench/record"
)

// premises is the generated part of docs/default-suite.md: what the families of a run
// have of what the policies were made for, by family in the order of the suite.
func premises(run *record.Run) string {
	families := map[string]*premise{}
	var names []string
	cells := map[string]*record.Ratio{}
	for i := range run.Ratios {
		r := &run.Ratios[i]
		f := families[r.Family]
		if f == nil {
			f = &premise{instances: map[string]bool{}, released: map[string]bool{}, preempted: map[string]int64{}, shared: map[string]map[[3]string]bool{}}
			families[r.Family], names = f, append(names, r.Family)
		}
		cells[r.CellID] = r
		f.add(r)
	}
	for i := range run.Jobs {
		j := &run.Jobs[i]
		families[cells[j.CellID].Family].job(cells[j.CellID], j)
	}
	for i := range run.Predictions {
		p := &run.Predictions[i]
		r := cells[p.CellID]
		if r.Method != "a-srpt" {
			continue
		}
		f := families[r.Family]
		f.asked++
		if p.History > 0 {
			f.recurrent++
		}
		if near := p.Error; near < 0 && -near*10 <= p.Iters || near >= 0 && near*10 <= p.Iters {
			f.right++
		}
	}
	sharingPairs(run, cells, families)
	var b strings.Builder
	b.WriteString("| family | instances | jobs | on one GPU | mean gang | offered load | of what its policies were made for |\n|---|---:|---:|---:|---:|---:|---|\n")
	for _, name := range names {
		f := families[name]
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s | %s | %s | %s |\n", name, len(f.instances), f.jobs, f.singles(), f.gang(), f.load(), strings.Join(f.words(), "; "))
	}
	return b.String()
}

// premise is what is counted of a family.
type premise struct {
	instances, released     map[string]bool
	jobs, single, gpus      int
	gangs                   bool
	loads                   []float64
	asked, recurrent, right int
	preempted               map[string]int64
	choices, deferred       int64                         // of lazer as it is by default
	shared                  map[string]map[[3]string]bool // pairs of jobs, by method
}

func (f *premise) add(r *record.Ratio) {
	f.gangs = r.Model != "elastic"
	if !f.instances[r.Instance] {
		f.instances[r.Instance] = true
		f.jobs += r.Jobs
		if r.OfferedLoad.Valid {
			f.loads = append(f.loads, r.OfferedLoad.V)
		}
	}
	if r.Preemptions.Valid && r.Kind == "online" {
		f.preempted[r.Method] += int64(r.Preemptions.V)
	}
	if r.Method == "lazer" && r.DeferralChoices.Valid {
		f.choices, f.deferred = f.choices+int64(r.DeferralChoices.V), f.deferred+int64(r.Deferrals.V)
	}
}

// job counts each job of each instance once, in whichever schedule it is met first.
func (f *premise) job(r *record.Ratio, j *record.Job) {
	key := fmt.Sprint(r.Instance, " ", j.Job)
	if f.released[key] || !j.GPUs.Valid {
		return
	}
	f.released[key] = true
	f.gpus += int(j.GPUs.V)
	if j.GPUs.V == 1 {
		f.single++
	}
}

func (f *premise) singles() string {
	if !f.gangs {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(f.single)/float64(len(f.released)))
}

func (f *premise) gang() string {
	if !f.gangs {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(f.gpus)/float64(len(f.released)))
}

func (f *premise) load() string {
	if len(f.loads) == 0 {
		return "–"
	}
	slices.Sort(f.loads)
	return fmt.Sprintf("%.2f", f.loads[(len(f.loads)-1)/2])
}

func (f *premise) words() []string {
	var list []string
	if f.asked > 0 {
		list = append(list, fmt.Sprintf("%.0f %% of the jobs of groups seen before, %.0f %% predicted within a tenth", 100*float64(f.recurrent)/float64(f.asked), 100*float64(f.right)/float64(f.asked)))
	}
	for _, m := range []string{"srtf", "lazer", "elastic-tiresias"} {
		if n := f.preempted[m]; n > 0 {
			list = append(list, fmt.Sprintf("%d preemptions by `%s`", n, m))
		}
	}
	if f.choices > 0 {
		list = append(list, fmt.Sprintf("%d choices of a deferral once there was something to choose by, %d of them to defer", f.choices, f.deferred))
	}
	for _, m := range []string{"sjf-bsbf", "sjf-ffs"} {
		if n := len(f.shared[m]); n > 0 {
			list = append(list, fmt.Sprintf("%d pairs that shared under `%s`", n, m))
		}
	}
	if len(list) == 0 {
		list = append(list, "–")
	}
	return list
}

// sharingPairs finds the pairs of jobs that were on one device at a time.
func sharingPairs(run *record.Run, cells map[string]*record.Ratio, families map[string]*premise) {
	type device struct {
		cell, device string
		server       int
	}
	on := map[device][]*record.Segment{}
	for i := range run.Segments {
		s := &run.Segments[i]
		if cells[s.CellID].Model != "sharing" || s.Devices == "" {
			continue
		}
		for d := range strings.SplitSeq(string(s.Devices), ",") {
			at := device{s.CellID, d, s.Server}
			on[at] = append(on[at], s)
		}
	}
	for at, list := range on {
		slices.SortFunc(list, func(a, b *record.Segment) int { return cmp.Compare(a.Start, b.Start) })
		r := cells[at.cell]
		f := families[r.Family]
		if f.shared[r.Method] == nil {
			f.shared[r.Method] = map[[3]string]bool{}
		}
		for i, a := range list {
			for _, b := range list[i+1:] {
				if b.Start < a.End && a.Job != b.Job {
					f.shared[r.Method][[3]string{r.Instance, fmt.Sprint(min(a.Job, b.Job)), fmt.Sprint(max(a.Job, b.Job))}] = true
				}
			}
		}
	}
}

// holdPremises compares docs/default-suite.md with a run of the embedded suite.
func holdPremises(t *testing.T, dir string) {
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	const path, begin, end = "../../docs/default-suite.md", "<!-- begin premises: written by TestReadmeTable with -update -->\n", "<!-- end premises -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no part between %q and %q", path, begin, end)
	}
	want := head + begin + premises(run) + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s does not say what the embedded suite has: run YARDSTICK_TESTS=all go test ./cmd/bench -run ReadmeTable -update", path)
	}
}
