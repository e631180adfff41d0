package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/bench/suite"
	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/datasets/joblist"
	"yardstick/internal/output"
	"yardstick/sched"
	"yardstick/sched/verify"
	"yardstick/solvers/milp"
)

type simulateFlags struct {
	policyFlags
	timeLimit     time.Duration
	out, schedule string
	gpus          int
	servers       int
	gpusPerServer int
	inter, intra  string
	gantt         string
	instance      string
	model         string
	storage       instances.Storage
	memory        sched.Bytes
	xi            float64
	given         []string // the flags about a job list, of those given
}

// listFlags are the flags about a job list.
var listFlags = []string{"gpus", "servers", "gpus-per-server", "inter", "intra", "model", "storage", "gpu-memory", "xi"}

func (a *app) simulateCommand() *cobra.Command {
	f := simulateFlags{storage: instances.Storage{None: true}, memory: 24e9}
	c := &cobra.Command{
		Use:   "simulate INSTANCE|JOBS --policy POLICY",
		Short: "Replay an instance or a plain job list under one online policy",
		Long: `Replays an instance (JSON), or a plain job list, under one policy, verifies the
schedule and prints its costs.

A job list is a CSV file (gzip too) or a Parquet file with a column each for
submit time, GPUs and duration, in seconds; it needs --gpus, or --servers with
--gpus-per-server. Its jobs run to completion on GPUs of their own, or with
--model preemptive may be preempted, at no cost unless --storage says how fast
checkpoints are read and written, or with --model sharing may share GPUs in pairs.
A policy that orders by a column (-p order=column:NAME) reads that column too. With -o, start and finish of every job are written as CSV, so
that they can be compared job by job with another simulator's. Their clock is the
input's: that of the list's submit times, or the instance's. The schedule and
the Gantt chart count from the instance's epoch, of a job list the first submit
time.

A policy in any language is a program that answers questions, one line of JSON each:
--policy-command "python3 mine.py" starts it, kept from files, network and processes
of this machine. --policy stdio is for a program that starts bench instead: questions
go to standard output, answers come from standard input, and the costs are in the last
line. docs/protocol-policy.md has the protocol.`,
		Example: `  bench simulate instance.json --policy sjf -p blocking=skip
  bench simulate jobs.csv --gpus 64 --policy-command "python3 mine.py" -p predictor=perfect`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range listFlags {
				if c.Flags().Changed(name) {
					f.given = append(f.given, "--"+name)
				}
			}
			if c.Flags().Changed("xi") && !(f.xi >= 1) {
				return usageError("--xi %v: it must be at least 1", f.xi)
			}
			return a.simulate(c.Context(), f, args[0])
		},
	}
	f.add(c.Flags(), "fifo or sjf")
	c.Flags().Var(atLeast(0, &f.timeLimit), "time-limit", "wall-clock limit of the run; 0 for none")
	c.Flags().StringVarP(&f.out, "out", "o", "", "CSV file for start and finish per job")
	c.Flags().StringVar(&f.schedule, "schedule", "", "JSON file for the schedule, as bench verify reads it")
	c.Flags().StringVar(&f.gantt, "gantt", "", "SVG file for a Gantt chart of the schedule")
	c.Flags().Var(between(1, sched.MaxGPUs, &f.gpus), "gpus", "for a job list: GPUs of the cluster, as one server")
	c.Flags().Var(between(1, sched.MaxGPUs, &f.servers), "servers", "for a job list: number of servers")
	c.Flags().Var(between(1, sched.MaxGPUs, &f.gpusPerServer), "gpus-per-server", "for a job list: GPUs of each server")
	c.Flags().StringVar(&f.inter, "inter", "10Gbps", "for a job list: bandwidth between servers")
	c.Flags().StringVar(&f.intra, "intra", "300GB/s", "for a job list: bandwidth within a server")
	c.Flags().StringVar(&f.model, "model", "gang", "for a job list: gang, preemptive or sharing")
	c.Flags().TextVar(&f.storage, "storage", f.storage, "for a job list of the preemptive model: bandwidth of the storage of checkpoints, or none")
	c.Flags().TextVar(&f.memory, "gpu-memory", f.memory, "for a job list of the sharing model: memory of a GPU")
	c.Flags().Float64Var(&f.xi, "xi", 0, "for a job list of the sharing model: interference of every pair of jobs, in place of the built-in table")
	c.Flags().StringVar(&f.instance, "instance", "", "JSON file for the instance, as suites read it")
	return c
}

func (a *app) simulate(ctx context.Context, f simulateFlags, path string) error {
	ref, err := f.ref("sjf")
	if err != nil {
		return err
	}
	if ref.Name == catalogue.StdioName {
		return a.simulateStdio(ctx, &f, ref, path)
	}
	method, err := catalogue.Resolve(ref)
	if err != nil {
		return usageError("%w", err)
	}
	if method.Kind() != bench.Online {
		return usageError("%s is not an online policy: use bench solve for exact methods", ref)
	}
	if err := bench.Broken(method); err != nil {
		return usageError("%s: %w", ref, err)
	}
	in, submits, err := f.load(path)
	if err != nil {
		return err
	}
	if err := bench.Suits(method, in); err != nil {
		if submits != nil {
			return usageError("%s: %w: --model chooses what a job list is made into", path, err)
		}
		return usageError("%s: %w", path, err)
	}
	v, err := a.runMethod(ctx, method, in, suite.DefaultObjective, suite.Limits{Cell: f.timeLimit}, false)
	if err != nil {
		return err
	}
	if v.outcome.Termination == milp.Skipped { // which shows in the middle of a replay only
		return usageError("%s: %s", path, v.outcome.Message)
	}
	return a.writeSimulated(&f, method.Ref().String(), v.verified, submits)
}

// load reads an instance, or a job list with the cluster of the flags. Of a job
// list it returns the submit times too, as the file has them, by the name of the
// job: none where -o does not ask for them, but never nil.
func (f *simulateFlags) load(path string) (*sched.Instance, map[string]string, error) {
	if strings.HasSuffix(path, ".json") {
		if len(f.given) > 0 {
			return nil, nil, usageError("%s holds its own cluster and model: %s goes with a job list", path, strings.Join(f.given, ", "))
		}
		in, err := readInstance(path)
		return in, nil, err
	}
	cluster, err := f.uniform()
	if err != nil {
		return nil, nil, err
	}
	columns := joblist.Defaults()
	if key := catalogue.Column(suite.MethodRef{Name: f.policy, Params: f.params}); key != "" {
		columns.Keys = []string{key}
	}
	list, err := joblist.Read(path, columns)
	if err != nil {
		return nil, nil, usageError("%w", err)
	}
	trace, err := datasets.NewTrace(list.Rows(), datasets.Selection{Expect: len(list.Jobs)})
	if err != nil {
		return nil, nil, usageError("%s: %w", path, err)
	}
	if dropped := trace.Summary(); len(dropped.Dropped) > 0 {
		return nil, nil, usageError("%s: %v: a job list must have submit time, GPUs and a positive duration for every job", path, dropped)
	}
	windows, err := trace.Windows(datasets.Slice{Jobs: trace.Len()}, 1, path)
	if err != nil {
		return nil, nil, usageError("%s: %w", path, err)
	}
	common := instances.Common{Name: path, Cluster: cluster, Keys: columns.Keys, KeysOf: map[string][]float64{}}
	for i := range list.Jobs {
		if j := &list.Jobs[i]; j.Keys != nil {
			common.KeysOf[j.ID] = j.Keys
		}
	}
	in, err := f.build(&windows[0], common)
	if err != nil {
		return nil, nil, usageError("%s: %w", path, err)
	}
	submits := map[string]string{} // which only -o asks for
	if f.out == "" {
		return in, submits, nil
	}
	for i := range list.Jobs {
		submits[list.Jobs[i].ID] = list.Jobs[i].Submit
	}
	return in, submits, nil
}

// build makes the instance of a job list, in which a job runs for as long as the list
// says.
func (f *simulateFlags) build(w *datasets.Window, common instances.Common) (*sched.Instance, error) {
	src := suite.Source{Model: sched.Model(f.model), Storage: f.storage, GPUMemory: f.memory, Sharing: suite.SharingRef{Xi: f.xi}}
	var keys []string
	for flag, key := range map[string]string{"--storage": "storage", "--gpu-memory": "gpuMemory", "--xi": "sharing.xi"} {
		if slices.Contains(f.given, flag) {
			keys = append(keys, key)
		}
	}
	return src.BuildList(w, common, keys...)
}

func (f *simulateFlags) uniform() (sched.Cluster, error) {
	var inter, intra sched.Bandwidth
	if err := inter.UnmarshalText([]byte(f.inter)); err != nil {
		return sched.Cluster{}, usageError("--inter: %w", err)
	}
	if err := intra.UnmarshalText([]byte(f.intra)); err != nil {
		return sched.Cluster{}, usageError("--intra: %w", err)
	}
	switch {
	case f.gpus > 0 && f.servers == 0 && f.gpusPerServer == 0:
		return sched.Uniform(1, f.gpus, inter, intra), nil
	case f.gpus == 0 && f.servers > 0 && f.gpusPerServer > 0:
		return sched.Uniform(f.servers, f.gpusPerServer, inter, intra), nil
	}
	return sched.Cluster{}, usageError("a job list needs a cluster: give --gpus N, or --servers M with --gpus-per-server G")
}

// writeJobs writes one line per job, with times in seconds by the clock of the
// input: that of the submit times of a job list, or the instance's own. They are
// exact, so that no job starts before its submit time.
func writeJobs(w io.Writer, v *verify.Verified, submits map[string]string) error {
	in := v.Instance()
	clock := newListClock(submits)
	c := output.NewCSV(w)
	rows := [][]string{{"job", "submit_s", "gpus", "start_s", "finish_s"}}
	for _, t := range v.Jobs() {
		j := &in.Jobs[t.Job]
		submit, ok := submits[j.Name]
		if !ok {
			submit = decimal(t.Release)
		}
		rows = append(rows, []string{j.Name, submit, strconv.Itoa(j.Gang()), clock.plus(t.Start), clock.plus(t.Completion)})
	}
	return c.WriteAll(rows)
}

// listClock is when a job list's clock shows the first release, in seconds.
type listClock struct {
	at     *big.Rat
	digits int // after the decimal point
}

// newListClock returns the earliest submit time, or 0 where there is none.
func newListClock(submits map[string]string) listClock {
	first := listClock{digits: 6}
	for _, text := range submits {
		at, _ := new(big.Rat).SetString(text) // package joblist has made sure that it is a number
		if first.at != nil && at.Cmp(first.at) >= 0 {
			continue
		}
		first.at = at
		if _, fraction, ok := strings.Cut(text, "."); ok {
			first.digits = max(6, len(fraction))
		}
	}
	if first.at == nil {
		first.at = new(big.Rat)
	}
	return first
}

// plus returns a time by the list's clock, without loss.
func (c listClock) plus(t sched.Time) string {
	v := big.NewRat(int64(t), int64(sched.Second))
	return trimZeros(v.Add(v, c.at).FloatString(c.digits))
}

// decimal writes a time in seconds without loss.
func decimal(t sched.Time) string {
	return trimZeros(fmt.Sprintf("%d.%06d", t/sched.Second, t%sched.Second))
}

// trimZeros shortens a number that has a decimal point.
func trimZeros(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

// writeGantt draws a schedule.
func (a *app) writeGantt(path, title string, v *verify.Verified) error {
	in := v.Instance()
	var segments []record.Segment
	for _, s := range v.Schedule().Segments {
		for _, share := range s.Place.Shares {
			segments = append(segments, record.Segment{Job: int(s.Job), Server: share.Server, Start: s.Start.Seconds(), End: s.End.Seconds(),
				Phase: s.Phase.String(), GPUs: share.GPUs})
		}
	}
	const most = 5000 // more cannot be told apart
	if len(segments) > most {
		return usageError("--gantt %s: the schedule has %d pieces, a chart shows %d at most: simulate fewer jobs", path, len(segments), most)
	}
	svg, err := report.Gantt(title+" on "+in.Name, segments, len(in.Cluster.Servers), in.Cluster.GPUs())
	if err != nil {
		return err
	}
	return a.writeFile(path, func(w io.Writer) error { _, err := w.Write(svg); return err })
}
