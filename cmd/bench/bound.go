package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/pool"
	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

type boundFlags struct {
	objective, class string
	format, out      string
	certificate      string
	all              bool
	limits           bench.SuiteLimits
}

func (a *app) boundCommand() *cobra.Command {
	f := boundFlags{limits: bench.SuiteLimits{Memory: 4 << 30}}
	c := &cobra.Command{
		Use:   "bound INSTANCE",
		Short: "The ladder of all proven lower bounds of an instance",
		Long: `Computes every lower bound that may divide the cost of the instance's schedules,
by closed formulas, linear programs, the Lagrangian and exact search, strongest
first: what class it holds for, how much of the cheapest schedule known it
reaches, how long it takes, and whether a certificate of it was checked in exact
arithmetic. Methods that do not apply to the instance, the class or the objective
are named at the end; --all, csv and json give the reason of each.

Without --class the class is that of the model: N, P, S or E, slotted if the
instance has slots. A bound divides the schedules of a class only if all of
these are, or are no better than, some of the class it is proven for.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.bound(c.Context(), &f, args[0]) },
	}
	c.Flags().StringVar(&f.objective, "objective", "total-completion", "what is bounded")
	c.Flags().StringVar(&f.class, "class", "", "class of the schedules to divide: N, P, S, E, EP or M, with an s appended if slotted")
	c.Flags().StringVar(&f.format, "format", "table", listingFormats)
	c.Flags().StringVarP(&f.out, "out", "o", "", "file to write instead of the terminal")
	c.Flags().BoolVar(&f.all, "all", false, "say of each method that does not apply why")
	c.Flags().StringVar(&f.certificate, "certificate", "", "file for the certificate of the best bound that has one")
	c.Flags().DurationVar(&f.limits.Solve, "time-limit", 10*time.Second, "wall-clock limit of each method")
	c.Flags().IntVar(&f.limits.Nodes, "nodes", 0, "node limit of each search; 0 for none")
	return c
}

// rung is one bound of the ladder, or why a method has none.
type rung struct {
	ref     bench.MethodRef
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
}

func (a *app) bound(ctx context.Context, f *boundFlags, path string) error {
	if err := checkListingFormat(f.format); err != nil {
		return err
	}
	l := &ladder{}
	if err := l.objective.UnmarshalText([]byte(f.objective)); err != nil {
		return usageError("--objective: %w", err)
	}
	if l.objective.Maximised() {
		return usageError("--objective: %v is maximised: its bounds are upper ones, which bench solve prints", l.objective)
	}
	var err error
	if l.in, err = readInstance(path); err != nil {
		return err
	}
	l.class = classOf(l.in)
	if f.class != "" {
		if err := l.class.UnmarshalText([]byte(f.class)); err != nil {
			return usageError("--class: %w", err)
		}
		if l.class.Slotted && l.in.Slot == 0 {
			return usageError("--class %s is slotted, but the instance has no slots", f.class)
		}
	}
	workers := pool.New(f.limits, 1)
	workers.Debug = a.debug
	defer workers.Close()
	if err := l.climb(ctx, workers); err != nil {
		return err
	}
	if err := a.writeLadder(f, l); err != nil {
		return err
	}
	return a.writeCertificate(f.certificate, l)
}

// classOf returns the class of the schedules that an instance's model is about.
func classOf(in *sched.Instance) sched.Class {
	kinds := map[sched.Model]sched.Kind{sched.ModelGang: sched.N, sched.ModelPreemptive: sched.P, sched.ModelSharing: sched.S, sched.ModelElastic: sched.E}
	return sched.Class{Kind: kinds[in.Model], Slotted: in.Slot > 0}
}

// boundRefs lists every method that proves bounds, exact ones last. Some have a
// parameter that makes them prove one for another class.
func boundRefs(class sched.Class) ([]bench.MethodRef, error) {
	var closed, exact []bench.MethodRef
	for _, name := range slices.Sorted(maps.Keys(methods())) {
		ref := bench.MethodRef{Name: name}
		switch {
		case class.Kind == sched.N && (name == "bout-dp" || name == "bouts"):
			ref.Params = map[string]string{"non-preemptive": "true"}
		case class.Kind != sched.E && (name == "elastic-alone" || name == "elastic-mean-busy-time"):
			ref.Params = map[string]string{"class": sched.Class{Kind: sched.FluidMin, Slotted: class.Slotted}.String()}
		}
		m, err := resolve(ref)
		if err != nil {
			return nil, err
		}
		switch m.Kind() {
		case bench.Bound:
			closed = append(closed, ref)
		case bench.Exact:
			exact = append(exact, ref)
		}
	}
	return append(closed, exact...), nil
}

// policiesOf lists policies whose schedules bound the optimum from above.
func policiesOf(m sched.Model) []string {
	switch m {
	case sched.ModelGang:
		return []string{"sjf", "wcs-workload", "a-srpt-perfect"}
	case sched.ModelPreemptive:
		return []string{"sjf", "srtf"}
	case sched.ModelSharing:
		return []string{"sharing-sjf", "sjf-bsbf", "sjf-ffs"}
	}
	return []string{"elastic-fifo", "elastic-drf"}
}

// climb runs everything.
func (l *ladder) climb(ctx context.Context, workers *pool.Pool) error {
	refs, err := boundRefs(l.class)
	if err != nil {
		return err
	}
	for _, name := range policiesOf(l.in.Model) {
		ref := bench.MethodRef{Name: name}
		if name == "wcs-workload" {
			ref.Params = map[string]string{"predictor": "perfect"}
		}
		m, err := resolve(ref)
		if err != nil {
			return err
		}
		if r := workers.One(ctx, m, l.in, l.objective); r.Err == nil && !r.Skipped {
			l.addSchedule(&r)
		}
	}
	for _, ref := range refs {
		if err := l.step(ctx, ref, workers); err != nil {
			return err
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

// step runs one method.
func (l *ladder) step(ctx context.Context, ref bench.MethodRef, workers *pool.Pool) error {
	m, err := resolve(ref)
	if err != nil {
		return err
	}
	r := workers.One(ctx, m, l.in, l.objective)
	next := rung{ref: ref, wall: r.Wall, applies: true}
	switch {
	case r.Skipped:
		return &exitError{exitInterrupted, context.Canceled}
	case r.Err != nil && exitCode(r.Err) != exitIncomplete:
		return &exitError{exitCode(r.Err), r.Err}
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
	return nil
}

// best returns the strongest bound, or nil.
func (l *ladder) best() *bounds.Bound {
	if len(l.rungs) == 0 {
		return nil
	}
	return l.rungs[0].bound
}

func (a *app) writeLadder(f *boundFlags, l *ladder) error {
	write := func(w io.Writer) error {
		if f.format != "table" && f.format != "md" {
			return l.listing(true).write(w, f.format)
		}
		l.heading(w, f.format)
		if err := l.listing(f.all).write(w, f.format); err != nil || f.all {
			return err
		}
		return l.footing(w)
	}
	if f.out == "" {
		return write(a.out)
	}
	return writeFile(f.out, write)
}

// heading says what the ladder is about.
func (l *ladder) heading(w io.Writer, format string) {
	end := "\n"
	if format == "md" {
		end = "\n\n"
	}
	fmt.Fprintf(w, "%s · %s model · %d jobs, %d GPUs · class %s · %s%s", l.in.Name, l.in.Model, len(l.in.Jobs), l.in.Cluster.GPUs(), l.class, l.objective, end)
	upper := "none found"
	if l.upper != nil {
		upper = costText(l.objective, l.upper) + " (verified, " + l.upperBy + ")"
	}
	fmt.Fprintf(w, "cheapest schedule known: %s%s", upper, end)
	best := l.best()
	switch {
	case best == nil:
		fmt.Fprintf(w, "best lower bound: none%s", end)
	case l.upper != nil && l.upper.Cmp(best.Value) == 0:
		fmt.Fprintf(w, "best lower bound: %s by %s: the optimum%s", costText(l.objective, best.Value), l.rungs[0].ref, end)
	default:
		fmt.Fprintf(w, "best lower bound: %s by %s%s", costText(l.objective, best.Value), l.rungs[0].ref, end)
	}
	fmt.Fprintln(w)
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
	_, err := fmt.Fprintf(w, "\n%d methods do not apply (--all says why): %s\n", len(names), strings.Join(names, ", "))
	return err
}

// listing has a row for each method, or each one that applies.
func (l *ladder) listing(all bool) *listing {
	t := &listing{columns: []string{"bound", "class", "value", "exact", "of_best_known", "certified", "certificate_sha256", "best", "time", "note"},
		right: map[string]bool{"value": true, "of_best_known": true, "time": true}, hidden: map[string]bool{"exact": true, "certificate_sha256": true}}
	best := l.best()
	for i := range l.rungs {
		r := &l.rungs[i]
		if !all && !r.applies {
			continue
		}
		wall := fmt.Sprintf("%.3g ms", float64(r.wall.Microseconds())/1000)
		if r.bound == nil {
			t.rows = append(t.rows, []string{r.ref.String(), "", "", "", "", "", "", "", wall, "none: " + oneLine(r.refusal)})
			continue
		}
		b := r.bound
		share, certified, hash, star := "", "no", "", ""
		if l.upper != nil && l.upper.Sign() > 0 {
			share = new(big.Rat).Quo(new(big.Rat).Mul(b.Value, big.NewRat(100, 1)), l.upper).FloatString(2) + " %"
		}
		if b.Certified {
			certified, hash = "yes", certify.SHA256(b.Certificate)
		}
		if b.Value.Cmp(best.Value) == 0 {
			star = "*"
		}
		t.rows = append(t.rows, []string{r.ref.String(), b.Class.String(), costText(l.objective, b.Value), b.Value.RatString(), share, certified, hash, star, wall, r.note})
	}
	return t
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
			return writeFile(path, func(w io.Writer) error { _, err := w.Write(b.Certificate); return err })
		}
	}
	return &exitError{exitIncomplete, fmt.Errorf("no bound has a certificate to write to %s", path)}
}
