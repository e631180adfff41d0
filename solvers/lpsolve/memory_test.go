//go:build cgo

package lpsolve

import (
	"context"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/draffensperger/golp"

	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/solvers/milp"
	"yardstick/solvers/solvertest"
)

// handle.raw reads the only field of a golp.LP.
func TestGolpLayout(t *testing.T) {
	if typ := reflect.TypeFor[golp.LP](); typ.NumField() != 1 || typ.Field(0).Type.Kind() != reflect.Pointer {
		t.Errorf("golp.LP is %v", typ)
	}
}

// storm runs the garbage collector without pause until the returned function
// is called.
func storm() (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	return func() { close(done); <-stopped }
}

// golp frees the C model in a finalizer, also while a solve that is the last
// use of the Go value runs: it dies of a segmentation fault. This runs in a
// process of its own.
func TestGolpFreesWhatItSolves(t *testing.T) {
	if os.Getenv("YARDSTICK_TEST_GOLP") != "" {
		defer storm()()
		for range 200 {
			lp := golp.NewLP(0, 120)
			loadGolp(lp, solvertest.Packing(60, 120, 1))
			lp.Solve()
		}
		return
	}
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGolpFreesWhatItSolves$")
		cmd.Env = append(os.Environ(), "YARDSTICK_TEST_GOLP=1")
		if out, err := cmd.CombinedOutput(); err != nil && strings.Contains(string(out), "SIGSEGV") {
			return
		}
	}
	t.Error("plain golp survives the garbage collector: runtime.KeepAlive may have become unnecessary")
}

// This package solves under the same storm, and the solve is the last use.
func TestSolveUnderGarbageCollection(t *testing.T) {
	want := mustSolve(t, solvertest.Packing(60, 120, 1)).PrimalBound
	defer storm()()
	for range tier.Draws(30, 100) {
		p, err := LP{}.Open(solvertest.Packing(60, 120, 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := solveOpen(t, p).PrimalBound; got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		mustSolve(t, solvertest.Integral(solvertest.Packing(5, 10, 1)))
	}
}

// handle's own methods keep the model, whatever their caller does.
func TestHandleUnderGarbageCollection(t *testing.T) {
	m, err := normal(solvertest.Packing(60, 120, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer storm()()
	for range tier.Draws(30, 100) {
		h, err := load(m)
		if err != nil {
			t.Fatal(err)
		}
		if o := h.solve(context.Background(), milp.Limits{}, 0); o.status != golp.OPTIMAL {
			t.Fatal(o)
		}
	}
}

// The memory of solved models is returned, by Close or by the collector.
func TestNoLeak(t *testing.T) {
	solve := func(n int) {
		for range n {
			p, err := openLinear(solvertest.Packing(100, 200, 1))
			if err != nil {
				t.Fatal(err)
			}
			p.SetBounds(0, 5, 4) // no solve is needed to allocate
			solveOpen(t, p)
			p.Close()
			mustSolve(t, solvertest.Packing(20, 40, 1))
		}
	}
	solve(50)
	before := resident(t)
	solve(400)
	if grown := resident(t) - before; grown > 20<<20 {
		t.Errorf("400 models leave %d MiB", grown>>20)
	}
}

func resident(t *testing.T) int {
	t.Helper()
	runtime.GC()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		schedtest.Missing(t, "how much memory is resident cannot be read: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
