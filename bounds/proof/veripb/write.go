package veripb

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
)

// The lines of a proof, in order. Numbers of constraints are given by VeriPB, in order.
//
//	soli   the schedule: from here on the cost is less than value. Without a schedule,
//	       two red lines define zz ⇔ cost ≥ value, and every clause has zz besides
//	dom    for those (j, t) that are used: if j starts at t, more than capacity - g_j GPUs
//	       are held by others a slot before; otherwise j could start there, for less
//	red    for those (j, t) that are used: a variable with a short name ⇔ j starts at t or
//	       earlier; by the variable of the t before, if there is one
//	pol    for all prices that are used: what they say of the costs of starts
//	then   for each leaf, a pol that adds to its prices what each job costs at least by
//	       the bounds of the clause; and for the first answer of a question, unless it is
//	       a leaf, a clause by rup, with the lines that lead to it as hints

// bound is that a job starts at t or earlier.
type bound struct {
	job int
	t   int64
}

// defined holds what a bound's variable is called, and the lines that say what it is.
type defined struct {
	name  string
	none  int // not o, or a start by t
	early int // o ≥ Σ_{u ≤ t} s
	late  int // Σ_{u > t} s + o ≤ 1
}

// part is what job i costs at least under some prices, by bounds of the state.
type part struct {
	k             *prices
	i             int
	from, to      int64
	later, sooner bool
}

type writer struct {
	b      bytes.Buffer
	s      *search
	m      *model
	line   int  // the last constraint
	goal   int  // cost < value, or z
	open   bool // no schedule is claimed: z says that the cost is at least value
	shifts map[bound]int
	bounds map[bound]*defined
	parts  map[part]int
}

// proof writes the proof whose root is given.
func (s *search) proof(root *node, starts []int64) []byte {
	w := &writer{s: s, m: s.m, line: s.m.lines, shifts: map[bound]int{}, bounds: map[bound]*defined{}, parts: map[part]int{}}
	fmt.Fprintf(&w.b, "pseudo-Boolean proof version 3.0\nf %d;\n", w.m.lines)
	w.goal = w.claim(starts)
	w.need(root)
	for _, at := range sorted(w.shifts) {
		w.shift(at)
	}
	before := bound{job: -1}
	for k, at := range sorted(w.bounds) {
		w.define(at, before, name(k))
		before = at
	}
	w.conclude(w.clauseOf(root))
	return w.b.Bytes()
}

// claim writes what is to be refuted, and returns its number: that the schedule, once
// logged, is not optimal. Without a schedule it is not z, where z ⇔ cost ≥ value.
func (w *writer) claim(starts []int64) int {
	if w.open = starts == nil; !w.open {
		w.b.WriteString("soli")
		for i, t := range starts {
			w.b.WriteByte(' ')
			variable(&w.b, 's', i, t)
		}
		return w.end()
	}
	all := int64(0)
	for i, j := range w.m.Jobs {
		for t := j.Release; t <= w.m.last[i]; t++ {
			all += j.Weight * (t + j.Duration)
		}
	}
	w.b.WriteString("red")
	w.cost(-1)
	fmt.Fprintf(&w.b, " %d zz >= %d : zz -> 1", max(all-w.s.value+1, 1), 1-w.s.value)
	less := w.end()
	w.b.WriteString("red")
	w.cost(1)
	fmt.Fprintf(&w.b, " %d ~zz >= %d : zz -> 0", w.s.value, w.s.value)
	w.end()
	return less
}

// cost writes the objective, times sign.
func (w *writer) cost(sign int64) {
	for i, j := range w.m.Jobs {
		for t := j.Release; t <= w.m.last[i]; t++ {
			term(&w.b, sign*j.Weight*(t+j.Duration), i, t)
		}
	}
}

// conclude ends the proof, after the root's clause.
func (w *writer) conclude(root int) {
	v := w.s.value
	upper := fmt.Sprint(v)
	if w.open {
		fmt.Fprintf(&w.b, "pol %d %d * %d +", root, v, w.goal+1)
		root, upper = w.end(), "INF"
	}
	fmt.Fprintf(&w.b, "output NONE;\nconclusion BOUNDS %d : %d %s;\nend pseudo-Boolean proof;\n", v, root, upper)
}

// end ends a line that makes a constraint, and returns its number.
func (w *writer) end() int {
	w.b.WriteString(";\n")
	w.line++
	return w.line
}

func sorted[T any](set map[bound]T) []bound {
	list := make([]bound, 0, len(set))
	for at := range set {
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b bound) int {
		if a.job != b.job {
			return a.job - b.job
		}
		return int(a.t - b.t)
	})
	return list
}

// after returns the bound that is false where job i starts at t or later; no is true if
// every start is.
func (w *writer) after(i int, t int64) (at bound, no bool) {
	return bound{i, min(t-1, w.m.last[i])}, t <= w.m.Jobs[i].Release
}

// by returns the bound that is true where job i starts at t or earlier; no is true if
// every start is.
func (w *writer) by(i int, t int64) (at bound, no bool) { return bound{i, t}, t >= w.m.last[i] }

// need collects what a subtree refers to.
func (w *writer) need(n *node) {
	if n == nil {
		return
	}
	w.need(n.left)
	w.need(n.right)
	each(n.later, func(i int) {
		if at, no := w.after(i, n.st.earliest[i]); !no {
			w.bounds[at] = nil
		}
	})
	each(n.sooner, func(i int) {
		if at, no := w.by(i, n.st.earliest[i]); !no {
			w.bounds[at] = nil
		}
	})
	if n.kind == step {
		w.facts(n, func(i int, t int64) {
			if w.m.Jobs[i].Gang <= n.st.free {
				w.shifts[bound{i, t}] = 0
			}
		})
	}
}

func each(set uint64, do func(i int)) {
	for ; set != 0; set &= set - 1 {
		do(bits.TrailingZeros64(set))
	}
}

// facts calls do for every job and start that a step excludes, in order of time.
func (w *writer) facts(n *node, do func(i int, t int64)) {
	for t := n.st.now; t <= n.next.now; t++ {
		each(n.need, func(i int) {
			if n.st.earliest[i] <= t && t < n.next.earliest[i] && t <= w.m.last[i] {
				do(i, t)
			}
		})
	}
}

// shift writes that job j starts at t only if too little is free a slot before: any other
// schedule can be changed, by starting j there, into one that costs less. That the slot's
// row still holds is the one goal that is not obvious.
func (w *writer) shift(at bound) {
	j, t := at.job, at.t
	g, enough := w.m.Jobs[j].Gang, w.m.Capacity-w.m.Jobs[j].Gang+1
	w.b.WriteString("dom")
	w.others(j, t-1)
	fmt.Fprintf(&w.b, " %d ~s%d_%d >= %d : s%d_%d -> 0 s%d_%d -> 1", enough, j, t, enough, j, t, j, t-1)
	row, found := w.m.rows[t-1]
	if !found {
		w.shifts[at] = w.end()
		return
	}
	// The goal's negation, what is to be shown's negation, and one start of j: together
	// they say enough·~s_jt > 0 with room to spare, and s_jt follows from the second.
	negation := w.line + 1
	fmt.Fprintf(&w.b, " : subproof\nproofgoal %d\nrup 1 s%d_%d >= 1 : %d;\npol %d %d + %d %d * + %d %d * +;\nqed : %d;\nqed",
		row, j, t, negation, negation, negation+1, atMostOne(j), g, negation+2, g+enough, negation+3)
	w.line += 4
	w.shifts[at] = w.end()
}

// others writes what jobs besides j hold in slot t.
func (w *writer) others(j int, t int64) {
	for i, job := range w.m.Jobs {
		if i == j {
			continue
		}
		for u, to := w.m.starts(i, t); u <= to; u++ {
			term(&w.b, job.Gang, i, u)
		}
	}
}

// name returns the k-th name of a variable: short, as clauses are full of them, and unlike
// those of starts.
func name(k int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := []byte{letters[k%26], letters[k/26%len(letters)]}
	for k /= 26 * len(letters); k > 0; k /= len(letters) {
		b = append(b, letters[k%len(letters)])
	}
	return string(b)
}

// define writes what the variable of a bound is, by that of the bound before it, if that
// is of the same job.
func (w *writer) define(at, before bound, name string) {
	i, d := at.job, &defined{name: name}
	w.bounds[at] = d
	sum := func(sign, from, to int64) {
		for u := from; u <= to; u++ {
			term(&w.b, sign, i, u)
		}
	}
	atMost := atMostOne(i)
	if last := w.bounds[before]; last != nil && before.job == i {
		fmt.Fprintf(&w.b, "red 1 ~%s 1 %s", name, last.name)
		sum(1, before.t+1, at.t)
		fmt.Fprintf(&w.b, " >= 1 : %s -> 0", name)
		new := w.end()
		fmt.Fprintf(&w.b, "red 1 %s -1 %s", name, last.name)
		sum(-1, before.t+1, at.t)
		fmt.Fprintf(&w.b, " >= 0 : %s -> 1", name)
		w.end()
		fmt.Fprintf(&w.b, "pol -1 %d +", last.early)
		d.early = w.end()
		fmt.Fprintf(&w.b, "pol %d %d +", new, last.none)
		d.none = w.end()
	} else {
		fmt.Fprintf(&w.b, "red 1 ~%s", name)
		sum(1, w.m.Jobs[i].Release, at.t)
		fmt.Fprintf(&w.b, " >= 1 : %s -> 0", name)
		d.none = w.end()
		fmt.Fprintf(&w.b, "red 1 %s", name)
		sum(1, at.t+1, w.m.last[i])
		fmt.Fprintf(&w.b, " >= 1 : %s -> 1", name)
		w.end()
		fmt.Fprintf(&w.b, "pol -1 %d +", atMost)
		d.early = w.end()
	}
	fmt.Fprintf(&w.b, "pol %d %d +", d.none, atMost)
	d.late = w.end()
}

// refutation is a list of lines from which the clause of a node follows by unit
// propagation, in their order.
type refutation struct {
	lines []int
	given map[int]bool
}

func (r *refutation) add(line int) {
	if !r.given[line] {
		r.given[line] = true
		r.lines = append(r.lines, line)
	}
}

// clauseOf writes the clause of a node, and returns its line.
func (w *writer) clauseOf(n *node) int {
	r := &refutation{given: map[int]bool{}}
	w.node(n, r)
	w.clause(n)
	w.b.WriteString(" :")
	for _, line := range r.lines {
		w.b.WriteByte(' ')
		integer(&w.b, line)
	}
	return w.end()
}

// node writes what refutes a subtree, and adds its lines. Of a question, a leaf that
// refutes the first answer says itself that the second is true; any other is a clause that does.
// What refutes the second answer then follows.
func (w *writer) node(n *node, r *refutation) {
	switch n.kind {
	case outside:
		r.add(atLeastOne(n.job))
		if d := w.later(n.st, n.job); d != nil {
			r.add(d.early)
		}
	case priced:
		r.add(w.leaf(n))
	case split:
		if n.left.kind == priced {
			r.add(w.leaf(n.left))
		} else {
			r.add(w.clauseOf(n.left))
		}
		w.node(n.right, r)
	case step:
		w.step(n, r)
		w.node(n.left, r)
	}
}

// clause writes a rup line up to its hints.
func (w *writer) clause(n *node) {
	w.b.WriteString("rup")
	if w.open {
		w.b.WriteString(" 1 zz")
	}
	each(n.later, func(i int) {
		if at, no := w.after(i, n.st.earliest[i]); !no {
			w.b.WriteString(" 1 " + w.bounds[at].name)
		}
	})
	each(n.sooner, func(i int) {
		if at, no := w.by(i, n.st.earliest[i]); !no {
			w.b.WriteString(" 1 ~" + w.bounds[at].name)
		}
	})
	w.b.WriteString(" >= 1")
}

// later and sooner return the lines of a bound of the state, or nil if it says nothing.
func (w *writer) later(st *state, i int) *defined {
	if at, no := w.after(i, st.earliest[i]); !no {
		return w.bounds[at]
	}
	return nil
}

func (w *writer) sooner(st *state, i int) *defined {
	if at, no := w.by(i, st.earliest[i]); !no {
		return w.bounds[at]
	}
	return nil
}

// leaf writes that what the bounds of a leaf's clause leave costs too much, and returns
// the line.
func (w *writer) leaf(n *node) int {
	w.prices(n.prices)
	list := []int{n.prices.line}
	for i := range w.m.Jobs {
		from, to := n.window(w.m, i)
		p := part{k: n.prices, i: i, from: from, to: to, later: n.later&(1<<i) != 0, sooner: n.sooner&(1<<i) != 0}
		if line := w.part(p); line > 0 {
			list = append(list, line)
		}
	}
	fmt.Fprintf(&w.b, "pol %d", list[0])
	for _, line := range list[1:] {
		fmt.Fprintf(&w.b, " %d +", line)
	}
	return w.end()
}

// prices writes what prices say: Σ (floor_j - c_jt) s_jt ≥ Σ floor_j - paid - scale·(value
// - 1), where floor_j is the least reduced cost of job j.
func (w *writer) prices(k *prices) {
	if k.line != 0 {
		return
	}
	fmt.Fprintf(&w.b, "pol %d %d *", w.goal, w.s.scale)
	for r, list := range k.price {
		for t, v := range list {
			row := w.m.rows[w.m.first+int64(t)]
			if v == 0 || row == 0 {
				continue
			}
			if fmt.Fprintf(&w.b, " %d", row); r > 0 {
				fmt.Fprintf(&w.b, " %d c", w.s.rows[r].divisor)
			}
			fmt.Fprintf(&w.b, " %d * +", v)
		}
	}
	for i := range w.m.Jobs {
		if floor := k.from[i][0]; floor > 0 {
			fmt.Fprintf(&w.b, " %d %d * +", atLeastOne(i), floor)
		}
	}
	k.line = w.end()
}

// part writes by how much more than its floor a job costs, by bounds of the state, and
// returns the line, or 0 if it is nothing.
func (w *writer) part(p part) int {
	if line, written := w.parts[p]; written {
		return line
	}
	first, last := w.m.Jobs[p.i].Release, w.m.last[p.i]
	least := p.k.least(w.m, p.i, p.from, p.to)
	more := least - p.k.from[p.i][0]
	if more == 0 {
		w.parts[p] = 0
		return 0
	}
	fmt.Fprintf(&w.b, "pol %d %d *", atLeastOne(p.i), more)
	if p.from > first {
		if lack := least - p.k.below[p.i][p.from-first]; lack > 0 {
			at, _ := w.after(p.i, p.from)
			fmt.Fprintf(&w.b, " %d %d * +", w.bounds[at].early, lack)
		}
	}
	if p.to < last {
		if lack := least - p.k.from[p.i][p.to+1-first]; lack > 0 {
			at, _ := w.by(p.i, p.to)
			fmt.Fprintf(&w.b, " %d %d * +", w.bounds[at].late, lack)
		}
	}
	w.parts[p] = w.end()
	return w.parts[p]
}

// step adds what says that the bounds of the next time hold: what runs, what is over, and
// when jobs do not start.
func (w *writer) step(n *node, r *refutation) {
	each(n.later, func(i int) {
		if d := w.later(n.st, i); d != nil {
			r.add(d.early)
		}
	})
	each(n.sooner, func(i int) {
		if d := w.sooner(n.st, i); d != nil {
			r.add(d.late)
		}
	})
	each(n.runs, func(i int) { r.add(atLeastOne(i)) })
	w.facts(n, func(i int, t int64) {
		if w.m.Jobs[i].Gang <= n.st.free {
			r.add(w.shifts[bound{i, t}])
		} else {
			r.add(w.m.rows[t]) // one of all jobs that wait for the same slot
		}
	})
	each(n.left.later&n.need, func(i int) {
		if d := w.later(n.next, i); d != nil {
			r.add(d.none)
		}
	})
}
