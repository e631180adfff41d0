package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench/library"
	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/sched"
)

// tableName is the table of a library that stands beside its instances.
const tableName = "table.csv"

func (a *app) libraryListCommand() *cobra.Command {
	var f libraryFlags
	format := "table"
	c := &cobra.Command{
		Use:   "list [NAME...]",
		Short: "The instances and what they are like, with no values",
		Long: `Lists the instances whose names begin as given, or all. It checks nothing and so shows
no values: bench library table does.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := named(f.open(), args)
			if err != nil {
				return err
			}
			t := &listing{columns: []string{"instance", "jobs", "gpus", "servers", "class", "objective", "load", "single", "gang", "spread", "weights", "waiting", "trace", "sha256"},
				right:  map[string]bool{"jobs": true, "gpus": true, "servers": true, "load": true, "single": true, "gang": true, "spread": true, "weights": true, "waiting": true},
				hidden: map[string]bool{"sha256": true}}
			for _, e := range list {
				v := &e.Features
				row := []string{e.Name, fmt.Sprint(v.Jobs), fmt.Sprint(v.GPUs), fmt.Sprint(v.Servers), e.Class.String(), e.Objective.String()}
				for _, x := range []float64{v.Load, v.Single, v.Gang, v.Spread, v.Weights, v.Waiting} {
					row = append(row, fmt.Sprint(x))
				}
				trace, _, _ := strings.Cut(e.Recipe.Trace+e.Recipe.Log+e.Recipe.From, "?")
				t.rows = append(t.rows, append(row, trace, e.Instance))
			}
			return t.write(a.out, format)
		},
	}
	f.add(c)
	c.Flags().StringVar(&format, "format", format, listingFormats)
	return c
}

func (a *app) libraryShowCommand() *cobra.Command {
	var f libraryFlags
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "What is known of one instance, verified now, and how it is made",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := f.open().Entry(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			s, err := f.open().Standing(e)
			if err != nil {
				return libraryError(err)
			}
			a.showEntry(s)
			return nil
		},
	}
	f.add(c)
	f.addLog(c)
	return c
}

// libraryError is the error about an entry that could not be checked, or does not hold.
func libraryError(err error) error {
	if errors.Is(err, library.ErrAbsent) {
		return usageError("%w", err)
	}
	return &exitError{exitInvalid, err}
}

func (a *app) showEntry(s *library.Standing) {
	e, f := s.Entry, &s.Entry.Features
	fmt.Fprintf(a.out, "%s · %s model · %s, %s on %s · class %v · %v\n", e.Name, f.Model, output.Count(f.Jobs, "job"), output.Count(f.GPUs, "GPU"), output.Count(f.Servers, "server"), e.Class, e.Objective)
	switch words := e.Recipe.Command(); {
	case words != nil:
		fmt.Fprintf(a.out, "made by   bench instance build %s\n", shellWords(words))
	case e.Recipe.Log != "":
		fmt.Fprintf(a.out, "made of   the public log %s, of sha256 %s\n", e.Recipe.Log, e.Recipe.LogSHA256)
	default:
		fmt.Fprintf(a.out, "made by   %s\n", output.Name(e.Recipe.From))
	}
	fmt.Fprintf(a.out, "sha256    %s\n", e.Instance)
	if s.Schedule == nil {
		fmt.Fprintln(a.out, "schedule  none is known")
	} else {
		fmt.Fprintf(a.out, "schedule  %s by %s, class %v, found on %s, verified\n", costText(e.Objective, s.Cost()), e.Schedule.By, s.Schedule.Class(), e.Schedule.On)
	}
	switch {
	case s.Bound == nil:
		fmt.Fprintln(a.out, "bound     nothing is proven")
	case s.Proven:
		fmt.Fprintf(a.out, "bound     %s by %s, found on %s, with a proof that strangers check\n", costText(e.Objective, s.Bound), e.Proof.By, e.Proof.On)
	default:
		fmt.Fprintf(a.out, "bound     %s by %s, found on %s, certified (%s)\n", costText(e.Objective, s.Bound), e.Bound.By, e.Bound.On, s.BoundBy)
	}
	fmt.Fprintf(a.out, "standing  %s\n", standingText(s))
}

// shellWords joins words as a shell takes them.
func shellWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if strings.ContainsAny(w, " ?&*'\"$;<>()|") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out[i] = w
	}
	return strings.Join(out, " ")
}

func (a *app) libraryTableCommand() *cobra.Command {
	var f libraryFlags
	format, out, workers, quiet, width := "table", "", 0, false, 0.0
	c := &cobra.Command{
		Use:   "table [NAME...]",
		Short: "The table of best-known values, made by verifying every file",
		Long: `Verifies the files of the instances whose names begin as given, or of all, and makes
the table of what they prove. Formats: table, md, csv, json, arrow; html, a page with the
gap against the size; and latex, which is the protocol's summary for papers. library/table.csv is such a table: bench library
check says whether it is still what the files prove.`,
		Example: `  bench library table gang-000010
  bench library table --format csv -o library/table.csv
  bench library table --format html -o library.html
  bench library table --format latex`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			checked, err := a.checkEntries(c.Context(), f.open(), args, workers, quiet)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return writeLibraryTable(w, f.open(), checked.Rows, format, width) }
			if out == "" && format == "arrow" {
				return usageError("--format arrow writes no text: name a file with -o")
			}
			if out == "" {
				err = write(a.out)
			} else {
				err = a.writeFile(out, write)
			}
			if err != nil {
				return err
			}
			return a.endCheck(checked)
		},
	}
	f.add(c)
	f.addLog(c)
	c.Flags().StringVar(&format, "format", format, paperFormats+"; arrow, html")
	addWidth(c, &width)
	c.Flags().StringVarP(&out, "out", "o", "", "file to write (default standard output)")
	c.Flags().VarP(between(1, maxWorkers, &workers), "jobs", "j", "checks at a time (default one per core)")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

// checkEntries checks the entries whose names begin so.
func (a *app) checkEntries(ctx context.Context, l *library.Library, words []string, workers int, quiet bool) (*library.Report, error) {
	list, err := named(l, words)
	if err != nil {
		return nil, err
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	steps := a.steps(quiet, counted("instances"))
	report, err := l.Check(ctx, list, workers, func(done, all int) { steps.show(int64(done), int64(all), "") })
	steps.End()
	if err != nil {
		return nil, interrupted("nothing is shown", "the same command begins anew")
	}
	return report, nil
}

// endCheck lists what could not be checked, and what does not hold.
func (a *app) endCheck(r *library.Report) error {
	for _, text := range r.Absent {
		fmt.Fprintf(a.err, "not checked: %s\n", oneLine(text))
	}
	if len(r.Failed) == 0 {
		return nil
	}
	for _, text := range r.Failed {
		fmt.Fprintln(a.err, oneLine(text))
	}
	return &exitError{exitInvalid, fmt.Errorf("the library does not hold in %s, listed above", output.Count(len(r.Failed), "point"))}
}

// writeLibraryTable writes the table in a format.
func writeLibraryTable(w io.Writer, l *library.Library, rows []record.LibraryRow, format string, width float64) error {
	switch format {
	case "arrow":
		return record.WriteLibrary(w, rows)
	case "latex":
		return libraryPaper(rows, width).write(w, format)
	case "html":
		return writeLibraryPage(w, l, rows)
	}
	t := &listing{right: map[string]bool{}, hidden: map[string]bool{}}
	for _, column := range record.LibraryTable().Columns {
		t.columns = append(t.columns, column.Name)
		t.right[column.Name] = column.Type != record.UTF8
	}
	for _, name := range []string{"instance_sha256", "model", "servers", "offered_load", "cost_exact", "cost_class", "lower_bound_exact", "lower_bound_kind", "schedule_on", "lower_bound_on", "proof"} {
		t.hidden[name] = true
	}
	people := format == "table" || format == "md"
	for i := range rows {
		texts := rows[i].Texts()
		if people {
			for k, name := range t.columns {
				if name == "gap" && rows[i].Gap.Valid {
					texts[k] = fmt.Sprintf("%.3f %%", 100*rows[i].Gap.V)
				}
			}
		}
		t.rows = append(t.rows, texts)
	}
	if err := t.write(w, format); err != nil || !people || len(rows) == 0 {
		return err
	}
	b := library.Sum(rows)
	_, err := fmt.Fprintf(w, "\n%s: %d optimal (%s with a proof for strangers), %d within 1 %%, %d open, %d with one side; median gap %s, up to 1,000 jobs %s; shifted geometric mean %s\n",
		output.Count(b.Instances, "instance"), b.Optimal, output.Count(b.Proofs, "bound"), b.Close, b.Open, b.Partial, sharePercent(b.Median), sharePercent(b.MedianTo1000), sharePercent(b.Mean))
	return err
}

// writeLibraryPage writes the page of the library.
func writeLibraryPage(w io.Writer, l *library.Library, rows []record.LibraryRow) error {
	summary, b := libraryPaper(rows, 0), library.Sum(rows)
	page := &report.Library{Columns: summary.columns, Summary: summary.rows, Rows: rows, Facts: []string{
		fmt.Sprintf("%d instances: %d optimal, %d within 1 %%, %d open, %d with one side", b.Instances, b.Optimal, b.Close, b.Open, b.Partial),
		output.Count(b.Proofs, "bound") + " with a proof for strangers",
		"shifted geometric mean of the gaps " + sharePercent(b.Mean),
		"median gap up to 1,000 jobs " + sharePercent(b.MedianTo1000),
	}}
	if entries, err := l.Entries(); err == nil {
		if v, err := l.Version(entries); err == nil {
			page.Facts = append(page.Facts, fmt.Sprintf("version %d, digest %s", v.Version, v.Digest))
		}
	}
	return report.WriteLibrary(w, page)
}

// libraryPaper is the summary of the protocol: a row for each model and size.
func libraryPaper(rows []record.LibraryRow, width float64) *listing {
	whole := library.Sum(rows)
	t := &listing{columns: []string{"model", "jobs", "instances", "optimal", "≤_1_%", "open", "median_gap", "mean_gap"},
		right: map[string]bool{"instances": true, "optimal": true, "≤_1_%": true, "open": true, "median_gap": true, "mean_gap": true},
		paper: &paper{label: "library", width: width, drop: map[string]int{"open": 1},
			caption: fmt.Sprintf("The library of %d instances: best schedules known against certified bounds. The gap is cost over bound less 1; means are shifted geometric.", whole.Instances)}}
	for _, model := range append(sched.Models(), "") { // "" for all
		for _, size := range []struct {
			name        string
			least, most int
		}{{"up to 20", 0, 20}, {"21–100", 21, 100}, {"101–1,000", 101, 1000}, {"more", 1001, 1 << 30}} {
			var of []record.LibraryRow
			for i := range rows {
				if (model == "" || rows[i].Model == string(model)) && rows[i].Jobs >= size.least && rows[i].Jobs <= size.most {
					of = append(of, rows[i])
				}
			}
			if len(of) == 0 {
				continue
			}
			s := library.Sum(of)
			t.rows = append(t.rows, []string{cmp.Or(string(model), "all"), size.name, fmt.Sprint(s.Instances), fmt.Sprint(s.Optimal), fmt.Sprint(s.Close), fmt.Sprint(s.Open + s.Partial), sharePercent(s.Median), sharePercent(s.Mean)})
		}
	}
	return t
}

// sharePercent is a share in percent, missing where a side is not known.
func sharePercent(share float64) string {
	if share != share || share > 1e9 {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100*share)
}

func (a *app) libraryCheckCommand() *cobra.Command {
	var f libraryFlags
	workers, quiet := 0, false
	c := &cobra.Command{
		Use:   "check [NAME...]",
		Short: "Verify every file of the library, its version and its table",
		Long: `Makes every instance from its recipe and compares it with the entry's hash; verifies
every schedule, certificate and proof; and, of the whole library, that its version is
unchanged, that table.csv is what the files prove, and that no file is there that
belongs to nothing. Exits with 5 and names what does not hold.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			l := f.open()
			report, err := a.checkEntries(c.Context(), l, args, workers, quiet)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				a.checkWhole(l, report)
			}
			b := library.Sum(report.Rows)
			fmt.Fprintf(a.out, "%s checked, all hold: %d optimal, %d within 1 %%, %d open, %d with one side; %s for strangers\n", output.Count(b.Instances, "instance"), b.Optimal, b.Close, b.Open, b.Partial, output.Count(b.Proofs, "proof"))
			return a.endCheck(report)
		},
	}
	f.add(c)
	f.addLog(c)
	c.Flags().VarP(between(1, maxWorkers, &workers), "jobs", "j", "checks at a time (default one per core)")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

// checkWhole checks what is about all entries.
func (a *app) checkWhole(l *library.Library, r *library.Report) {
	fail := func(err error) {
		if err != nil {
			r.Failed = append(r.Failed, err.Error())
		}
	}
	entries, err := l.Entries()
	if err != nil {
		fail(err)
		return
	}
	version, err := l.Version(entries)
	if err == nil {
		fmt.Fprintf(a.out, "version %d, digest %s\n", version.Version, version.Digest)
	}
	fail(err)
	extra, err := l.Extra(entries)
	fail(err)
	for _, path := range extra {
		fail(fmt.Errorf("%s belongs to nothing", path))
	}
	path := filepath.Join(l.Dir, tableName)
	text, err := input.Read(path)
	if err != nil {
		fail(err)
		return
	}
	var want bytes.Buffer
	fail(writeLibraryTable(&want, l, r.Rows, "csv", 0))
	if len(r.Failed) == 0 && len(r.Absent) == 0 && !bytes.Equal(text, want.Bytes()) {
		fail(fmt.Errorf("%s is not what the files prove: bench library table --format csv -o %s", path, path))
	}
}

func (a *app) libraryFetchCommand() *cobra.Command {
	var f libraryFlags
	out := ""
	c := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Write an instance with its best schedule, its certificate and its proof as plain files",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usageError("-o is missing: name the folder for the files")
			}
			l := f.open()
			e, err := l.Entry(args[0])
			if err != nil {
				return usageError("%w", err)
			}
			files, err := l.Files(e)
			if err != nil {
				return libraryError(err)
			}
			for _, name := range sortedKeys(files) {
				path := filepath.Join(out, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					return usageError("%w", err)
				}
				if err := a.writeFile(path, func(w io.Writer) error { _, err := w.Write(files[name]); return err }); err != nil {
					return err
				}
			}
			fmt.Fprintf(a.out, "%s in %s: bench simulate %s --policy … --schedule better.json makes a schedule, bench library submit takes it\n", output.Count(len(files), "file"), out, filepath.Join(out, "instance.json"))
			return nil
		},
	}
	f.add(c)
	f.addLog(c)
	c.Flags().StringVarP(&out, "out", "o", "", "folder to write")
	return c
}
