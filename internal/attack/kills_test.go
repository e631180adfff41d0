//go:build linux

package attack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"yardstick/internal/tier"
)

// campaign is a long command that is killed on its way, at any moment, and then run
// again to its end.
type campaign struct {
	name string
	args []string                                // with DIR for a folder of its own, in which the command is run
	make func(t testing.TB, dir string)          // what the folder holds before, if anything
	what func(t testing.TB, dir string) []string // what was made, which does not depend on kills
}

const longSuite = `
name: long
instances:
  - {name: gangs, slice: {jobs: 5, at: busiest, repeat: 4}, round: 1h, tooLarge: drop, methods: [fifo, sjf, a-srpt, exhaustive], references: [lb0, srpt-ranked]}
objectives: [total-jct, total-completion]
`

// file returns the contents of one file, without the times that commands print.
func file(name string) func(testing.TB, string) []string {
	return func(t testing.TB, dir string) []string {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(clock.ReplaceAll(content, nil))
		return []string{name + " " + hex.EncodeToString(sum[:])}
	}
}

// clock matches what commands say of the time they took.
var clock = regexp.MustCompile(`"(seconds|time|wall|elapsed|created|found)[a-z_]*": *("[^"]*"|[0-9.e-]+),?`)

func campaigns() []campaign {
	suite := func(t testing.TB, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(longSuite), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result := func(name string) func(testing.TB, string) []string {
		return func(t testing.TB, dir string) []string {
			must(t, dir, "verify", name, "-q")
			return []string{digest(t, filepath.Join(dir, name))}
		}
	}
	instance := func(t testing.TB, dir string) {
		must(t, dir, "instance", "build", "builtin:philly-like", "-s", "slice.jobs=7", "-s", "slice.at=busiest", "-s", "tooLarge=drop", "-o", "in.json")
	}
	item := "lazer-bursts" // parts of a fiftieth of a second; those of the other take a half
	if tier.All() {
		item = "asrpt-table2"
	}
	return []campaign{
		{"run", []string{"run", "s.yaml", "-q", "-o", "r"}, suite, result("r")},
		{"merge", []string{"merge", "all", "one", "two"}, func(t testing.TB, dir string) {
			suite(t, dir)
			must(t, dir, "run", "s.yaml", "-q", "-o", "one", "--shard", "1/2")
			must(t, dir, "run", "s.yaml", "-q", "-o", "two", "--shard", "2/2")
		}, result("all")},
		{"solve", []string{"solve", "in.json", "--schedule", "out.json"}, instance, file("out.json")},
		{"bound", []string{"bound", "in.json", "--nodes", "2000", "--time-limit", "0", "--certificate", "out.json"}, instance, func(t testing.TB, dir string) []string {
			must(t, dir, "verify", "in.json", "out.json")
			return nil // which of equal bounds comes first is a matter of time
		}},
		{"hunt", []string{"hunt", "--policy", "fifo", "--model", "gang", "--jobs", "4", "--gpus", "2", "--evaluations", "2000", "-o", "out.json", "-q"}, nil, file("out.json")},
		{"reproduce", []string{"reproduce", item, "--scale", "0.01", "--draws", "1", "-q", "-o", "r"}, nil, nil},
		{"place", []string{"place", "--profile", "builtin:v100/vgg19", "--gpus", "4", "--cluster", "4x4", "--fragmentations", "3", "--methods", "heavy-edge,chain,min-alpha", "-q", "-o", "r"}, nil, nil},
		{"generate", []string{"dataset", "generate", "--like", "philly", "--jobs", "20000", "-o", "out.parquet"}, nil, func(t testing.TB, dir string) []string {
			return []string{must(t, dir, "dataset", "describe", "out.parquet")}
		}},
	}
}

// TestKills kills long commands at any moment, children and all or the command alone.
// Whatever lies at the name of an output is whole; run again, the command ends, makes
// what it makes undisturbed, and leaves neither processes nor half files.
func TestKills(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 1))
	list := campaigns()
	each := max(1, count(kills, 8, 24)/len(list))
	killed, early, lost, wrong := 0, 0, 0, 0
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			undisturbed := t.TempDir()
			if c.make != nil {
				c.make(t, undisturbed)
			}
			begin := time.Now()
			must(t, undisturbed, c.args...)
			took := time.Since(begin)
			want := c.made(t, undisturbed)
			dir := t.TempDir()
			if c.make != nil {
				c.make(t, dir)
			}
			for k := range each {
				p := start(t, dir, c.args...)
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(rng.Int64N(int64(took)))) // the moment is any: nothing depends on it
				whom := -p.Process.Pid
				if rng.IntN(2) == 0 {
					whom = p.Process.Pid
				}
				if syscall.Kill(whom, syscall.SIGKILL) != nil {
					early++
				}
				p.Wait()
				killed++
				if rng.IntN(3) > 0 && k < each-1 {
					continue // killed again before it was done
				}
				e := run(t, dir, c.args...)
				if why := e.broken(); why != "" || e.code != 0 {
					lost++
					t.Errorf("seed %d: after kill %d: %s, exit code %d: %.300s", *seed, k, why, e.code, e.err)
					continue
				}
				if got := c.made(t, dir); !slices.Equal(got, want) {
					wrong++
					t.Errorf("seed %d: after kill %d: %q, undisturbed %q", *seed, k, got, want)
				}
				if more := temporary(t, dir, undisturbed); len(more) > 0 {
					lost++
					t.Errorf("seed %d: after kill %d: left behind: %q", *seed, k, more)
				}
			}
		})
	}
	if more := outlive(t); len(more) > 0 {
		t.Errorf("processes outlive the commands: %q", more)
	}
	t.Logf("| kills | of them after the end | results lost or not finished | results changed |\n| %d | %d | %d | %d |", killed, early, lost, wrong)
}

func (c *campaign) made(t testing.TB, dir string) []string {
	if c.what == nil {
		return nil
	}
	return c.what(t, dir)
}

// outlive returns processes of the attack that have not ended: children of a command that was killed alone are
// given a while to notice.
func outlive(t testing.TB) []string {
	for range 100 {
		if len(left(t)) == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return left(t)
}

// temporary returns the files that are not there undisturbed. Journals are numbered by
// run, and contents have their hashes as names.
func temporary(t testing.TB, dir, undisturbed string) []string {
	t.Helper()
	var more []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".journal") {
			return err
		}
		if _, err := os.Stat(filepath.Join(undisturbed, path)); err != nil {
			more = append(more, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", dir, err))
	}
	return more
}
