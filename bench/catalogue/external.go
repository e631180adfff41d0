package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"yardstick/bench"
	"yardstick/bench/sandbox"
	"yardstick/bench/suite"
	"yardstick/heuristics/external"
	"yardstick/heuristics/predict"
	"yardstick/heuristics/sim"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

// ExternalName is the name of policies that are programs of their own.
const ExternalName = "external"

// externalPolicy makes a policy that is a program in any language. Its version is the
// hash of all that the program's behaviour depends on.
func externalPolicy(ref suite.MethodRef) (bench.Method, error) {
	m, _, err := newExternal(ref)
	return m, err
}

// KeptExternal makes the same policy for thousands of small instances: programs that
// can serve another instance are kept until the context ends. They may learn from one what
// they use on the next, so this is for hunts, where that makes the policy worse at most.
func KeptExternal(ctx context.Context, ref suite.MethodRef) (bench.Method, error) {
	m, l, err := newExternal(ref)
	if l != nil {
		l.keep = true
		context.AfterFunc(ctx, l.release)
	}
	return m, err
}

// newExternal returns the policy and, if it can run, what starts it.
func newExternal(ref suite.MethodRef) (bench.Method, *launcher, error) {
	p := readParams(ref)
	command, files, visible := p.get("command", ""), p.get("files", ""), p.get("visible", "")
	runs := p.count("repeat", 1, 1)
	replayed, predictions, predictor := p.maybePredictor()
	if err := p.finish(); err != nil {
		return nil, nil, err
	}
	replayed.Suits, replayed.Runs, replayed.Program = tellable, runs, true
	program, err := sandbox.Read(context.Background(), command, list(files), list(visible))
	if errors.Is(err, sandbox.ErrCommand) {
		return nil, nil, &suite.Error{Path: "params.command", Err: err}
	}
	if err != nil { // one program that is not there does not stop the others
		replayed.Broken = err
		return bench.Policy(ref, "1 cannot run", replayed), nil, nil
	}
	hash := program.Hash()
	l := &launcher{program: program, hash: hash, predictor: predictor}
	replayed.New = l.start
	version := strings.Join(strings.Fields("1 "+hash[:16]+" "+program.Interpreter+" "+program.Version), " ")
	m := bench.Configured(bench.Policy(ref, version, replayed), hash, predictions, runs)
	return bench.ReadFrom(m, program.Sources...), l, nil
}

// maybePredictor is predictor, where nothing is predicted unless it is asked for.
func (p *params) maybePredictor() (bench.Replayed, predict.Options, string) {
	if p.get("predictor", external.NoPredictor) == external.NoPredictor {
		return bench.Replayed{}, predict.Options{}, external.NoPredictor
	}
	replayed, predictions := p.predictor(predict.Perfect)
	return replayed, predictions, predictions.Model.String()
}

// tellable is what can be said of a program without starting it: it may suit any instance
// that the protocol can tell it of. Of interference it tells one task of each job.
func tellable(in *sched.Instance) error {
	for i := range in.Jobs {
		if sh := in.Jobs[i].Sharing; sh != nil && sh.Rows != nil {
			return fmt.Errorf("external: %w: the interference of job %d depends on its accumulation, which the protocol does not tell", sched.ErrNotApplicable, i)
		}
	}
	return nil
}

// list splits names at commas.
func list(text string) (names []string) {
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// launcher starts the processes of one policy.
type launcher struct {
	program   *sandbox.Program
	hash      string
	predictor string

	mu   sync.Mutex
	keep bool // what is idle
	idle []*running
}

// running is a process with its connection.
type running struct {
	*sandbox.Process
	conn *external.Conn
	ctx  context.Context
}

// memory is what a program may take where no limit is given.
const memory = 4 << 30

// keptTime is how long a program that is kept may take for one of many small instances.
const keptTime = time.Minute

// start greets a program: a new one, or one that has said it can serve another
// instance.
func (l *launcher) start(ctx context.Context, p bench.Problem) (sim.Policy, error) {
	ctx, cancel := context.WithCancel(ctx)
	if l.keeps() {
		ctx, cancel = context.WithTimeout(ctx, keptTime)
	}
	policy, err := l.greet(ctx, cancel, p)
	if err != nil {
		cancel()
		return nil, bench.NotStarted(err)
	}
	return policy, nil
}

func (l *launcher) greet(ctx context.Context, cancel context.CancelFunc, p bench.Problem) (sim.Policy, error) {
	run, err := l.take(ctx, p)
	if err != nil {
		return nil, err
	}
	seed, name := l.seed(p.Seed)
	o := external.Options{Instance: name, Seed: seed, Predictor: l.predictor}
	if len(p.Objectives) > 0 {
		o.Objective = p.Objectives[0].String()
	}
	policy, err := external.New(run.conn, p.Instance, o)
	if err != nil {
		run.Stop()
		return nil, l.failed(ctx, err)
	}
	return &outside{policy, run, l, ctx, cancel, context.AfterFunc(ctx, run.Stop)}, nil
}

func (l *launcher) take(ctx context.Context, p bench.Problem) (*running, error) {
	l.mu.Lock()
	if n := len(l.idle); n > 0 {
		run := l.idle[n-1]
		l.idle = l.idle[:n-1]
		l.mu.Unlock()
		return run, nil
	}
	l.mu.Unlock()
	spec := l.program.Spec
	if spec.Memory = int64(p.Limits.Memory); spec.Memory == 0 {
		spec.Memory = memory
	}
	if l.keeps() {
		ctx = context.WithoutCancel(ctx)
	}
	process, err := sandbox.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	run := &running{process, external.NewConn(process.In, process.Out), ctx}
	run.conn.Cause = process.Why
	return run, nil
}

func (l *launcher) keeps() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keep
}

// kept reports whether a process was taken back for another instance.
func (l *launcher) kept(run *running) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keep {
		l.idle = append(l.idle, run)
	}
	return l.keep
}

// release ends what is kept, and keeps nothing more.
func (l *launcher) release() {
	l.mu.Lock()
	idle := l.idle
	l.keep, l.idle = false, nil
	l.mu.Unlock()
	for _, run := range idle {
		run.Stop()
	}
}

// seed returns the policy's own seed and the name of the instance. Neither is that of
// another policy, so that nothing but the data tells which instance it is.
func (l *launcher) seed(instance uint64) (uint64, string) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("yardstick policy 1\x00"+l.hash), instance))
	return binary.BigEndian.Uint64(sum[:8]) >> 11, fmt.Sprintf("%x", sum[8:12])
}

// failed is the error of a program that has failed: a time limit, if that is why.
func (l *launcher) failed(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return bench.Killed(milp.TimeLimit, err.Error())
	}
	return err
}

// outside is a policy in its process.
type outside struct {
	*external.Policy
	run      *running
	launcher *launcher
	ctx      context.Context
	cancel   context.CancelFunc
	undo     func() bool // keeps the end of ctx from ending the program
}

// End implements bench.Program. A program that can serve another instance is kept if
// that is wanted; any other has to end without another word.
func (o *outside) End(err error) error {
	alive := o.undo()
	defer o.cancel()
	if err == nil && alive {
		err = o.Policy.End(nil)
	}
	if err == nil && alive && o.Again() && o.launcher.kept(o.run) {
		return nil
	}
	if err == nil {
		o.run.CloseIn()
		if err = o.run.conn.Rest(); err != nil {
			err = fmt.Errorf("%s, after the end: %w", o.Name(), err)
		}
	}
	o.run.Stop()
	if err != nil {
		return o.launcher.failed(o.ctx, err)
	}
	return nil
}

// Protections implements bench.Program.
func (o *outside) Protections() string { return strings.Join(o.run.Held, ", ") }

// StdioName is the name of the policy that is whoever has started this program.
const StdioName = "stdio"

// Stdio is the policy at the other end of this program's own streams. It is trusted: it has
// started us.
type Stdio struct {
	bench.Method
	conn   *external.Conn
	policy *external.Policy
}

// NewStdio returns the policy that is asked on w and answers on r, for one run.
func NewStdio(ref suite.MethodRef, w io.Writer, r io.Reader) (*Stdio, error) {
	p := readParams(ref)
	replayed, _, predictor := p.maybePredictor()
	if err := p.finish(); err != nil {
		return nil, err
	}
	s := &Stdio{conn: external.NewConn(w, r)}
	replayed.Suits = tellable
	replayed.New = func(_ context.Context, problem bench.Problem) (policy sim.Policy, err error) {
		s.policy, err = external.New(s.conn, problem.Instance, external.Options{Instance: StdioName, Objective: problem.Objectives[0].String(), Seed: 1, Predictor: predictor})
		return s.policy, err
	}
	s.Method = bench.Policy(ref, "1", replayed)
	return s, nil
}

// End tells the policy the result of its run.
func (s *Stdio) End(v *verify.Verified) error {
	costs := map[string]string{}
	for _, o := range sched.Objectives() {
		if cost := v.Cost(o); cost != nil && (o != sched.ScheduledWeight || v.Instance().Deadline > 0) {
			costs[o.String()] = cost.RatString()
		}
	}
	return s.policy.End(map[string]any{"class": v.Class().String(), "costs": costs})
}

// Fail tells the policy why there is no result.
func (s *Stdio) Fail(why error) error { return external.Fail(s.conn, why) }
