package children

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"yardstick/bench"
	"yardstick/bench/suite"
	"yardstick/sched"
	"yardstick/solvers/milp"
)

func TestMain(m *testing.M) {
	Main(resolve)
	os.Exit(m.Run())
}

// method does to its process what its name says.
type method struct{ suite.MethodRef }

func resolve(ref suite.MethodRef) (bench.Method, error) {
	if ref.Name == "unknown" {
		return nil, errors.New("nobody knows it")
	}
	return method{ref}, nil
}

func (m method) Ref() suite.MethodRef { return m.MethodRef }

// Version is that of the process for the method that changes.
func (m method) Version() string {
	if m.Name == "changes" {
		return fmt.Sprint(os.Getpid())
	}
	return "1"
}

func (m method) Kind() bench.Kind { return bench.Offline }

func (m method) Run(ctx context.Context, p bench.Problem) ([]bench.Outcome, error) {
	out := bench.Outcome{Termination: milp.Skipped, Message: fmt.Sprintf("%s %d", p.Instance.Name, os.Getpid())}
	switch m.Name {
	case "dies":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		time.Sleep(time.Minute)
	case "is killed": // as by the system where memory runs out
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "exits":
		os.Exit(7)
	case "searches": // until it is told to stop
		if err := os.WriteFile(p.Instance.Name, nil, 0o600); err != nil {
			return nil, err
		}
		<-ctx.Done()
		out.Termination = milp.Interrupted
	case "hangs":
		time.Sleep(time.Hour)
	case "panics":
		panic("boom")
	case "full disk":
		return nil, fmt.Errorf("writing a model: %w", &fs.PathError{Op: "write", Path: "/tmp/model", Err: syscall.ENOSPC})
	case "no threads", "no threads in C": // as Go and cgo say it
		fmt.Fprintln(os.Stderr, map[bool]string{false: "runtime: failed to create new OS thread (have 7 already; errno=11)", true: "runtime/cgo: pthread_create failed: Resource temporarily unavailable"}[m.Name == "no threads in C"])
		os.Exit(2)
	case "fails":
		return nil, errors.New("no luck")
	case "eats":
		var all [][]byte
		for range 150 { // a half above the limit of the test: a busy machine looks late
			b := make([]byte, 4<<20)
			for i := 0; i < len(b); i += 512 {
				b[i] = 1
			}
			all = append(all, b)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Minute) // it is killed before
		out.Message = fmt.Sprint(len(all))
	}
	return []bench.Outcome{out}, nil
}

func cell(t *testing.T, name, instance string) bench.Cell {
	t.Helper()
	in := &sched.Instance{Name: instance, Model: sched.ModelGang, Cluster: sched.Uniform(1, 1, 1, 1), Jobs: []sched.Job{
		{Weight: 1, Iters: 1, Stages: []sched.Stage{{Replicas: 1, Compute: 1}}}}}
	return bench.Cell{ID: name, Instance: &suite.Instance{Instance: in, SHA256: in.Hash()}, Method: method{suite.MethodRef{Name: name}},
		Objectives: []sched.Objective{sched.TotalJCT}}
}

func TestCells(t *testing.T) {
	limits := suite.Limits{Solve: time.Minute, Cell: 10 * time.Minute, Memory: 400 << 20}
	patient := New(limits, 1)
	patient.grace = time.Millisecond
	defer patient.Close()
	limits.Cell = 2 * time.Second
	hasty := New(limits, 1)
	hasty.grace = time.Millisecond
	defer hasty.Close()
	for _, test := range []struct {
		name, want string
		ended      milp.Termination
		is         error
	}{
		{"works", "", "", nil},
		{"dies", "SIGSEGV", milp.Crashed, nil},
		{"is killed", "killed: not by this run", milp.Crashed, bench.ErrOutside},
		{"exits", "exit status 7", milp.Crashed, nil},
		{"panics", "boom", milp.Crashed, bench.ErrPanicked},
		{"fails", "no luck", milp.OtherError, nil},
		{"unknown", "nobody knows it", milp.OtherError, nil},
		{"changes", "has changed since the plan was made", milp.OtherError, nil},
		{"eats", "limits.memory", milp.MemoryLimit, nil},
		{"hangs", "limits.cell", milp.TimeLimit, nil},
	} {
		// After every one of them the workers still work.
		for _, c := range []bench.Cell{cell(t, test.name, "one"), cell(t, "works", "two")} {
			p := patient
			if test.ended == milp.TimeLimit {
				p = hasty
			}
			r := p.Run(context.Background(), c)
			for try := 0; p == hasty && c.ID == "works" && bench.TerminationOf(r.Err) == milp.TimeLimit && try < 100; try++ {
				r = p.Run(context.Background(), c) // a busy machine may not even start a child in time
			}
			switch {
			case c.ID == "works":
				if r.Err != nil || len(r.Outcomes) != 1 || !strings.HasPrefix(r.Outcomes[0].Message, c.Instance.Name+" ") || r.PeakRSS <= 0 {
					t.Errorf("works after %s: %+v", test.name, r)
				}
			case r.Err == nil || !strings.Contains(r.Err.Error(), test.want) || bench.TerminationOf(r.Err) != test.ended:
				t.Errorf("%s: %v, ended %s", test.name, r.Err, bench.TerminationOf(r.Err))
			case test.is != nil && !errors.Is(r.Err, test.is):
				t.Errorf("%s: %v is not %v", test.name, r.Err, test.is)
			}
		}
	}
}

// One child serves many cells, and the instance of the cell before is not sent
// again.
func TestChildIsKept(t *testing.T) {
	p := New(suite.Limits{}, 1)
	defer p.Close()
	c, other := cell(t, "works", "one"), cell(t, "works", "two")
	first := p.Run(context.Background(), c).Outcomes[0].Message
	for _, c := range []bench.Cell{c, other, c} {
		got := p.Run(context.Background(), c).Outcomes[0].Message
		if want := c.Instance.Name + strings.TrimPrefix(first, "one"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestInterruption(t *testing.T) {
	p := New(suite.Limits{}, 2)
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if r := p.Run(ctx, cell(t, "hangs", "one")); !r.Skipped || r.Err != nil {
				t.Errorf("%+v", r)
			}
		})
	}
	all.Wait()
}

// A cell that is interrupted is asked for what it has, where that is wanted; one that
// does not answer is left.
func TestSoFar(t *testing.T) {
	for _, soFar := range []bool{true, false} {
		for _, name := range []string{"searches", "hangs"} {
			p := New(suite.Limits{}, 1)
			p.SoFar = soFar
			if name == "hangs" {
				p.grace = time.Millisecond
			}
			ctx, cancel := context.WithCancel(t.Context())
			started := filepath.Join(t.TempDir(), "started")
			go func() {
				defer cancel()
				for name == "searches" {
					if _, err := os.Stat(started); err == nil {
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
			}()
			r := p.Run(ctx, cell(t, name, started))
			if want := soFar && name == "searches"; r.Skipped == want || want && (len(r.Outcomes) != 1 || r.Outcomes[0].Termination != milp.Interrupted) {
				t.Errorf("%s, so far %v: %+v", name, soFar, r)
			}
			if len(p.idle) > 0 {
				t.Errorf("%s, so far %v: the child is kept", name, soFar)
			}
			p.Close()
		}
	}
}

// The cost of a cell that does nothing.
func BenchmarkCell(b *testing.B) {
	p := New(suite.Limits{Memory: 4 << 30, Solve: time.Minute}, 1)
	defer p.Close()
	c := cell(&testing.T{}, "works", "one")
	for b.Loop() {
		if r := p.Run(context.Background(), c); r.Err != nil {
			b.Fatal(r.Err)
		}
	}
}
