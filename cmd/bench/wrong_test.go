package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestWrongFlags: of every flag of every command, a name with two letters swapped is
// refused in one line that names the flag.
func TestWrongFlags(t *testing.T) {
	tried := 0
	eachFlag(func(command string, f *pflag.Flag) {
		if len(f.Name) < 4 || f.Hidden {
			return
		}
		typo := f.Name[:1] + f.Name[2:3] + f.Name[1:2] + f.Name[3:]
		if typo == f.Name {
			typo = f.Name + f.Name[len(f.Name)-1:]
		}
		c, _, err := (&app{}).command().Find(strings.Fields(command))
		if err != nil {
			t.Fatal(err)
		}
		if c.Flags().Lookup(typo) != nil {
			return
		}
		tried++
		err = c.FlagErrorFunc()(c, c.ParseFlags([]string{"--" + typo + "=1"}))
		if err == nil || exitOf(err) != exitUsage || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "do you mean --") {
			t.Errorf("bench %s --%s: %v", command, typo, err)
		}
		if err != nil && !strings.Contains(err.Error(), "--"+f.Name+"?") {
			t.Errorf("bench %s --%s: --%s is meant: %v", command, typo, f.Name, err)
		}
	})
	if tried < 100 {
		t.Errorf("%d flags were tried", tried)
	}
}

// TestWrongValues: a number or a time that is none is refused in the flag's words, not in
// those of the library that reads it.
func TestWrongValues(t *testing.T) {
	tried := 0
	eachFlag(func(command string, f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "int64", "uint64", "float64", "duration":
		default:
			return
		}
		tried++
		c, _, err := (&app{}).command().Find(strings.Fields(command))
		if err != nil {
			t.Fatal(err)
		}
		err = c.FlagErrorFunc()(c, c.ParseFlags([]string{"--" + f.Name + "=x1"}))
		if err == nil || exitOf(err) != exitUsage || !strings.HasPrefix(err.Error(), "--"+f.Name+` "x1": `) || strings.Contains(err.Error(), "strconv") || strings.Contains(err.Error(), "parsing") {
			t.Errorf("bench %s --%s=x1: %v", command, f.Name, err)
		}
	})
	if tried < 50 {
		t.Errorf("%d flags were tried", tried)
	}
}

// TestMissingArguments: every command that needs an argument names it when it is not
// there, and the one that is too many.
func TestMissingArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	tried := 0
	for name, c := range everyCommand() {
		if !c.Runnable() || c.Args == nil || strings.HasPrefix(name, "completion") || name == "help" {
			continue
		}
		names, least := argumentsOf(c)
		if least > 0 {
			tried++
			code, out, errOut := benchCommand(t, strings.Fields(name)...)
			if code != exitUsage || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "missing") && !strings.Contains(errOut, "is empty") {
				t.Errorf("bench %s: exit code %d: %s", name, code, errOut)
			}
			for _, word := range names {
				if !strings.HasPrefix(word, "[") && strings.Contains(errOut, "is missing: usage:") && !strings.Contains(errOut, word) {
					t.Errorf("bench %s: %s is not named: %s", name, word, errOut)
				}
			}
		}
		if code, _, errOut := benchCommand(t, append(strings.Fields(name), "a", "b", "c", "d")...); code != exitUsage || strings.Contains(errOut, "arg(s)") || strings.Count(errOut, "\n") != 1 {
			if !strings.Contains(c.Use, "...") {
				t.Errorf("bench %s a b c d: exit code %d: %s", name, code, errOut)
			}
		}
	}
	if tried < 20 {
		t.Errorf("%d commands were tried", tried)
	}
}

// TestPlainWords: no command speaks of 1 cells.
func TestPlainWords(t *testing.T) {
	one := regexp.MustCompile(`(?:^|[^0-9.,/-])1 [a-z]{2,}s\b`)
	for name, args := range commandLines(t) {
		if args == nil || strings.HasPrefix(name, "completion") || name == "man" {
			continue
		}
		var out, errOut bytes.Buffer
		run(t.Context(), args, &out, &errOut)
		for line := range strings.Lines(out.String() + errOut.String()) {
			if found := one.FindString(line); found != "" && !strings.Contains(line, "of "+strings.TrimSpace(found)) && !strings.Contains(line, "pairs in the file") && !strings.Contains(found, "1 is") && !strings.Contains(found, "1 has") {
				t.Errorf("bench %s says %q: %s", name, found, line)
			}
		}
	}
}

func TestNearestNames(t *testing.T) {
	instance := write(t, "in.json", tinyInstance)
	for want, args := range map[string][]string{
		"makespan":     {"bound", instance, "--objective", "makespn"},
		"asrpt-table2": {"reproduce", "asrpt-tabel2"},
		"limits.solve": {"plan", "--set", "limts.solve=3s"},
		"--jobs":       {"run", "--jbos", "2"},
		"sjf":          {"simulate", instance, "--policy", "sjff"},
		"simulate":     {"simulte"},
	} {
		code, out, errOut := benchCommand(t, args...)
		if code != exitUsage || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
	for _, args := range [][]string{{"--version"}, {"version"}} {
		if out := mustRun(t, args...); !strings.HasPrefix(out, "bench ") || strings.Count(out, "\n") != 1 || !strings.Contains(out, "lp_solve 5") {
			t.Errorf("%v: %s", args, out)
		}
	}
}
