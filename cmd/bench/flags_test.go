package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"yardstick/bench/suite"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachFlag calls f with every flag of every command, and the command's name.
func eachFlag(f func(command string, flag *pflag.Flag)) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() {
			c.LocalFlags().VisitAll(func(flag *pflag.Flag) { f(nameOf(c), flag) })
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk((&app{}).command())
}

// given is what a command says of a flag before it does anything.
func given(t *testing.T, command, flag, value string) error {
	t.Helper()
	c, _, err := (&app{}).command().Find(strings.Fields(command))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ParseFlags([]string{"--" + flag + "=" + value}); err != nil {
		return err
	}
	return (&app{}).configured(c, nil)
}

// TestNoFlagMeansUnset gives every flag of every command its zero value, and every
// number a negative one. They are refused in one line that names the flag, or the
// usage says what zero means. A new flag is in the test without more ado.
func TestNoFlagMeansUnset(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	meaning := regexp.MustCompile(`\b0 for \w`)
	later := map[string]string{"reproduce --scale": "reproduce lazer-table2 --scale ", "simulate --xi": "simulate jobs.csv --gpus 8 --model sharing --policy sjf-bsbf --xi "}
	count := 0
	eachFlag(func(command string, f *pflag.Flag) {
		var values []string
		switch kind := f.Value.Type(); kind {
		case "bool", "uint64": // off, and a seed like any other
			return
		case "", "string", "stringArray", "stringSlice", "stringToString", "intSlice":
			values = []string{""}
		case "int", "int64", "float64":
			values = []string{"0", "-1"}
		case "duration":
			values = []string{"0s", "-1s"}
		default:
			t.Errorf("bench %s --%s is a %s: say here what its zero is", command, f.Name, kind)
		}
		for i, v := range values {
			count++
			err := given(t, command, f.Name, v)
			if args := later[command+" --"+f.Name]; args != "" {
				code, out, errOut := benchCommand(t, strings.Fields(args+v)...)
				if code != exitUsage || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "--"+f.Name) {
					t.Errorf("bench %s%s: exit code %d, %s", args, v, code, errOut)
				}
				continue
			}
			switch {
			case err != nil && (!strings.Contains(err.Error(), "--"+f.Name) || strings.Contains(err.Error(), "\n")):
				t.Errorf("bench %s --%s=%s: %v", command, f.Name, v, err)
			case err == nil && (i > 0 || !meaning.MatchString(f.Usage)):
				t.Errorf("bench %s --%s=%s is taken, and the usage does not say what for: %s", command, f.Name, v, f.Usage)
			}
		}
	})
	if count < 100 {
		t.Errorf("%d values", count)
	}
}

// TestRunWithoutLimit: a limit of none is one, whatever the suite says.
func TestRunWithoutLimit(t *testing.T) {
	file, dir := write(t, "suite.yaml", "instances: [{name: a, slice: {jobs: 2}, tooLarge: drop}]\nmethods: [fifo]\nlimits: {solve: 7s}\n"), t.TempDir()
	for limit, want := range map[string]time.Duration{"": 7 * time.Second, "0s": 0, "0": 0, "90s": 90 * time.Second} {
		args := []string{"run", file, "-q", "-o", dir + "/" + limit}
		if limit != "" {
			args = append(args, "--time-limit", limit)
		}
		mustRun(t, args...)
		var got struct{ Limits suite.Limits }
		if err := json.Unmarshal(openRun(t, dir+"/"+limit).Manifest.Suite, &got); err != nil || got.Limits.Solve != want {
			t.Errorf("--time-limit %q: %v, want %v: %v", limit, got.Limits.Solve, want, err)
		}
	}
	mustRun(t, "run", dir+"/90s", "-q", "--time-limit", "90s")
	if code, _, errOut := benchCommand(t, "run", dir+"/90s", "--time-limit", "0s"); code != exitUsage || !strings.Contains(errOut, "--time-limit") {
		t.Errorf("a plan's limit: exit code %d, %s", code, errOut)
	}
}
