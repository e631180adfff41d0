package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/formulate/preemptive"
	"yardstick/formulate/sharing"
	"yardstick/formulate/timeindexed"
	"yardstick/internal/schedtest"
	"yardstick/internal/tier"
	"yardstick/sched"
	"yardstick/solvers/branch"
	"yardstick/solvers/exact"
	"yardstick/solvers/lpsolve"
	"yardstick/solvers/milp"
)

// preempted returns five preemptive jobs on four GPUs: gangs of 1 to 4, training of 2
// to 8 slots, loads and pauses of 1 or 2, a release every 0 to 4 slots.
func preempted(seed uint64) *sched.Instance {
	r := schedtest.Rand(seed)
	in := schedtest.Plain(schedtest.Servers(4), schedtest.Job(0, 1, 1))
	in.Name, in.Model, in.Slot, in.Jobs = fmt.Sprintf("preempted-%d", seed), sched.ModelPreemptive, sched.Second, nil
	release := 0
	for range 5 {
		j := schedtest.Job(sched.Time(release)*sched.Second, 1+r.IntN(4), sched.Time(2+r.IntN(7))*sched.Second)
		j.Load, j.Pause = sched.Time(1+r.IntN(2))*sched.Second, sched.Time(1+r.IntN(2))*sched.Second
		j.Weight = float64(1 + r.IntN(9))
		in.Jobs = append(in.Jobs, j)
		release += r.IntN(5)
	}
	return in
}

// shared returns three jobs that may share two GPUs.
func shared(seed uint64) *sched.Instance {
	in := schedtest.SlottedSharing(seed, schedtest.Slots{Jobs: 3, Servers: []int{2}, Work: [2]int{1, 3}, Span: 2, Gang: 2, Xi: 1.5, Options: 2})
	in.Name = fmt.Sprintf("shared-%d", seed)
	return in
}

// split returns jobs of whole seconds for two servers of four GPUs, which take longer
// by whole seconds on more than one server.
func split(seed uint64, jobs int) *sched.Instance {
	r := schedtest.Rand(seed)
	in := &sched.Instance{Name: fmt.Sprintf("split-%d-%d", jobs, seed), Model: sched.ModelGang,
		Cluster: sched.Uniform(2, 4, 1_680_000_000, 1_000_000_000_000_000_000)}
	for range jobs {
		k := 1 + r.IntN(8)
		j := schedtest.Job(sched.Time(r.IntN(2*jobs))*sched.Second, k, sched.Time(1+r.IntN(20))*sched.Second)
		j.Weight = float64(1 + r.IntN(9))
		if k > 1 {
			// An AllReduce of h bytes on parts of at least x takes 2(k−1)/k·h·4/(x·1.68e9) seconds.
			whole := []int{2: 1, 1, 2, 2, 6, 6, 12}[k] // divisible by all x ≤ k/2
			s := &j.Stages[0]
			s.Params = sched.Bytes(whole * 210_000_000 * k / (k - 1))
			s.Compute -= 5 // nanoseconds, for the AllReduce on one server
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// blind is the solver without a start.
type blind struct{ milp.Solver }

func (b blind) Solve(ctx context.Context, m *milp.Model, _ milp.Start, l milp.Limits) (*milp.Result, error) {
	return b.Solver.Solve(ctx, m, milp.Start{}, l)
}

// What the command runs gets the same start as the solver in this process: a run
// needs as many nodes, and without the start more are needed.
func TestRunPassesStartsOn(t *testing.T) {
	const objective = sched.TotalCompletion
	byBouts := func(in *sched.Instance, s milp.Solver) (nodes int) {
		r, err := preemptive.Solve(context.Background(), in, objective, s, preemptive.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Nodes
	}
	byProgram := func(x timeindexed.Program) func(*sched.Instance, milp.Solver) int {
		return func(in *sched.Instance, s milp.Solver) (nodes int) {
			r, err := timeindexed.Solve(context.Background(), in, objective, s, timeindexed.Options{Slot: sched.Second, Program: x})
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range r.Programs {
				nodes += run.Result.Stats.Nodes
			}
			return nodes
		}
	}
	bySlots := byProgram(timeindexed.Starts)
	bySharing := func(in *sched.Instance, s milp.Solver) (nodes int) {
		r, err := sharing.SolveProgram(context.Background(), in, objective, s, milp.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Nodes
	}
	slots := "{name: time-indexed, params: {slot: 1s}}"
	for _, c := range []struct {
		name, method string
		instances    []*sched.Instance
		nodes        func(*sched.Instance, milp.Solver) int
	}{
		{"bouts of 5 jobs", "bouts", []*sched.Instance{preempted(0), preempted(1), preempted(2)}, byBouts},
		{"sharing of 3 jobs", "sharing-program", []*sched.Instance{shared(0), shared(1), shared(2), shared(3)}, bySharing},
		{"starts of 7 jobs", slots, []*sched.Instance{split(0, 7), split(1, 7), split(2, 7), split(3, 7)}, bySlots},
		{"configurations of 5 jobs", "{name: time-indexed, params: {slot: 1s, program: configurations}}", []*sched.Instance{split(0, 5), split(1, 5), split(2, 5), split(3, 5)}, byProgram(timeindexed.Configurations)},
		{"servers of 4 jobs", "{name: time-indexed, params: {slot: 1s, program: servers}}", []*sched.Instance{split(0, 4), split(1, 4), split(2, 4), split(3, 4)}, byProgram(timeindexed.Servers)},
		{"starts of 9 jobs", slots, []*sched.Instance{split(0, 9), split(2, 9), split(5, 9), split(7, 9)}, bySlots},
	} {
		t.Run(c.name, func(t *testing.T) {
			solver := branch.New(lpsolve.LP{})
			suite := fmt.Sprintf("name: starts\nobjectives: [%v]\nmethods: [%s]\nlimits: {solve: 1h}\ninstances:\n", objective, c.method)
			with, without := map[string]int{}, 0
			for _, in := range c.instances[:tier.Draws(2, len(c.instances))] {
				var text strings.Builder
				if err := in.Write(&text); err != nil {
					t.Fatal(err)
				}
				suite += fmt.Sprintf("  - {name: %s, file: %s}\n", in.Name, write(t, in.Name+".json", text.String()))
				with[in.Name] = c.nodes(in, solver)
				without += c.nodes(in, blind{solver})
			}
			dir := filepath.Join(t.TempDir(), "out")
			mustRun(t, "run", write(t, "s.yaml", suite), "-o", dir, "-q")
			run, err := record.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			got, sum := map[string]int{}, 0
			for _, s := range run.Solves {
				if s.Termination != string(milp.Optimal) || s.Solver != "branch" || !s.PeakRSS.Valid || s.PeakRSS.V <= 0 {
					t.Errorf("%s: %s by %s, peak of %d bytes", s.Instance, s.Termination, s.Solver, s.PeakRSS.V)
				}
				got[s.Instance] += int(s.Nodes.V)
				sum += int(s.Nodes.V)
			}
			for name, want := range with {
				if got[name] != want {
					t.Errorf("%s: %d nodes in a run, %d in this process", name, got[name], want)
				}
			}
			t.Logf("%d nodes in a run, %d without a start", sum, without)
			if sum >= without {
				t.Errorf("%d nodes in a run, %d without a start: the test has lost its subject", sum, without)
			}
		})
	}
}

// misbehaviour names what lp_solve does to the children of these tests.
const misbehaviour = "YARDSTICK_TEST_MISBEHAVIOUR"

// misbehaving is a solver that does to its process what its name says.
type misbehaving string

func (misbehaving) Name() string { return "lpsolve-mip" }

func (what misbehaving) Solve(context.Context, *milp.Model, milp.Start, milp.Limits) (*milp.Result, error) {
	switch what {
	case "crash":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		time.Sleep(time.Minute)
	case "exit":
		os.Exit(7)
	case "panic":
		panic("out of luck")
	case "hang":
		time.Sleep(time.Hour)
	case "eat":
		var all [][]byte
		for range 400 {
			b := make([]byte, 4<<20)
			for i := 0; i < len(b); i += 512 {
				b[i] = 1
			}
			all = append(all, b)
		}
		time.Sleep(time.Hour) // until it is noticed
		return nil, fmt.Errorf("%d blocks fit", len(all))
	}
	return nil, errors.New("no licence")
}

// inChild is how the children of these tests resolve methods.
func inChild(ref suite.MethodRef) (bench.Method, error) {
	if what := os.Getenv(misbehaviour); what != "" && ref.Name == "time-indexed" && ref.Params["solver"] == "lpsolve-mip" {
		return bench.Search(ref, "2", func(ctx context.Context, in *sched.Instance, o sched.Objective, l exact.Limits) (*exact.Result, error) {
			return timeindexed.Solve(ctx, in, o, misbehaving(what), timeindexed.Options{Limits: l})
		}), nil
	}
	return catalogue.Resolve(ref)
}

// A solver that crashes, hangs or eats the memory costs a run its own cells, which say
// so, and no others.
func TestRunSurvivesItsSolver(t *testing.T) {
	t.Parallel()
	first, second := write(t, "first.json", tinyInstance), write(t, "second.json", strings.Replace(tinyInstance, `"500ms"`, `"250ms"`, 1))
	suite := `
name: survives
instances:
  - {name: first, file: ` + first + `}
  - {name: second, file: ` + second + `}
objectives: [total-completion]
methods: [{name: sjf, params: {blocking: skip}}, {name: time-indexed, params: {solver: lpsolve-mip}}]
references: [{name: time-indexed, params: {solver: branch}}]
limits: {solve: 1h, `
	for _, c := range []struct {
		what, limits, message string
		want                  milp.Termination
	}{
		{"crash", "cell: 1h", "SIGSEGV", milp.Crashed},
		{"exit", "cell: 1h", "exit status 7", milp.Crashed},
		{"panic", "cell: 1h", "out of luck", milp.Crashed},
		{"fail", "cell: 1h", "no licence", milp.OtherError},
		{"hang", "cell: 5s", "limits.cell", milp.TimeLimit},
		{"eat", "cell: 1h, memory: 400MiB", "limits.memory", milp.MemoryLimit},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			run, text := command("run", write(t, "s.yaml", suite+c.limits+"}\n"), "-o", dir, "-q", "-j", "1")
			run.Env = append(run.Env, misbehaviour+"="+c.what)
			var exit *exec.ExitError
			if err := run.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitIncomplete {
				t.Errorf("%v, want exit code %d: %s", err, exitIncomplete, text)
			}
			ratios := openRun(t, dir).Ratios
			if len(ratios) != 6 {
				t.Errorf("%d rows", len(ratios))
			}
			for _, r := range ratios {
				if strings.Contains(r.Method, "lpsolve-mip") {
					if r.Termination != string(c.want) || !strings.Contains(string(r.Message), c.message) {
						t.Errorf("%s by %s: %s, %q; want %s, %q", r.Instance, r.Method, r.Termination, string(r.Message), c.want, c.message)
					}
				} else if !r.RatioToOptimum.Valid {
					t.Errorf("%s by %s: %s, %q, and no ratio", r.Instance, r.Method, r.Termination, string(r.Message))
				}
			}
		})
	}
}
