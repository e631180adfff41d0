package record

import "io"

// LibraryRow is a row of the table of a library: what is known of one instance. Costs and
// bounds are in seconds, or seconds times weight.
type LibraryRow struct {
	Instance, InstanceSHA256, Model, Class, Objective string
	Jobs, GPUs, Servers                               int
	OfferedLoad                                       Opt[float64]
	Cost                                              Opt[float64]
	CostExact, CostClass, ScheduleBy, ScheduleOn      Text
	Bound                                             Opt[float64]
	BoundExact, BoundKind, BoundBy, BoundOn           Text
	Gap                                               Opt[float64]
	Status                                            string
	Proof                                             bool
}

func libraryTable() *table[LibraryRow] {
	type R = LibraryRow
	return &table[R]{
		name: "library",
		doc:  "One row per instance of a library (`bench library table --format arrow`): the best that is known of it. It is no part of a result directory.",
		rows: func(r *Run) *[]R { return &r.Library },
		columns: []column[R]{
			{"instance", "", Key, "name of the instance in the library", func(r *R) any { return &r.Instance }},
			{"instance_sha256", "", Value, "sha256 of the instance's content", func(r *R) any { return &r.InstanceSHA256 }},
			{"model", "", Value, "job model: gang, elastic, preemptive or sharing", func(r *R) any { return &r.Model }},
			{"class", "", Value, "execution class of the schedules that are compared", func(r *R) any { return &r.Class }},
			{"objective", "", Value, "what is minimised", func(r *R) any { return &r.Objective }},
			{"jobs", "", Value, "number of jobs", func(r *R) any { return &r.Jobs }},
			{"gpus", "", Value, "number of GPUs of the cluster", func(r *R) any { return &r.GPUs }},
			{"servers", "", Value, "number of servers of the cluster", func(r *R) any { return &r.Servers }},
			{"offered_load", "", Value, "offered load; null of a burst, and of elastic jobs", func(r *R) any { return &r.OfferedLoad }},
			{"cost", "s", Value, "objective value of the best schedule known, verified: seconds, times weight where weighted", func(r *R) any { return &r.Cost }},
			{"cost_exact", "s", Value, "the same as an exact fraction", func(r *R) any { return &r.CostExact }},
			{"cost_class", "", Value, "class that the schedule keeps", func(r *R) any { return &r.CostClass }},
			{"schedule_by", "", Value, "who or what found the schedule", func(r *R) any { return &r.ScheduleBy }},
			{"schedule_on", "", Value, "the day on which it was found", func(r *R) any { return &r.ScheduleOn }},
			{"lower_bound", "s", Value, "what no schedule of the class costs less than, certified: seconds, times weight where weighted", func(r *R) any { return &r.Bound }},
			{"lower_bound_exact", "s", Value, "the same as an exact fraction", func(r *R) any { return &r.BoundExact }},
			{"lower_bound_kind", "", Value, "kind of the certificate, or tree for a proof that strangers check", func(r *R) any { return &r.BoundKind }},
			{"lower_bound_by", "", Value, "who or what found the bound", func(r *R) any { return &r.BoundBy }},
			{"lower_bound_on", "", Value, "the day on which it was found", func(r *R) any { return &r.BoundOn }},
			{"gap", "", Value, "cost / lower_bound − 1: the optimum is at most this share below the cost", func(r *R) any { return &r.Gap }},
			{"status", "", Value, "optimal (the sides meet), close (a gap of at most 1 %), open, or partial (a side is missing)", func(r *R) any { return &r.Status }},
			{"proof", "", Value, "whether the bound has a proof that strangers check", func(r *R) any { return &r.Proof }},
		},
	}
}

// WriteLibrary writes the table of a library as an Arrow file.
func WriteLibrary(w io.Writer, rows []LibraryRow) error {
	_, err := libraryTable().encode(w, &Run{Library: rows}, nil)
	return err
}

// LibraryTable describes the table of a library.
func LibraryTable() Table { return libraryTable().table() }

// Texts are the values of the row in the order of the columns of LibraryTable, "" for a
// null.
func (r *LibraryRow) Texts() []string {
	t := libraryTable()
	var texts []string
	for i := range t.columns {
		text := ""
		if v, err := get(t.columns[i].field(r)); err == nil && !v.null { // WriteLibrary says what cannot be written
			text = v.format(t.columns[i].describe().Type)
		}
		texts = append(texts, text)
	}
	return texts
}
