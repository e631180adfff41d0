package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/bench/suite"
	"yardstick/datasets"
	"yardstick/datasets/instances"
	"yardstick/datasets/joblist"
	"yardstick/sched"
	"yardstick/sched/verify"
)

type simulateFlags struct {
	policy        string
	params        map[string]string
	out, schedule string
	gpus          int
	servers       int
	gpusPerServer int
	inter, intra  string
	gantt         string
}

func (a *app) simulateCommand() *cobra.Command {
	f := simulateFlags{}
	c := &cobra.Command{
		Use:   "simulate INSTANCE|JOBS --policy POLICY",
		Short: "Replay an instance or a plain job list under one online policy",
		Long: `Replays an instance (JSON), or a plain job list, under one policy, verifies the
schedule and prints its costs.

A job list is a CSV file (gzip too) or a Parquet file with a column each for
submit time, GPUs and duration, in seconds; it needs --gpus, or --servers with
--gpus-per-server. With -o, start and finish of every job are written as CSV, so
that they can be compared job by job with another simulator's. Their clock is the
input's: that of the list's submit times, or the instance's. The schedule and
the Gantt chart count from the instance's epoch, of a job list the first submit
time.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.simulate(c.Context(), f, args[0]) },
	}
	c.Flags().StringVar(&f.policy, "policy", "", "the policy, such as fifo or sjf")
	c.Flags().StringToStringVarP(&f.params, "param", "p", nil, "a parameter of the policy, such as blocking=skip; may be repeated")
	c.Flags().StringVarP(&f.out, "out", "o", "", "CSV file for start and finish per job")
	c.Flags().StringVar(&f.schedule, "schedule", "", "JSON file for the schedule, as bench verify reads it")
	c.Flags().StringVar(&f.gantt, "gantt", "", "SVG file for a Gantt chart of the schedule")
	c.Flags().Var(atLeast(1, &f.gpus), "gpus", "for a job list: GPUs of the cluster, as one server")
	c.Flags().Var(atLeast(1, &f.servers), "servers", "for a job list: number of servers")
	c.Flags().Var(atLeast(1, &f.gpusPerServer), "gpus-per-server", "for a job list: GPUs of each server")
	c.Flags().StringVar(&f.inter, "inter", "10Gbps", "for a job list: bandwidth between servers")
	c.Flags().StringVar(&f.intra, "intra", "300GB/s", "for a job list: bandwidth within a server")
	return c
}

func (a *app) simulate(ctx context.Context, f simulateFlags, path string) error {
	if f.policy == "" {
		return usageError("--policy is missing: name one, such as --policy sjf")
	}
	method, err := catalogue.Resolve(suite.MethodRef{Name: f.policy, Params: f.params})
	if err != nil {
		return usageError("%w", err)
	}
	if method.Kind() != bench.Online {
		return usageError("%s is not an online policy: use bench solve for exact methods", f.policy)
	}
	in, submits, err := f.load(path)
	if err != nil {
		return err
	}
	if err := bench.Suits(method, in); err != nil {
		return usageError("%s: %w", path, err)
	}
	v, err := a.runMethod(ctx, method, in, suite.DefaultObjective, suite.Limits{})
	if err != nil {
		return err
	}
	if err := a.writeSchedule(f.schedule, v.verified); err != nil {
		return err
	}
	if f.out != "" {
		if err := a.writeFile(f.out, func(w io.Writer) error { return writeJobs(w, v.verified, submits) }); err != nil {
			return err
		}
	}
	if f.gantt != "" {
		if err := a.writeGantt(f.gantt, method.Ref().String(), v.verified); err != nil {
			return err
		}
	}
	a.printCosts(method.Ref().String(), v.verified)
	return nil
}

// load reads an instance, or a job list with the cluster of the flags. Of a job
// list it returns the submit times too, as the file has them, by the name of the
// job.
func (f *simulateFlags) load(path string) (*sched.Instance, map[string]string, error) {
	if strings.HasSuffix(path, ".json") {
		if f.gpus != 0 || f.servers != 0 || f.gpusPerServer != 0 {
			return nil, nil, usageError("%s holds its own cluster: --gpus, --servers and --gpus-per-server go with a job list", path)
		}
		in, err := readInstance(path)
		return in, nil, err
	}
	cluster, err := f.cluster()
	if err != nil {
		return nil, nil, err
	}
	list, err := joblist.Read(path, joblist.Defaults())
	if err != nil {
		return nil, nil, usageError("%w", err)
	}
	trace, err := datasets.NewTrace(datasets.All(list.Rows), datasets.Selection{})
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
	in, err := instances.Gang(&windows[0], instances.GangOptions{Common: instances.Common{Name: path, Cluster: cluster}})
	if err != nil {
		return nil, nil, usageError("%s: %w", path, err)
	}
	submits := make(map[string]string, len(list.Rows))
	for i := range list.Rows {
		submits[list.Rows[i].JobID] = list.Submits[i]
	}
	return in, submits, nil
}

func (f *simulateFlags) cluster() (sched.Cluster, error) {
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
	c := csv.NewWriter(w)
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
