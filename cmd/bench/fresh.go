package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/compare"
	"yardstick/bench/record"
)

// freshFlags say how bench gate --fresh draws and runs.
type freshFlags struct {
	wanted  bool
	seed    uint64
	seeded  bool // otherwise the seed is a secret one
	out     string
	workers int
	share   string
}

// gateFresh runs the suite of a result on instances that nobody has seen, and holds the
// programs among its methods to what they do there.
func (a *app) gateFresh(ctx context.Context, f freshFlags, dir, format string) error {
	share, err := compare.ParseShare(f.share)
	if err != nil {
		return usageError("--max-fresh-growth: %w", err)
	}
	before, err := record.Open(dir)
	if err != nil {
		return usageError("%w", err)
	}
	file, err := bench.ReadPlanFile(dir)
	if err != nil {
		return usageError("%w", err)
	}
	if !f.seeded {
		f.seed = secretSeed()
	}
	if f.out == "" {
		f.out = filepath.Join(dir, fmt.Sprintf("fresh-%d", f.seed))
	}
	file.Text, file.Settings = redraw(file.Text, f.seed), append(slices.DeleteFunc(file.Settings, isRedrawn), fmt.Sprintf("seed=%d", f.seed), "fresh=true", "slice.at=random")
	plan, err := newPlan(file)
	if err != nil {
		return err
	}
	var programs []string
	for _, c := range plan.Cells {
		if name := c.Method.Ref().String(); c.Method.Ref().Name == catalogue.ExternalName && !slices.Contains(programs, name) {
			programs = append(programs, name)
		}
	}
	if len(programs) == 0 {
		return usageError("%s has no method %s: --fresh is about policies that are programs", dir, catalogue.ExternalName)
	}
	for _, in := range plan.Suite.Instances {
		if in.File != "" {
			return usageError("%s: the source %s is a file, of which nothing can be drawn: leave it out of the suite", dir, in.Name)
		}
	}
	run := runFlags{out: f.out, workers: f.workers, quiet: true, silent: true, again: fmt.Sprintf("bench gate %s --fresh --fresh-seed %d -o %s", dir, f.seed, f.out)}
	if err := a.runPlan(ctx, run, file, plan, nil); err != nil && exitOf(err) != exitIncomplete { // a program that fails has its reason below
		return err
	}
	fresh, err := record.Open(f.out)
	if err != nil {
		return usageError("%w", err)
	}
	verdict, growths, err := compare.Fresh(before, fresh, programs, share)
	if err != nil {
		return usageError("%w", err)
	}
	if format != "json" {
		for _, g := range growths {
			fmt.Fprintf(a.out, "%s on %s, %s: ratio %.4f on fresh instances, %.4f before; our own policies' grew by %.1f %%\n", g.Method, g.Family, g.Objective, g.Fresh, g.Before, 100*(g.Ours-1))
		}
		fmt.Fprintf(a.out, "fresh instances by the seed %d are in %s: keep it from who writes the policies\n", f.seed, f.out)
	}
	return a.showVerdict(verdict, format)
}

// secretSeed is a seed that nobody knows: of 53 bits, as seeds of suites are.
func secretSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it does not fail: see its documentation
	return binary.BigEndian.Uint64(b[:])>>11 | 1
}

// isRedrawn reports whether a setting is one that fresh instances replace.
func isRedrawn(setting string) bool {
	return strings.HasPrefix(setting, "seed=") || strings.HasPrefix(setting, "fresh=") || strings.HasPrefix(setting, "slice.at=")
}

var generatedTrace = regexp.MustCompile(`builtin:([a-z-]+)\?([a-z0-9=&]+)`)

// redraw gives every generated trace in a suite's text another seed.
func redraw(text string, seed uint64) string {
	return generatedTrace.ReplaceAllStringFunc(text, func(trace string) string {
		m := generatedTrace.FindStringSubmatch(trace)
		query, err := url.ParseQuery(m[2])
		if err != nil {
			return trace // it will be refused
		}
		query.Set("seed", strconv.FormatUint(seed, 10))
		return "builtin:" + m[1] + "?" + query.Encode()
	})
}
