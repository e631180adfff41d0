package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/datasets"
	"yardstick/datasets/joblist"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/sched"
)

func (a *app) initCommand() *cobra.Command {
	out := "suite.yaml"
	c := &cobra.Command{
		Use:   "init [TRACE]",
		Short: "Write a commented suite for a trace, which runs as it stands",
		Long: `Looks at a trace (a Parquet file, or a built-in one, which is the default) or at an
instance file, and writes a suite for it: of a trace, small windows with proven optima,
and a long one over proven bounds, on clusters that suit its jobs. Every line says
what to change it for.`,
		Example: `  bench init trace.parquet
  bench run suite.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			trace := "builtin:philly-like"
			if len(args) > 0 {
				trace = args[0]
			}
			if _, err := os.Lstat(out); err == nil && !c.Flags().Changed("out") {
				return usageError("%s is there already: choose another name by -o, or the same to replace it", out)
			}
			text, err := newSuite(trace, filepath.Dir(out))
			if err != nil {
				return err
			}
			if err := a.writeFile(out, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s: read it, then %s\n", out, shellLine([]string{"bench", "run", out}))
			return nil
		},
	}
	c.Flags().StringVarP(&out, "out", "o", out, "the suite to write")
	return c
}

// newSuite returns the text of a suite in the folder for what a path leads to.
func newSuite(path, folder string) (string, error) {
	if strings.HasPrefix(path, "builtin:") {
		return traceSuite(path, path)
	}
	beside := path
	if abs, err := filepath.Abs(path); err == nil && !filepath.IsAbs(path) {
		if from, err := filepath.Abs(folder); err == nil {
			if rel, err := filepath.Rel(from, abs); err == nil {
				beside = rel
			}
		}
	}
	f, err := input.Open(path)
	if err != nil {
		return "", usageError("%w", err)
	}
	defer f.Close()
	head, _ := bufio.NewReaderSize(f, 1<<16).Peek(1 << 16) // what is shorter is there as well
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return traceSuite(path, beside)
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")), bytes.HasPrefix(head, []byte{0x1f, 0x8b}) && strings.Contains(path, ".json"):
		return instanceSuite(path, beside)
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return "", usageError("%s is no Parquet file: import it first, with %q, then: bench init jobs.parquet", path, importLine(path, string(line)))
}

// importLine is the command that makes a trace of a table, as far as its first line says
// what its columns are.
func importLine(path, head string) string {
	names := strings.Split(strings.TrimSpace(head), ",")
	column := func(known []string) string {
		i := slices.IndexFunc(names, func(name string) bool {
			return slices.Contains(known, strings.ToLower(strings.Trim(strings.TrimSpace(name), `"`)))
		})
		if i < 0 {
			return "COLUMN"
		}
		return strings.Trim(strings.TrimSpace(names[i]), `"`)
	}
	d := joblist.Defaults()
	return shellLine([]string{"bench", "dataset", "import", "--format", "generic", "--map", "submit_s=" + column(d.Submit), "--map", "duration_s=" + column(d.Duration),
		"--map", "gpus=" + column(d.GPUs), path, "-o", "jobs.parquet"})
}

// suiteName makes of a path what a folder can be called.
func suiteName(path string) string {
	name := filepath.Base(strings.TrimPrefix(path, "builtin:"))
	for filepath.Ext(name) != "" {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", r) {
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-"); name == "" || len(name) > suite.MaxSuiteName {
		return "mine"
	}
	return name
}

// The sizes of the windows that a suite for a trace begins with: optima of a few jobs take
// seconds, bounds of two thousand about as much.
const (
	fewJobs, fewWindows = 7, 10
	longJobs            = 2000
)

// traceSuite returns a suite for a trace, which lies beside it under another path.
func traceSuite(path, beside string) (string, error) {
	source, err := datasets.Open(path)
	if err != nil {
		return "", usageError("%w", err)
	}
	defer source.Close()
	trace, err := source.Load(datasets.Selection{})
	if err != nil {
		return "", usageError("%w", err)
	}
	jobs := trace.Jobs()
	if len(jobs) == 0 {
		return "", usageError("%s has no job that can be scheduled: %v", path, trace.Summary())
	}
	gangs := make([]int, len(jobs))
	for i := range jobs {
		gangs[i] = jobs[i].Gang
	}
	slices.Sort(gangs)
	most := gangs[len(gangs)-1]

	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	span := (jobs[len(jobs)-1].Submit - jobs[0].Submit).Seconds()
	line("# Of %s: %s of %d to %d GPUs, half of them of %d at most, in %.1f days.", output.Name(path), output.Count(len(jobs), "job"), gangs[0], most, gangs[(len(gangs)-1)/2], span/86400)
	suiteHead(line, suiteName(path))
	line("instances:")

	servers, perServer := smallCluster(gangs[(len(gangs)-1)*9/10])
	fitting, _ := slices.BinarySearch(gangs, servers*perServer+1)
	few := min(fewJobs, fitting) // windows do not overlap: one keeps those that begin in twice its jobs less one from being chosen
	line("  # Windows in which most is going on, small enough for proven optima.")
	line("  - name: busy")
	line("    trace: %q", beside)
	line("    slice: {jobs: %d, at: busiest, repeat: %d}        # at: random and at: start are others", few, max(1, min(fewWindows, fitting/(2*few-1))))
	clusterLines(line, servers, perServer)
	line("    references: [exhaustive, lb0, srpt-ranked]      # what costs are divided by: optima, and lower bounds")
	if fitting > 4*fewJobs {
		first := jobs[:min(len(jobs), longJobs)]
		servers = largeCluster(first, most)
		line("")
		line("  # A size that matters, over proven lower bounds.")
		line("  - name: long")
		line("    trace: %q", beside)
		line("    slice: {jobs: %d, at: start}                    # 0 for all of the trace", min(longJobs, fitting))
		clusterLines(line, servers, 8)
		if first[0].Submit < first[len(first)-1].Submit { // no burst
			line("    offeredLoad: 1                                  # all times between jobs multiplied, for this load; without, jobs come as in the trace")
		}
		line("    references: [lb0, srpt-ranked, mean-busy-time, lagrangian]")
	}
	line("methods:")
	line("  - fifo")
	line("  - {name: fifo, params: {blocking: skip, placement: consolidate}}")
	line("  - sjf")
	line("  - {name: sjf, params: {blocking: skip, placement: consolidate}}")
	suiteTail(line)
	return b.String(), nil
}

func suiteHead(line func(string, ...any), name string) {
	line("# bench plan lists what runs, and bench run runs it; bench config schema has every key.")
	line("apiVersion: yardstick/v1")
	line("name: %s", name)
	line("seed: 1                                               # of everything random")
}

func suiteTail(line func(string, ...any)) {
	line("  # - {name: external, params: {command: \"python mine.py\"}, as: mine}   # a policy of yours")
	line("objectives: [total-jct]                               # makespan, weighted-completion and others too")
	line("limits: {solve: 60s}                                  # of every single solve, by the clock")
}

func clusterLines(line func(string, ...any), servers, perServer int) {
	line("    cluster: {servers: %d, gpusPerServer: %d, inter: 10Gbps, intra: 300GB/s}", servers, perServer)
	line("    tooLarge: drop                                  # leaves out jobs of more GPUs than there are, and counts them")
}

// smallCluster is one of at least two servers on which a gang of that size fits.
func smallCluster(gang int) (servers, perServer int) {
	perServer = 4
	if gang > 8 {
		perServer = 8
	}
	return max(2, (gang+perServer-1)/perServer), perServer
}

// largeCluster is how many servers of eight GPUs the jobs keep busy, and at least as many
// as the largest gang of all needs.
func largeCluster(jobs []datasets.Job, most int) int {
	work := 0.0
	for i := range jobs {
		work += float64(jobs[i].Gang) * float64(jobs[i].Run) / 1e9
	}
	span := (jobs[len(jobs)-1].Submit - jobs[0].Submit).Seconds()
	servers := (most + 7) / 8
	if span > 0 {
		servers = max(servers, int(work/span/8+0.5))
	}
	return max(1, min(servers, 1024))
}

// instanceSuite returns a suite for an instance file, with policies of its model and the
// exact methods and bounds that are quick on so many jobs.
func instanceSuite(path, beside string) (string, error) {
	f, err := input.Document(path)
	if err != nil {
		return "", usageError("%w", err)
	}
	defer f.Close()
	in, err := sched.ReadInstance(f)
	if err != nil {
		return "", usageError("%s: %w", path, err)
	}
	var references []string
	for _, known := range []struct {
		kind   sched.Kind
		exact  string
		bounds []string
	}{
		{sched.S, "sharing-search", []string{"theta-lb0", "theta-srpt-ranked"}},
		{sched.E, "elastic-optimum", []string{"elastic-mean-busy-time"}},
		{sched.P, "bout-dp", []string{"lb0", "srpt-ranked"}},
		{sched.N, "exhaustive", []string{"lb0", "srpt-ranked"}},
	} {
		if in.Model.Has(known.kind) && references == nil {
			if references = known.bounds; len(in.Jobs) <= fewJobs {
				references = append([]string{known.exact}, references...)
			}
		}
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Of %s: an instance of the %s model, %s on %s of %s.", output.Name(path), in.Model, output.Count(len(in.Jobs), "job"), output.Count(in.Cluster.GPUs(), "GPU"), output.Count(len(in.Cluster.Servers), "server"))
	suiteHead(line, suiteName(path))
	line("instances:")
	line("  - name: %s", suiteName(path))
	line("    file: %q", beside)
	line("references: [%s]   # what costs are divided by: optima, and lower bounds", strings.Join(references, ", "))
	line("methods:")
	for _, name := range []string{"fifo", "srtf", "sjf", "sharing-fifo", "sjf-bsbf", "elastic-fifo", "elastic-drf"} {
		m, err := catalogue.Resolve(suite.MethodRef{Name: name})
		if err != nil {
			return "", err
		}
		if bench.Suits(m, in) == nil {
			line("  - %s", name)
		}
	}
	suiteTail(line)
	return b.String(), nil
}
