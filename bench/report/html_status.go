package report

import (
	"fmt"
	"slices"
	"strings"

	"yardstick/bench/record"
)

const theoremIntro = "Every published inequality on every schedule that it is about. violated, with its assumptions met, means that the theorem, its proof " +
	"or this program is wrong; without, it only shows that the assumption is needed. undecided: the bounds on the optimum lie on both sides."

// statusTables count how the methods ended, and list what failed.
func (v *views) statusTables() []block {
	type key struct{ family, method string }
	type counts struct {
		key
		rows, solved int
		endings      *ordered[string, Count]
	}
	by := newOrdered[key, counts]()
	for i := range v.run.Ratios {
		row := &v.run.Ratios[i]
		k := key{row.Family, row.Method}
		c := by.at(k)
		if c.endings == nil {
			c.key, c.endings = k, newOrdered[string, Count]()
		}
		c.rows++
		if row.Cost.Valid {
			c.solved++
		}
		e := c.endings.at(row.Termination)
		e.Name = row.Termination
		e.N++
	}
	if len(by.values) == 0 {
		return nil
	}
	t := &htmlTable{Caption: "How the methods ended, per family", Columns: []heading{{name: "method", left: true}, {name: "family", left: true}, {name: "verified schedules"}, {name: "endings", left: true}}}
	for _, c := range by.values {
		if len(t.Rows) == mostTableRows/4 {
			t.Note = fmt.Sprintf("%d of %d rows are shown.", len(t.Rows), len(by.values))
			break
		}
		var endings []string
		for _, e := range c.endings.values {
			endings = append(endings, fmt.Sprintf("%s %d", strings.ToLower(strings.ReplaceAll(e.Name, "_", " ")), e.N))
		}
		solved := cell{fmt.Sprintf("%d/%d", c.solved, c.rows), ""}
		if c.solved < c.rows {
			solved.Class = "bad"
		}
		t.Rows = append(t.Rows, []cell{{spaced(c.method), ""}, {c.family, ""}, solved, {strings.Join(endings, ", "), ""}})
	}
	blocks := []block{{Table: t}}
	if len(v.report.Unsolved) > 0 {
		blocks = append(blocks, list(problemLines(v.report.Unsolved)))
	}
	return blocks
}

// matrix shows which methods have a schedule where.
func (v *views) matrix() []block {
	var names []string
	seen := map[string]bool{}
	for i := range v.groups {
		for _, d := range v.groups[i].Methods {
			if !seen[d.Method] {
				seen[d.Method] = true
				names = append(names, d.Method)
			}
		}
	}
	const wide = 10 // groups side by side
	var blocks []block
	for from := 0; from < len(v.groups); from += wide {
		if len(blocks)*wide*len(names) > mostTableRows {
			blocks = append(blocks, block{List: []string{fmt.Sprintf("%d of %d groups are shown.", from, len(v.groups))}})
			break
		}
		groups := v.groups[from:min(from+wide, len(v.groups))]
		t := &htmlTable{Caption: fmt.Sprintf("Instances with a verified schedule, groups %d to %d", from+1, from+len(groups)), Columns: []heading{{name: "method", left: true}}}
		columns := make([]map[string][2]int, len(groups))
		for i := range groups {
			t.Columns = append(t.Columns, heading{name: groups[i].short})
			columns[i] = tally(&groups[i])
		}
		for _, name := range names {
			row := []cell{{spaced(name), ""}}
			there := false
			for i := range groups {
				n, ok := columns[i][name]
				there = there || ok
				row = append(row, matrixCell(n[0], n[1], groups[i].Instances, ok))
			}
			if there {
				t.Rows = append(t.Rows, row)
			}
		}
		blocks = append(blocks, block{Table: t})
	}
	return blocks
}

// tally counts the rows and the schedules of each method.
func tally(g *view) map[string][2]int {
	n := map[string][2]int{}
	for _, row := range g.rows {
		c := n[row.Method]
		c[0]++
		if row.Cost.Valid {
			c[1]++
		}
		n[row.Method] = c
	}
	return n
}

func matrixCell(rows, solved, instances int, planned bool) cell {
	if !planned {
		return cell{"", "empty"}
	}
	text := fmt.Sprintf("%d/%d", solved, instances)
	var why []string
	if failed := rows - solved; failed > 0 {
		why = append(why, fmt.Sprintf("%d failed", failed))
	}
	if absent := instances - rows; absent > 0 {
		why = append(why, fmt.Sprintf("%d missing", absent))
	}
	switch {
	case why == nil:
		return cell{text, "good"}
	case solved == 0:
		return cell{text + ": " + strings.Join(why, ", "), "bad"}
	}
	return cell{text + ": " + strings.Join(why, ", "), "some"}
}

// theoremBlocks count the verdicts per statement and method, and list the
// contradictions.
func theoremBlocks(rows []record.Theorem) []block {
	type key struct{ theorem, form, method string }
	type counts struct {
		key
		met, all int
		verdicts map[string]int
		slack    record.Opt[float64]
	}
	by := newOrdered[key, counts]()
	verdicts := []string{"holds", "violated", "undecided", "vacuous", "not applicable"}
	var wrong []string
	for i := range rows {
		row := &rows[i]
		k := key{row.Theorem, row.Form, row.Method}
		c := by.at(k)
		if c.verdicts == nil {
			c.key, c.verdicts = k, map[string]int{}
		}
		c.all++
		if row.Met {
			c.met++
		}
		c.verdicts[row.Verdict]++
		if !slices.Contains(verdicts, row.Verdict) {
			verdicts = append(verdicts, row.Verdict)
		}
		if row.Slack.Valid && (!c.slack.Valid || row.Slack.V < c.slack.V) {
			c.slack = row.Slack
		}
		if row.Met && row.Verdict == "violated" {
			wrong = append(wrong, fmt.Sprintf("VIOLATED with its assumptions met: %s (%s), %s on %s", row.Theorem, row.Form, row.Method, row.Instance))
		}
	}
	if len(by.values) == 0 {
		return nil
	}
	t := &htmlTable{Caption: "Verdicts per statement and method", Columns: []heading{{name: "statement", left: true}, {name: "form", left: true}, {name: "method", left: true}, {name: "schedules"}, {name: "assumptions met"}}}
	for _, name := range verdicts {
		t.Columns = append(t.Columns, heading{name: name})
	}
	t.Columns = append(t.Columns, heading{name: "least slack (s)"})
	for _, c := range by.values {
		if len(t.Rows) == mostTableRows/4 {
			t.Note = fmt.Sprintf("%d of %d rows are shown.", len(t.Rows), len(by.values))
			break
		}
		row := []cell{{c.theorem, ""}, {c.form, ""}, {spaced(c.method), ""}, {fmt.Sprint(c.all), ""}, {fmt.Sprintf("%d/%d", c.met, c.all), ""}}
		for _, name := range verdicts {
			text := cell{Text: fmt.Sprint(c.verdicts[name])}
			if c.verdicts[name] == 0 {
				text.Text = missing
			} else if name == "violated" {
				text.Class = "some"
			}
			row = append(row, text)
		}
		slack := missing
		if c.slack.Valid {
			slack = short(c.slack.V)
		}
		t.Rows = append(t.Rows, append(row, cell{slack, ""}))
	}
	blocks := []block{{Table: t}}
	if len(wrong) > 0 {
		blocks = append(blocks, list(wrong))
	}
	return blocks
}

// runBlocks say where the numbers come from.
func runBlocks(run *record.Run) []block {
	m := &run.Manifest
	t := &htmlTable{Caption: "Machine, versions and settings", Columns: []heading{{name: "what", left: true}, {name: "value", left: true}}}
	add := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []cell{{name, ""}, {value, ""}})
		}
	}
	add("result digest", m.ResultDigest)
	add("plan", m.PlanID)
	add("command", strings.Join(m.Execution.Command, " "))
	add("bench", m.Versions.Bench)
	add("revision", m.Versions.Revision)
	add("Go", m.Versions.Go)
	add("Arrow", m.Versions.Arrow)
	add("lp_solve", m.Versions.LPSolve)
	add("processor", m.Machine.CPU)
	if m.Machine.Cores > 0 {
		add("cores", fmt.Sprintf("%d, %d in use", m.Machine.Cores, m.Machine.GOMAXPROCS))
	}
	if m.Machine.RAM > 0 {
		add("memory", fmt.Sprintf("%.1f GiB", float64(m.Machine.RAM)/(1<<30)))
	}
	add("system", strings.TrimSpace(m.Machine.OS+" "+m.Machine.Arch+" "+m.Machine.Kernel))
	for _, in := range m.Inputs {
		add("input "+in.Name, fmt.Sprintf("%s bytes, sha256 %s", thousands(fmt.Sprint(in.Bytes)), in.SHA256))
	}
	for _, f := range m.Files {
		add(f.Name, fmt.Sprintf("%s rows, sha256 %s", thousands(fmt.Sprint(f.Rows)), f.SHA256))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []block{{Table: t}}
}
