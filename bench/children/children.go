// Package children runs the cells of a plan in child processes, so that a cell that
// crashes, eats the memory or does not come back costs that cell and nothing
// else.
//
// A child is the same executable, started again: its main function calls Main
// before anything else. It says first which file it runs, and is refused if that is
// another: a new build may have taken the place. It serves one cell after the other,
// with the instance sent along where it is not the one before, in encoding/gob and its
// jobs packed; results come back as they are stored in journals.
//
// Where no child can be started, for want of processes, descriptors, /proc or
// /dev/null, no cell has failed: the error is bench.ErrMachine.
package children

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/internal/program"
	"yardstick/sched"
	"yardstick/solvers/isolate"
	"yardstick/solvers/milp"
)

// Workers run cells in child processes, as many as there are calls of Run at a
// time.
type Workers struct {
	Debug bool   // keep the stack of a method that panics
	Raise string // what gives a cell more time; by default limits.cell in the suite
	SoFar bool   // a cell that is interrupted is asked for what it has, and given six times Grace: whoever waits can interrupt again

	grace  time.Duration // Grace, but in tests
	path   string        // of the program; "" is this one
	limits suite.Limits
	procs  int // processors per child

	mu     sync.Mutex
	idle   []*worker
	closed bool
}

// New returns children for as many workers as will run at a time. The limits are
// those of every solve; Memory and CellTime are enforced from outside.
func New(limits suite.Limits, workers int) *Workers {
	return &Workers{Raise: "limits.cell in the suite", grace: Grace, limits: limits, procs: max(runtime.NumCPU()/max(workers, 1), 1)}
}

// Grace is how long after its time limit a cell may take to stop, and to have its
// bounds certified, before its process is killed.
const Grace = 5 * time.Second

// Run runs a cell. A child that fails is replaced for the next cell.
func (p *Workers) Run(ctx context.Context, c bench.Cell) bench.CellResult {
	start := time.Now()
	w, err := p.take(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return bench.CellResult{Cell: c, Skipped: true}
	case err != nil:
		return bench.CellResult{Cell: c, Err: fmt.Errorf("%w: %w", bench.ErrMachine, err), Wall: time.Since(start)}
	}
	r := w.run(ctx, c, p)
	if w.dead {
		r.Wall = time.Since(start)
		w.stop()
	} else {
		p.put(w)
	}
	return r
}

// One runs a method on an instance for one objective and verifies its schedule.
func (p *Workers) One(ctx context.Context, m bench.Method, in *sched.Instance, o sched.Objective) bench.CellResult {
	instance := &suite.Instance{Instance: in, Family: in.Name, SHA256: in.Hash()}
	return p.Run(ctx, bench.Cell{Instance: instance, Method: m, Objectives: []sched.Objective{o}}).Verify()
}

func (p *Workers) take(ctx context.Context) (*worker, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return w, nil
	}
	p.mu.Unlock()
	return p.start(ctx)
}

func (p *Workers) put(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go w.stop()
		return
	}
	p.idle = append(p.idle, w)
}

// Close ends the children that are idle.
func (p *Workers) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		w.stop()
	}
	p.idle = nil
}

// worker is a child process.
type worker struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	enc     *gob.Encoder
	greeted chan error // of the hello
	replies chan reply // closed when the child closes the pipe
	stderr  isolate.Head
	current *suite.Instance // the one it has
	dead    bool
	exited  chan struct{}
}

// start starts a child on a thread that lives as long as the child: Linux
// kills a child whose thread ends.
func (p *Workers) start(ctx context.Context) (*worker, error) {
	cmd, err := program.Command(p.path)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a child process: %w", err)
	}
	w := &worker{cmd: cmd, greeted: make(chan error, 1), replies: make(chan reply, 1), exited: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), variable+"=1", fmt.Sprintf("GOMAXPROCS=%d", p.procs))
	if p.limits.Memory > 0 { // lets the garbage collector work before the limit is met
		w.cmd.Env = append(w.cmd.Env, fmt.Sprintf("GOMEMLIMIT=%d", p.limits.Memory/10*9))
	}
	w.cmd.ExtraFiles, w.cmd.Stderr, w.cmd.SysProcAttr = []*os.File{write}, &w.stderr, isolate.DieWithParent()
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a child process: %w", err), read.Close(), write.Close())
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		started <- w.cmd.Start()
		write.Close() // the child has its own
		_ = w.cmd.Wait()
		close(w.exited)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("starting a child process: %w", err), read.Close())
	}
	w.enc = gob.NewEncoder(w.in)
	go w.receive(read)
	if err := w.greet(ctx); err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

// startup is how long a program may take to reach Main, on a machine that is busy.
const startup = 5 * time.Minute

// errOther is the error of a child that runs another file than its parent.
var errOther = errors.New("the program was replaced since it was started: run it again")

// greet waits until the child has said that it is this program.
func (w *worker) greet(ctx context.Context) error {
	late := time.NewTimer(startup)
	defer late.Stop()
	select {
	case err := <-w.greeted:
		if err == nil || errors.Is(err, errOther) {
			return err
		}
		<-w.exited
		return fmt.Errorf("a child process ended as it started: %v%s", w.cmd.ProcessState, w.stderr.FirstLine())
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return fmt.Errorf("a child process did not answer within %v: its main function must call children.Main first", startup)
	}
}

func (w *worker) receive(from *os.File) {
	defer from.Close()
	defer close(w.replies)
	in := bufio.NewReader(from) // which the decoder reads no further than it must
	dec := gob.NewDecoder(in)
	var h hello
	err := dec.Decode(&h)
	if err == nil && h.Program != program.Identity() {
		err = errOther
	}
	w.greeted <- err
	for {
		var r reply
		if dec.Decode(&r) != nil {
			return
		}
		if r.cell, err = after(in, r.Cell); err != nil {
			return
		}
		w.replies <- r
	}
}

// stop ends the child and waits for it.
func (w *worker) stop() {
	_ = w.in.Close()
	_ = w.cmd.Process.Kill() // an error is that it has ended
	<-w.exited
}

// sample is how often the memory of a child is measured.
const sample = 20 * time.Millisecond

func (w *worker) run(ctx context.Context, c bench.Cell, p *Workers) bench.CellResult {
	limits := p.limits
	q := request{ID: c.ID, Method: c.Method.Ref(), Version: c.Method.Version(), Objectives: c.Objectives, Prove: c.Prove, Limits: limits, Debug: p.Debug}
	q.SHA256, q.Family, q.Seed = c.Instance.SHA256, c.Instance.Family, c.Instance.Seed
	var jobs []byte
	if c.Instance != w.current {
		w.current = c.Instance
		q.Instance, jobs = packed(c.Instance.Instance)
		q.Jobs = len(jobs)
	}
	sent := make(chan struct{})
	go func() { // a child that has ended reads nothing: the pipe breaks
		defer close(sent)
		if w.enc.Encode(&q) == nil {
			_, _ = w.in.Write(jobs)
		}
	}()
	interrupted := ctx.Done()
	ticker := time.NewTicker(sample)
	defer ticker.Stop()
	var late <-chan time.Time
	if t := limits.CellTime(len(c.Objectives)); t > 0 {
		timer := time.NewTimer(t + p.grace)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case r, ok := <-w.replies:
			if ok {
				<-sent
				return w.result(c, r)
			}
			w.dead = true
			<-w.exited
			if ctx.Err() != nil {
				return bench.CellResult{Cell: c, Skipped: true}
			}
			return bench.CellResult{Cell: c, Err: w.crashed(c)}
		case <-interrupted:
			w.dead = true // also a child that answers: it runs nothing more
			if !p.SoFar {
				return bench.CellResult{Cell: c, Skipped: true}
			}
			interrupted = nil
			go func() {
				<-sent
				_ = w.enc.Encode(&request{Stop: true})
			}()
			timer := time.NewTimer(6 * p.grace)
			defer timer.Stop()
			late = timer.C
		case <-late:
			w.dead = true
			if ctx.Err() != nil {
				return bench.CellResult{Cell: c, Skipped: true}
			}
			return bench.CellResult{Cell: c, Err: bench.Killed(milp.TimeLimit, fmt.Sprintf("killed after %v: raise %s to give it longer",
				limits.CellTime(len(c.Objectives))+p.grace, p.Raise))}
		case <-ticker.C:
			if used := isolate.Resident(w.cmd.Process.Pid); limits.Memory > 0 && used > int64(limits.Memory) {
				w.dead = true
				return bench.CellResult{Cell: c, PeakRSS: used, Err: bench.Killed(milp.MemoryLimit,
					fmt.Sprintf("killed at %d MiB: raise limits.memory in the suite to give it more", used>>20))}
			}
		}
	}
}

// noThread begins what a program says that ends because it may have no more threads,
// by itself or by its C library.
var noThread = []string{": runtime: failed to create new OS thread", ": runtime/cgo: pthread_create failed"}

// crashed returns the error of a cell whose process has ended.
func (w *worker) crashed(c bench.Cell) error {
	said := w.stderr.FirstLine()
	text := fmt.Sprintf("the process that ran %s on %s ended: %v%s", c.Method.Ref(), c.Instance.Name, w.cmd.ProcessState, said)
	if slices.ContainsFunc(noThread, func(s string) bool { return strings.HasPrefix(said, s) }) {
		return fmt.Errorf("%w: %s", bench.ErrMachine, text)
	}
	if status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
		return bench.KilledOutside(text)
	}
	return bench.Killed(milp.Crashed, text)
}

func (w *worker) result(c bench.Cell, r reply) bench.CellResult {
	if r.Error != "" {
		return bench.CellResult{Cell: c, Err: errors.New(r.Error)}
	}
	out, err := bench.DecodeCell(c, r.cell)
	if err != nil {
		return bench.CellResult{Cell: c, Err: fmt.Errorf("children: %w", err)}
	}
	return out
}

// after reads the bytes that follow a message.
func after(in io.Reader, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if n < 0 {
		return nil, fmt.Errorf("children: %d bytes are said to follow", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	return b, err
}

// What travels through the pipes: the child sends a hello, and a reply to each request.
// What is long follows its message as it is: gob would copy it four times.
type (
	hello   struct{ Program string } // its identity
	request struct {
		ID         string
		Method     suite.MethodRef
		Version    string // of the method, which its files may change
		Objectives []sched.Objective
		Prove      bool
		Limits     suite.Limits
		Debug      bool

		SHA256, Family string // of the instance
		Seed           uint64
		Instance       *sched.Instance // nil for the one before
		Jobs           int             // how many bytes of packed jobs follow, if they are packed

		jobs []byte // these

		Stop bool // end the one before, with what it has: the child serves no other
	}
	reply struct {
		Cell  int    // how many bytes follow, of the stored form of the result
		Error string // instead of a result

		cell []byte // these
	}
)
