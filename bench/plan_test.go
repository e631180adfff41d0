package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"yardstick/bench/suite"
	"yardstick/internal/schedtest"
	"yardstick/sched"
)

// planOf has every method on an instance of one job.
func planOf(methods ...Method) *Plan {
	in := schedtest.Plain(schedtest.Servers(1), schedtest.Job(0, 1, 5))
	built := &suite.Instance{Instance: in, Family: "test", SHA256: in.Hash()}
	p := &Plan{Instances: []*suite.Instance{built}}
	objectives := []sched.Objective{sched.TotalJCT, sched.TotalCompletion, sched.MeanJCT}
	for i, m := range methods {
		c := Cell{Index: i, Instance: built, Method: m, Objectives: objectives}
		c.ID = cellID(&c, suite.Limits{Solve: time.Minute})
		p.Cells = append(p.Cells, c)
	}
	return p
}

func policy(name, version string) Method {
	return Policy(suite.MethodRef{Name: name}, version, Replayed{})
}

func TestCellIDs(t *testing.T) {
	plan := planOf(policy("fifo", "1"), policy("sjf", "1"), Policy(suite.MethodRef{Name: "fifo", Params: map[string]string{"a": "b"}}, "1", Replayed{}), policy("fifo", "2"))
	ids := map[string]bool{}
	for _, c := range plan.Cells {
		ids[c.ID] = true
	}
	if len(ids) != 4 {
		t.Errorf("%d ids for 4 cells", len(ids))
	}
	if again := planOf(policy("fifo", "1")); again.Cells[0].ID != plan.Cells[0].ID {
		t.Error("equal cells have different ids")
	}
}

// A cell is another one if its optima are proven to strangers, which those of policies and
// of larger instances are not.
func TestCellsThatProve(t *testing.T) {
	in := schedtest.Plain(schedtest.Servers(2), schedtest.Job(0, 2, 5), schedtest.Job(1, 1, 5))
	built := &suite.Instance{Instance: in, SHA256: in.Hash()}
	ids := func(upTo int) (list []string) {
		src := &suite.Source{Objectives: []sched.Objective{sched.TotalJCT}, Prove: suite.ProveRef{UpTo: upTo}}
		for _, m := range []Method{policy("fifo", "1"), &searchMethod{ref: suite.MethodRef{Name: "search"}, version: "1", kind: Exact}} {
			list = append(list, newCell(0, built, m, src, suite.Limits{Solve: time.Minute}).ID)
		}
		return list
	}
	none, one, two := ids(0), ids(1), ids(2)
	if none[0] != two[0] || none[1] != one[1] {
		t.Error("cells without proofs depend on the key prove")
	}
	if one[1] == two[1] {
		t.Error("a cell with proofs is that without")
	}
}

func TestProgressLine(t *testing.T) {
	var b strings.Builder
	p := &Progress{Line: Line{W: &b}}
	plan := planOf(policy("fifo", "1"), policy("sjf", "1"), policy("exhaustive", "1"))
	p.begin(plan.Cells, len(plan.Cells), 1)
	p.started(plan.Cells[0])
	p.ended(plan.Cells[0], 4*time.Second, true)
	p.started(plan.Cells[1])
	line := p.line(p.running[plan.Cells[1].Index].since)
	p.End()
	if want := fmt.Sprintf("1/3 cells, 1 failed, 1 running, ETA 8s, slowest sjf on %s (0s)", plan.Instances[0].Name); line != want {
		t.Errorf("line %q, want %q", line, want)
	}
}

// A line is rewritten on a terminal, around what stays there, and is a line of its own
// every half minute elsewhere.
func TestLine(t *testing.T) {
	text := func(time.Time) string { return "3 of 7" }
	var b strings.Builder
	l := &Line{W: &b, Terminal: true}
	l.show(time.Time{}, text)
	l.Above(func() { b.WriteString("row\n") })
	l.show(time.Time{}, text)
	if got, want := b.String(), "\r\x1b[K3 of 7\r\x1b[Krow\n\r\x1b[K3 of 7"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Reset()
	l = &Line{W: &b}
	for _, at := range []time.Duration{0, 29 * time.Second, 31 * time.Second, 60 * time.Second, 61 * time.Second} {
		l.show(time.Time{}.Add(at), text)
	}
	if got := b.String(); got != "3 of 7\n3 of 7\n" {
		t.Errorf("%q", got)
	}
	b.Reset()
	long := func(time.Time) string { return strings.Repeat("µ", 200) }
	for columns, want := range map[int]int{0: 79, 40: 39, 132: 131} {
		b.Reset()
		l = &Line{W: &b, Terminal: true, Width: func() int { return columns }}
		l.show(time.Time{}, long)
		if n := strings.Count(b.String(), "µ"); n != want {
			t.Errorf("%d characters on a terminal of %d columns, want %d", n, columns, want)
		}
	}
	none := &Line{}
	none.Begin(text)
	none.Above(func() {})
	none.End()
}
