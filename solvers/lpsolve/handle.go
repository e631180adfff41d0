//go:build cgo

package lpsolve

/*
#cgo linux CFLAGS: -I/usr/include/lpsolve
#cgo darwin CFLAGS: -I/opt/homebrew/opt/lp_solve/include -I/opt/local/include/lpsolve
#cgo linux LDFLAGS: -llpsolve55 -lcolamd -lm -ldl
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "lp_lib.h"

enum { GO_ON, BY_CANCEL, BY_DEADLINE, BY_NODES, BY_ITERATIONS };

// What a running solve and the callback share. Only cancel is written by
// another thread while the solve runs.
typedef struct {
	atomic_int cancel;
	int stopped;     // why the callback ended the solve
	long nodes;      // most nodes, or 0
	long iterations; // most simplex iterations, or 0
	double deadline; // on the monotonic clock, or 0
} control;

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// lp_solve asks in every simplex iteration and at every node whether to go on.
static int __WINAPI ask(lprec *lp, void *handle) {
	control *c = handle;
	if (c->stopped != GO_ON)
		return TRUE;
	if (atomic_load_explicit(&c->cancel, memory_order_relaxed))
		c->stopped = BY_CANCEL;
	else if (c->nodes > 0 && get_total_nodes(lp) > c->nodes)
		c->stopped = BY_NODES;
	else if (c->iterations > 0 && get_total_iter(lp) > c->iterations)
		c->stopped = BY_ITERATIONS;
	else if (c->deadline > 0 && seconds() >= c->deadline)
		c->stopped = BY_DEADLINE;
	return c->stopped != GO_ON;
}

static void cancel(control *c) { atomic_store(&c->cancel, 1); }

static int run(lprec *lp, control *c, double limit) {
	int status;
	c->deadline = limit > 0 ? seconds() + limit : 0;
	put_abortfunc(lp, ask, c);
	status = solve(lp);
	put_abortfunc(lp, NULL, NULL);
	return status;
}

static void primal(lprec *lp, double *x) {
	double *p;
	if (get_ptr_variables(lp, &p))
		for (int j = 0; j < get_Ncolumns(lp); j++)
			x[j] = p[j];
}

static void duals(lprec *lp, double *y) {
	for (int i = 1; i <= get_Nrows(lp); i++)
		y[i-1] = get_var_dualresult(lp, i);
}
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/draffensperger/golp"

	"yardstick/solvers/milp"
)

// A golp.LP is a struct of one pointer, to the C model. If it ever grows, this
// does not compile.
var _ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(golp.LP{})]byte{}

// handle is a golp model and the C model behind it.
//
// golp frees the C model in a finalizer, and would do so during a call that
// holds nothing but the C pointer: every method that calls C ends with
// runtime.KeepAlive.
type handle struct{ lp *golp.LP }

func newHandle(cols int) (handle, error) {
	h := handle{golp.NewLP(0, cols)}
	if h.raw() == nil || h.lp.NumCols() != cols || int(C.get_Ncolumns(h.raw())) != cols {
		return handle{}, errors.New("lpsolve: golp's model cannot be reached from C: golp must be the version that go.mod pins")
	}
	h.lp.SetVerboseLevel(golp.CRITICAL)
	// With the default solution limit, 1, lp_solve's MIP_stepOF derives a least
	// improvement of the objective from differences of the costs and drops all
	// nodes that cannot improve by as much: wrong as soon as the costs are not
	// multiples of it. With 2 it returns zero.
	C.set_solutionlimit(h.raw(), 2)
	h.setScaling(true)
	return h, nil
}

// setScaling sets lp_solve's default scaling or, if exact, the same by powers of
// two: it then rounds nothing, and programs over integers often end with the
// exact point and exact duals. Where coefficients of a row differ by fourteen
// orders of magnitude lp_solve goes astray with powers of two, and not without.
func (h handle) setScaling(exact bool) {
	mode := C.int(C.SCALE_GEOMETRIC | C.SCALE_EQUILIBRATE | C.SCALE_INTEGERS)
	if exact {
		mode |= C.SCALE_POWER2
	}
	C.set_scaling(h.raw(), mode)
	runtime.KeepAlive(h.lp)
}

func (h handle) raw() *C.lprec { return *(**C.lprec)(unsafe.Pointer(h.lp)) }

// free frees the C model now.
func (h handle) free() {
	runtime.SetFinalizer(h.lp, nil)
	C.delete_lp(h.raw())
	runtime.KeepAlive(h.lp)
}

// addRow appends a normal row. Unlike golp's AddConstraintSparse, it takes
// rows without entries, which columns may later be added to.
func (h handle) addRow(r *milp.Row) error {
	cols := make([]C.int, len(r.Cols)+1) // never empty: C gets the address
	vals := make([]C.double, len(r.Cols)+1)
	for k, j := range r.Cols {
		cols[k], vals[k] = C.int(j+1), C.double(r.Vals[k])
	}
	ok := C.add_constraintex(h.raw(), C.int(len(r.Cols)), &vals[0], &cols[0], C.int(relation(r.Sense)), C.double(r.RHS))
	runtime.KeepAlive(h.lp)
	if ok == 0 {
		return errors.New("lpsolve: lp_solve refused a row")
	}
	return nil
}

func relation(s milp.Sense) golp.ConstraintType {
	return map[milp.Sense]golp.ConstraintType{milp.LE: golp.LE, milp.EQ: golp.EQ, milp.GE: golp.GE}[s]
}

// addColumn appends a column with its cost and entries in distinct rows. It
// is not basic, so that the basis stays valid.
func (h handle) addColumn(cost float64, rows []int, vals []float64) error {
	r := []C.int{0} // row 0 is the objective
	v := []C.double{C.double(cost)}
	for k, i := range rows {
		r, v = append(r, C.int(i+1)), append(v, C.double(vals[k]))
	}
	ok := C.add_columnex(h.raw(), C.int(len(r)), &v[0], &r[0])
	runtime.KeepAlive(h.lp)
	if ok == 0 {
		return errors.New("lpsolve: lp_solve refused a column")
	}
	return nil
}

func (h handle) setBounds(col int, lower, upper float64) {
	h.lp.SetBounds(col, lower, upper)
	runtime.KeepAlive(h.lp)
}

// noDepthLimit removes a limit of 50 branchings per integer, at which lp_solve
// drops nodes in silence.
func (h handle) noDepthLimit() {
	C.set_bb_depthlimit(h.raw(), 0)
	runtime.KeepAlive(h.lp)
}

// simplex is one of lp_solve's combinations of simplex methods.
type simplex int

const (
	dualFirst   simplex = iota // a dual phase 1, then primal: the default, and the fastest as a rule
	primalFirst                // primal in both phases
)

func (s simplex) other() simplex { return primalFirst - s }

func (h handle) setSimplex(s simplex) {
	C.set_simplextype(h.raw(), map[simplex]C.int{dualFirst: C.SIMPLEX_DUAL_PRIMAL, primalFirst: C.SIMPLEX_PRIMAL_PRIMAL}[s])
	runtime.KeepAlive(h.lp)
}

// outcome is what one run of lp_solve reports.
type outcome struct {
	status      golp.SolutionType
	stopped     milp.Termination // set if the run was stopped from outside
	nodes, iter int
}

// solve runs lp_solve until it ends, ctx is done or a limit is reached, the
// last of which is a number of simplex iterations. A limit of zero is none.
func (h handle) solve(ctx context.Context, l milp.Limits, iterations int) outcome {
	c := (*C.control)(C.calloc(1, C.sizeof_control))
	defer C.free(unsafe.Pointer(c))
	c.nodes, c.iterations = C.long(l.Nodes), C.long(iterations)

	cancelled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { C.cancel(c); close(cancelled) })
	status := C.run(h.raw(), c, C.double(l.Time.Seconds()))
	if !stop() {
		<-cancelled // until nobody writes to c
	}

	o := outcome{status: golp.SolutionType(status), nodes: int(C.get_total_nodes(h.raw())), iter: int(C.get_total_iter(h.raw()))}
	switch c.stopped {
	case C.BY_CANCEL:
		o.stopped = milp.Interrupted
	case C.BY_DEADLINE:
		o.stopped = milp.TimeLimit
	case C.BY_NODES:
		o.stopped = milp.NodeLimit
	case C.BY_ITERATIONS:
		o.stopped = milp.IterationLimit
	}
	runtime.KeepAlive(h.lp)
	return o
}

// primal returns the point, and duals the row duals, of a solve that ended
// OPTIMAL or SUBOPTIMAL. After any other they are not those of the model.
func (h handle) primal() []float64 {
	x := make([]float64, h.lp.NumCols()+1)
	C.primal(h.raw(), (*C.double)(&x[0]))
	runtime.KeepAlive(h.lp)
	return x[:len(x)-1]
}

func (h handle) duals() []float64 {
	y := make([]float64, h.lp.NumRows()+1)
	C.duals(h.raw(), (*C.double)(&y[0]))
	runtime.KeepAlive(h.lp)
	return y[:len(y)-1]
}

func version() string {
	var major, minor, release, build C.int
	C.lp_solve_version(&major, &minor, &release, &build)
	return fmt.Sprintf("%d.%d.%d.%d", major, minor, release, build)
}

// rest returns what is left of a time limit at now; zero stays no limit.
func rest(l milp.Limits, start time.Time) milp.Limits {
	if l.Time > 0 {
		l.Time = max(l.Time-time.Since(start), time.Nanosecond)
	}
	return l
}
