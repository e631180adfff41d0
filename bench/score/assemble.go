package score

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench/score/logs"
	"yardstick/sched"
	"yardstick/solvers/partition"
)

// Input is what files say, before anything is assembled of it.
type Input struct {
	Jobs     *logs.Log       // nil if Instance has the jobs, or the schedule itself
	Instance *sched.Instance // or nil
	Schedule *logs.Log

	Evidence Evidence // at most; 0 is as much as there is
	Recorded bool     // lengths are those of the schedule
	Ignore   []string // of IgnoreReasons
	GPUs     int64    // thousandths; 0 is the most that were in use at once
	Servers  []int    // GPUs of each; nil if they are not known
	Capacity []Step   // by the clock of the files
}

// The reasons for which jobs may be left out, on both sides.
const (
	IgnoreKilled     = "killed"      // the system ended them before they were done, or they failed
	IgnoreMissing    = "missing"     // they are not in the schedule
	IgnoreUnfinished = "unfinished"  // the schedule has no start or end of them
	IgnoreZero       = "zero-length" // they took no time by the clock of the log
	noGPUs           = "without GPUs"
)

// IgnoreReasons lists what Input.Ignore may name.
func IgnoreReasons() []string {
	return []string{IgnoreKilled, IgnoreMissing, IgnoreUnfinished, IgnoreZero}
}

// LeftOut is how many jobs were left out for a reason.
type LeftOut struct {
	Reason string
	Jobs   int
}

// Assembled is a record with its jobs.
type Assembled struct {
	Jobs    []Job
	Record  Record
	Cluster Cluster
	// Origin is the time of the files' clock, in microseconds, from which the jobs' and the
	// record's times count.
	Origin  int64
	LeftOut []LeftOut
	Unknown []Violation // rows of jobs that are not in the list
	Notes   []string    // what whoever reads the result should know
	Rounded bool        // times were rounded to microseconds, as Options.Rounded says
}

// assembler joins jobs and rows.
type assembler struct {
	Input
	jobs   []Job
	status []string
	types  map[string]bool
	index  map[string]int
	rows   [][]int32 // of each job, in Schedule.Rows
	starts bool      // the schedule has starts: a row without one never started
	out    Assembled
}

// Assemble joins a list of jobs with the rows of a schedule.
//
// Errors: columns are missing; a job is in the list twice; the schedule is of a class that
// bounds for fixed gangs do not divide.
func Assemble(in Input) (*Assembled, error) {
	a := &assembler{Input: in, types: map[string]bool{}}
	a.index = make(map[string]int, len(in.Schedule.Rows))
	if in.Schedule.Resized != "" && in.Evidence != Completions {
		return nil, fmt.Errorf("%s; --evidence completions scores the ends alone, for the lengths and GPUs of the job list", in.Schedule.Resized)
	}
	if in.Schedule.Sample != "" {
		return nil, fmt.Errorf("%s: a sample is not scored, as jobs outside it held GPUs; a log of your own with these columns is --format table with --map", in.Schedule.Sample)
	}
	a.starts = slices.ContainsFunc(in.Schedule.Rows, func(r logs.Row) bool { return r.Start.OK })
	var err error
	switch {
	case in.Instance != nil:
		err = a.fromInstance()
	case in.Jobs != nil:
		err = a.fromList()
	default:
		err = a.fromSchedule()
	}
	if err != nil {
		return nil, err
	}
	a.attach()
	if err := a.leaveOut(); err != nil {
		return nil, err
	}
	if err := a.evidence(); err != nil {
		return nil, err
	}
	err = a.record()
	out := a.out // and not the files with it
	return &out, err
}

func (a *assembler) add(j Job, status string) error {
	if first, twice := a.index[j.Name]; twice {
		return fmt.Errorf("jobs %d and %d both have the name %q", first+1, len(a.jobs)+1, j.Name)
	}
	a.index[j.Name] = len(a.jobs)
	a.jobs, a.status = append(a.jobs, j), append(a.status, status)
	return nil
}

func (a *assembler) fromInstance() error {
	in := a.Instance
	if !in.Model.Exclusive() {
		return fmt.Errorf("%w to the %s model: score divides schedules of fixed gangs on GPUs of their own; bench verify checks others", sched.ErrNotApplicable, in.Model)
	}
	least, err := partition.LeastRunTimes(in)
	if err != nil {
		return err
	}
	named := !slices.ContainsFunc(in.Jobs, func(j sched.Job) bool { return j.Name == "" })
	for i := range in.Jobs {
		j := &in.Jobs[i]
		name := j.Name
		if !named {
			name = strconv.Itoa(i)
		}
		if err := a.add(Job{Name: name, User: j.User, Release: j.Release, Length: j.Load + least[i].Duration, GPUs: int64(j.Gang()) * Milli, Weight: j.Weight}, ""); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembler) fromList() error {
	for i := range a.Input.Jobs.Rows {
		r := &a.Input.Jobs.Rows[i]
		switch {
		case !r.Submit.OK:
			return fmt.Errorf("job %s of the job list has no submit time", r.Job)
		case r.Length.OK && r.Length.V < 0:
			return fmt.Errorf("job %s of the job list has a negative duration", r.Job)
		case !r.Length.OK && !a.Recorded:
			return fmt.Errorf("job %s of the job list has no duration: give it, or take those of the schedule with --lengths recorded", r.Job)
		}
		if err := a.add(Job{Name: r.Job, User: r.User, Release: sched.Time(r.Submit.V), Length: sched.Time(r.Length.V), GPUs: r.GPUs, Weight: r.Weight}, r.Status); err != nil {
			return err
		}
		a.note(r)
	}
	a.out.Rounded = a.Input.Jobs.Rounded
	return nil
}

// complete reports whether a row says when the job ran.
func (a *assembler) complete(r *logs.Row) bool { return r.End.OK && (r.Start.OK || !a.starts) }

// note takes down the type of GPUs.
func (a *assembler) note(r *logs.Row) {
	if r.Type != "" {
		a.types[r.Type] = true
	}
}

// fromSchedule takes the jobs from the schedule, whose rows then say it all.
func (a *assembler) fromSchedule() error {
	if !a.Recorded {
		return errors.New("there is no job list: the lengths can only be those recorded, which --lengths recorded says")
	}
	for i := range a.Schedule.Rows {
		r := &a.Schedule.Rows[i]
		a.note(r)
		if j, known := a.index[r.Job]; known {
			job := &a.jobs[j]
			if r.Submit.OK {
				job.Release = min(job.Release, sched.Time(r.Submit.V))
			}
			a.status[j] = r.Status // of its last attempt
			continue
		}
		if !r.Submit.OK && a.complete(r) {
			return fmt.Errorf("job %s has no submit time: give a job list", r.Job)
		}
		if err := a.add(Job{Name: r.Job, User: r.User, Release: sched.Time(r.Submit.V), GPUs: r.GPUs, Weight: r.Weight}, r.Status); err != nil {
			return err
		}
	}
	return nil
}

// attach finds the job of every row.
func (a *assembler) attach() {
	a.rows = make([][]int32, len(a.jobs))
	a.out.Rounded = a.out.Rounded || a.Schedule.Rounded
	unknown := 0
	trim := func(s string) string { return s }
	if a.Input.Jobs != nil && a.Input.Jobs.Numbered {
		trim = func(s string) string { return strings.TrimLeft(s, "0") }
	}
	for i := range a.Schedule.Rows {
		r := &a.Schedule.Rows[i]
		j, ok := a.index[r.Job]
		if !ok {
			j, ok = a.index[trim(r.Job)]
		}
		if !ok {
			if unknown++; unknown == 1 {
				a.out.Unknown = []Violation{{Rule: RuleJob, Job: r.Job, At: sched.Time(r.End.V)}}
			}
			continue
		}
		a.rows[j] = append(a.rows[j], int32(i))
		if a.status[j] == "" || a.Instance != nil || a.Input.Jobs != nil && r.Status != "" {
			a.status[j] = r.Status
		}
		if a.jobs[j].GPUs < 0 {
			a.jobs[j].GPUs = r.GPUs
		}
		if a.jobs[j].User == "" {
			a.jobs[j].User = r.User
		}
	}
	if unknown > 0 {
		a.out.Unknown[0].Detail = fmt.Sprintf("is in the schedule and not in the job list, as are %d rows in all: the list is a sample, and jobs outside it held GPUs", unknown)
	}
}

// killed reports whether a status says that a job was not done.
func killed(status string) bool {
	s := strings.ToUpper(status)
	return slices.ContainsFunc([]string{"CANCEL", "KILL", "FAIL", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE", "BOOT", "PREEMPTED", "REVOKED", "WALLTIME", "REJECTED"}, func(w string) bool { return strings.Contains(s, w) })
}

// leaveOut removes what holds no GPUs, and what the caller asked for.
func (a *assembler) leaveOut() error {
	counts := map[string]int{}
	wanted := func(reason string) bool { return slices.Contains(a.Ignore, reason) }
	kept := 0
	for j := range a.jobs {
		job := &a.jobs[j]
		unfinished, zero := false, len(a.rows[j]) > 0 && a.Recorded
		for _, i := range a.rows[j] {
			r := &a.Schedule.Rows[i]
			unfinished = unfinished || !a.complete(r)
			zero = zero && (!a.complete(r) || r.End.V <= r.Start.V)
		}
		zero = zero && !unfinished
		reason := ""
		switch {
		case job.GPUs == 0:
			reason = noGPUs
		case len(a.rows[j]) == 0 && wanted(IgnoreMissing):
			reason = IgnoreMissing
		case unfinished && wanted(IgnoreUnfinished):
			reason = IgnoreUnfinished
		case killed(a.status[j]) && wanted(IgnoreKilled):
			reason = IgnoreKilled
		case (zero || !a.Recorded && job.Length == 0) && wanted(IgnoreZero):
			reason = IgnoreZero
		case job.GPUs < 0:
			return fmt.Errorf("job %s has no number of GPUs, neither in the job list nor in the schedule", job.Name)
		case !a.Recorded && job.Length == 0:
			return fmt.Errorf("job %s runs for 0s by the job list: --ignore %s leaves such jobs out", job.Name, IgnoreZero)
		}
		if reason != "" {
			counts[reason]++
			continue
		}
		a.jobs[kept], a.rows[kept], a.status[kept] = *job, a.rows[j], a.status[j]
		kept++
	}
	a.jobs, a.rows, a.status = a.jobs[:kept], a.rows[:kept], a.status[:kept]
	for _, reason := range append([]string{noGPUs}, IgnoreReasons()...) {
		if counts[reason] > 0 {
			a.out.LeftOut = append(a.out.LeftOut, LeftOut{reason, counts[reason]})
		}
	}
	if kept == 0 {
		return errors.New("no jobs are left")
	}
	if counts[IgnoreKilled]+counts[IgnoreUnfinished] > 0 {
		a.out.Notes = append(a.out.Notes, "what jobs that were left out held of the GPUs, the others could not have: the ratio is an upper estimate")
	}
	return nil
}

// evidence decides how much the rows say, and no more than was asked for.
func (a *assembler) evidence() error {
	e := Placements
	missing := "servers of the cluster"
	if a.Servers == nil {
		e = Intervals
	}
	for j := range a.rows {
		for _, i := range a.rows[j] {
			r := &a.Schedule.Rows[i]
			switch {
			case a.Schedule.Hidden:
				e, missing = Completions, "times at which jobs were stopped"
			case !a.starts:
				e, missing = Completions, "starts"
			case r.Place == nil && e == Placements || r.GPUs%Milli != 0 && r.GPUs > 0 && e == Placements:
				e, missing = Intervals, "place on whole GPUs of job "+r.Job
			}
		}
	}
	if a.Evidence > e {
		return fmt.Errorf("the schedule is evidence of %v at most: it has no %s", e, missing)
	}
	if a.Evidence != 0 {
		e = a.Evidence
	}
	if e == Completions && a.Recorded {
		return fmt.Errorf("the schedule has no %s: lengths cannot be those recorded", missing)
	}
	a.out.Record.Evidence = e
	return nil
}

// record makes pieces of rows, and times count from the first release.
func (a *assembler) record() error {
	shift := a.clockShift()
	if a.Instance == nil {
		a.out.Origin = int64(a.jobs[0].Release)
		for j := range a.jobs {
			a.out.Origin = min(a.out.Origin, int64(a.jobs[j].Release))
		}
	}
	origin := sched.Time(a.out.Origin)
	for i := range a.out.Unknown {
		a.out.Unknown[i].At += sched.Time(shift) - origin
	}
	servers, err := a.servers()
	if err != nil {
		return err
	}
	e := a.out.Record.Evidence
	var pieces []Piece
	for j := range a.jobs {
		a.jobs[j].Release -= origin
		ends := 0
		for _, i := range a.rows[j] {
			r := &a.Schedule.Rows[i]
			if !a.complete(r) {
				continue // and the job is missing if it has no other row
			}
			p := Piece{Job: j, Start: sched.Time(r.Start.V+shift) - origin, End: sched.Time(r.End.V+shift) - origin, GPUs: max(0, r.GPUs)}
			if e == Completions {
				p.GPUs = 0
				if ends++; ends > 1 { // the end of a job is that of its last attempt
					last := &pieces[len(pieces)-1]
					last.End = max(last.End, p.End)
					continue
				}
			}
			if e == Placements {
				for _, s := range r.Place {
					p.Parts = append(p.Parts, Part{Server: servers[s.Server], GPUs: s.GPUs, Devices: s.Devices})
				}
			}
			pieces = append(pieces, p)
		}
	}
	a.out.Record.Pieces, a.out.Jobs = pieces, a.jobs
	a.out.Cluster = Cluster{GPUs: a.GPUs, Servers: a.Servers}
	for _, s := range a.Capacity {
		a.out.Cluster.Capacity = append(a.out.Cluster.Capacity, Step{At: s.At - origin, GPUs: s.GPUs})
	}
	if len(a.types) > 1 {
		a.out.Notes = append(a.out.Notes, fmt.Sprintf("the jobs name %d types of GPUs: the bounds take every job to run as long on any GPU", len(a.types)))
	}
	if a.GPUs == 0 {
		return a.gpusInUse()
	}
	return nil
}

// clockShift returns what to add to the schedule's times where its submit times are all
// those of the job list but for the same difference.
func (a *assembler) clockShift() int64 {
	if a.Input.Jobs == nil && a.Instance == nil {
		return 0
	}
	shift, found := int64(0), false
	for j := range a.rows {
		for _, i := range a.rows[j] {
			r := &a.Schedule.Rows[i]
			if !r.Submit.OK {
				return 0
			}
			by := int64(a.jobs[j].Release) - r.Submit.V
			if found && by != shift {
				return 0
			}
			shift, found = by, true
		}
	}
	if shift != 0 {
		a.out.Notes = append(a.out.Notes, fmt.Sprintf("the schedule's clock is %v behind that of the job list by all submit times: it was set", sched.Time(shift)))
	}
	return shift
}

// servers numbers the servers by name: as they are named where that is 0, 1, …, and else in
// the order of their names.
func (a *assembler) servers() (map[string]int, error) {
	index := map[string]int{}
	if a.out.Record.Evidence != Placements {
		return index, nil
	}
	var names []string
	numbers := true
	for j := range a.rows {
		for _, i := range a.rows[j] {
			for _, s := range a.Schedule.Rows[i].Place {
				if _, known := index[s.Server]; known {
					continue
				}
				n, err := strconv.Atoi(s.Server)
				numbers = numbers && err == nil && n >= 0 && n < len(a.Servers)
				index[s.Server] = n
				names = append(names, s.Server)
			}
		}
	}
	if numbers {
		return index, nil
	}
	if len(names) > len(a.Servers) {
		return nil, fmt.Errorf("the schedule names %d servers, and the cluster has %d", len(names), len(a.Servers))
	}
	if slices.Min(a.Servers) != slices.Max(a.Servers) {
		return nil, fmt.Errorf("the schedule names servers such as %q: on servers of different sizes they must be numbered from 0", names[0])
	}
	slices.Sort(names)
	for n, name := range names {
		index[name] = n
	}
	return index, nil
}

// gpusInUse takes the most that were in use at once for the cluster.
func (a *assembler) gpusInUse() error {
	if a.out.Record.Evidence == Completions {
		return errors.New("the schedule has ends alone: how many GPUs there are cannot be read from it, so give --gpus")
	}
	type change struct {
		at   sched.Time
		gpus int64
	}
	var changes []change
	for i := range a.out.Record.Pieces {
		p := &a.out.Record.Pieces[i]
		if g := max(p.GPUs, a.jobs[p.Job].GPUs); p.End > p.Start {
			changes = append(changes, change{p.Start, g}, change{p.End, -g})
		}
	}
	slices.SortFunc(changes, func(x, y change) int {
		switch {
		case x.at != y.at:
			return int(min(1, max(-1, x.at-y.at)))
		case x.gpus != y.gpus:
			return int(min(1, max(-1, x.gpus-y.gpus)))
		}
		return 0
	})
	used := int64(0)
	for _, c := range changes {
		used += c.gpus
		a.out.Cluster.GPUs = max(a.out.Cluster.GPUs, used)
	}
	a.out.Cluster.GPUs = (a.out.Cluster.GPUs + Milli - 1) / Milli * Milli
	a.out.Notes = append(a.out.Notes, fmt.Sprintf("%s GPUs, the most in use at once, stand for the cluster: where it was larger, the ratio flatters", GPUs(a.out.Cluster.GPUs)))
	return nil
}
