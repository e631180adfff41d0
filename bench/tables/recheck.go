package tables

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"

	"yardstick/bench"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/bounds/proof/treecheck"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// Rechecked is what checking a result directory came to.
type Rechecked struct {
	Cells        int // with a row
	Schedules    int // that hold, and whose rows say what they come to
	Certificates int // that hold, and whose rows say what they prove
	Proofs       int // for strangers, that hold and are about their instances
	Uncertified  int // bounds with a value and without a certificate: nothing was checked
	Failed       []string
}

// Recheck checks what a result directory says from its files alone: every schedule
// by package verify, every certificate by package certify, and every cost,
// denominator, ratio and time of a job against what follows from them. run is the
// directory's content, as record.Open returns it. watch, if not nil, is called with
// the numbers of checks done and in all, by one goroutine at a time.
//
// Errors: that of ctx, with what was checked until then. What fails is no error.
func Recheck(ctx context.Context, run *record.Run, workers int, watch func(done, all int)) (*Rechecked, error) {
	r := &recheck{run: run}
	r.sort()
	var tasks []func()
	for _, c := range r.instances {
		tasks = append(tasks, c.tasks()...)
	}
	var mu sync.Mutex
	done := 0
	next := make(chan func())
	var group sync.WaitGroup
	for range max(workers, 1) {
		group.Go(func() {
			for task := range next {
				task()
				mu.Lock()
				done++
				if watch != nil {
					watch(done, len(tasks))
				}
				mu.Unlock()
			}
		})
	}
	for _, task := range tasks {
		select {
		case next <- task:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	group.Wait()
	out := &Rechecked{Cells: len(r.cells), Failed: r.failed}
	seen := map[record.Text]bool{}
	for _, c := range r.instances {
		out.Schedules += c.schedulesHold
		out.Uncertified += c.uncertified
		out.Proofs += c.proofsHold
		for hash, holds := range c.certificates {
			if holds && !seen[hash] {
				out.Certificates++
			}
			seen[hash] = true
		}
		out.Failed = append(out.Failed, c.failed...)
	}
	return out, ctx.Err()
}

// recheck is a run, sorted by instance.
type recheck struct {
	run       *record.Run
	cells     map[string]bool
	instances []*instanceCheck
	failed    []string
}

type scheduleKey struct {
	cell   string
	number int
}

// instanceCheck is all that a run says of one instance, and what became of it. Its
// first task reads the instance, its last one lets go of it.
type instanceCheck struct {
	dir, name, hash string
	ratios          []*record.Ratio
	bounds          []*record.Bound
	solves          []*record.Solve
	features        []*record.Instance
	keys            []scheduleKey // in order of rows
	schedules       map[scheduleKey]*scheduleCheck

	mu      sync.Mutex
	loading sync.Once
	in      *sched.Instance // nil if it cannot be read
	best    []record.Opt[float64]
	fresh   record.Instance // its features
	left    int             // tasks

	schedulesHold, uncertified, proofsHold int
	certificates                           map[record.Text]bool // whether it holds
	failed                                 []string
}

type scheduleCheck struct {
	class    string
	rows     []*record.Ratio
	segments []*record.Segment
	jobs     []*record.Job
	verified *verify.Verified // nil unless it holds
}

func (r *recheck) sort() {
	r.cells = map[string]bool{}
	byName := map[string]*instanceCheck{}
	bySchedule := map[scheduleKey]*scheduleCheck{}
	of := func(name, hash string) *instanceCheck {
		c := byName[name]
		if c == nil {
			c = &instanceCheck{dir: r.run.Dir, name: name, hash: hash, schedules: map[scheduleKey]*scheduleCheck{}, certificates: map[record.Text]bool{}}
			byName[name] = c
			r.instances = append(r.instances, c)
		}
		if c.hash != hash {
			r.failed = append(r.failed, fmt.Sprintf("instance %s is %.12s… in one row and %.12s… in another", name, c.hash, hash))
		}
		return c
	}
	for i := range r.run.Ratios {
		row := &r.run.Ratios[i]
		c := of(row.Instance, row.InstanceSHA256)
		c.ratios = append(c.ratios, row)
		r.cells[row.CellID] = true
		if !row.Schedule.Valid {
			if row.Cost.Valid || row.Makespan.Valid {
				c.fail("%s has a cost and no schedule", rowName(row))
			}
			continue
		}
		key := scheduleKey{row.CellID, row.Schedule.V}
		s := c.schedules[key]
		if s == nil {
			s = &scheduleCheck{class: row.Class}
			c.schedules[key], bySchedule[key] = s, s
			c.keys = append(c.keys, key)
		}
		s.rows = append(s.rows, row)
	}
	for i := range r.run.Bounds {
		row := &r.run.Bounds[i]
		c := of(row.Instance, row.InstanceSHA256)
		c.bounds = append(c.bounds, row)
		r.cells[string(row.CellID)] = true
	}
	for i := range r.run.Solves {
		row := &r.run.Solves[i]
		if c := byName[row.Instance]; c != nil {
			c.solves = append(c.solves, row)
		} else {
			r.failed = append(r.failed, fmt.Sprintf("solves.arrow has a row of %s, and no other table has", row.Instance))
		}
	}
	for i := range r.run.Features {
		row := &r.run.Features[i]
		c := of(row.Instance, row.InstanceSHA256)
		c.features = append(c.features, row)
	}
	if len(r.run.Features) > 0 { // earlier versions did not record them
		for _, c := range r.instances {
			if len(c.features) != 1 {
				c.fail("instances.arrow has %d rows of %s", len(c.features), c.name)
			}
		}
	}
	lost := map[scheduleKey]bool{}
	at := func(key scheduleKey) *scheduleCheck {
		s := bySchedule[key]
		if s == nil && !lost[key] {
			lost[key] = true
			r.failed = append(r.failed, fmt.Sprintf("schedule %d of cell %s has rows, and no cost is of it", key.number, key.cell))
		}
		return s
	}
	for i := range r.run.Segments {
		row := &r.run.Segments[i]
		if s := at(scheduleKey{row.CellID, row.Schedule}); s != nil {
			s.segments = append(s.segments, row)
		}
	}
	for i := range r.run.Jobs {
		row := &r.run.Jobs[i]
		if s := at(scheduleKey{row.CellID, row.Schedule}); s != nil {
			s.jobs = append(s.jobs, row)
		}
	}
}

func rowName(row *record.Ratio) string {
	return fmt.Sprintf("%s on %s (%s)", row.Method, row.Instance, row.Objective)
}

func (c *instanceCheck) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, fmt.Sprintf(format, args...))
}

// tasks are the checks of the instance, which may run at the same time: one for its
// certificates and one per schedule. The last one to end checks the denominators.
func (c *instanceCheck) tasks() []func() {
	list := []func(){c.checkCertificates}
	for _, key := range c.keys {
		list = append(list, func() { c.checkSchedule(c.schedules[key]) })
	}
	c.left = len(list)
	for i, task := range list {
		list[i] = func() {
			if c.loading.Do(c.load); c.in != nil {
				task()
			}
			c.mu.Lock()
			c.left--
			last := c.left == 0
			c.mu.Unlock()
			if last {
				c.end()
			}
		}
	}
	return list
}

func (c *instanceCheck) load() {
	text, err := record.ReadInstance(c.dir, c.hash)
	if err == nil {
		c.in, err = sched.ReadInstance(bytes.NewReader(text))
	}
	if err != nil {
		c.in = nil
		c.fail("instance %s cannot be read, so that nothing about it was checked: %v", c.name, err)
		return
	}
	built := &suite.Instance{Instance: c.in}
	c.best, c.fresh = fastest{}.of(built), built.Features()
}

func (c *instanceCheck) end() {
	if c.in != nil {
		c.checkFeatures()
		c.checkRows()
	}
	slices.Sort(c.failed) // the order of the checks is no one's
	c.in, c.schedules = nil, nil
}

// checkSchedule verifies a schedule and compares its rows with what follows.
func (c *instanceCheck) checkSchedule(s *scheduleCheck) {
	name := rowName(s.rows[0])
	schedule, err := Schedule(s.class, s.segments)
	var v *verify.Verified
	if err == nil {
		v, err = verify.Check(c.in, schedule)
	}
	if err != nil {
		c.fail("the schedule of %s does not hold: %s", name, strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	for _, row := range s.rows {
		if err := checkCost(row, v); err != nil {
			c.fail("%s: %v", rowName(row), err)
			return
		}
	}
	if err := s.checkJobs(c.in, c.best, v); err != nil {
		c.fail("%s: %v", name, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.verified = v
	c.schedulesHold++
}

// checkCost compares what a row says of a verified schedule alone.
func checkCost(row *record.Ratio, v *verify.Verified) error {
	var objective sched.Objective
	if err := objective.UnmarshalText([]byte(row.Objective)); err != nil {
		return err
	}
	if class := v.Class().String(); row.Class != class {
		return fmt.Errorf("the class is recorded as %s, and the schedule is of %s", row.Class, class)
	}
	cost := inUnit(objective, v.Cost(objective))
	if row.CostExact != record.Exact(cost) || row.Cost != record.FromRat(cost) {
		return fmt.Errorf("the cost is recorded as %s (%v), and the schedule's is %s", cmp.Or(row.CostExact, "none"), row.Cost.V, cmp.Or(record.Exact(cost), "none"))
	}
	var fresh record.Ratio
	addTimes(&fresh, v)
	return sameFields(row, &fresh, func(r *record.Ratio) []any {
		return []any{r.Makespan, r.JCTMean, r.JCTP50, r.JCTP95, r.WaitMean, r.WaitP50, r.WaitP95, r.Preemptions, r.FutilePreempts, r.Futile, r.GPUUtilization}
	}, "makespan_s", "jct_mean_s", "jct_p50_s", "jct_p95_s", "wait_mean_s", "wait_p50_s", "wait_p95_s", "preemptions", "futile_preemptions", "futile_s", "gpu_utilization")
}

// sameFields names the first of the fields in which a recorded row differs from what
// follows.
func sameFields[R any](recorded, follows R, fields func(R) []any, names ...string) error {
	a, b := fields(recorded), fields(follows)
	for i, name := range names {
		if a[i] != b[i] {
			return fmt.Errorf("%s is recorded as %v, and %v follows", name, a[i], b[i])
		}
	}
	return nil
}

// checkJobs compares the rows of jobs.arrow with the schedule.
func (s *scheduleCheck) checkJobs(in *sched.Instance, best []record.Opt[float64], v *verify.Verified) error {
	if len(s.jobs) != len(in.Jobs) {
		return fmt.Errorf("jobs.arrow has %d rows of it, and there are %d jobs", len(s.jobs), len(in.Jobs))
	}
	slices.SortStableFunc(s.jobs, func(a, b *record.Job) int { return cmp.Compare(a.Job, b.Job) })
	var fresh record.Run
	cell := bench.CellResult{Cell: bench.Cell{ID: s.jobs[0].CellID, Instance: &suite.Instance{Instance: in}}, Outcomes: []bench.Outcome{{}}}
	addJobs(&fresh, &cell, s.jobs[0].Schedule, v, best)
	for i, row := range s.jobs {
		fresh.Jobs[i].ItersPredicted = row.ItersPredicted
		if fresh.Jobs[i] != *row {
			return fmt.Errorf("jobs.arrow says otherwise of job %d than the schedule", row.Job)
		}
	}
	return nil
}

// checkCertificates checks the certificates that the instance's rows name, each once,
// and that they state what the rows say.
func (c *instanceCheck) checkCertificates() {
	checker := certify.New(c.in, c.hash)
	statements := map[record.Text]*certify.Statement{}
	check := func(hash record.Text, what string) *certify.Statement {
		if _, known := c.certificates[hash]; known {
			return statements[hash]
		}
		text, err := record.ReadCertificate(c.dir, string(hash))
		var s *certify.Statement
		if err == nil {
			s, err = checker.Check(text)
		}
		if err != nil {
			c.fail("certificate %s of %s does not hold: %v", hash, what, err)
		}
		c.certificates[hash], statements[hash] = err == nil, s
		return s
	}
	for _, row := range c.bounds {
		what := fmt.Sprintf("bound %s on %s (%s)", row.Bound, row.Instance, row.Objective)
		certified := row.Certified.Valid && row.Certified.V
		switch {
		case certified != (row.Certificate != ""):
			c.fail("%s: it is certified and has no certificate, or the other way round", what)
		case !row.Value.Valid:
		case !certified:
			c.uncertified++
		default:
			s := check(row.Certificate, what)
			if s == nil {
				continue
			}
			value := inUnit(s.Objective, s.Value)
			if s.Objective.String() != row.Objective || s.Class.String() != row.Class || record.Exact(value) != row.ValueExact || record.FromRat(value) != row.Value {
				c.fail("%s: %s in class %s is recorded, and its certificate states %s in class %s for %s", what, row.ValueExact, row.Class, record.Exact(value), s.Class, s.Objective)
				c.certificates[row.Certificate] = false
			}
		}
	}
	for _, row := range c.solves {
		if row.Certificate != "" {
			check(row.Certificate, fmt.Sprintf("the solve of %s on %s (%s)", row.Formulation, row.Instance, row.Objective))
		}
		if row.ProofStatus == "" && row.Proof == "" && row.Problem == "" {
			continue
		}
		if err := c.checkProof(row); err != nil {
			c.fail("the proof for strangers of %s on %s (%s) does not hold: %v", row.Formulation, row.Instance, row.Objective, err)
			continue
		}
		c.proofsHold++
	}
}

// checkProof checks a proof for strangers: that it holds, that its problem is the one that
// follows from the instance, and that it is about the optimum that its cell states.
func (c *instanceCheck) checkProof(row *record.Solve) error {
	certificate, problem, err := record.ReadProof(c.dir, string(row.Proof), string(row.Problem))
	if err != nil {
		return err
	}
	var objective sched.Objective
	if err := objective.UnmarshalText([]byte(row.Objective)); err != nil {
		return err
	}
	s, err := treecheck.Check(problem, certificate)
	if err != nil {
		return err
	}
	p, err := proof.FromText(problem, c.in, objective, c.in.Class())
	format := tree.Format
	if err == nil && p.Servers != nil {
		format = tree.FormatOnServers
	}
	switch {
	case err != nil:
		return err
	case !bytes.Equal(p.Text(), problem):
		return errors.New("its problem is not what follows from the instance")
	case row.ProofStatus != record.Checkable || row.ProofFormat != record.Text(format) || row.Nodes != record.Some(int64(s.Nodes)) || row.ProofBytes != record.Some(int64(len(certificate))):
		return fmt.Errorf("it has %d nodes and %d bytes in the format %s, and something else is recorded", s.Nodes, len(certificate), format)
	}
	value := record.Exact(inUnit(objective, p.Value(s.Value)))
	for _, cost := range c.ratios {
		if cost.CellID == row.CellID && cost.Objective == row.Objective && (!s.Optimum || cost.CostExact != value) {
			return fmt.Errorf("it is about %s, and its cell has a schedule of cost %s", value, cost.CostExact)
		}
	}
	return nil
}

// checkFeatures compares what instances.arrow says with the instance.
func (c *instanceCheck) checkFeatures() {
	for _, row := range c.features {
		fresh := c.fresh
		fresh.Suite, fresh.Instance, fresh.InstanceSHA256, fresh.Family, fresh.Seed = row.Suite, row.Instance, row.InstanceSHA256, row.Family, row.Seed
		recorded, follows := reflect.ValueOf(*row), reflect.ValueOf(fresh)
		for i := range recorded.NumField() {
			if a, b := recorded.Field(i).Interface(), follows.Field(i).Interface(); a != b {
				c.failed = append(c.failed, fmt.Sprintf("instances.arrow: %s: %s is recorded as %v, and %v follows", c.name, recorded.Type().Field(i).Name, a, b))
			}
		}
	}
}

// checkRows derives denominators and ratios from the bounds and the schedules anew.
// Schedules that do not hold have been reported: what they are part of cannot be.
func (c *instanceCheck) checkRows() {
	standings := map[string]*standing{}
	own := map[scheduleOf][]bounds.Bound{} // of the cell
	of := func(objective string) *standing {
		st := standings[objective]
		if st == nil {
			st = &standing{}
			if err := st.objective.UnmarshalText([]byte(objective)); err != nil {
				c.failed = append(c.failed, err.Error())
			}
			standings[objective] = st
		}
		return st
	}
	for _, row := range c.bounds {
		st := of(row.Objective)
		if !row.Value.Valid {
			continue
		}
		b := bounds.Bound{Name: row.Bound, Objective: st.objective, Certified: row.Certified.V}
		side := record.Lower
		if st.objective.Maximised() {
			side = record.Upper
		}
		if row.Side != side {
			c.failed = append(c.failed, fmt.Sprintf("bound %s on %s (%s) is of the %s side", row.Bound, row.Instance, row.Objective, row.Side))
		}
		value, ok := new(big.Rat).SetString(string(row.ValueExact))
		if err := b.Class.UnmarshalText([]byte(row.Class)); err != nil || !ok || record.FromRat(value) != row.Value {
			c.failed = append(c.failed, fmt.Sprintf("bound %s on %s (%s): its value %v is not %q, or its class %q is none", row.Bound, row.Instance, row.Objective, row.Value.V, row.ValueExact, row.Class))
			continue
		}
		if b.Value = value; st.objective.IsTime() {
			value.Mul(value, big.NewRat(int64(sched.Second), 1))
		}
		st.bounds = append(st.bounds, b)
		key := scheduleOf{string(row.CellID), row.Objective}
		own[key] = append(own[key], b)
	}
	for _, row := range c.ratios {
		if !row.Schedule.Valid {
			continue
		}
		v := c.schedules[scheduleKey{row.CellID, row.Schedule.V}].verified
		if v == nil {
			return
		}
		of(row.Objective).addSchedule(row.Method, v)
	}
	for _, name := range slices.Sorted(maps.Keys(standings)) {
		if err := standings[name].check(); err != nil {
			c.failed = append(c.failed, fmt.Sprintf("%s: %s", c.name, strings.ReplaceAll(err.Error(), "\n", "; ")))
		}
	}
	for _, row := range c.ratios {
		st := of(row.Objective)
		if err := c.checkInstance(row, st.objective); err != nil {
			c.failed = append(c.failed, fmt.Sprintf("%s: %v", rowName(row), err))
		}
		if !row.Cost.Valid {
			continue
		}
		v := c.schedules[scheduleKey{row.CellID, row.Schedule.V}].verified
		o := &bench.Outcome{Bounds: own[scheduleOf{row.CellID, row.Objective}], Termination: milp.Termination(row.Termination)}
		fresh := record.Ratio{Method: row.Method}
		addDenominators(&fresh, v, st, o)
		if row.UnseenShare.Valid || row.PredictionError.Valid { // earlier versions did not record them
			addPredictability(&fresh, slices.Values(c.schedules[scheduleKey{row.CellID, row.Schedule.V}].jobs))
		}
		if row.OptimumStatus == record.Claimed && fresh.OptimumStatus == "" { // nobody can check a claim, and no ratio is made of it
			fresh.Optimum, fresh.OptimumExact, fresh.OptimumStatus, fresh.OptimumMethod, fresh.DualStatus = row.Optimum, row.OptimumExact, row.OptimumStatus, row.OptimumMethod, row.DualStatus
		}
		if row.BestKnownBy == "" { // earlier versions did not record it
			fresh.BestKnownBy = ""
		}
		if err := sameFields(row, &fresh, func(r *record.Ratio) []any {
			return []any{r.PrimalStatus, r.DualStatus, r.Optimum, r.OptimumExact, r.OptimumStatus, r.OptimumMethod, r.LowerBound, r.UpperBound, r.LowerBoundExact,
				r.LowerBoundMethod, r.LowerBoundClass, r.LowerBoundCertified, r.BestKnown, r.BestKnownBy, r.RatioToOptimum, r.RatioToLowerBound, r.RatioToBestKnown, r.UnseenShare, r.PredictionError}
		}, "primal_status", "dual_status", "optimum", "optimum_exact", "optimum_status", "optimum_method", "lower_bound", "upper_bound", "lower_bound_exact",
			"lower_bound_method", "lower_bound_class", "lower_bound_certified", "best_known", "best_known_by", "ratio_to_optimum", "ratio_to_lower_bound", "ratio_to_best_known", "unseen_share", "prediction_error"); err != nil {
			c.failed = append(c.failed, fmt.Sprintf("%s: %v", rowName(row), err))
		}
	}
}

// checkInstance compares what a row says of the instance and the objective.
func (c *instanceCheck) checkInstance(row *record.Ratio, objective sched.Objective) error {
	in := c.in
	fresh := record.Ratio{Model: string(in.Model), Jobs: len(in.Jobs), GPUs: in.Cluster.GPUs(), Servers: record.Some(len(in.Cluster.Servers)), Sense: record.Min}
	if row.OfferedLoad.Valid { // earlier versions did not record it
		fresh.OfferedLoad = c.fresh.OfferedLoad
	}
	if objective.Maximised() {
		fresh.Sense = record.Max
	}
	return sameFields(row, &fresh, func(r *record.Ratio) []any { return []any{r.Model, r.Jobs, r.GPUs, r.Servers, r.Sense, r.OfferedLoad} },
		"model", "jobs", "gpus", "servers", "sense", "offered_load")
}

// scheduleOf is a cell under one of its objectives.
type scheduleOf struct{ cell, objective string }
