package verify_test

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"yardstick/sched"
)

// legal decides by brute force whether a schedule of small times keeps the
// rules: it lays out every microsecond of every job as one character, matches
// the string against the grammar of the class as a regular expression, and
// counts GPUs, memory and progress microsecond by microsecond. Iteration times
// are those of package sched.
func legal(in *sched.Instance, s *sched.Schedule) bool {
	n := naive{in: in, s: s}
	return n.class() && n.layOut() && n.counts() && n.grammar() && n.progress()
}

type naive struct {
	in    *sched.Instance
	s     *sched.Schedule
	end   sched.Time
	cells [][]cell // per job and microsecond
}

// cell is a job during one microsecond.
type cell struct {
	char byte // '.' idle; L, P: the first of a load or pause; l, p: the rest; T
	seg  *sched.Segment
}

func (n *naive) class() bool {
	kinds := map[sched.Model]string{sched.ModelGang: "N", sched.ModelPreemptive: "NP", sched.ModelSharing: "NSPM"}[n.in.Model]
	name := sched.Class{Kind: n.s.Class.Kind}.String()
	return len(name) == 1 && regexp.MustCompile("["+kinds+"]").MatchString(name) && (!n.s.Class.Slotted || n.in.Slot > 0)
}

// layOut fills the cells. It fails on segments that are wrong by themselves or
// overlap.
func (n *naive) layOut() bool {
	for i := range n.s.Segments {
		if n.s.Segments[i].End > sched.MaxTime {
			return false
		}
		n.end = max(n.end, n.s.Segments[i].End)
	}
	n.cells = make([][]cell, len(n.in.Jobs))
	for j := range n.cells {
		n.cells[j] = make([]cell, n.end+1)
		for t := range n.cells[j] {
			n.cells[j][t].char = '.'
		}
	}
	for i := range n.s.Segments {
		seg := &n.s.Segments[i]
		if seg.Job < 0 || int(seg.Job) >= len(n.in.Jobs) || seg.Start < 0 || seg.Start >= seg.End || !n.placement(seg) {
			return false
		}
		if seg.Start < n.in.Jobs[seg.Job].Release {
			return false
		}
		for t := seg.Start; t < seg.End; t++ {
			c := &n.cells[seg.Job][t]
			if c.seg != nil {
				return false
			}
			c.seg = seg
			switch {
			case seg.Phase == sched.Train:
				c.char = 'T'
			case seg.Phase == sched.Load && t == seg.Start:
				c.char = 'L'
			case seg.Phase == sched.Load:
				c.char = 'l'
			case seg.Phase == sched.Pause && t == seg.Start:
				c.char = 'P'
			case seg.Phase == sched.Pause:
				c.char = 'p'
			default:
				return false
			}
		}
	}
	return true
}

func (n *naive) placement(seg *sched.Segment) bool {
	if n.iterTime(seg) == nil {
		return false
	}
	shared := n.in.Jobs[seg.Job].Sharing != nil
	if cf := seg.Place.Config; cf != nil && (cf.ServerType != 0 || cf.WorkerType != 0 || cf.Accumulation != 0 && (!shared || n.s.Class.Kind == sched.M)) {
		return false
	}
	for _, sh := range seg.Place.Shares {
		seen := map[int]bool{}
		for _, d := range sh.Devices {
			seen[d] = d >= 0 && d < n.in.Cluster.Servers[sh.Server].GPUs
		}
		for d := range seen {
			if !seen[d] {
				return false
			}
		}
		for k := 1; k < len(sh.Devices); k++ {
			if sh.Devices[k] < sh.Devices[k-1] {
				return false
			}
		}
		if sh.Devices == nil && n.s.Class.Kind == sched.S || sh.Devices != nil && len(seen) != sh.GPUs || len(seen) != len(sh.Devices) {
			return false
		}
	}
	return true
}

// iterTime returns the time of an iteration of the segment's job alone, or nil
// if the placement is not one of it.
func (n *naive) iterTime(seg *sched.Segment) *big.Rat {
	if n.s.Class.Kind != sched.M {
		alpha, err := n.in.IterTime(seg.Job, &seg.Place)
		if err != nil {
			return nil
		}
		return alpha
	}
	z, err := n.in.SizeOn(seg.Job, &seg.Place)
	if err != nil {
		return nil
	}
	return big.NewRat(int64(z.Iter), 1e9)
}

func (n *naive) memory(seg *sched.Segment) sched.Bytes {
	sh := n.in.Jobs[seg.Job].Sharing
	if sh == nil {
		return 0
	}
	if n.s.Class.Kind == sched.M {
		return sh.Sizes[slices.IndexFunc(sh.Sizes, func(z sched.Size) bool { return z.GPUs == seg.Place.GPUs() })].Memory
	}
	for _, a := range sh.Accumulation {
		if seg.Place.Config == nil || seg.Place.Config.Accumulation == a.Steps {
			return a.Memory
		}
	}
	panic("no such option")
}

// counts looks at every server in every microsecond.
func (n *naive) counts() bool {
	naming := map[int]bool{}
	for i := range n.s.Segments {
		for _, sh := range n.s.Segments[i].Place.Shares {
			if named, known := naming[sh.Server]; known && named != (sh.Devices != nil) {
				return false
			}
			naming[sh.Server] = sh.Devices != nil
		}
	}
	limit := 1
	if n.s.Class.Kind == sched.S {
		limit = 2
	}
	for t := range n.end {
		for m, server := range n.in.Cluster.Servers {
			gpus, jobs, memory := 0, make([]int, server.GPUs), make([]sched.Bytes, server.GPUs)
			for j := range n.cells {
				seg := n.cells[j][t].seg
				if seg == nil {
					continue
				}
				for _, sh := range seg.Place.Shares {
					if sh.Server != m {
						continue
					}
					gpus += sh.GPUs
					if limit == 1 && n.in.Model == sched.ModelSharing && n.memory(seg) > server.GPUMemory {
						return false
					}
					for _, d := range sh.Devices {
						jobs[d]++
						memory[d] += n.memory(seg)
					}
				}
			}
			if limit == 1 && gpus > server.GPUs {
				return false
			}
			for d := range jobs {
				if jobs[d] > limit || n.in.Model == sched.ModelSharing && memory[d] > server.GPUMemory {
					return false
				}
			}
		}
	}
	return true
}

// samePlace compares placements by what they print as, with the stages of
// one-stage jobs and the accumulation written out.
func (n *naive) samePlace(a, b *sched.Segment) bool {
	text := func(seg *sched.Segment) string {
		out := ""
		for _, sh := range seg.Place.Shares {
			if sh.Stages == nil {
				sh.Stages = []int{sh.GPUs}
			}
			out += fmt.Sprint(sh)
		}
		if sh := n.in.Jobs[seg.Job].Sharing; sh != nil && n.s.Class.Kind != sched.M {
			steps := sh.Accumulation[0].Steps
			if seg.Place.Config != nil {
				steps = seg.Place.Config.Accumulation
			}
			out += fmt.Sprint(steps)
		}
		return out
	}
	return text(a) == text(b)
}

// grammar matches each job's string, with a bar where the placement changes
// from one microsecond to the next, and looks at the slots.
func (n *naive) grammar() bool {
	for id := range n.in.Jobs {
		cells, j := n.cells[id], &n.in.Jobs[id]
		var text []byte
		for t := range cells {
			before := cell{char: '.'}
			if t > 0 {
				before = cells[t-1]
			}
			moved := before.seg != nil && cells[t].seg != nil && !n.samePlace(before.seg, cells[t].seg)
			if moved {
				text = append(text, '|')
			}
			text = append(text, cells[t].char)
			if n.s.Class.Slotted && sched.Time(t)%n.in.Slot != 0 && turn(before.char, cells[t].char, moved) {
				return false
			}
		}
		if n.in.Deadline > 0 && regexp.MustCompile(`^\.*$`).Match(text) {
			continue
		}
		if !grammarOf(n.s.Class.Kind, j).Match(text) {
			return false
		}
	}
	return true
}

// turn reports whether a bout starts, is preempted or completes between two
// characters.
func turn(a, b byte, moved bool) bool {
	in := func(c byte, set string) bool { return strings.IndexByte(set, c) >= 0 }
	starts := in(b, "LlT") && (in(a, ".Pp") || moved || b == 'L')
	stops := in(a, "LlT") && (in(b, ".LP") || moved)
	return starts || stops
}

func grammarOf(k sched.Kind, j *sched.Job) *regexp.Regexp {
	load, abort, pause := "", "", ""
	if j.Load > 0 {
		load, abort = fmt.Sprintf("Ll{%d}", j.Load-1), fmt.Sprintf("Ll{0,%d}[.|]*|", j.Load-1)
	}
	if j.Pause > 0 {
		pause = fmt.Sprintf("Pp{%d}", j.Pause-1)
	}
	before := ""
	if k == sched.P || k == sched.M {
		before = fmt.Sprintf("(%s%sT+%s[.|]*)*", abort, load, pause)
	}
	return regexp.MustCompile(fmt.Sprintf(`^\.*%s%sT+\.*$`, before, load))
}

// progress adds up 1/(alpha·xi) over the microseconds of training.
func (n *naive) progress() bool {
	for id := range n.in.Jobs {
		done, trains := new(big.Rat), false
		rates := map[string]*big.Rat{}
		for t := range n.cells[id] {
			c := n.cells[id][t]
			if c.char != 'T' {
				continue
			}
			trains = true
			xi := n.slowdown(sched.JobID(id), sched.Time(t))
			key := fmt.Sprint(xi, c.seg.Start)
			if rates[key] == nil {
				rates[key] = new(big.Rat).SetFloat64(xi)
				rates[key].Mul(rates[key], n.iterTime(c.seg))
				rates[key].Quo(big.NewRat(1, 1e6), rates[key])
			}
			done.Add(done, rates[key])
		}
		if trains && done.Cmp(new(big.Rat).SetInt64(n.in.Jobs[id].Iters)) < 0 {
			return false
		}
	}
	return true
}

// row is where a segment's job is in the table of interference.
func (n *naive) row(seg *sched.Segment) int {
	sh := n.in.Jobs[seg.Job].Sharing
	for k, a := range sh.Accumulation {
		if sh.Rows != nil && (seg.Place.Config == nil || a.Steps == seg.Place.Config.Accumulation) {
			return sh.Rows[k]
		}
	}
	return sh.Task
}

func (n *naive) slowdown(id sched.JobID, t sched.Time) float64 {
	xi := 1.0
	if n.s.Class.Kind != sched.S {
		return xi
	}
	own := n.cells[id][t].seg
	for other := range n.cells {
		seg := n.cells[other][t].seg
		if seg == nil || other == int(id) {
			continue
		}
		for _, a := range own.Place.Shares {
			for _, b := range seg.Place.Shares {
				for _, d := range a.Devices {
					for _, e := range b.Devices {
						if a.Server == b.Server && d == e {
							xi = max(xi, n.in.Interference[n.row(own)][n.row(seg)])
						}
					}
				}
			}
		}
	}
	return xi
}
