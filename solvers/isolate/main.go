package isolate

import (
	"bufio"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/signal"

	"yardstick/internal/program"
	"yardstick/solvers/milp"
)

// What travels through the pipes: the parent sends a request, the child a
// hello and then a reply.
type (
	request struct {
		Model  milp.Model
		Start  []float64 // milp.Start.X
		Limits milp.Limits
	}
	hello struct{ Program string } // its identity
	reply struct {
		Result       milp.Result
		Point, Duals bool   // Result.X and RowDuals are not nil: gob does not tell empty from nil
		Error        string // the solver's error, instead of a result
		Peak         int64  // greatest resident set, in bytes
	}
)

// replies is the file descriptor of the pipe to the parent: the first of
// exec.Cmd.ExtraFiles. C libraries print to standard output.
const replies = 3

// Main returns at once, unless the process is the child of a Solver: then it
// serves the solve, with the solver that lookup returns for its name, and
// exits. Call it first in main, or in TestMain.
func Main(lookup func(name string) (milp.Solver, error)) {
	name, child := os.LookupEnv(variable)
	if !child {
		return
	}
	os.Unsetenv(variable) // the solver may isolate in turn
	// An interrupt at the terminal reaches parent and child. The parent decides
	// what it means, and closes the pipe.
	signal.Ignore(os.Interrupt)
	if err := serve(name, lookup, os.Stdin, os.NewFile(replies, "replies")); err != nil {
		fmt.Fprintf(os.Stderr, "isolate: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(name string, lookup func(string) (milp.Solver, error), in io.Reader, out io.Writer) error {
	enc := gob.NewEncoder(out)
	if err := enc.Encode(hello{program.Identity()}); err != nil {
		return fmt.Errorf("writing to the parent: %w", err)
	}
	buffered := bufio.NewReader(in)
	var q request
	if err := gob.NewDecoder(buffered).Decode(&q); err != nil {
		return fmt.Errorf("reading the model from the parent: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // the parent closes the pipe when its context ends, or by dying
		_, _ = io.Copy(io.Discard, buffered)
		cancel()
	}()
	if err := enc.Encode(solve(ctx, name, lookup, &q)); err != nil {
		return fmt.Errorf("writing the result to the parent: %w", err)
	}
	return nil
}

func solve(ctx context.Context, name string, lookup func(string) (milp.Solver, error), q *request) reply {
	s, err := lookup(name)
	if err != nil {
		return reply{Error: err.Error()}
	}
	res, err := s.Solve(ctx, &q.Model, milp.Start{X: q.Start}, q.Limits)
	if err != nil {
		return reply{Error: err.Error()}
	}
	return reply{Result: *res, Point: res.X != nil, Duals: res.RowDuals != nil, Peak: PeakResident()}
}
