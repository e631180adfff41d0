package primaldual

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"yardstick/formulate/maxweight/pricing"
	"yardstick/heuristics/elastic"
	"yardstick/heuristics/sim"
	"yardstick/sched"
)

// Options are the choices of A_online. The zero value is the certified form with
// prices as printed.
type Options struct {
	MaxWeight MaxWeight // nil stands for Greedy{}
	Form      Form
	// Alpha is the number alpha of the literal form, at least 1. The paper's
	// formula for it, [PaperAlpha], needs to know all jobs in advance.
	Alpha int
	// Shift starts each job as early as its containers are free of what is
	// planned, and not where the batch puts it. Not in the source; no job completes
	// later.
	Shift bool
}

// Policy is A_online. A value serves one run.
type Policy struct {
	options Options

	alone   *sched.Instance // what is known, with all releases 0: problems begin when everybody is there
	model   *pricing.Model
	pool    []sched.JobID // known and not planned
	begun   []Run         // started, and not completed
	ahead   []Run         // planned, by start
	busy    int64         // the slot by which all that was planned ends
	reports []Report
}

// Report is what A_online did in one round.
type Report struct {
	Slot int64 // tau_i, when the round began
	Base int64 // the slot at which its schedule begins, before jobs are shifted
	Round
}

// New returns the policy.
func New(o Options) *Policy {
	if o.MaxWeight == nil {
		o.MaxWeight = Greedy{}
	}
	return &Policy{options: o}
}

// Name implements sim.Policy.
func (p *Policy) Name() string { return "primal-dual" }

// Class implements sim.Policy.
func (p *Policy) Class() sched.Class { return sched.Class{Kind: sched.E, Slotted: true} }

// Reports returns a report for every round in which there were jobs.
func (p *Policy) Reports() []Report { return p.reports }

// Alpha returns the largest number of problems that any round solved, and
// whether every round reached the weight that Lemma 1 asks for. If so, the total
// weighted completion time is at most 4·alpha times the least possible one, or in
// the literal form 4 times the given alpha: that is proven for this run.
func (p *Policy) Alpha() (alpha int, proven bool) {
	proven = true
	for i := range p.reports {
		alpha = max(alpha, p.reports[i].Alpha)
		proven = proven && p.reports[i].Reached()
	}
	if p.options.Form == Literal {
		alpha = p.options.Alpha
	}
	return alpha, proven
}

// Decide implements sim.Policy.
func (p *Policy) Decide(v *sim.View) (d sim.Decision, err error) {
	if p.options.Form == Literal && p.options.Alpha < 1 {
		return d, errors.New("primaldual: the literal form needs an alpha of at least 1")
	}
	now := int64(v.Now() / v.Slot())
	if err := p.admit(v, now); err != nil {
		return d, err
	}
	if len(p.pool) > 0 && tau(now) == now {
		if err := p.round(now); err != nil {
			return d, err
		}
	}
	for len(p.ahead) > 0 && p.ahead[0].Start == now {
		x := p.ahead[0]
		d.Start = append(d.Start, sim.Assignment{Job: x.Job, Place: x.Place})
		p.begun, p.ahead = append(p.begun, x), p.ahead[1:]
	}
	wake := int64(0)
	if len(p.ahead) > 0 {
		wake = p.ahead[0].Start
	}
	if next := tau(now + 1); len(p.pool) > 0 && (wake == 0 || next < wake) {
		wake = next
	}
	d.Wake = sched.Time(wake) * v.Slot()
	return d, nil
}

// tau returns the first of tau_i = 2^(i−1), i = 1, 2, …, that is not before the
// slot.
func tau(slot int64) int64 {
	t := int64(1)
	for t < slot {
		t *= 2
	}
	return t
}

// admit adds what arrived, and forgets what completed.
func (p *Policy) admit(v *sim.View, now int64) error {
	known := v.Known()
	if p.alone == nil {
		copied := *known
		copied.Jobs = nil
		p.alone, p.model = &copied, &pricing.Model{In: &copied}
	}
	for len(p.alone.Jobs) < len(known.Jobs) {
		p.alone.Jobs, p.model.Configs = append(p.alone.Jobs, sched.Job{}), append(p.model.Configs, nil)
	}
	for _, id := range v.Arrived() {
		p.alone.Jobs[id] = known.Jobs[id]
		p.alone.Jobs[id].Release = 0
		if p.model.Configs[id] = p.alone.ElasticConfigs(id); len(p.model.Configs[id]) == 0 {
			return fmt.Errorf("primaldual: job %d fits nowhere", id)
		}
		p.pool = append(p.pool, id)
	}
	p.begun = slices.DeleteFunc(p.begun, func(x Run) bool { return x.End <= now })
	return nil
}

// maxHorizon bounds the problem of a round: prices are kept for every slot.
const maxHorizon = 1 << 20

// round is lines 6 to 10 of Algorithm 1, at tau_i.
func (p *Policy) round(now int64) error {
	if now > maxHorizon {
		return fmt.Errorf("%w: the round would have a problem of %d slots, more than %d: use longer slots", sched.ErrNotApplicable, now, maxHorizon)
	}
	r, err := Dual(p.options.MaxWeight, Problem{Model: p.model, Jobs: p.pool, Horizon: now}, p.options.Form, p.options.Alpha)
	if err != nil {
		return fmt.Errorf("in the round of slot %d: %w", now, err)
	}
	if r.Unfit > 0 && len(r.Runs) == 0 && now > 2*serialSlots(p.model) {
		return fmt.Errorf("%w: the schedules of Algorithms 4 and 7 as printed have too few workers for all %d jobs that wait, in a round of %d slots as before: use schedules=repaired",
			sched.ErrNotApplicable, len(p.pool), now)
	}
	base := max(now, p.busy)
	if p.options.Form == Literal {
		base = int64(p.options.Alpha) * now
	}
	p.reports = append(p.reports, Report{Slot: now, Base: base, Round: *r})
	planned := slices.Clone(r.Runs)
	for i := range planned {
		planned[i].Start, planned[i].End = planned[i].Start+base, planned[i].End+base
	}
	if p.options.Shift {
		p.shift(planned, now)
	}
	p.ahead = append(slices.Clip(p.ahead), planned...)
	slices.SortStableFunc(p.ahead, byStart)
	chosen := make(map[sched.JobID]bool, len(planned))
	for _, x := range planned {
		p.busy = max(p.busy, x.End)
		chosen[x.Job] = true
	}
	p.pool = slices.DeleteFunc(p.pool, func(id sched.JobID) bool { return chosen[id] })
	return nil
}

func byStart(a, b Run) int { return cmp.Compare(a.Start, b.Start) }

// shift moves the jobs, by planned start, each to the earliest slot from which
// on there is room beside everything else that is planned. Its own window always
// has room, so no job starts later.
func (p *Policy) shift(planned []Run, now int64) {
	profile := elastic.NewProfile(p.alone, now)
	for _, list := range [][]Run{p.begun, p.ahead, planned} {
		for i := range list {
			profile.Take(&list[i].Place, list[i].Start, list[i].End)
		}
	}
	slices.SortStableFunc(planned, byStart)
	for i := range planned {
		x := &planned[i]
		profile.Give(&x.Place, x.Start, x.End)
		at := profile.Earliest(&x.Place, now, x.End-x.Start)
		x.Start, x.End = at, at+x.End-x.Start
		profile.Take(&x.Place, x.Start, x.End)
	}
}
