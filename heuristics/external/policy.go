package external

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Options are what a policy is told of its run beside the instance.
type Options struct {
	Instance  string // an opaque name
	Objective string
	Seed      uint64 // below 2^53, which every language can hold
	Predictor string // what predicts lengths; NoPredictor if nothing does
}

// NoPredictor is the predictor of a run that predicts nothing.
const NoPredictor = "none"

// Policy is a program at the other end of a connection, as the simulator sees it. A
// value serves one run.
type Policy struct {
	conn    *Conn
	options Options
	hello   introduction
	rule    sim.Rule

	line    []byte
	jobs    []sched.JobID // by number
	number  []int         // by job
	users   pseudonyms
	groups  pseudonyms
	free    []int      // by server, as last told
	amounts [][]int64  // of every resource by server, as last told; nil but in the elastic model
	wake    sched.Time // asked for; 0 for none
	placed  []sim.Assignment
	held    []sched.JobID // jobs that hold GPUs, and some that did
	start   []sim.Assignment
	off     []sched.JobID
}

// New greets the program at the other end.
//
// Errors: it is not there, or answers with something else than a hello of the
// protocol.
func New(c *Conn, in *sched.Instance, o Options) (*Policy, error) {
	line, err := object("hello", greet(in, o))
	if err != nil {
		return nil, err
	}
	told := c.tell(line)
	answer, err := c.line() // of a program that has ended, what is wrong with it says more
	if err != nil {
		return nil, fmt.Errorf("hello: %w", cmp.Or(told, err))
	}
	hello, err := readHello(answer)
	if err = cmp.Or(err, told); err != nil {
		return nil, fmt.Errorf("hello: %w", err)
	}
	p := &Policy{conn: c, options: o, hello: *hello, free: make([]int, len(in.Cluster.Servers)),
		users: pseudonyms{"u", map[string]int{}}, groups: pseudonyms{"g", map[string]int{}}}
	for s := range p.free {
		p.free[s] = -1
	}
	if in.Model.Has(sched.E) {
		p.amounts = make([][]int64, len(in.Cluster.Servers))
	}
	if hello.Place != nil {
		p.rule = *hello.Place
	}
	return p, nil
}

// Name returns the name that the program gave.
func (p *Policy) Name() string { return p.hello.Name }

// Class returns the class that the program promised. Elastic jobs are scheduled in slots.
func (p *Policy) Class() sched.Class {
	kind := classes[p.hello.Class]
	return sched.Class{Kind: kind, Slotted: kind == sched.E || kind == sched.EP}
}

// Again reports whether the program can serve another instance.
func (p *Policy) Again() bool { return p.hello.Again }

func (p *Policy) wants(what string) bool { return slices.Contains(p.hello.Wants, what) }

// Decide asks the program.
func (p *Policy) Decide(v *sim.View) (sim.Decision, error) {
	if err := p.question(v); err != nil {
		return sim.Decision{}, err
	}
	line, err := p.conn.ask(p.line)
	if err != nil {
		return sim.Decision{}, err
	}
	d, err := readDecision(line)
	if err != nil {
		return sim.Decision{}, err
	}
	return p.decision(v, d)
}

// End tells the program that the run is over. The result is for whoever has started
// bench to be asked; nil for a program that bench has started.
func (p *Policy) End(result any) error {
	if result == nil {
		result = struct{}{}
	}
	line, err := object("end", result)
	if err != nil {
		return err
	}
	return p.conn.tell(line)
}

// Fail tells whoever has started bench that the run has failed.
func Fail(c *Conn, why error) error {
	line, err := object("error", why.Error())
	if err != nil {
		return err
	}
	return c.tell(line)
}

// decision makes the simulator's decision of an answer.
func (p *Policy) decision(v *sim.View, d *decision) (sim.Decision, error) {
	p.start, p.off, p.placed, p.wake = p.start[:0], p.off[:0], p.placed[:0], 0
	if d.Wake != nil {
		if p.wake = sched.Time(*d.Wake); p.wake == 0 {
			return sim.Decision{}, errors.New("it asks to be woken at 0, which is not after now")
		}
	}
	for _, n := range d.Preempt {
		id, err := p.jobOf(n)
		if err != nil {
			return sim.Decision{}, fmt.Errorf("preempt: %w", err)
		}
		p.off = append(p.off, id)
	}
	ruled := p.amounts == nil && slices.ContainsFunc(d.Start, func(s start) bool { return s.parts == nil })
	for i := range d.Start {
		a, err := p.assign(v, &d.Start[i], ruled)
		if err != nil {
			return sim.Decision{}, fmt.Errorf("start of job %d: %w", d.Start[i].job, err)
		}
		p.start = append(p.start, a)
		for _, sh := range a.Place.Shares {
			p.free[sh.Server] = -1 // what is left of it is told again
			if p.amounts != nil {
				p.amounts[sh.Server] = nil
			}
		}
		if d.Start[i].parts == nil && p.wants(wantPlacements) {
			p.placed = append(p.placed, a)
		}
		if p.wants(wantProgress) {
			p.held = append(p.held, a.Job)
		}
	}
	return sim.Decision{Preempt: p.off, Start: p.start, Wake: p.wake}, nil
}

// jobOf returns the job of a number.
func (p *Policy) jobOf(n whole) (sched.JobID, error) {
	if n < 0 || int64(n) >= int64(len(p.jobs)) {
		return 0, fmt.Errorf("job %d: %w", n, sim.ErrHidden)
	}
	return p.jobs[n], nil
}

// assign finds the placement of a start. If a rule has to place others, GPUs that are
// named are held, so that it finds other ones.
func (p *Policy) assign(v *sim.View, s *start, hold bool) (sim.Assignment, error) {
	id, err := p.jobOf(s.job)
	if err != nil {
		return sim.Assignment{}, err
	}
	j, err := v.Job(id)
	if err != nil {
		return sim.Assignment{}, err
	}
	if p.amounts != nil {
		place, err := p.contain(v, s)
		return sim.Assignment{Job: id, Place: place}, err
	}
	if s.config.Types != nil {
		return sim.Assignment{}, errors.New("types belong to elastic jobs")
	}
	place, err := p.place(v, &j, s)
	if err != nil {
		return sim.Assignment{}, err
	}
	if a := s.config.Accumulation; a != nil {
		if p.hello.Class == "M" || j.Sharing == nil || !slices.ContainsFunc(j.Sharing.Accumulation, func(x sched.Accumulation) bool { return whole(x.Steps) == *a }) {
			return sim.Assignment{}, fmt.Errorf("accumulation %d is none of the job's", *a)
		}
		place.Config = &sched.Config{Accumulation: int(*a)}
	}
	if s.parts != nil && hold {
		// What cannot be held now may be free after the preemptions; if not, the simulator
		// refuses it.
		_ = v.Hold(id, place)
	}
	return sim.Assignment{Job: id, Place: place}, nil
}

// place returns the GPUs of a start: those it names, or those of the rule.
func (p *Policy) place(v *sim.View, j *sim.Job, s *start) (sched.Placement, error) {
	size := j.Gang
	if z := s.config.Size; z != nil {
		if p.hello.Class != "M" || s.parts != nil || *z < 1 || *z > whole(v.Cluster().GPUs()) {
			return sched.Placement{}, fmt.Errorf("size %d: a size belongs to a start of class M without parts, and is one of the job's", *z)
		}
		size = int(*z)
	}
	if s.parts == nil {
		return p.ruled(v, j, s, size)
	}
	shares := make([]sched.Share, len(s.parts))
	total := 0
	for i, part := range s.parts {
		switch {
		case part.server < 0 || part.server >= whole(v.Cluster().Servers()):
			return sched.Placement{}, fmt.Errorf("there is no server %d: they are 0 to %d", part.server, v.Cluster().Servers()-1)
		case i > 0 && part.server <= s.parts[i-1].server:
			return sched.Placement{}, fmt.Errorf("server %d comes after server %d: servers are in ascending order, each once", part.server, s.parts[i-1].server)
		case part.gpus < 1 || part.gpus > v.Cluster().Size(int(part.server)):
			return sched.Placement{}, fmt.Errorf("it takes %d GPUs of server %d, which has %d", part.gpus, part.server, v.Cluster().Size(int(part.server)))
		}
		shares[i] = sched.Share{Server: int(part.server), GPUs: part.gpus, Devices: part.devices}
		total += part.gpus
	}
	if p.hello.Class != "M" && total != j.Gang {
		return sched.Placement{}, fmt.Errorf("it takes %d GPUs, and its gang is %d", total, j.Gang)
	}
	return sched.Placement{Shares: shares}, p.layout(v, j, s, shares)
}

// ruled has the rule choose free GPUs, which stay held until the answer is carried out.
func (p *Policy) ruled(v *sim.View, j *sim.Job, s *start, size int) (sched.Placement, error) {
	if s.config.Stages != nil {
		return sched.Placement{}, errors.New("it lays out stages but names no parts")
	}
	if p.hello.Class != "M" {
		place, ok, err := v.Place(j.ID, p.rule)
		if err == nil && !ok {
			err = fmt.Errorf("the rule %v finds no free GPUs for its gang of %d: %d are free in all", p.rule, j.Gang, v.Cluster().Free())
		}
		return place, err
	}
	shares, ok := v.Cluster().Pick(p.rule, size)
	if !ok {
		return sched.Placement{}, fmt.Errorf("the rule %v finds no free GPUs for the size %d: %d are free in all", p.rule, size, v.Cluster().Free())
	}
	place := sched.Placement{Shares: shares}
	return place, v.Hold(j.ID, place)
}

// layout puts the stages on the shares: as the start says, else in pipeline order.
func (p *Policy) layout(v *sim.View, j *sim.Job, s *start, shares []sched.Share) error {
	if given := s.config.Stages; given != nil {
		if len(given) != len(shares) {
			return fmt.Errorf("stages has %d lists for %d parts", len(given), len(shares))
		}
		for i := range shares {
			if shares[i].Stages = ints(given[i]); slices.ContainsFunc(shares[i].Stages, func(n int) bool { return n < 0 }) {
				return fmt.Errorf("stages %v of part %d are negative", shares[i].Stages, i)
			}
		}
		return nil
	}
	job := sched.Job{Stages: j.Stages}
	if job.Sliced() {
		room := make([]int, len(shares))
		for i := range shares {
			room[i] = shares[i].GPUs
		}
		if _, ok := sched.NewFilling(&job, room); !ok {
			return errors.New("replicas of several GPUs do not fill its parts: each needs all its GPUs on one server")
		}
	}
	v.Cluster().Chain(j.Stages, shares)
	return nil
}
