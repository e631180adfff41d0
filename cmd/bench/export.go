package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench/suite"
	"yardstick/formulate"
	"yardstick/formulate/elastic"
	"yardstick/formulate/interval"
	"yardstick/formulate/maxweight"
	"yardstick/formulate/preemptive"
	"yardstick/formulate/sharing"
	"yardstick/formulate/timeindexed"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

type exportFlags struct {
	formulation, format, objective, slot, output string
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export INSTANCE --formulation NAME",
		Short: "Write a formulation of an instance as an MPS or LP file, for any solver",
		Long: `Writes the program that a formulation makes of the instance (JSON), and says on
standard error how its optimum stands to the instance's: exact, relaxation (never
above) or restriction (never below). All programs are minimised; times are in
microseconds.

glpsol, cbc and HiGHS solve what is written here to the proven optimum in every test;
ask cbc for "ratioGap 0 allowableGap 1e-9" and HiGHS for mip_rel_gap=1e-9, as their
defaults stop short of it. Beware of the lp_solve command: its search for integers may
end with a worse point that it calls optimal. Leave its options for scaling (-s) alone,
which make that common, and check what it says by another solver.

Formulations:
` + describeFormulations(),
		Example: `  bench export instance.json --formulation time-indexed --slot 60s --format mps -o model.mps
  bench export instance.json --formulation npti | glpsol --freemps /dev/stdin`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if formulations()[f.formulation].weight && !c.Flags().Changed("objective") {
				f.objective = sched.ScheduledWeight.String()
			}
			return a.export(f, args[0])
		},
	}
	c.Flags().StringVar(&f.formulation, "formulation", "", strings.Join(slices.Sorted(maps.Keys(formulations())), ", "))
	c.Flags().StringVar(&f.format, "format", "mps", "mps (free) or lp (of lp_solve)")
	c.Flags().StringVar(&f.objective, "objective", suite.DefaultObjective.String(), "what to minimise; weight-listed and weight-compact are of scheduled-weight alone")
	c.Flags().StringVar(&f.slot, "slot", "", "slot length of time-indexed and interval programs, such as 60s")
	c.Flags().StringVarP(&f.output, "out", "o", "", "file to write (default standard output)")
	c.Flags().StringVar(&f.output, "output", "", "the same, as it was called before")
	_ = c.Flags().MarkHidden("output")
	return c
}

// exported is a formulation that can be written.
type exported struct {
	about  string
	weight bool // of the objective scheduled-weight alone
	slots  bool // of the length of --slot
	build  func(in *sched.Instance, o sched.Objective, slot sched.Time) (*formulate.Program, error)
}

// formulations maps names to programs.
func formulations() map[string]exported {
	plain := func(build func(*sched.Instance, sched.Objective) (*formulate.Program, error)) func(*sched.Instance, sched.Objective, sched.Time) (*formulate.Program, error) {
		return func(in *sched.Instance, o sched.Objective, _ sched.Time) (*formulate.Program, error) {
			return build(in, o)
		}
	}
	weight := func(build func(*sched.Instance) (*formulate.Program, error)) func(*sched.Instance, sched.Objective, sched.Time) (*formulate.Program, error) {
		return func(in *sched.Instance, _ sched.Objective, _ sched.Time) (*formulate.Program, error) {
			return build(in)
		}
	}
	type build = func(*sched.Instance, sched.Objective, sched.Time, bool) (*formulate.Program, error)
	slotted := func(make build, up bool) func(*sched.Instance, sched.Objective, sched.Time) (*formulate.Program, error) {
		return func(in *sched.Instance, o sched.Objective, slot sched.Time) (*formulate.Program, error) {
			if slot == 0 {
				var err error
				if slot, err = timeindexed.DefaultSlot(in, o); err != nil {
					return nil, err
				}
			}
			return make(in, o, slot, up)
		}
	}
	overTime := func(x interval.Relaxation) func(*sched.Instance, sched.Objective, sched.Time) (*formulate.Program, error) {
		return func(in *sched.Instance, o sched.Objective, slot sched.Time) (*formulate.Program, error) {
			return x.Build(in, o, interval.Options{Slot: slot})
		}
	}
	return map[string]exported{
		"time-indexed":                {"gangs: start slots, durations rounded down", false, true, slotted(timeindexed.Build, false)},
		"time-indexed-up":             {"gangs: start slots, durations rounded up", false, true, slotted(timeindexed.Build, true)},
		"time-indexed-configurations": {"time-indexed, and what runs is packed into the servers", false, true, slotted(timeindexed.BuildConfigurations, false)},
		"time-indexed-servers":        {"time-indexed, with the servers of every job", false, true, slotted(timeindexed.BuildServers, false)},
		"pti":                         {"gangs: shares of work in slots, linear", false, true, overTime(interval.PTI)},
		"npti":                        {"gangs: starts without interruption, linear", false, true, overTime(interval.NPTI)},
		"conf":                        {"gangs: starts and patterns of servers, linear", false, true, overTime(interval.CONF)},
		"bouts": {"preemptive gangs in slots", false, false, func(in *sched.Instance, o sched.Objective, _ sched.Time) (*formulate.Program, error) {
			return preemptive.Build(in, o, preemptive.Options{})
		}},
		"sharing":         {"jobs that share GPUs, in slots", false, false, plain(sharing.Build)},
		"elastic-listed":  {"elastic jobs, a variable for every schedule", false, false, plain(elastic.Listed)},
		"elastic-compact": {"elastic jobs, variables for workers on servers", false, false, plain(elastic.Compact)},
		"weight-listed":   {"elastic jobs, minus the weight done by the deadline", true, false, weight(maxweight.Listed)},
		"weight-compact":  {"the same, variables for workers on servers", true, false, weight(maxweight.Compact)},
	}
}

func describeFormulations() string {
	all := formulations()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "  %-27s %s\n", name, all[name].about)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (a *app) export(f exportFlags, path string) error {
	program, ok := formulations()[f.formulation]
	if !ok {
		return usageError("--formulation: %q is unknown: %s", f.formulation, strings.Join(slices.Sorted(maps.Keys(formulations())), ", "))
	}
	write, ok := map[string]func(io.Writer, *milp.Model) error{"mps": milp.WriteMPS, "lp": milp.WriteLP}[f.format]
	if !ok {
		return usageError("--format: %q is unknown: mps, lp", f.format)
	}
	var objective sched.Objective
	if program.weight && f.objective != sched.ScheduledWeight.String() {
		return usageError("--objective %s: %s is of %v alone: leave it out", f.objective, f.formulation, sched.ScheduledWeight)
	}
	var err error
	if objective, err = parseObjective(f.objective); err != nil {
		return err
	}
	var slot sched.Time
	if f.slot != "" {
		if err := slot.UnmarshalText([]byte(f.slot)); err != nil {
			return usageError("--slot: %w", err)
		}
		if slot <= 0 {
			return usageError("--slot %s: it must be positive: leave it out for one that fits the instance", f.slot)
		}
	}
	if slot > 0 && !program.slots {
		return usageError("--slot %s: %s has no slots of its own: leave it out", f.slot, f.formulation)
	}
	in, err := readInstance(path)
	if err != nil {
		return err
	}
	p, err := program.build(in, objective, slot)
	if err != nil {
		return usageError("%s: %w", f.formulation, err)
	}
	if f.output == "" {
		err = write(a.out, p.Model)
	} else {
		err = a.writeFile(f.output, func(w io.Writer) error { return write(w, p.Model) })
	}
	if err != nil {
		return err
	}
	m := p.Model
	fmt.Fprintf(a.err, "%s (%v): %d rows, %d columns, %d of them integers, %d nonzeros\n", f.formulation, p.Relation, len(m.Rows), len(m.Vars), m.Integers(), m.Nonzeros())
	return nil
}
