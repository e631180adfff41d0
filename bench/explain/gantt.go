package explain

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Window is the part of two schedules that a Gantt chart shows: some jobs, from one
// time to another.
type Window struct {
	Jobs     []int // in order of their index
	From, To int64
	All      bool // these are all jobs, from first release to last end
}

// mostDelayed is how many delays a window is made of.
const mostDelayed = 5

// Window returns what a Gantt chart of at most so many jobs shows: all of them, or those
// that start latest compared with the reference, with those that held the GPUs that they
// lacked, from where the reference started them to where they end.
func (e *Explanation) Window(most int) Window {
	w := Window{All: len(e.Jobs) <= most}
	if w.All {
		for j := range e.Jobs {
			w.Jobs = append(w.Jobs, j)
			w.cover(e.Jobs[j].Release, max(e.This.Ends[j], e.Reference.Ends[j]))
		}
		return w
	}
	delays := e.Delays(mostDelayed)
	for _, d := range delays { // the delayed ones come first
		w.Jobs = append(w.Jobs, d.Job)
		w.cover(d.From, max(e.This.Ends[d.Job], e.Reference.Ends[d.Job]))
	}
	for rank := 0; ; rank++ { // then those most to blame, in turn
		more := false
		for _, d := range delays {
			if rank >= len(d.By) {
				continue
			}
			more = true
			if j := d.By[rank].Job; len(w.Jobs) < most && !slices.Contains(w.Jobs, j) {
				w.Jobs = append(w.Jobs, j)
			}
		}
		if !more || len(w.Jobs) >= most {
			break
		}
	}
	slices.Sort(w.Jobs)
	return w
}

// cover widens the window.
func (w *Window) cover(from, to int64) {
	if w.To == w.From {
		w.From, w.To = from, max(to, from)
		return
	}
	w.From, w.To = min(w.From, from), max(w.To, to)
}

// Row is a job in a Gantt chart.
type Row struct {
	Job             int
	This, Reference []Piece // in the window, cut to it; pieces without GPUs are waits
}

// Rows returns what a Gantt chart of the window shows.
func (e *Explanation) Rows(w Window) []Row {
	at := map[int]int{}
	rows := make([]Row, len(w.Jobs))
	for i, j := range w.Jobs {
		rows[i].Job, at[j] = j, i
	}
	for _, one := range []struct {
		s    *Schedule
		into func(*Row) *[]Piece
	}{{&e.This, func(r *Row) *[]Piece { return &r.This }}, {&e.Reference, func(r *Row) *[]Piece { return &r.Reference }}} {
		until := map[int]int64{} // what of each job is shown
		add := func(p Piece) {
			if p.Start, p.End = max(p.Start, w.From), min(p.End, w.To); p.Start < p.End {
				into := one.into(&rows[at[p.Job]])
				*into = append(*into, p)
			}
		}
		for _, p := range one.s.Pieces {
			if _, shown := at[p.Job]; !shown {
				continue
			}
			from, seen := until[p.Job]
			if !seen {
				from = e.Jobs[p.Job].Release
			}
			add(Piece{Job: p.Job, Start: from, End: p.Start})
			add(p)
			until[p.Job] = p.End
		}
	}
	return rows
}

// Text draws the window in so many columns: the two schedules side by side, a line for each
// job, # where it runs and . where it waits.
func (e *Explanation) Text(w Window, this, reference string, columns int) string {
	if !e.Started() || len(w.Jobs) == 0 || w.To <= w.From {
		return ""
	}
	const mostName = 16
	name, gpus := len("job"), len("GPUs")
	short := func(text string, most int) string {
		if utf8.RuneCountInString(text) <= most {
			return text
		}
		return string([]rune(text)[:most-1]) + "…"
	}
	for _, j := range w.Jobs {
		name = max(name, utf8.RuneCountInString(short(e.NameOf(j), mostName)))
		gpus = max(gpus, len(GPUs(e.Jobs[j].GPUs)))
	}
	each := max((columns-name-gpus-8)/2, 10)
	pad := func(text string, to int) string {
		return text + strings.Repeat(" ", max(0, to-utf8.RuneCountInString(text)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %*s   %s   %s\n", pad("job", name), gpus, "GPUs", pad(short(this, each), each), short(reference, each))
	for _, row := range e.Rows(w) {
		line := fmt.Sprintf("%s  %*s  |%s| |%s|", pad(short(e.NameOf(row.Job), mostName), name), gpus, GPUs(e.Jobs[row.Job].GPUs), w.line(row.This, each), w.line(row.Reference, each))
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// line draws pieces in so many characters. What is shorter than one has one all the same.
func (w *Window) line(pieces []Piece, columns int) string {
	out := []byte(strings.Repeat(" ", columns))
	span := float64(w.To - w.From)
	for _, running := range []bool{false, true} { // runs are drawn over waits
		for _, p := range pieces {
			if p.GPUs > 0 != running {
				continue
			}
			from := int(float64(p.Start-w.From) / span * float64(columns))
			to := max(int(float64(p.End-w.From)/span*float64(columns)), from+1)
			for k := min(from, columns-1); k < min(to, columns); k++ {
				out[k] = '.'
				if running {
					out[k] = '#'
				}
			}
		}
	}
	return string(out)
}
