package interference

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"yardstick/datasets"
	"yardstick/datasets/table"
)

// Setting is what the pairs of one table have in common.
type Setting struct {
	Source    string    // who measured it
	GPUType   string    // in the source's own words
	Placement Placement // of both jobs
	GPUs      int       // of each of the two jobs, at least 1; they share all of them
}

// String says it in a few words.
func (s Setting) String() string {
	return fmt.Sprintf("%s on %s, %d GPUs, %s", s.Source, s.GPUType, s.GPUs, s.Placement)
}

// Placement says how a job's GPUs lie.
type Placement string

// The placements.
const (
	Consolidated Placement = "consolidated" // on as few servers as possible
	Spread       Placement = "spread"       // over several servers
)

// Row is one ordered pair of tasks.
type Row struct {
	Setting
	Task, Partner string
	Xi            datasets.Opt[float64]
}

func (r *Row) check() error {
	xi := r.Xi.V
	switch {
	case r.Source == "" || r.GPUType == "" || r.Task == "" || r.Partner == "":
		return fmt.Errorf("source %q, gpu_type %q, task %q, partner %q: none may be empty", r.Source, r.GPUType, r.Task, r.Partner)
	case !utf8.ValidString(r.Source + "\x00" + r.GPUType + "\x00" + r.Task + "\x00" + r.Partner):
		return fmt.Errorf("source %q, gpu_type %q, task %q, partner %q: all must be UTF-8 text", r.Source, r.GPUType, r.Task, r.Partner)
	case r.Placement != Consolidated && r.Placement != Spread:
		return fmt.Errorf("placement is %q: it must be %s or %s", r.Placement, Consolidated, Spread)
	case r.GPUs < 1:
		return fmt.Errorf("gpus is %d: it must be at least 1", r.GPUs)
	case r.Xi.OK && (!(xi >= 1) || math.IsInf(xi, 0)):
		return fmt.Errorf("xi of %q beside %q is %v: sharing never speeds a job up, so it must be at least 1", r.Task, r.Partner, xi)
	}
	return nil
}

func compareSettings(a, b Setting) int {
	return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.GPUType, b.GPUType),
		strings.Compare(string(a.Placement), string(b.Placement)), a.GPUs-b.GPUs)
}

func compareRows(a, b Row) int {
	return cmp.Or(compareSettings(a.Setting, b.Setting), strings.Compare(a.Task, b.Task), strings.Compare(a.Partner, b.Partner))
}

// Table holds the pairs of one or several settings.
type Table struct {
	rows []Row // in order of setting, task, partner
}

// New makes a table. The order of the rows does not matter.
//
// Errors: a value that the schema does not allow, a pair that is there twice.
func New(rows []Row) (*Table, error) {
	t := &Table{slices.Clone(rows)}
	slices.SortFunc(t.rows, compareRows)
	for i := range t.rows {
		r := &t.rows[i]
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("interference: %w", err)
		}
		if i > 0 && compareRows(t.rows[i-1], *r) == 0 {
			return nil, fmt.Errorf("interference: %q beside %q is there twice (%v)", r.Task, r.Partner, r.Setting)
		}
	}
	return t, nil
}

// Select returns the pairs of the settings that keep accepts.
func (t *Table) Select(keep func(Setting) bool) *Table {
	return &Table{slices.DeleteFunc(slices.Clone(t.rows), func(r Row) bool { return !keep(r.Setting) })}
}

// Rename returns the pairs of the tasks that names lists, under the names that are
// its keys. Several names may stand for one task.
//
// Errors: a task is not in the table.
func (t *Table) Rename(names map[string]string) (*Table, error) {
	var known []string
	for i := range t.rows {
		known = append(known, t.rows[i].Task, t.rows[i].Partner)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	called := map[string][]string{} // by task
	for _, name := range slices.Sorted(maps.Keys(names)) {
		task := names[name]
		if !slices.Contains(known, task) {
			return nil, fmt.Errorf("interference: task %q is not in the table; the nearest is %q", task, table.Nearest(task, known))
		}
		called[task] = append(called[task], name)
	}
	var rows []Row
	for _, r := range t.rows {
		for _, a := range called[r.Task] {
			for _, b := range called[r.Partner] {
				rows = append(rows, Row{r.Setting, a, b, r.Xi})
			}
		}
	}
	return New(rows)
}

// Settings lists the settings in order.
func (t *Table) Settings() []Setting {
	var list []Setting
	for i := range t.rows {
		if s := t.rows[i].Setting; len(list) == 0 || list[len(list)-1] != s {
			list = append(list, s)
		}
	}
	return list
}

// Tasks lists the tasks of a setting in alphabetical order.
func (t *Table) Tasks(s Setting) []string {
	var list []string
	for i := range t.rows {
		if t.rows[i].Setting == s {
			list = append(list, t.rows[i].Task, t.rows[i].Partner)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Xi returns xi(task|partner); ok is false where it is NULL or the pair is not
// in the table.
func (t *Table) Xi(s Setting, task, partner string) (xi float64, ok bool) {
	i, found := slices.BinarySearchFunc(t.rows, Row{Setting: s, Task: task, Partner: partner}, compareRows)
	if !found || !t.rows[i].Xi.OK {
		return 0, false
	}
	return t.rows[i].Xi.V, true
}

// Matrix returns xi for every ordered pair of the given tasks, as instances of
// the sharing model hold it: entry [a][b] is xi(tasks[a]|tasks[b]). Pairs that
// are NULL or not there get the value of missing, and are counted.
//
// Errors: the setting is not in the table, or a task is in none of its pairs;
// a pair is missing and missing is below 1 (0 says that none may be).
func (t *Table) Matrix(s Setting, tasks []string, missing float64) (xi [][]float64, filled int, err error) {
	known := t.Tasks(s)
	if len(known) == 0 {
		return nil, 0, fmt.Errorf("interference: there is no table for %v; there are: %v", s, t.Settings())
	}
	for _, a := range tasks {
		if _, ok := slices.BinarySearch(known, a); !ok {
			return nil, 0, fmt.Errorf("interference: task %q is not in the table (%v); the nearest is %q", a, s, table.Nearest(a, known))
		}
	}
	for _, a := range tasks {
		row := make([]float64, len(tasks))
		for i, b := range tasks {
			v, ok := t.Xi(s, a, b)
			if !ok {
				if !(missing >= 1) || math.IsInf(missing, 0) {
					return nil, 0, fmt.Errorf("interference: %q beside %q does not fit or was not measured (%v), and no xi of at least 1 is given for such pairs", a, b, s)
				}
				v = missing
				filled++
			}
			row[i] = v
		}
		xi = append(xi, row)
	}
	return xi, filled, nil
}
