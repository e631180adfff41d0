package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/children"
	"yardstick/bench/library"
	"yardstick/bench/suite"
	"yardstick/sched"
)

// libraryFlags say where the library is.
type libraryFlags struct {
	dir, traces, log string
}

func (f *libraryFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.dir, "library", "library", "folder of the library")
	c.Flags().StringVar(&f.traces, "traces", "", "folder of the public traces that some instances are made of, as Parquet files")
}

// addLog adds the flag for instances of public logs.
func (f *libraryFlags) addLog(c *cobra.Command) {
	c.Flags().StringVar(&f.log, "from", "", "your copy of the public log that the instance is made of")
}

// importLog makes a trace of a public log.
func importLog(name, log, out, trace string) error {
	format, err := findFormat(name)
	if err != nil {
		return err
	}
	_, err = format.run([]string{log}, out, importFlags{trace: trace})
	return err
}

// held runs what writes into the library, while no other process does.
func (f *libraryFlags) held(run func() error) error {
	release, err := f.open().Hold()
	if err != nil {
		return usageError("%w", err)
	}
	defer release()
	return run()
}

func (f *libraryFlags) open() *library.Library {
	return &library.Library{Dir: f.dir, Traces: f.traces, Log: f.log, Import: importLog}
}

func (a *app) libraryCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "library",
		Short: "Instances with the best schedule and the best bound known: list, fetch, beat, submit, check",
		Long: `The library holds instances, each with the best schedule that is known, a bound that
no schedule undercuts, and who found them. Every value that is shown follows from a
file that has just been verified. docs/library.md says how papers use it.`,
	}
	c.AddCommand(a.libraryListCommand(), a.libraryShowCommand(), a.libraryFetchCommand(), a.libraryRunCommand(), a.librarySubmitCommand(), a.libraryTableCommand(),
		a.libraryCheckCommand(), a.libraryImproveCommand(), a.librarySelectCommand(), a.libraryAddCommand(), a.libraryFreezeCommand())
	return c
}

// named returns the entries whose names begin with one of the words, all of them without
// words.
func named(l *library.Library, words []string) ([]*library.Entry, error) {
	all, err := l.Entries()
	if err != nil {
		return nil, usageError("%w", err)
	}
	if len(words) == 0 {
		return all, nil
	}
	var list []*library.Entry
	for _, e := range all {
		for _, w := range words {
			if strings.HasPrefix(e.Name, w) {
				list = append(list, e)
				break
			}
		}
	}
	if len(list) == 0 {
		names := make([]string, len(all))
		for i, e := range all {
			names[i] = e.Name
		}
		hint := ""
		if near := suite.Nearest(words[0], names); near != "" {
			hint = fmt.Sprintf(": the nearest is %q", near)
		}
		return nil, usageError("no instance of the library begins with %q%s", words[0], hint)
	}
	return list, nil
}

func (a *app) librarySelectCommand() *cobra.Command {
	var f libraryFlags
	seed, quiet := uint64(1), false
	c := &cobra.Command{
		Use:   "select",
		Short: "Draw candidates and write the entries of those that differ most",
		Long: `Draws recipes, measures the instances that they make, and chooses of each model and
size those that differ most. The same seed chooses the same instances. Entries that are
there stay as they are.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.held(func() error {
				steps, strata, all := a.steps(quiet, counted("strata")), library.Strata(), 0
				defer steps.End()
				for i, s := range strata {
					steps.show(int64(i), int64(len(strata)), s.String())
					chosen, err := s.Choose(c.Context(), seed)
					if c.Context().Err() != nil {
						return interrupted("the entries chosen so far are written", "the same command goes on")
					}
					if err != nil {
						return err
					}
					added, err := f.open().Add(s, chosen)
					if err != nil {
						return usageError("%w", err)
					}
					all += added
				}
				fmt.Fprintf(a.out, "%d entries added to %s\n", all, f.dir)
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of all draws")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

func (a *app) libraryImproveCommand() *cobra.Command {
	var f libraryFlags
	m := library.Improver{Effort: 2, Seed: 1, Nodes: 1_000_000}
	limits := suite.Limits{Solve: time.Minute, Memory: 2 << 30}
	missing, quiet, most := false, false, 0
	c := &cobra.Command{
		Use:   "improve [NAME...]",
		Short: "Search for better schedules, bounds and proofs, and keep those that are found",
		Long: `Runs the methods of the catalogue on the instances whose names begin as given, or on
all, each in a process of its own within the limits. What is better than what the
library has is verified and written; what is not leaves no trace. Interrupted, it keeps
the instances that are done: --missing goes on with those that have no schedule or no
bound.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			m.Library, m.Day = f.open(), today()
			limits.Cell = limits.Solve
			m.Run = a.inChild(limits)
			return f.held(func() error {
				list, err := named(m.Library, args)
				if err != nil {
					return err
				}
				return a.libraryImprove(c.Context(), &m, list, missing, quiet, most)
			})
		},
	}
	f.add(c)
	f.addLog(c)
	c.Flags().Var(between(1, 5, &m.Effort), "effort", "of searches that have one, from 1 to 5")
	c.Flags().Uint64Var(&m.Seed, "seed", 1, "seed of the searches")
	c.Flags().Var(atLeast(0, &m.Nodes), "nodes", "nodes that the tree of a proof may have; 0 for no proofs (default 1000000)")
	m.Nodes = 1_000_000
	c.Flags().Var(atLeast(1, &limits.Solve), "time-limit", "wall-clock limit of each method")
	c.Flags().Var(atLeast(0, &most), "most", "of instances with at most so many jobs; 0 for all")
	c.Flags().BoolVar(&missing, "missing", false, "only where there is no schedule or no bound yet")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

// today is the day of the clock, as entries have it.
func today() string { return time.Now().UTC().Format(time.DateOnly) }

// inChild runs a method in a process of its own, and takes what it has when its time ends.
func (a *app) inChild(limits suite.Limits) func(context.Context, bench.Method, *sched.Instance, sched.Objective) (*bench.Outcome, error) {
	return func(ctx context.Context, m bench.Method, in *sched.Instance, o sched.Objective) (*bench.Outcome, error) {
		workers := children.New(limits, 1)
		workers.Debug, workers.Raise, workers.SoFar = a.debug, "--time-limit", true
		defer workers.Close()
		r := workers.One(ctx, m, in, o)
		switch {
		case r.Err != nil:
			return nil, r.Err
		case len(r.Outcomes) == 0:
			return nil, errors.New("nothing was found in time")
		}
		return &r.Outcomes[0], nil
	}
}

func (a *app) libraryImprove(ctx context.Context, m *library.Improver, list []*library.Entry, missing bool, quiet bool, most int) error {
	steps := a.steps(quiet, counted("instances"))
	defer steps.End()
	done, better := 0, 0
	for i, e := range list {
		if ctx.Err() != nil {
			steps.End()
			return interrupted(fmt.Sprintf("%d instances are done", done), "the same command with --missing goes on")
		}
		if missing && e.Schedule != nil && e.Bound != nil || most > 0 && e.Features.Jobs > most {
			continue
		}
		steps.show(int64(i), int64(len(list)), e.Name)
		change, err := m.Improve(ctx, e)
		if errors.Is(err, library.ErrAbsent) {
			steps.Above(func() { fmt.Fprintln(a.err, errorText(err)) })
			continue
		}
		if err != nil {
			return &exitError{exitCode(err), err}
		}
		done++
		if change.Schedule || change.Bound || change.Proof {
			better++
		}
		steps.Above(func() {
			fmt.Fprintf(a.out, "%s: %s, was %s\n", e.Name, standingText(change.After), standingText(change.Before))
			for _, why := range change.Failed {
				fmt.Fprintf(a.err, "  %s\n", oneLine(why))
			}
		})
	}
	steps.End()
	fmt.Fprintf(a.out, "%d of %d instances improved\n", better, done)
	return nil
}

// standingText says in a few words what is known of an instance.
func standingText(s *library.Standing) string {
	gap := s.Gap()
	switch {
	case s.Schedule == nil && s.Bound == nil:
		return "nothing known"
	case gap == nil:
		return "one side known"
	case gap.Sign() == 0 && s.Proven:
		return "optimal, proven for strangers"
	case gap.Sign() == 0:
		return "optimal"
	}
	return "gap " + percentText(gap)
}

func (a *app) libraryAddCommand() *cobra.Command {
	var f libraryFlags
	var name, objective, from, log, format string
	var settings []string
	seed := uint64(1)
	c := &cobra.Command{
		Use:   "add INSTANCE|LOG --name NAME --from WORDS",
		Short: "Add an entry that holds its instance, such as one that bench hunt found, or the recipe of one made of a public log",
		Long: `Adds an instance (JSON) that no recipe makes, with nothing known of it: bench library
improve and submit find and take what there is. --from says where it comes from.

With --log the argument is a copy of a public log, which stays where it is: the entry has
the log's name, its sha256 and the keys of the instance, as bench instance build takes
them, and bench library fetch --from makes the instance of the reader's own copy.`,
		Example: `  bench library add worst.json --name sjf-worst --from "bench hunt --policy sjf, seed 1"
  bench library add tiresias-60_job.csv --log tiresias-60 --format tiresias -s slice.jobs=12 -s cluster.servers=4 --name tiresias-12`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := parseObjective(objective)
			switch {
			case err != nil:
				return err
			case name == "":
				return usageError("--name is missing: what is the entry called?")
			case log == "" && from == "":
				return usageError("--from is missing: say where the instance comes from")
			case log == "" && (format != "" || settings != nil || c.Flags().Changed("seed")):
				return usageError("--format, --set and --seed go with --log")
			case log != "" && (format == "" || from != ""):
				return usageError("--log goes with --format, and without --from: the log is where it comes from")
			}
			add := func() (*library.Entry, error) {
				in, err := readInstance(args[0])
				if err != nil {
					return nil, err
				}
				return f.open().AddInstance(c.Context(), name, in, o, from)
			}
			if log != "" {
				f.log = args[0]
				r := library.Recipe{Log: log, Format: format, Keys: map[string]string{}, Seed: seed}
				for _, text := range settings {
					key, value, ok := strings.Cut(text, "=")
					if !ok {
						return usageError("-s %q: write key=value, such as slice.jobs=8", text)
					}
					r.Keys[key] = value
				}
				add = func() (*library.Entry, error) { return f.open().AddLog(c.Context(), name, r, o) }
			}
			return f.held(func() error {
				e, err := add()
				if err != nil {
					return usageError("%w", err)
				}
				fmt.Fprintf(a.out, "%s: %d jobs, class %v, %v\n", e.Name, e.Features.Jobs, e.Class, e.Objective)
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&name, "name", "", "name of the entry: small letters, digits, - and .")
	c.Flags().StringVar(&objective, "objective", suite.DefaultObjective.String(), "what is minimised")
	c.Flags().StringVar(&from, "from", "", "where the instance comes from, on one line")
	c.Flags().StringVar(&log, "log", "", "name of the public log that the argument is a copy of, as bench dataset fetch has it")
	c.Flags().StringVar(&format, "format", "", "import format of the log")
	c.Flags().StringArrayVarP(&settings, "set", "s", nil, "a key of a suite's instances entry, for --log; may be repeated")
	c.Flags().Uint64Var(&seed, "seed", 1, "master seed of the instance, for --log")
	return c
}
