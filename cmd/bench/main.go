// Command bench measures how far deep-learning job schedulers are from the best
// possible schedule, and proves it. See the README.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/children"
	"yardstick/bench/record"
	"yardstick/bench/sandbox"
	"yardstick/bench/suite"
	"yardstick/bench/tables"
	"yardstick/internal/output"
	"yardstick/solvers/isolate"
)

func main() {
	sandbox.Main()                   // does not return beside a stranger's program
	isolate.Main(catalogue.Solver)   // does not return in a child process
	children.Main(catalogue.Resolve) // nor does this
	watchSpace()
	spareMemory()
	// What Go itself ends the program for, such as a thread that it cannot have, ends it
	// by a signal: the code 2 that Go has for it means bad input here.
	debug.SetTraceback("crash")
	ctx, interrupts := interruptible()
	code := run(ctx, os.Args[1:], standardOutput(), os.Stderr)
	if interrupts.Load() > 0 {
		code = exitInterrupted
	}
	os.Exit(code)
}

// spareMemory makes the garbage collector work harder from half of the machine's
// memory on, unless GOMEMLIMIT says something else. Tables of millions of jobs would
// take all of it. Children have limits of their own.
func spareMemory() {
	m := record.ThisMachine()
	if m.MemoryLimit > 0 {
		m.RAM = min(m.RAM, m.MemoryLimit)
	}
	if space := addressSpace(); space > 0 {
		m.RAM = min(m.RAM, space)
	}
	if m.GOMEMLIMIT == "" && m.RAM > 0 {
		debug.SetMemoryLimit(m.RAM / 2)
	}
}

// interruptible returns a context that the first Ctrl-C (or SIGTERM) cancels;
// the second ends the process at once.
func interruptible() (context.Context, *atomic.Int32) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var count atomic.Int32
	go func() {
		for range signals {
			if count.Add(1) > 1 {
				os.Exit(exitInterrupted)
			}
			fmt.Fprintln(os.Stderr, "\ninterrupted: writing what is finished; once more to leave at once")
			cancel()
		}
	}()
	return ctx, &count
}

// The exit codes, which exitCodes explains.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitIncomplete  = 3
	exitGate        = 4
	exitInvalid     = 5
	exitInterrupted = 130
)

// exitCodes is what bench --help and docs/running.md say of them.
var exitCodes = []struct {
	code  int
	when  string
	again bool // the same command may end otherwise: what calls it may try again
}{
	{exitOK, "done", false},
	{exitInternal, "the machine or the program failed: a full or read-only disk, too many open files, no process to be had, a directory in use, an internal error", true},
	{exitUsage, "bad input: flags, suite, trace, instance; a policy or method that does not apply to it; a directory that holds another run", false},
	{exitIncomplete, "something is missing: a cell failed, a shard has not run, there is no answer within the limits, a download ended early", false},
	{exitGate, "a rule of bench gate is broken", false},
	{exitInvalid, "something is wrong: an invalid schedule, a cost below a proven bound, a theorem or a certificate that does not hold", false},
	{exitInterrupted, "interrupted, by Ctrl-C or SIGTERM: what is finished is kept", true},
}

// describeExitCodes lists the exit codes, one to a line.
func describeExitCodes() string {
	var b strings.Builder
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "  %3d  %s\n", c.code, c.when)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// exitError is an error with the exit code it calls for.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// exitCode returns the code that a method's failure calls for.
func exitCode(err error) int {
	switch {
	case errors.Is(err, bench.ErrInvalidSchedule), errors.Is(err, tables.ErrBoundViolated), errors.Is(err, bench.ErrBoundRefuted), errors.Is(err, tables.ErrTheoremViolated):
		return exitInvalid
	case errors.Is(err, bench.ErrPanicked), errors.Is(err, bench.ErrMachine):
		return exitInternal
	}
	return exitIncomplete
}

// exitOf returns the exit code that an error calls for.
func exitOf(err error) int {
	var coded *exitError
	if errors.As(err, &coded) {
		return coded.code
	}
	return exitInternal
}

// app is one invocation of the command.
type app struct {
	out, err io.Writer
	stdout   io.Writer // standard output, where a file was asked for there; out is err then
	debug    bool
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, out, errOut io.Writer) (code int) {
	stdout := &checkedWriter{w: out}
	a := &app{out: stdout, err: errOut, stdout: stdout}
	defer func() {
		if p := recover(); p != nil {
			if a.debug {
				panic(p)
			}
			fmt.Fprintf(errOut, "bench: internal error: %v; run again with --debug for the stack and report it\n", p)
			code = exitInternal
		}
	}()
	root := a.command()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(errOut)
	err := knownCommand(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	switch {
	case stdout.err != nil:
		fmt.Fprintf(errOut, "bench: cannot write standard output: %v\n", stdout.err)
		return exitInternal
	case err == nil:
		return exitOK
	case output.Full(err), errors.Is(err, bench.ErrMachine): // whatever the command takes it for
		fmt.Fprintf(errOut, "bench: %s\n", errorText(err))
		return exitInternal
	}
	if coded, ok := errors.AsType[*exitError](err); ok {
		fmt.Fprintf(errOut, "bench: %s\n", errorText(err))
		return coded.code
	}
	// What is left are cobra's own errors: commands, flags and arguments.
	fmt.Fprintf(errOut, "bench: %s; see bench --help\n", strings.Join(strings.Fields(errorText(err)), " "))
	return exitUsage
}

// knownCommand returns an error where a group of commands is given one that it has not:
// cobra prints the help of the group, as if all were well.
func knownCommand(root *cobra.Command, args []string) error {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	helping := len(args) > 0 && args[0] == "help"
	if helping {
		args = args[1:]
	}
	c, rest, err := root.Find(args)
	if err != nil && helping {
		c, rest, err = root, args, nil
	}
	if err != nil || c.Runnable() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") || c.Name() == "help" {
		return nil // cobra says what is wrong, if anything is
	}
	var names []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	hint := "one of " + strings.Join(names, ", ")
	if near := suite.Nearest(rest[0], names); near != "" {
		hint = "do you mean " + near + "?"
	}
	return usageError("%s has no command %q: %s", c.CommandPath(), rest[0], hint)
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:     "bench",
		Version: versionLine(),
		Short:   "Deep-learning job schedulers against proven optima",
		Long: `bench builds scheduling instances from GPU-cluster traces, solves them exactly
and replays them online under published policies, verifies every schedule
independently, and reports empirical ratios with proven denominators.

Without further words, "bench run" runs an embedded suite on an embedded trace.

Exit codes:
` + describeExitCodes(),
		SilenceUsage:  true,
		SilenceErrors: true,

		PersistentPreRunE: a.configured,
	}
	root.PersistentFlags().BoolVar(&a.debug, "debug", false, "show the stack of internal errors")
	root.AddCommand(a.initCommand(), a.doctorCommand(), a.runCommand(), a.planCommand(), a.mergeCommand(), a.submitCommand(), a.manCommand(), a.reproduceCommand(), a.configCommand(), a.reportCommand(), a.verifyCommand(), a.solveCommand(),
		a.simulateCommand(), a.placeCommand(), a.datasetCommand(), a.instanceCommand(), a.versionCommand(),
		a.huntCommand(), a.scoreCommand(), a.explainCommand(), a.validateCommand(), a.boundCommand(), a.bracketCommand(), a.proveCommand(), a.exportCommand(),
		a.compareCommand(), a.gateCommand(), a.libraryCommand())
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(wrongFlag)
	nameArguments(root)
	complete(root)
	return root
}
