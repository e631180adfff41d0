// Package isolate runs a solve in a child process, so that a crash of a C
// library, a solver that does not come back or one that eats the memory ends
// the child and not the program.
//
// The child is the same executable, started again: its main function calls
// Main before anything else, which serves one solve and exits. It says first which
// file it runs, and is refused if that is another: a new build may have taken the
// place. Model and result travel through pipes in encoding/gob, which keeps every bit
// of a float64.
//
// Cells of a run need none of it: package pool has them in a child process already.
//
// Limits are enforced from outside. Memory is measured as the resident set
// that Linux reports in /proc; an address space limit (RLIMIT_AS) is no
// substitute, as it kills small solves of a Go program at once. Where there is
// no /proc, the memory limit is not enforced.
package isolate

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"yardstick/internal/program"
	"yardstick/solvers/milp"
)

// Solver solves models in a child process. It implements milp.Solver.
//
// Termination is what the solver in the child reports, or
//
//	Crashed      the child ended without a result
//	MemoryLimit  it was killed for its memory
//	TimeLimit    it was killed, Grace after the time limit
//	Interrupted  it was killed, Grace after the context ended
//
// all without point and bound, and with a Message. Stats.CPU and
// Stats.PeakRSS are those of the child.
type Solver struct {
	Solver string        // name that Main looks up in the child; also the Name
	Memory int64         // greatest resident set in bytes, start of the program included; 0 is no limit
	Grace  time.Duration // what a solver may take to end by itself; 0 is 2 s
	Path   string        // executable; "" is the one that is running
}

// variable names the solver in the child's environment. Its presence is what
// makes a process a child.
const variable = "YARDSTICK_ISOLATED_SOLVER"

// sample is how often memory is measured. What allocates faster than this is
// seen late: at 1 GB/s, 20 MB late.
const sample = 20 * time.Millisecond

// Name returns the name of the solver in the child.
func (s Solver) Name() string { return s.Solver }

// Solve implements milp.Solver. Of the start only the point reaches the child:
// a function cannot be sent.
//
// Errors: the model is invalid, the child cannot be started, is another build, does
// not call Main, does not know the solver or has an error from it, or its result does
// not hold for this model.
func (s Solver) Solve(ctx context.Context, m *milp.Model, start milp.Start, l milp.Limits) (*milp.Result, error) {
	switch {
	case os.Getenv(variable) != "":
		return nil, errors.New("isolate: this process is a child of a solve: its main function must call isolate.Main first")
	case ctx.Err() != nil:
		return milp.NoResult(milp.Interrupted), nil
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}

	// Linux kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := s.start()
	if err != nil {
		return nil, err
	}
	go c.send(request{*m, start.X, l})
	go c.receive()
	c.supervise(ctx, l.Time)
	return c.result(m)
}

func (s Solver) grace() time.Duration {
	if s.Grace > 0 {
		return s.Grace
	}
	return 2 * time.Second
}

// child is a running child process.
type child struct {
	Solver
	cmd    *exec.Cmd
	in     io.WriteCloser // requests; closing it asks the solver to stop
	out    *os.File       // replies
	stderr Head
	start  time.Time

	greeted chan error // of the hello
	replied chan error // of the reply, which is complete then
	reply   reply

	// Set by supervise.
	hello  bool             // the child calls Main
	other  bool             // it is another program
	done   bool             // the reply is there
	asked  bool             // it has been asked to stop
	killed milp.Termination // why, or ""
	peak   int64
}

func (s Solver) start() (*child, error) {
	cmd, err := program.Command(s.Path)
	if err != nil {
		return nil, fmt.Errorf("isolate: %w: %w", ErrStart, err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("isolate: %w: %w", ErrStart, err)
	}
	defer write.Close() // the child has its own
	c := &child{Solver: s, cmd: cmd, out: read, start: time.Now(),
		greeted: make(chan error, 1), replied: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), variable+"="+s.Solver)
	if s.Memory > 0 { // lets the garbage collector work before the limit is met
		c.cmd.Env = append(c.cmd.Env, fmt.Sprintf("GOMEMLIMIT=%d", s.Memory/10*9))
	}
	c.cmd.ExtraFiles = []*os.File{write}
	c.cmd.Stderr = &c.stderr
	c.cmd.SysProcAttr = DieWithParent()
	if c.in, err = c.cmd.StdinPipe(); err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		read.Close()
		return nil, fmt.Errorf("isolate: %w: %w", ErrStart, err)
	}
	return c, nil
}

func (c *child) send(r request) {
	// An error is that the child has ended; what it replied tells why.
	_ = gob.NewEncoder(c.in).Encode(r)
}

func (c *child) receive() {
	defer c.out.Close()
	dec := gob.NewDecoder(c.out)
	h := hello{}
	err := dec.Decode(&h)
	if err == nil && h.Program != program.Identity() {
		err = errOther
	}
	c.greeted <- err
	if err == nil {
		err = dec.Decode(&c.reply)
	}
	c.replied <- err
}

// ErrStart means that no child process could be started: no solve can be.
var ErrStart = errors.New("starting a child process")

// errOther is the error of a child that runs another file than its parent.
var errOther = errors.New("the program was replaced since it was started: run it again")

// startup is how long a program may take to reach Main.
const startup = 30 * time.Second

// supervise returns when the child has ended.
func (c *child) supervise(ctx context.Context, limit time.Duration) {
	ticker := time.NewTicker(sample)
	defer ticker.Stop()
	var deadline, giveUp <-chan time.Time
	if limit > 0 {
		deadline = time.After(limit + c.grace())
	}
	cancelled, late := ctx.Done(), time.After(startup)
	for running := true; running; {
		select {
		case err := <-c.greeted:
			c.greet(err)
			late = nil
		case err := <-c.replied: // also when the child ends without a word
			select {
			case err := <-c.greeted: // which came before
				c.greet(err)
			default:
			}
			c.done, running = err == nil, false
		case <-cancelled:
			cancelled, c.asked = nil, true
			_ = c.in.Close() // the child's context ends with its standard input
			giveUp = time.After(c.grace())
		case <-giveUp:
			c.kill(milp.Interrupted)
		case <-deadline:
			c.kill(milp.TimeLimit)
		case <-late:
			c.kill(milp.Crashed)
		case <-ticker.C:
			c.peak = max(c.peak, Resident(c.cmd.Process.Pid))
			if c.Memory > 0 && c.peak > c.Memory {
				c.kill(milp.MemoryLimit)
			}
		}
	}
	_ = c.in.Close()
	if !c.done { // it has closed the pipe, and may live on
		_ = c.cmd.Process.Kill()
	}
	// With a reply it exits by itself, unless something hinders it.
	timer := time.AfterFunc(c.grace(), func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	_ = c.cmd.Wait() // how it ended is in ProcessState
}

// greet notes how the child greeted.
func (c *child) greet(err error) { c.hello, c.other = err == nil, errors.Is(err, errOther) }

// kill kills the child, which closes the pipe and ends the loop above.
func (c *child) kill(why milp.Termination) {
	if c.killed == "" {
		c.killed = why
	}
	_ = c.cmd.Process.Kill() // an error is that it has ended
}

func (c *child) result(m *milp.Model) (*milp.Result, error) {
	state := c.cmd.ProcessState
	var res *milp.Result
	switch {
	case c.done && c.reply.Error != "":
		return nil, fmt.Errorf("isolate: in the child process: %s", c.reply.Error)
	case c.done:
		res = &c.reply.Result
		if c.reply.Point && res.X == nil {
			res.X = []float64{}
		}
		if c.reply.Duals && res.RowDuals == nil {
			res.RowDuals = []float64{}
		}
		if err := confirm(m, res); err != nil {
			return nil, err
		}
	case c.other:
		return nil, fmt.Errorf("isolate: %w: %w", ErrStart, errOther)
	case c.asked && c.killed == "":
		res = milp.NoResult(milp.Interrupted)
	case !c.hello && (c.killed == "" || c.killed == milp.Crashed):
		return nil, fmt.Errorf("isolate: %s did not answer (%v%s): its main function must call isolate.Main first", c.cmd.Path, state, c.stderr.FirstLine())
	case c.killed != "":
		res = milp.NoResult(c.killed)
		res.Message = fmt.Sprintf("killed after %v at %d MiB", time.Since(c.start).Round(time.Millisecond), c.peak>>20)
	default:
		res = milp.NoResult(milp.Crashed)
		res.Message = fmt.Sprintf("%v%s", state, c.stderr.FirstLine())
	}
	if !c.done {
		res.Stats.Wall = time.Since(c.start)
	}
	res.Stats.CPU = state.UserTime() + state.SystemTime()
	res.Stats.PeakRSS = max(c.peak, c.reply.Peak)
	return res, nil
}

// confirm checks what a child claims to have proven as far as that is cheap:
// a result from a process whose memory may be damaged.
func confirm(m *milp.Model, res *milp.Result) error {
	if err := res.Validate(); err != nil {
		return fmt.Errorf("isolate: in the child process: %w", err)
	}
	if res.X != nil && len(res.X) != len(m.Vars) {
		return fmt.Errorf("isolate: the child process returned %d values for %d variables", len(res.X), len(m.Vars))
	}
	if res.Primal == milp.Proven {
		if err := milp.Check(m, res.X); err != nil || m.Objective(res.X) > res.PrimalBound {
			return fmt.Errorf("isolate: the child process returned a point that does not prove its objective %v: %w", res.PrimalBound, err)
		}
	}
	return nil
}
