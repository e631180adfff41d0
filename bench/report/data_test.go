package report

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"slices"
	"testing"

	"yardstick/bench/record"
)

// elsewhere are the fields of groups that a part of the CSV need not have, and why.
var elsewhere = map[Part]map[string]string{
	Summaries: {"Group.Classes": "each method has its own", "Group.Best": "follows from the costs", "Group.Methods": "their fields are changed one by one", "Group.Details": "the other part",
		"Group.Instances": "each method has them"},
	Instances: {"Group.Classes": "each row has its own", "Group.Best": "follows from the costs", "Group.Methods": "the other part", "Group.Details": "their fields are changed one by one",
		"Group.Instances": "counts rows", "Group.Jobs": "of all instances", "Group.GPUs": "of all instances", "Group.Servers": "of all instances", "Group.Load": "of all instances"},
}

// TestCSVHasWhatTablesHave changes every field of a group, and of one of its methods
// or details: the CSV is another.
func TestCSVHasWhatTablesHave(t *testing.T) {
	text := func(r *Report, p Part) string {
		var b bytes.Buffer
		if err := r.Write(&b, Options{Format: CSV, Part: p}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	fresh := func() *Report { // with a denominator that Maximised names
		r := New(sampleRun())
		g := &r.Groups[0]
		g.Load = &Loads{Known: 4, Instances: 6, Median: 0.5, Min: 0.25, Max: 0.75}
		g.Methods[0].Denominator, g.Details[0].Denominator = Bound, Bound
		return r
	}
	for part, row := range map[Part]func(*Report) any{
		Summaries: func(r *Report) any { return &r.Groups[0].Methods[0] },
		Instances: func(r *Report) any { return &r.Groups[0].Details[0] },
	} {
		before := text(fresh(), part)
		for _, of := range []func(*Report) any{func(r *Report) any { return &r.Groups[0] }, row} {
			rows := reflect.TypeOf(of(fresh())).Elem()
			for i := range rows.NumField() {
				name := rows.Name() + "." + rows.Field(i).Name
				if elsewhere[part][name] != "" {
					continue
				}
				r := fresh()
				change(t, reflect.ValueOf(of(r)).Elem().Field(i))
				if text(r, part) == before {
					t.Errorf("%s is not in the CSV of the %s", name, part)
				}
			}
		}
	}
}

// change gives a value of a report another.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *record.Opt[float64]:
		*x = record.Some(x.V + 12345)
	case **Loads:
		(*x).Median++
	case *Range:
		x.Max += 17
	case *[]Setting:
		*x = append(*x, Setting{"a", "b"})
	case *[]Count:
		*x = append(*x, Count{Name: "a", N: 1})
	case *[]Theorem:
		*x = append(*x, Theorem{Name: "a"})
	default:
		switch v.Kind() {
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		case reflect.Bool:
			v.SetBool(!v.Bool())
		default:
			t.Fatalf("say here how a %s is changed", v.Type())
		}
	}
}

// TestLoadsInCSV: a burst has no load, also in CSV; the others' median and range are
// those of the group.
func TestLoadsInCSV(t *testing.T) {
	run := sampleRun()
	for i := range run.Ratios {
		switch row := &run.Ratios[i]; row.Instance {
		case "small-00":
			row.OfferedLoad = record.Some(0.75)
		case "small-01":
			row.OfferedLoad = record.Some(1.5)
		default:
			row.OfferedLoad = record.Opt[float64]{}
		}
	}
	column := func(p Part, name string) (list []string) {
		var b bytes.Buffer
		if err := New(run).Write(&b, Options{Format: CSV, Part: p}); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(rows[0], name)
		if at < 0 {
			t.Fatalf("no %s among %q", name, rows[0])
		}
		for _, row := range rows[1:] {
			list = append(list, row[at])
		}
		return list
	}
	for name, want := range map[string]string{"offered_load": "0.75", "offered_load_min": "0.75", "offered_load_max": "1.5", "offered_load_instances": "2"} {
		if got := column(Summaries, name); got[0] != want {
			t.Errorf("%s is %q, want %s", name, got[0], want)
		}
	}
	loads := column(Instances, "offered_load")
	for i, in := range column(Instances, "instance") {
		if want := map[string]string{"small-00": "0.75", "small-01": "1.5"}[in]; loads[i] != want {
			t.Errorf("the load of %s is %q, want %q", in, loads[i], want)
		}
	}
}
