package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/children"
	"yardstick/bench/suite"
	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/internal/output"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

type boundFlags struct {
	objective, class string
	format, out      string
	width            float64
	certificate      string
	all, quiet       bool
	limits           suite.Limits
}

func (a *app) boundCommand() *cobra.Command {
	f := boundFlags{limits: suite.Limits{Solve: 10 * time.Second, Memory: 4 << 30}}
	c := &cobra.Command{
		Use:   "bound INSTANCE",
		Short: "The ladder of all proven lower bounds of an instance",
		Long: `Computes every lower bound that may divide the cost of the instance's schedules,
by closed formulas, linear programs, the Lagrangian and exact search: what class
it holds for, how long it takes, and whether a certificate of it was checked in
exact arithmetic. First, every online policy of the class is tried, for the
cheapest schedule known. The table appears row by row, as the methods end: those
that prove bounds alone, then the exact ones, each in order of their names; below
it, the bounds again by how much of the cheapest schedule known they reach,
strongest first, as are the rows of md, csv and json. Methods that do not apply to
the instance, the class or the objective are named at the end; --all, csv and json
give the reason of each.

--time-limit bounds each method, and all policies together. A method that has not
stopped 5 s after it is ended, and its row says so. Ctrl-C ends all of them: what is
known by then is printed and written as at the end.

Without --class the class is that of the model: N, P, S or E, slotted if the
instance has slots. A bound divides the schedules of a class only if all of
these are, or are no better than, some of the class it is proven for.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.bound(c.Context(), &f, args[0]) },
	}
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "what is bounded")
	c.Flags().StringVar(&f.class, "class", "", "class of the schedules to divide: N, P, S, E, EP or M, with an s appended if slotted")
	c.Flags().StringVar(&f.format, "format", "table", paperFormats)
	addWidth(c, &f.width)
	c.Flags().StringVarP(&f.out, "out", "o", "", "file to write instead of the terminal")
	c.Flags().BoolVar(&f.all, "all", false, "say of each method that does not apply why")
	c.Flags().StringVar(&f.certificate, "certificate", "", "file for the certificate of the best bound that has one")
	c.Flags().Var(atLeast(0, &f.limits.Solve), "time-limit", "wall-clock limit of each method, and of all policies together; 0 for none")
	c.Flags().Var(atLeast(0, &f.limits.Nodes), "nodes", "node limit of each search; 0 for none")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return c
}

// rung is one bound of the ladder, or why a method has none.
type rung struct {
	ref     suite.MethodRef
	bound   *bounds.Bound // nil if there is none
	refusal string
	applies bool // if not, refusal says why
	note    string
	wall    time.Duration
}

// ladder is what is known about an instance.
type ladder struct {
	in        *sched.Instance
	objective sched.Objective
	class     sched.Class
	rungs     []rung
	upper     *big.Rat // cost of the cheapest schedule of the class found, nil without any
	upperBy   string
	policies  int // that were tried
	stopped   int // of these, without a schedule
	left      int // methods that an interrupt left without a row
}

func (a *app) bound(ctx context.Context, f *boundFlags, path string) error {
	if err := checkListingFormat(f.format); err != nil && f.format != "latex" {
		return err
	}
	l := &ladder{}
	var err error
	if l.objective, err = parseObjective(f.objective); err != nil {
		return err
	}
	if l.objective.Maximised() {
		return usageError("--objective: %v is maximised: its bounds are upper ones, which bench solve prints", l.objective)
	}
	if l.in, err = readInstance(path); err != nil {
		return err
	}
	if l.class, err = classOf(l.in, f.class); err != nil {
		return err
	}
	f.limits.Cell = f.limits.Solve
	var file bytes.Buffer
	w := a.out
	if f.out != "" {
		w = &file
	}
	if err := a.writeLadder(ctx, f, l, boundRefs(l.class), w); err != nil {
		return err
	}
	if f.out != "" {
		if err := a.writeFile(f.out, func(w io.Writer) error { _, err := file.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	if err := a.writeCertificate(f.certificate, l); err != nil && (ctx.Err() == nil || exitOf(err) != exitIncomplete) {
		return err
	}
	if ctx.Err() == nil {
		return nil
	}
	where := "above"
	if f.out != "" {
		where = "in " + f.out
	}
	return interrupted(fmt.Sprintf("what %d of %d methods came to is %s", len(l.rungs), len(l.rungs)+l.left, where), "the same command begins anew")
}

// writeLadder runs everything and writes what comes out: a table row by row, other
// formats at the end.
func (a *app) writeLadder(ctx context.Context, f *boundFlags, l *ladder, refs []suite.MethodRef, w io.Writer) error {
	rows := f.format == "table"
	if rows {
		l.heading(w, "\n")
	}
	steps := a.steps(f.quiet, counted("methods"))
	end := sync.OnceFunc(steps.End)
	defer end()
	steps.show(0, int64(len(refs)), "policies")
	if err := l.schedules(ctx, f.limits, a.debug); err != nil {
		return err
	}
	workers := children.New(f.limits, 1)
	workers.Debug, workers.Raise, workers.SoFar = a.debug, "--time-limit", true
	defer workers.Close()
	if !rows {
		if err := l.climb(ctx, refs, workers, steps, func(*rung) {}); err != nil {
			return err
		}
		end()
		if f.format == "md" {
			l.heading(w, "\n\n")
			l.known(w, "\n\n")
			l.verdict(w, "\n\n")
		}
		t := l.listing(f.all || f.format != "md" && f.format != "latex")
		t.paper = l.paper(f.width)
		if err := t.write(w, f.format); err != nil || f.format != "md" || f.all {
			return err
		}
		fmt.Fprintln(w)
		return l.footing(w)
	}
	line := l.rowWriter(w, refs)
	steps.Above(func() {
		l.known(w, "\n\n")
		line("bound", "class", "value", "certified", "time", "note")
	})
	err := l.climb(ctx, refs, workers, steps, func(r *rung) {
		if r.applies || f.all {
			c := l.cells(r)
			steps.Above(func() { line(c.name, c.class, c.value, c.certified, c.wall, c.note) })
		}
	})
	if err != nil {
		return err
	}
	end()
	fmt.Fprintln(w)
	l.known(w, "\n")
	l.verdict(w, "\n")
	l.shares(w)
	if f.all {
		return nil
	}
	return l.footing(w)
}

// rowWriter returns a function that writes a line of the table. How wide it is
// depends on nothing that is not known before the first row.
func (l *ladder) rowWriter(w io.Writer, refs []suite.MethodRef) func(cells ...string) {
	name, value := len("bound"), len("value")
	for _, ref := range refs {
		name = max(name, len(ref.String()))
	}
	if l.upper != nil { // no bound is larger
		value = max(value, len(costText(l.objective, l.upper)))
	}
	return func(c ...string) {
		text := fmt.Sprintf("%-*s  %-9s  %*s  %-9s  %10s  %s", name, c[0], c[1], value, c[2], c[3], c[4], c[5])
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
}

// boundRefs lists every method that proves bounds, as it proves them of the class,
// exact ones last.
func boundRefs(class sched.Class) (all []suite.MethodRef) {
	for _, name := range slices.Concat(catalogue.NamesOf(bench.Bound), catalogue.NamesOf(bench.Exact)) {
		all = append(all, catalogue.Proving(name, class))
	}
	return all
}

// schedules runs every policy that the instance suits, on all processors at once,
// and keeps the cheapest schedule that shows what the class can reach. The time
// limit is that of all of them together.
func (l *ladder) schedules(ctx context.Context, limits suite.Limits, debugging bool) error {
	in := l.in
	if l.class.Kind == sched.P {
		in = in.Preemptible()
	}
	var suited []bench.Method
	for _, ref := range catalogue.OnlineRefs() {
		m, err := catalogue.Resolve(ref)
		if err != nil {
			return err
		}
		if bench.Suits(m, in) == nil {
			suited = append(suited, m)
		}
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limits.Solve > 0 {
		limited, cancel = context.WithTimeout(ctx, limits.Solve)
	}
	defer cancel()
	workers := children.New(limits, runtime.NumCPU())
	workers.Debug = debugging
	defer workers.Close()
	results := make([]bench.CellResult, len(suited))
	next := make(chan int)
	var running sync.WaitGroup
	for range min(runtime.NumCPU(), len(suited)) {
		running.Go(func() {
			for i := range next {
				results[i] = workers.One(limited, suited[i], in, l.objective)
			}
		})
	}
	for i := range suited {
		next <- i
	}
	close(next)
	running.Wait()
	for i := range results {
		r := &results[i]
		if ctx.Err() != nil && (r.Skipped || r.Err != nil) {
			continue // not tried to the end
		}
		l.policies++
		switch {
		case r.Err != nil && exitCode(r.Err) != exitIncomplete:
			return &exitError{exitCode(r.Err), r.Err}
		case r.Err != nil || r.Skipped:
			l.stopped++
		default:
			l.addSchedule(r)
		}
	}
	return nil
}

// climb runs every method until ctx ends, and calls show after each.
func (l *ladder) climb(ctx context.Context, refs []suite.MethodRef, workers *children.Workers, progress *steps, show func(*rung)) error {
	for i, ref := range refs {
		if ctx.Err() != nil {
			l.left++
			continue
		}
		progress.show(int64(i), int64(len(refs)), ref.String())
		known, err := l.step(ctx, ref, workers)
		if err != nil {
			return err
		}
		if known {
			show(&l.rungs[len(l.rungs)-1])
		} else {
			l.left++
		}
	}
	slices.SortStableFunc(l.rungs, func(a, b rung) int {
		switch {
		case a.bound == nil || b.bound == nil:
			return cmp.Compare(btoi(a.bound == nil), btoi(b.bound == nil))
		case a.bound.Value.Cmp(b.bound.Value) != 0:
			return b.bound.Value.Cmp(a.bound.Value)
		}
		return cmp.Compare(btoi(b.bound.Certified), btoi(a.bound.Certified))
	})
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// addSchedule keeps the cost of a schedule that shows what the class can reach.
func (l *ladder) addSchedule(r *bench.CellResult) {
	for _, v := range r.Verified {
		if v == nil || !v.Class().Reaches(l.class) {
			continue
		}
		if cost := v.Cost(l.objective); cost != nil && (l.upper == nil || cost.Cmp(l.upper) < 0) {
			l.upper, l.upperBy = cost, r.Cell.Method.Ref().String()
		}
	}
}

// step runs one method, and reports whether it had anything to say when it was
// interrupted, if it was.
func (l *ladder) step(ctx context.Context, ref suite.MethodRef, workers *children.Workers) (bool, error) {
	m, err := catalogue.Resolve(ref)
	if err != nil {
		return false, err
	}
	r := workers.One(ctx, m, l.in, l.objective)
	next := rung{ref: ref, wall: r.Wall, applies: true}
	switch {
	case r.Err != nil && exitCode(r.Err) != exitIncomplete:
		return false, &exitError{exitCode(r.Err), r.Err}
	case r.Skipped || ctx.Err() != nil && (r.Err != nil || len(r.Outcomes[0].Bounds) == 0):
		return false, nil
	case r.Err != nil:
		next.refusal = r.Err.Error()
	case len(r.Outcomes[0].Bounds) == 0:
		next.applies = r.Outcomes[0].Termination != milp.Skipped
		next.refusal = cmp.Or(r.Outcomes[0].Message, string(r.Outcomes[0].Termination))
	default:
		l.addSchedule(&r)
		b := r.Outcomes[0].Bounds[0]
		if why := b.Divides(l.class, l.objective); why != nil {
			next.refusal, next.applies = why.Error(), false
			break
		}
		next.bound = &b
		if t := r.Outcomes[0].Termination; t != "OPTIMAL" {
			next.note = string(t)
		}
	}
	l.rungs = append(l.rungs, next)
	return true, nil
}

// best returns the strongest bound, or nil.
func (l *ladder) best() *bounds.Bound {
	if len(l.rungs) == 0 {
		return nil
	}
	return l.rungs[0].bound
}

// heading says what the ladder is about.
func (l *ladder) heading(w io.Writer, end string) {
	fmt.Fprintf(w, "%s · %s model · %s, %s · class %s · %s%s", output.Name(l.in.Name), l.in.Model, output.Count(len(l.in.Jobs), "job"), output.Count(l.in.Cluster.GPUs(), "GPU"), l.class, l.objective, end)
}

// known says what the cheapest schedule costs that is known so far.
func (l *ladder) known(w io.Writer, end string) {
	upper := "none found"
	if l.upper != nil {
		upper = costText(l.objective, l.upper) + " by " + l.upperBy + ", verified"
	}
	fmt.Fprintf(w, "cheapest schedule known: %s (%d policies tried", upper, l.policies)
	if l.stopped > 0 {
		fmt.Fprintf(w, ", %d of them without a schedule within the time limit", l.stopped)
	}
	fmt.Fprintf(w, ")%s", end)
}

// verdict says what the bounds come to.
func (l *ladder) verdict(w io.Writer, end string) {
	best := l.best()
	switch {
	case best == nil:
		fmt.Fprintf(w, "best lower bound: none%s", end)
	case l.upper != nil && l.upper.Cmp(best.Value) == 0:
		fmt.Fprintf(w, "best lower bound: %s by %s: the optimum%s", costText(l.objective, best.Value), l.rungs[0].ref, end)
	default:
		fmt.Fprintf(w, "best lower bound: %s by %s%s", costText(l.objective, best.Value), l.rungs[0].ref, end)
	}
}

// shares lists the bounds by how much of the cheapest schedule known they reach,
// the strongest first.
func (l *ladder) shares(w io.Writer) {
	var order []string
	names := map[string][]string{}
	for i := range l.rungs {
		share := l.cells(&l.rungs[i]).share
		if share == "" {
			continue
		}
		if names[share] == nil {
			order = append(order, share)
		}
		names[share] = append(names[share], l.rungs[i].ref.String())
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintln(w, "of the cheapest schedule known, the bounds reach")
	for _, share := range order {
		fmt.Fprintf(w, "%10s  %s\n", share, strings.Join(names[share], ", "))
	}
}

// footing names the methods that do not apply.
func (l *ladder) footing(w io.Writer) error {
	var names []string
	for i := range l.rungs {
		if !l.rungs[i].applies {
			names = append(names, l.rungs[i].ref.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%d methods do not apply (--all says why): %s\n", len(names), strings.Join(names, ", "))
	return err
}

// cells are the texts of a rung.
type cells struct{ name, class, value, exact, share, certified, hash, star, wall, note string }

func (l *ladder) cells(r *rung) cells {
	c := cells{name: r.ref.String(), wall: milliseconds(r.wall), note: r.note}
	b := r.bound
	if b == nil {
		c.note = "none: " + oneLine(r.refusal)
		return c
	}
	c.class, c.value, c.exact, c.certified = b.Class.String(), costText(l.objective, b.Value), b.Value.RatString(), "no"
	if l.upper != nil && l.upper.Sign() > 0 {
		c.share = new(big.Rat).Quo(new(big.Rat).Mul(b.Value, big.NewRat(100, 1)), l.upper).FloatString(2) + " %"
	}
	if b.Certified {
		c.certified, c.hash = "yes", certify.SHA256(b.Certificate)
	}
	if best := l.best(); best != nil && b.Value.Cmp(best.Value) == 0 {
		c.star = "*"
	}
	return c
}

// listing has a row for each method, or each one that applies.
func (l *ladder) listing(all bool) *listing {
	t := &listing{columns: []string{"bound", "class", "value", "exact", "of_best_known", "certified", "certificate_sha256", "best", "time", "note"},
		right: map[string]bool{"value": true, "of_best_known": true, "time": true}, hidden: map[string]bool{"exact": true, "certificate_sha256": true}}
	for i := range l.rungs {
		if r := &l.rungs[i]; all || r.applies {
			c := l.cells(r)
			t.rows = append(t.rows, []string{c.name, c.class, c.value, c.exact, c.share, c.certified, c.hash, c.star, c.wall, c.note})
		}
	}
	return t
}

// paper says what the bounds are of.
func (l *ladder) paper(width float64) *paper {
	var b strings.Builder
	l.heading(&b, "; ")
	l.known(&b, "; ")
	l.verdict(&b, ".")
	text := strings.Join(strings.Fields(strings.ReplaceAll(b.String(), " · ", ", ")), " ")
	return &paper{caption: "Lower bounds of " + text, label: "bounds", width: width, names: map[string]bool{"bound": true}, drop: map[string]int{"note": 3, "time": 2, "best": 1}}
}

// oneLine shortens a reason to fit a line.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len([]rune(text)) > 160 {
		text = string([]rune(text)[:160]) + "…"
	}
	return text
}

// writeCertificate writes the certificate of the strongest bound that has one.
func (a *app) writeCertificate(path string, l *ladder) error {
	if path == "" {
		return nil
	}
	for i := range l.rungs {
		if b := l.rungs[i].bound; b != nil && b.Certified {
			return a.writeFile(path, func(w io.Writer) error { _, err := w.Write(b.Certificate); return err })
		}
	}
	return &exitError{exitIncomplete, fmt.Errorf("no bound has a certificate to write to %s", path)}
}

// milliseconds prints a time to three digits, and never as a power of ten.
func milliseconds(d time.Duration) string {
	ms := float64(d.Microseconds()) / 1000
	if ms >= 100 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.3g ms", ms)
}
