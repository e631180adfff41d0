package main

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/compare"
	"yardstick/bench/record"
	"yardstick/bench/report"
	"yardstick/bench/report/chart"
	"yardstick/bench/reproduce"
	"yardstick/bench/score"
	"yardstick/bench/suite"
	"yardstick/datasets"
	"yardstick/datasets/fetch"
	"yardstick/datasets/generate"
	"yardstick/datasets/interference"
	"yardstick/datasets/profile"
	"yardstick/sched"
)

// complete says what the shell may offer for the arguments and flags of every
// command. Files are offered where nothing else is known, and nothing for
// numbers.
func complete(root *cobra.Command) {
	arguments, flags := argumentCompletions(), flagCompletions()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := nameOf(c)
		if c.Runnable() {
			if c.ValidArgsFunction = arguments[name]; c.ValidArgsFunction == nil {
				c.ValidArgsFunction = cobra.NoFileCompletions
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			offer := flags[name+" --"+f.Name]
			if offer == nil {
				offer = flags["--"+f.Name]
			}
			if offer == nil && !strings.HasPrefix(f.Value.Type(), "string") {
				offer = cobra.NoFileCompletions
			}
			if offer != nil {
				_ = c.RegisterFlagCompletionFunc(f.Name, offer) // errs on unknown flags, and on known ones completed elsewhere
			}
		})
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(root)
}

// argumentCompletions are the completions of arguments, by command.
func argumentCompletions() map[string]cobra.CompletionFunc {
	suites, folders, instances := extensions("yaml", "yml"), directories, extensions("json")
	return map[string]cobra.CompletionFunc{
		"init": upTo(1, orFiles(prefixed("builtin:", datasets.Builtins()), "parquet", "json")),
		"run":  upTo(1, suites), "plan": upTo(1, suites), "submit slurm": upTo(1, suites),
		"merge": folders, "report": upTo(1, folders), "gate": upTo(1, folders), "compare": upTo(2, folders), "man": upTo(1, folders),
		"reproduce": upTo(1, reproductions),
		"solve":     upTo(1, instances), "place": upTo(1, instances), "bound": upTo(1, instances), "bracket": upTo(1, instances), "prove": upTo(1, instances), "export": upTo(1, instances), "validate": upTo(1, anyFile), "verify": upTo(2, verified), "explain": upTo(1, verified),
		"instance describe": upTo(1, instances), "instance convert": upTo(1, instances), "instance extract": upTo(2, extracted),
		"simulate":       upTo(1, extensions("json", "csv", "gz", "parquet")),
		"instance build": upTo(1, orFiles(prefixed("builtin:", datasets.Builtins()), "parquet")),
		"dataset slice":  upTo(1, orFiles(prefixed("builtin:", datasets.Builtins()), "parquet")), "dataset describe": upTo(1, orFiles(prefixed("builtin:", datasets.Builtins()), "parquet")),
		"dataset profile": upTo(1, orFiles(prefixed("builtin:", gpuNames()), "parquet", "json", "txt")),
		"dataset fetch":   upTo(1, logs), "dataset import": anyFile, "dataset interference": upTo(1, extensions("json")),
		"library submit": upTo(1, directories), "library add": upTo(1, anyFile), "config show": commands, "score": upTo(2, anyFile),
	}
}

// flagCompletions are the completions of flags, by command and flag, or by flag
// where it means the same in every command.
func flagCompletions() map[string]cobra.CompletionFunc {
	offered := slices.Concat(texts(report.Formats()), []string{"parquet"}, texts(chart.Formats()))
	return map[string]cobra.CompletionFunc{
		"--objective": values(objectives()...),
		"--policy":    methodsOf(bench.Online),
		"--method":    values(catalogue.ExactNames("")...), "--solver": values(catalogue.Solvers()...), "--program": values("starts", "configurations", "servers"),
		"--model": values(texts(sched.Models())...), "simulate --model": values("gang", "preemptive", "sharing"), "--storage": values("none"), "--gpu-memory": nothing,
		"--set": suiteSettings(false), "instance build --set": suiteSettings(true), "hunt --set": suiteSettings(true),
		"hunt --trace": orFiles(prefixed("builtin:", datasets.Builtins()), "parquet"), "--conjecture": nothing,
		"--format":      values("table", "md", "csv", "json"),
		"plan --format": values("table", "jsonl"), "gate --format": values("table", "json"), "report --format": values(offered...),
		"compare --format": values(append(compare.Formats(), "latex")...), "bound --format": values("table", "md", "csv", "json", "latex"), "library run --format": values("text", "table", "md", "csv", "json", "latex"), "library run --beside": extensions("csv"), "library table --format": values("table", "md", "csv", "json", "latex", "arrow", "html"),
		"dataset import --format": importFormats, "dataset profile --format": values(slices.Sorted(maps.Keys(profileFormats()))...),
		"dataset profile --model": nothing, "dataset profile --gpu": values(gpuNames()...),
		"dataset interference --gpu": nothing, "--task": nothing, "dataset interference --placement": values(string(interference.Consolidated), string(interference.Spread)), "dataset import --unit": values("s", "ms", "min"),
		"dataset generate --like": values(generate.Names()...),
		"report --part":           values("summary", "instances"), "report --methods": nothing, "report --columns": nothing, "--width": nothing,
		"--only": suiteNames(familiesOf), "--methods": suiteNames(methodsOfSuite),
		"place --methods": commaList(catalogue.PlacementNames), "place --order": values("index", "most", "least"),
		"place --profile": orFiles(prefixed("builtin:", gpuNames()), "parquet"), "place --job": nothing, "place --cluster": nothing,
		"--inter": nothing, "--intra": nothing, "--slot": nothing, "--param": nothing, "--keep": nothing, "--max-ratio-geomean": nothing,
		"--shard": values("auto"), "--mem": nothing, "--partition": nothing, "--sbatch": nothing, "export --formulation": values(slices.Sorted(maps.Keys(formulations()))...), "export --format": values("mps", "lp"), "bound --class": values("N", "P", "S", "E", "EP", "M"),
		"version --format": values("text", "json"), "version --output": values("text", "json"),
		"score --format": values(scheduleFormats()...), "--jobs-format": values(scheduleFormats()...), "--report": values("table", "md", "csv", "json", "latex"), "--evidence": values("completions", "intervals"),
		"--lengths": values("jobs", "recorded"), "--ignore": commaList(score.IgnoreReasons), "score --objective": commaList(scoredObjectives),
		"score --gpus": values("from-log"), "--map": nothing, "--jobs-map": nothing, "--delimiter": nothing, "--zone": nothing,
		"explain --method": explainedMethods, "explain --instance": explainedInstances, "explain --against": orFiles(catalogue.Names(), "json"), "explain --part": values(explainParts...),
		"--baseline": directories, "run --out": directories, "submit slurm --out": directories, "reproduce --out": directories, "place --out": directories, "gate --out": directories, "--max-fresh-growth": nothing, "--fresh-seed": nothing, "--policy-command": nothing,
	}
}

// The directives without further conditions.

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func anyFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func nothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// extensions offers files of these endings, and directories.
func extensions(list ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveFilterFileExt
	}
}

// values offers words.
func values(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// upTo completes the first n arguments.
func upTo(n int, offer cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(c, args, typed)
	}
}

// verified completes the arguments of bench verify: a result directory, which is all,
// or two files.
func verified(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if isFolder(args) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return extensions("json")(c, args, typed)
}

// extracted offers result directories, and then the instances of the one given.
func extracted(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	run, err := record.Open(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(instancesOf(run))), cobra.ShellCompDirectiveNoFileComp
}

// explainedMethods offers the methods of the result directory given.
func explainedMethods(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if run, err := resultOf(args); err == nil {
		return methodsIn(run), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// explainedInstances offers its instances.
func explainedInstances(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if run, err := resultOf(args); err == nil {
		return slices.Sorted(maps.Keys(instancesOf(run))), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func resultOf(args []string) (*record.Run, error) {
	if len(args) == 0 {
		return nil, os.ErrNotExist
	}
	return record.Open(args[0])
}

// orFiles offers words once the first letter of one is typed, and files of these
// endings before and otherwise.
func orFiles(words []string, endings ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		var fit []string
		for _, w := range words {
			if typed != "" && strings.HasPrefix(w, typed) {
				fit = append(fit, w)
			}
		}
		if len(fit) > 0 {
			return fit, cobra.ShellCompDirectiveNoFileComp
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// commaList offers words after every comma.
func commaList(words func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		done := typed[:strings.LastIndex(typed, ",")+1]
		return prefixed(done, words()), cobra.ShellCompDirectiveNoFileComp
	}
}

func prefixed(prefix string, words []string) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = prefix + w
	}
	return list
}

func texts[T ~string](list []T) []string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = string(v)
	}
	return words
}

func objectives() (names []string) {
	for _, o := range sched.Objectives() {
		names = append(names, o.String())
	}
	return names
}

func gpuNames() (names []string) {
	for _, g := range profile.GPUs() {
		names = append(names, g.Name)
	}
	return names
}

func methodsOf(kinds ...bench.Kind) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return catalogue.NamesOf(kinds...), cobra.ShellCompDirectiveNoFileComp
	}
}

func reproductions(*cobra.Command, []string, string) (list []string, _ cobra.ShellCompDirective) {
	for _, it := range reproduce.Items() {
		list = append(list, cobra.CompletionWithDesc(it.Name, it.Caption))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func importFormats(*cobra.Command, []string, string) (list []string, _ cobra.ShellCompDirective) {
	for _, f := range formats() {
		list = append(list, cobra.CompletionWithDesc(f.name, f.doc))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func logs(*cobra.Command, []string, string) (list []string, _ cobra.ShellCompDirective) {
	for _, it := range fetch.Catalog() {
		list = append(list, cobra.CompletionWithDesc(it.Name, it.What))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// commands offers the names of the commands, one word after the other.
func commands(c *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	at, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, child := range at.Commands() {
		if child.IsAvailableCommand() {
			list = append(list, cobra.CompletionWithDesc(child.Name(), child.Short))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// schemaNode is what completion reads of the schema of suites.
type schemaNode struct {
	Type        string
	Description string
	Enum        []string
	Properties  map[string]*schemaNode
	Items       *schemaNode
}

// suiteSettings offers the keys of a suite and of its sources, or of a source
// alone, and after key= the values that are known.
func suiteSettings(source bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		all := suiteKeys(source)
		key, value, given := strings.Cut(typed, "=")
		if !given {
			var list []string
			for _, k := range slices.Sorted(maps.Keys(all)) {
				list = append(list, cobra.CompletionWithDesc(k+"=", all[k].Description))
			}
			return list, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		node := all[key]
		if node == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		done := key + "=" + value[:strings.LastIndex(value, ",")+1]
		return prefixed(done, node.words(key)), cobra.ShellCompDirectiveNoFileComp
	}
}

// words lists the values that a key may take, as far as they are known.
func (n *schemaNode) words(key string) []string {
	switch {
	case key == "methods":
		return catalogue.NamesOf(bench.Online, bench.Offline, bench.Exact)
	case key == "references":
		return catalogue.NamesOf(bench.Exact, bench.Bound)
	case n.Items != nil:
		return n.Items.Enum
	case n.Type == "boolean":
		return []string{"true", "false"}
	}
	return n.Enum
}

// suiteKeys lists the keys that --set takes, by their dotted names.
func suiteKeys(source bool) map[string]*schemaNode {
	text, err := json.Marshal(suite.Schema(nil))
	var root schemaNode
	if err != nil || json.Unmarshal(text, &root) != nil {
		return nil // completion stays silent
	}
	keys := map[string]*schemaNode{}
	var add func(n *schemaNode, prefix string)
	add = func(n *schemaNode, prefix string) {
		for name, child := range n.Properties {
			if len(child.Properties) > 0 {
				add(child, prefix+name+".")
			} else {
				keys[prefix+name] = child
			}
		}
	}
	add(root.Properties["instances"].Items, "")
	delete(keys, "where") // its keys are the trace's columns
	if source {
		return keys
	}
	for _, own := range []string{"name", "file"} {
		delete(keys, own) // each source has its own
	}
	add(&root, "")
	for _, fixed := range []string{"apiVersion", "instances", "matrix"} {
		delete(keys, fixed) // changed in the file alone
	}
	keys["scale"] = &schemaNode{Description: "Factor of the number of jobs of every slice"}
	keys["draw"] = &schemaNode{Description: "Another draw: the seed of the suite and of every generated trace"}
	return keys
}
