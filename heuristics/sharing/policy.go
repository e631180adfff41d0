package sharing

import (
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Policy is a policy that shares GPUs: waiting jobs in order of the time that
// they need alone take free GPUs if there are enough, and are otherwise matched
// with running jobs. A value serves one run.
//
// Cost: a decision looks at the first job of each class that may have found
// GPUs since it was last looked at; waiting jobs of one class are those of the same
// task, gang and accumulation options.
type Policy struct {
	name      string
	xi        [][]float64
	match     matcher
	placement sim.Rule

	board *board
	line  line
	start []sim.Assignment

	joined, smaller int
}

// Joined returns how many jobs were started beside others, and how many of these with a
// smaller sub-batch than the largest that fitted beside them.
func (p *Policy) Joined() (all, smaller int) { return p.joined, p.smaller }

// matcher finds GPUs for a waiting job where too few are free.
type matcher interface {
	// lack returns how many GPUs are missing, at most 0 if there are enough.
	// In a class it does not fall from one job to the next, and for a job it
	// does not fall as time goes on but by completions.
	lack(v *sim.View, b *board, c *class, w *waiting) (int, error)
	// choose returns the GPUs, in any order, and the option, for a job that
	// lacks none; or false if it should not start all the same.
	choose(v *sim.View, b *board, c *class, w *waiting) (gpus []int32, option int, start bool, err error)
}

// Name implements sim.Policy.
func (p *Policy) Name() string { return p.name }

// Class returns S.
func (p *Policy) Class() sched.Class { return sched.Class{Kind: sched.S} }

// Decide implements sim.Policy.
func (p *Policy) Decide(v *sim.View) (sim.Decision, error) {
	if p.board == nil {
		p.board = newBoard(v.Hardware(), p.xi)
	}
	for _, id := range v.Completed() {
		p.line.gained += int64(p.board.leave(v.Now(), id))
	}
	for _, id := range v.Arrived() {
		if err := p.line.push(v, id, p.board.memory); err != nil {
			return sim.Decision{}, err
		}
	}
	p.start = p.start[:0]
	p.line.open()
	for c := p.line.first(); c != nil; c = p.line.first() {
		if err := p.try(v, c); err != nil {
			return sim.Decision{}, err
		}
	}
	for _, c := range p.line.classes {
		for _, w := range c.aside {
			c.push(w)
			c.retryAt = 0
		}
		c.aside = c.aside[:0]
	}
	return sim.Decision{Start: p.start}, nil
}

// try starts the first job of the first open class, or closes the class.
func (p *Policy) try(v *sim.View, c *class) error {
	w := c.queue[0]
	var gpus []int32
	option := 0
	if p.board.free >= c.gang {
		shares, _ := v.Cluster().Pick(p.placement, c.gang)
		gpus = p.board.numbers(nil, shares)
	} else {
		lack, err := p.match.lack(v, p.board, c, &w)
		if err != nil {
			return err
		}
		if lack > 0 {
			c.retryAt = p.line.gained + int64(lack)
			p.line.drop()
			return nil
		}
		start := false
		if gpus, option, start, err = p.match.choose(v, p.board, c, &w); err != nil {
			return err
		}
		if !start {
			p.line.next()
			c.aside = append(c.aside, w)
			return nil
		}
	}
	p.line.next()
	return p.begin(v, c, &w, gpus, option)
}

func (p *Policy) begin(v *sim.View, c *class, w *waiting, gpus []int32, chosen int) error {
	j, err := v.Job(w.id)
	if err != nil {
		return err
	}
	place := p.board.placement(gpus, c.options[chosen].Steps)
	v.Cluster().Chain(j.Stages, place.Shares)
	if err := v.Hold(w.id, place); err != nil {
		return err
	}
	if p.board.free < c.gang {
		p.joined++
		room := p.board.memory
		for _, g := range gpus {
			if on := p.board.on[g][0]; on != none {
				room = min(room, p.board.memory-p.board.jobs[on].option.Memory)
			}
		}
		largest := slices.MinFunc(slices.DeleteFunc(slices.Clone(c.options), func(o option) bool { return o.Memory > room }), func(a, b option) int { return a.Steps - b.Steps })
		if c.options[chosen].Steps > largest.Steps {
			p.smaller++
		}
	}
	p.board.enter(v.Now(), j.Load, w, c.options[chosen], gpus)
	p.start = append(p.start, sim.Assignment{Job: w.id, Place: place})
	return nil
}
