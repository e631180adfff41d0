package children

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/internal/program"
	"yardstick/sched"
	"yardstick/solvers/isolate"
)

// variable is what makes a process a child.
const variable = "YARDSTICK_POOL"

// replies is the file descriptor of the pipe to the parent: the first of
// exec.Cmd.ExtraFiles. C libraries print to standard output.
const replies = 3

// Main returns at once, unless the process is a child of Workers: then it
// serves cells until the parent closes the pipe, and exits. Call it first in
// main, or in TestMain.
func Main(resolve bench.Resolve) {
	if os.Getenv(variable) == "" {
		return
	}
	os.Unsetenv(variable) // a method may start processes in turn
	// An interrupt at the terminal reaches parent and child. The parent decides
	// what it means.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	if err := serve(resolve, os.Stdin, os.NewFile(replies, "replies")); err != nil {
		fmt.Fprintf(os.Stderr, "children: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(resolve bench.Resolve, in io.Reader, out io.Writer) error {
	enc := gob.NewEncoder(out)
	if err := enc.Encode(hello{program.Identity()}); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	requests, failed := make(chan request), make(chan error, 1)
	go func() {
		defer close(requests)
		from := bufio.NewReader(in) // which the decoder reads no further than it must
		dec := gob.NewDecoder(from)
		for {
			var q request
			err := dec.Decode(&q)
			if err == nil {
				q.jobs, err = after(from, q.Jobs)
			}
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				failed <- err
				return
			case q.Stop:
				stop(bench.ErrEnough)
				continue
			}
			requests <- q
		}
	}()
	var current *sched.Instance
	for q := range requests {
		r := reply{}
		if q.Instance != nil {
			current = q.Instance
			if q.jobs != nil {
				var err error
				if current.Jobs, err = unpackJobs(q.jobs); err != nil {
					return err
				}
			}
			q.Instance, q.jobs = nil, nil
		}
		cell, err := run(ctx, resolve, &q, current)
		if err != nil {
			r.Error = err.Error()
		}
		r.Cell = len(cell)
		if err := enc.Encode(&r); err != nil {
			return err
		}
		if _, err := out.Write(cell); err != nil {
			return err
		}
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func run(ctx context.Context, resolve bench.Resolve, q *request, in *sched.Instance) ([]byte, error) {
	m, err := resolve(q.Method)
	if err != nil {
		return nil, err
	}
	if m.Version() != q.Version {
		return nil, fmt.Errorf("%s has changed since the plan was made (version %s, now %s): run again", q.Method, q.Version, m.Version())
	}
	cell := bench.Cell{ID: q.ID, Method: m, Objectives: q.Objectives, Prove: q.Prove, Instance: &suite.Instance{Instance: in, SHA256: q.SHA256, Family: q.Family, Seed: q.Seed}}
	isolate.ForgetPeak()
	r := bench.RunCell(ctx, cell, q.Limits, q.Debug)
	r.PeakRSS = isolate.PeakResident()
	for k := range r.Outcomes { // this is the process that solved
		for i := range r.Outcomes[k].Solves {
			r.Outcomes[k].Solves[i].Result.Stats.PeakRSS = r.PeakRSS
		}
	}
	if m := int64(q.Limits.Memory); m > 0 && r.PeakRSS > m/4 {
		debug.FreeOSMemory() // what one cell leaves lying is not the next one's
	}
	return r.Encode()
}
