package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// offered returns what the shell is offered for the last of the words.
func offered(t *testing.T, words ...string) (list []string, directive string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(mustRun(t, append([]string{cobra.ShellCompNoDescRequestCmd}, words...)...)), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestCompletion(t *testing.T) {
	const none, files, ending, folder, open = ":4", ":0", ":8", ":16", ":6"
	for _, test := range []struct {
		words     string
		directive string
		has, not  string // words among those offered, or not
	}{
		{"run ", ending, "yaml yml", ""},
		{"run suite.yaml ", none, "", "yaml"},
		{"run -o ", folder, "", ""},
		{"run -j ", none, "", ""},
		{"run --set ", open, "slice.jobs= limits.solve= seed= methods= scale= model=", "instances= matrix= where= file="},
		{"run --set methods=fifo,", none, "methods=fifo,a-srpt methods=fifo,exhaustive", "methods=fifo,srpt-ranked"},
		{"plan --set references=", none, "references=lb0 references=srpt-ranked references=exhaustive references=pti", "references=fifo"},
		{"plan --set objectives=", none, "objectives=total-jct objectives=makespan", ""},
		{"plan --set model=", none, "model=gang model=sharing", ""},
		{"plan --set slotted=", none, "slotted=true slotted=false", ""},
		{"plan --set nonsense=", none, "", ""},
		{"plan --format ", none, "table jsonl", "md"},
		{"submit ", none, "slurm", ""},
		{"submit slurm ", ending, "yaml", ""},
		{"merge a ", folder, "", ""},
		{"simulate --policy ", none, "fifo sjf a-srpt lazer sjf-bsbf primal-dual", "exhaustive lb0 time-indexed"},
		{"simulate --policy=sj", none, "sjf sjf-bsbf", ""},
		{"hunt --objective ", none, "total-completion makespan", ""},
		{"solve --method ", none, "exhaustive time-indexed", ""},
		{"export --formulation ", none, "time-indexed", "lb0"},
		{"export --format ", none, "mps lp", "csv"},
		{"bound ", ending, "json", ""},
		{"solve ", ending, "json", ""},
		{"verify in.json ", ending, "json", ""},
		{"place --methods heavy-edge,", none, "heavy-edge,min-cut heavy-edge,programs heavy-edge,one-hot-alpha/branch", ""},
		{"report --format ", none, "table md latex csv json html parquet", ""},
		{"report ", folder, "", ""},
		{"compare --format ", none, "table csv", "html"},
		{"dataset import --format ", none, "philly helios pai generic", "pipedream"},
		{"dataset import --format philly ", files, "", ""},
		{"dataset profile --format ", none, "pipedream", "philly"},
		{"dataset profile b", none, "builtin:v100 builtin:h200", ""},
		{"dataset describe b", none, "builtin:philly-like", ""},
		{"dataset describe ", ending, "parquet", ""},
		{"dataset fetch ", none, "philly", ""},
		{"dataset generate --like ", none, "pai helios-earth", ""},
		{"reproduce ", none, "lazer-table2", ""},
		{"config show ", none, "run dataset", ""},
		{"config show dataset ", none, "import", "run"},
		{"version -o ", none, "text json", ""},
	} {
		list, directive := offered(t, strings.Split(test.words, " ")...)
		if directive != test.directive {
			t.Errorf("%q: directive %s, want %s", test.words, directive, test.directive)
		}
		for _, word := range strings.Fields(test.has) {
			if !slices.Contains(list, word) {
				t.Errorf("%q: no %s among %v", test.words, word, list)
			}
		}
		for _, word := range strings.Fields(test.not) {
			if slices.Contains(list, word) {
				t.Errorf("%q: %s among %v", test.words, word, list)
			}
		}
	}
}

// TestCompletionOfFolders: every command that takes a directory offers some, files of
// the right ending beside directories where it takes either, and none after one that
// is all it takes. The names in it are offered where one of them comes next.
func TestCompletionOfFolders(t *testing.T) {
	takers := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if strings.Contains(c.Use, "DIR") {
			takers++
			if _, directive := offered(t, append(strings.Fields(nameOf(c)), "")...); !slices.Contains([]string{":0", ":8", ":16"}, directive) {
				t.Errorf("bench %s offers no directories: %s", nameOf(c), directive)
			}
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk((&app{}).command())
	if takers < 9 {
		t.Errorf("%d commands take directories", takers)
	}
	dir := t.TempDir()
	mustRun(t, "run", write(t, "s.yaml", "instances: [{name: two, slice: {jobs: 2, at: random, repeat: 2}, tooLarge: drop}]\nmethods: [fifo]\n"), "-q", "-o", dir)
	for _, test := range []struct {
		words, want []string
		directive   string
	}{
		{[]string{"verify", ""}, []string{"json"}, ":8"},
		{[]string{"verify", dir, ""}, nil, ":4"},
		{[]string{"instance", "extract", dir, ""}, []string{"two/00", "two/01"}, ":4"},
		{[]string{"instance", "extract", dir + "/none", ""}, nil, ":4"},
		{[]string{"instance", "extract", dir, "two/00", ""}, nil, ":4"},
	} {
		if list, directive := offered(t, test.words...); !slices.Equal(list, test.want) || directive != test.directive {
			t.Errorf("%q: %q and %s, want %q and %s", test.words, list, directive, test.want, test.directive)
		}
	}
}

// Every line of the tables of completions is about a command and flag that
// there is.
func TestCompletionsAreOfCommands(t *testing.T) {
	root := (&app{}).command()
	known := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		known[nameOf(c)] = c.Runnable()
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known[nameOf(c)+" --"+f.Name], known["--"+f.Name] = true, true })
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(root)
	for name := range argumentCompletions() {
		if !known[name] {
			t.Errorf("there is no command %q", name)
		}
	}
	for name := range flagCompletions() {
		if !known[name] {
			t.Errorf("there is no flag %q", name)
		}
	}
}

// The shells' scripts can be written.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := mustRun(t, "completion", shell); !strings.Contains(script, cobra.ShellCompRequestCmd) {
			t.Errorf("%s: %.100s", shell, script)
		}
	}
}
