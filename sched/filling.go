package sched

import "slices"

// Filling is servers being filled to the last GPU with the replicas of a job,
// one server after the other, a replica whole on one server. A replica is only
// taken if whole replicas can still fill the rest of its server and the servers
// to come. There always is one that may be taken.
//
// It has one way to go on at hand, the plan, and looks for another one with
// Pack only where that is asked for which the plan does not have.
//
// Nil is the Filling of a job without slices: it takes everything.
type Filling struct {
	widths []Width  // replicas not taken yet
	index  []int    // of each stage's width
	room   []int    // what the present server and those to come have left
	plan   [][]int  // plan[i][w]: replicas of width w that fill room[i]
	refuse []bool   // by width: no other replica fits the present server any more
	pairs  [][2]int // pairs of widths of which no two replicas fit the present server together
}

// NewFilling begins to fill so many GPUs on each server, which together are the
// job's gang. It returns false if whole replicas cannot fill them.
func NewFilling(j *Job, room []int) (*Filling, bool) {
	if !j.Sliced() {
		return nil, true
	}
	f := &Filling{widths: j.Widths(), room: slices.Clone(room)}
	if f.plan = Pack(f.widths, f.room); f.plan == nil {
		return nil, false
	}
	f.refuse = make([]bool, len(f.widths))
	for s := range j.Stages {
		for w := range f.widths {
			if f.widths[w].Slices == j.Slices(s) {
				f.index = append(f.index, w)
			}
		}
	}
	return f, true
}

// Next goes on to the next server, when the present one is full.
func (f *Filling) Next() {
	if f != nil {
		f.room, f.plan, f.pairs = f.room[1:], f.plan[1:], f.pairs[:0]
		clear(f.refuse)
	}
}

// Refuses reports whether no other replica of the stage fits the server. What is
// refused once stays so, as the server only gets fuller.
func (f *Filling) Refuses(stage int) bool { return f != nil && f.refuse[f.index[stage]] }

// RefusesPair reports whether no two replicas of these stages fit the server,
// which must be empty.
func (f *Filling) RefusesPair(a, b int) bool {
	return f != nil && len(f.pairs) > 0 && slices.Contains(f.pairs, [2]int{f.index[a], f.index[b]})
}

// Take takes up to n replicas of the stage and returns how many it took: none
// if the stage is refused from now on.
func (f *Filling) Take(stage, n int) int {
	if f == nil {
		return n
	}
	w := f.index[stage]
	if f.plan[0][w] == 0 && !f.replan(w) {
		f.refuse[w] = true
		return 0
	}
	n = min(n, f.plan[0][w])
	f.widths[w].Replicas -= n
	f.room[0] -= n * f.widths[w].Slices
	f.plan[0][w] -= n
	return n
}

// TakePair takes a replica of both stages, or reports that the pair is refused
// from now on.
func (f *Filling) TakePair(a, b int) bool {
	if f == nil {
		return true
	}
	v, w := f.index[a], f.index[b]
	have := f.plan[0][v] > 0 && f.plan[0][w] > 0 && (v != w || f.plan[0][v] > 1)
	if !have && !f.replan(v, w) {
		f.pairs = append(f.pairs, [2]int{v, w})
		return false
	}
	f.Take(a, 1)
	f.Take(b, 1)
	return true
}

// replan looks for a plan with one replica of each of these widths on the
// present server.
func (f *Filling) replan(widths ...int) bool {
	for _, w := range widths {
		f.widths[w].Replicas--
		f.room[0] -= f.widths[w].Slices
	}
	var plan [][]int
	if f.room[0] >= 0 {
		plan = Pack(f.widths, f.room)
	}
	for _, w := range widths {
		f.widths[w].Replicas++
		f.room[0] += f.widths[w].Slices
	}
	if plan == nil {
		return false
	}
	for _, w := range widths {
		plan[0][w]++
	}
	f.plan = plan
	return true
}
