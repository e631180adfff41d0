package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"yardstick/bench"
	"yardstick/bench/catalogue"
	"yardstick/bench/suite"
	"yardstick/datasets"
	"yardstick/datasets/profile"
	"yardstick/datasets/tracetest"
	"yardstick/internal/tier"
)

// schemaKey is a key of a suite as the schema has it.
type schemaKey struct {
	path   string // instances.slice.jobs
	schema map[string]any
}

// schemaKeys lists every key of the schema that holds no others. A new one is in it
// without more ado.
func schemaKeys(t *testing.T) []schemaKey {
	t.Helper()
	data, err := json.Marshal(suite.Schema(catalogue.Names()))
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	var keys []schemaKey
	var walk func(s map[string]any, path string)
	walk = func(s map[string]any, path string) {
		if items, ok := s["items"].(map[string]any); ok && items["properties"] != nil {
			s = items
		}
		properties, _ := s["properties"].(map[string]any)
		if len(properties) == 0 {
			keys = append(keys, schemaKey{path, s})
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			walk(properties[name].(map[string]any), strings.TrimPrefix(path+"."+name, "."))
		}
	}
	walk(root, "")
	return keys
}

// kind is a kind of source, with all that it takes to plan it.
type kind struct {
	name   string
	source map[string]any // the entry of instances
	policy string
	slow   bool // only some values are tried in a short run
}

// keyTrace writes a trace of jobs of several sizes, some of before the window and
// one that fits no cluster, with groups, users and weights.
func keyTrace(t *testing.T, name string, gang, apart float64) string {
	t.Helper()
	var rows []datasets.Row
	for i := range 60 {
		r := datasets.Row{Trace: "t", JobID: fmt.Sprint(i), SubmitS: datasets.Some(float64(i*i) * 7.5 * apart), DurationS: datasets.Some(1000 + 375*float64(i*i%11)),
			GPUs: datasets.Some(1 + gang*float64(i%3)), User: datasets.Some(fmt.Sprint("u", i%3)), Weight: datasets.Some(1.5 + float64(i))}
		if i%4 == 0 {
			r.Group = datasets.Some(fmt.Sprint("g", i%8))
		}
		rows = append(rows, r)
	}
	rows[2].GPUs = datasets.Some(64.0)
	path := filepath.Join(t.TempDir(), name)
	if err := datasets.WriteFile(path, tracetest.All(rows)); err != nil {
		t.Fatal(err)
	}
	return path
}

// profileFile writes the profile of one model: planning those of all takes long.
func profileFile(t *testing.T) string {
	t.Helper()
	all, err := profile.Builtin("v100")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "profiles.parquet")
	smallest := slices.MinFunc(all, func(a, b profile.Profile) int { return len(a.Layers) - len(b.Layers) })
	if err := profile.WriteFile(path, []profile.Profile{smallest}); err != nil {
		t.Fatal(err)
	}
	return path
}

func kinds(t *testing.T) (list []kind, others map[string][]any) {
	t.Helper()
	trace, second := keyTrace(t, "a.parquet", 1, 1), keyTrace(t, "b.parquet", 2, 40)
	of := func(name, trace, policy string, keys map[string]any) {
		source := map[string]any{"name": "a", "trace": trace, "slice": map[string]any{"jobs": 6, "at": 30}, "cluster": map[string]any{"servers": 4, "gpusPerServer": 4}}
		if keys["model"] == "elastic" {
			source["cluster"] = map[string]any{"servers": 4}
		}
		maps.Copy(source, keys)
		list = append(list, kind{name, source, policy, keys["profiles"] != nil || trace == "builtin:philly-like"})
	}
	of("gang of a file", trace, "fifo", nil)
	of("gang, solved", trace, "exhaustive", nil)
	of("gang in slots", trace, "fifo", map[string]any{"round": "30s", "params": "1MB", "iteration": "1s"})
	of("gang with profiles", trace, "fifo", map[string]any{"profiles": profileFile(t), "round": "30s"})
	of("gang of a generated trace", "builtin:pai?jobs=200", "fifo", map[string]any{"slice": map[string]any{"jobs": 6, "at": 150}, "cluster": map[string]any{"servers": 1, "gpusPerServer": 4}})
	if tier.Long() {
		of("gang of the built-in trace", "builtin:philly-like", "fifo", map[string]any{"slice": map[string]any{"jobs": 6, "at": 20000}})
	}
	of("preemptive", trace, "srtf", map[string]any{"model": "preemptive"})
	of("preemptive in slots", trace, "srtf", map[string]any{"model": "preemptive", "round": "1ms", "iteration": "1ms"})
	of("sharing", trace, "sharing-fifo", map[string]any{"model": "sharing", "gpuMemory": "24GB", "round": "30s"})
	of("elastic", trace, "elastic-fifo", map[string]any{"model": "elastic"})

	built := filepath.Join(t.TempDir(), "built.json")
	mustRun(t, "instance", "build", trace, "-s", "slice.jobs=4", "-s", "slice.at=12", "-s", "cluster.servers=4", "-o", built)
	list = append(list, kind{"an instance file", map[string]any{"name": "a", "file": built}, "fifo", false})
	for worst, policy := range map[string]string{"fifo": "fifo", "periodic": "srtf", "sharing-sjf": "sharing-fifo", "elastic-fifo": "elastic-fifo"} {
		path := "../../bench/hunt/testdata/worst/" + worst + ".json"
		list = append(list, kind{"a hunted instance, " + worst, map[string]any{"name": "a", "file": path}, policy, false})
	}
	return list, map[string][]any{
		"apiVersion":                     {"yardstick/v1", "yardstick/v2"},
		"matrix":                         {map[string]any{"slice.jobs": []any{2}}, map[string]any{"slice.jobs": []any{2, 3}}, map[string]any{"cluster.servers": []any{7}}},
		"instances.file":                 {built, "none.json"},
		"instances.trace":                {trace, second, "builtin:pollux?jobs=50"},
		"instances.where":                {map[string]any{"gpus": "1"}, map[string]any{"gpus": ">=2"}, map[string]any{"gpu": 1}},
		"instances.slice.load":           {"0..0.05", "0.06..0.15", "0.16..0.3", "0.31..0.6", "0.61..100", "1", "0.7..", "1..0.5"},
		"instances.offeredLoad":          {-1, 0, 0.01, 0.05, 0.1, 0.3, 0.9, 2, 100},
		"instances.weights":              {"unit", "random", "heavy"},
		"instances.tooLarge":             {"error", "drop", "keep"},
		"instances.storage":              {"0Gbps", "1GB/s", "40Gbps", "none"},
		"instances.profiles":             {"builtin:v100", "builtin:h100", "none.parquet"},
		"instances.sharing.interference": {factorsFile(t, func(i, _ int) float64 { return 1 + float64(i) }), factorsFile(t, func(i, j int) float64 { return 1 + float64(i*j) }), "none.parquet"},
		"instances.prove.upTo":           {-1, 0, 100},
		"instances.methods":              {[]any{"fifo"}, []any{"sjf"}, []any{"srtf"}, []any{"elastic-drf"}},
		"instances.references":           {[]any{"lb0"}, []any{"area"}, []any{}},
		"methods":                        {[]any{"fifo"}, []any{"sjf"}, []any{"srtf"}, []any{"elastic-drf"}},
		"references":                     {[]any{"lb0"}, []any{"area"}, []any{}},
	}
}

// candidates are values of a key, all different: at most one is the default.
func candidates(k schemaKey, others map[string][]any) []any {
	if list := others[k.path]; list != nil {
		return list
	}
	pattern, _ := k.schema["pattern"].(string)
	switch {
	case k.schema["enum"] != nil:
		return k.schema["enum"].([]any)
	case k.schema["anyOf"] != nil: // slice.at
		return []any{"start", "busiest", "random", "sample", 3, "12"}
	case pattern != "" && regexp.MustCompile(pattern).MatchString("60s"):
		return []any{"0s", "30s", "60s", "7m"}
	case pattern != "" && regexp.MustCompile(pattern).MatchString("4GB"):
		return []any{"0B", "1MB", "24GB", "32GB"}
	case pattern != "":
		return []any{"0Gbps", "1Gbps", "10Gbps", "40Gbps"}
	}
	switch k.schema["type"] {
	case "integer":
		return []any{-1, 0, 1, 2, 3, 5}
	case "number":
		return []any{-1, 0, 0.5, 1, 2, 3.25}
	case "boolean":
		return []any{false, true}
	case "array":
		items := k.schema["items"].(map[string]any)
		var lists []any
		for _, v := range items["enum"].([]any) {
			lists = append(lists, []any{v})
		}
		return lists
	case "object":
		return []any{map[string]any{"x": "1"}, map[string]any{"y": "1"}}
	}
	return []any{"x", "y"}
}

// raw is YAML as it stands.
type raw string

func (r raw) MarshalJSON() ([]byte, error) { return json.Marshal("@" + string(r) + "@") }

var standing = regexp.MustCompile(`"@(.*?)@"`)

// yamlOf writes a value as YAML in one line.
func yamlOf(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return standing.ReplaceAllStringFunc(strings.TrimSpace(b.String()), func(s string) string {
		var text string
		if err := json.Unmarshal([]byte(s), &text); err != nil {
			t.Fatal(err)
		}
		return strings.Trim(text, "@")
	})
}

// suiteWith is the suite of one source with one key set; "" sets none.
func suiteWith(t *testing.T, k kind, path string, value any) string {
	t.Helper()
	source := maps.Clone(k.source)
	suite := map[string]any{"instances": []any{source}, "methods": []any{k.policy}}
	at := suite
	inner, ofSource := strings.CutPrefix(path, "instances.")
	if ofSource {
		at = source
	}
	keys := strings.Split(inner, ".")
	for _, key := range keys[:len(keys)-1] {
		deeper, _ := at[key].(map[string]any)
		deeper = maps.Clone(deeper)
		if deeper == nil {
			deeper = map[string]any{}
		}
		at[key], at = deeper, deeper
	}
	if path != "" {
		at[keys[len(keys)-1]] = value
	}
	return yamlOf(t, suite)
}

// planned is all that a plan does, or why there is none.
func planned(text string, settings ...string) (string, error) {
	s, err := suite.Parse("s.yaml", []byte(text), settings...)
	if err != nil {
		return "", err
	}
	p, err := bench.NewPlan(s, catalogue.Resolve)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintln(&b, s.Name, s.Fresh)
	if err := p.WriteLines(&b); err != nil {
		return "", err
	}
	return b.String(), nil
}

// setting is the key as --set takes it, or "" if the file alone can say it.
func setting(t *testing.T, k schemaKey, value any) string {
	t.Helper()
	path := strings.TrimPrefix(k.path, "instances.")
	if path != k.path && slices.Contains([]string{"name", "methods", "objectives", "references"}, path) {
		return "" // there is such a key of the suite too
	}
	if list, ok := value.([]any); ok {
		if len(list) != 1 || path != k.path {
			return ""
		}
		value = list[0]
	}
	return path + "=" + yamlOf(t, value)
}

// TestEveryKeyDoesSomething walks every key of the schema on every model and kind
// of source. A value other than the default changes the plan or is refused: among
// values that all differ, one at most may leave the plan as it is. --set does what
// the file does.
func TestEveryKeyDoesSomething(t *testing.T) {
	sources, others := kinds(t)
	keys := schemaKeys(t)
	obeyed := map[string]bool{}
	for _, source := range sources {
		base, err := planned(suiteWith(t, source, "", nil))
		if err != nil {
			t.Fatalf("%s: %v", source.name, err)
		}
		for _, k := range keys {
			var same []any
			values := candidates(k, others)
			if brief := source.slow && !tier.Long(); brief {
				values = values[max(0, len(values)-3):]
			}
			for _, v := range values {
				plan, err := planned(suiteWith(t, source, k.path, v))
				if err == nil && plan == base {
					same = append(same, v)
				}
				obeyed[k.path] = obeyed[k.path] || err == nil && plan != base
				text := setting(t, k, v)
				if text == "" || !tier.Long() && !slices.Contains([]string{"gang of a file", "elastic", "an instance file"}, source.name) {
					continue
				}
				set, setErr := planned(suiteWith(t, source, "", nil), text)
				if setErr == nil && (err != nil || set != plan) {
					t.Errorf("%s: --set %s makes another plan than the key in the file (%v)", source.name, text, err)
				}
			}
			if len(same) > 1 {
				t.Errorf("%s: %s: the plan is the same with %v as without: it is dropped without a word", source.name, k.path, same)
			}
		}
	}
	for _, k := range keys {
		if !obeyed[k.path] && k.path != "apiVersion" && k.path != "instances.file" {
			t.Errorf("%s changes no plan of any source: refused everywhere, it need not be a key", k.path)
		}
	}
}

// TestValuesOfTheWrongKind: wherever a key stands, a value of another kind is
// refused in the file and by --set: a fraction, a number in quotes or one that is
// too large for a whole number, no number or no value for any, an empty text.
func TestValuesOfTheWrongKind(t *testing.T) {
	sources, _ := kinds(t)
	wrong := func(k schemaKey) []any {
		list := []any{raw("null"), raw("~"), raw(".nan"), raw("-.inf"), ""}
		switch k.schema["type"] {
		case "integer":
			list = append(list, raw("2.9"), raw("6.0"), raw("1e1"), raw("6.999"), "2", "two", true, raw("99999999999999999999"), raw("-99999999999999999999"), raw("1e400"))
		case "number":
			list = append(list, "0.5", "half", true, raw("1e400"))
		case "boolean":
			list = append(list, "true", "yes", 1, 0, raw("0.0"))
		case "array":
			list = append(list, "x: y")
			if !strings.HasSuffix(k.path, "references") {
				list = append(list, []any{})
			}
		case "object":
			list = append(list, 1, "x", []any{})
		}
		if k.schema["pattern"] != nil {
			list = append(list, 60, 1.5, "60", "s", "NaNs", "1e3", true)
		}
		if k.schema["enum"] != nil {
			list = append(list, 1, true)
		}
		return list
	}
	for _, source := range []kind{sources[0], sources[3]} {
		for _, k := range schemaKeys(t) {
			for _, v := range wrong(k) {
				text := suiteWith(t, source, k.path, v)
				if _, err := planned(text); err == nil {
					t.Errorf("%s: %s: %s is accepted", source.name, k.path, yamlOf(t, v))
				}
				if s := setting(t, k, v); s != "" {
					if _, err := planned(suiteWith(t, source, "", nil), s); err == nil {
						t.Errorf("%s: --set %s is accepted", source.name, s)
					}
				}
			}
		}
	}
}

// TestSweepsAreSettings: a key swept over two values makes the two instances that
// the values make alone, also where the source has a value of its own.
func TestSweepsAreSettings(t *testing.T) {
	sources, others := kinds(t)
	contents := func(text string) (list []string, err error) {
		s, err := suite.Parse("s.yaml", []byte(text))
		if err != nil {
			return nil, err
		}
		p, err := bench.NewPlan(s, catalogue.Resolve)
		if err != nil {
			return nil, err
		}
		for _, in := range p.Instances {
			in.Name = ""
			list = append(list, fmt.Sprint(in.Instance.Hash(), in.Seed))
		}
		return list, nil
	}
	swept := 0
	for _, source := range sources[:8] {
		if source.slow && !tier.Long() || !tier.All() && source.name != "gang of a file" && source.name != "elastic" {
			continue
		}
		for _, k := range schemaKeys(t) {
			path, ok := strings.CutPrefix(k.path, "instances.")
			if !ok || slices.Contains([]string{"name", "file", "methods", "objectives", "references", "where"}, path) {
				continue
			}
			var values []any
			var each [][]string
			for _, v := range candidates(k, others) {
				if list, err := contents(suiteWith(t, source, k.path, v)); err == nil {
					values, each = append(values, v), append(each, list)
				}
			}
			if len(values) < 2 {
				continue
			}
			swept++
			with := suiteWith(t, source, k.path, values[0])
			text := strings.TrimSuffix(with, "}") + `, "matrix": ` + yamlOf(t, map[string]any{path: values}) + "}"
			got, err := contents(text)
			if want := slices.Concat(each...); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s swept over %v makes %d instances that are not those of the values alone (%d): %v", source.name, path, values, len(got), len(want), err)
			}
		}
	}
	if swept < tier.Draws(20, 50) {
		t.Errorf("%d sweeps", swept)
	}
}

// TestSettingsOfSeveralModels: a setting or sweep is for the sources that know it,
// and an error where none does.
func TestSettingsOfSeveralModels(t *testing.T) {
	trace := keyTrace(t, "a.parquet", 1, 1)
	text := fmt.Sprintf(`instances:
  - {name: gang, trace: %q, slice: {jobs: 4, at: 12}, methods: [fifo]}
  - {name: sharing, trace: %[1]q, slice: {jobs: 4, at: 12}, model: sharing, gpuMemory: 24GB, methods: [sharing-fifo]}
references: [lb0]
`, trace)
	for settings, want := range map[string]string{
		"":                                      "gang/00 sharing/00",
		"gpuMemory=32GB":                        "gang/00 sharing/00",
		"gpuMemory=24GB,32GB":                   "gang/00 sharing/00 gpuMemory=24GB sharing/00 gpuMemory=32GB",
		"singleShare=0.5 profiles=builtin:v100": "gang/00 sharing/00",
		"singleShare=0,1 profiles=builtin:v100": "gang/00 singleShare=0 gang/00 singleShare=1 sharing/00",
		"storage=1GB/s":                         "error: gang\" has storage, which the gang model does not know",
		"storage=1GB/s,2GB/s":                   "error: no source knows \"storage\"",
		"singleShare=0.5":                       "error: say profiles",
	} {
		s, err := suite.Parse("s.yaml", []byte(text), strings.Fields(settings)...)
		if message, isError := strings.CutPrefix(want, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), message) {
				t.Errorf("--set %s: %v, want an error about %s", settings, err, message)
			}
			continue
		}
		if err != nil {
			t.Errorf("--set %s: %v", settings, err)
			continue
		}
		p, err := bench.NewPlan(s, catalogue.Resolve)
		if err != nil {
			t.Errorf("--set %s: %v", settings, err)
			continue
		}
		var names []string
		for _, in := range p.Instances {
			names = append(names, in.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("--set %s: %s, want %s", settings, got, want)
		}
	}
}

// TestOneDocument: what follows the first YAML document is not dropped.
func TestOneDocument(t *testing.T) {
	source := "instances: [{name: a, slice: {jobs: 2}, tooLarge: drop}]\nmethods: [fifo]\n"
	for text, want := range map[string]string{
		source + "---\nseed: 2\n":                                               "second YAML document",
		"---\n" + source + "---\n---\nmethods: [sjf]\n":                         "second YAML document",
		"%YAML 1.2\n---\n" + source:                                             "directives",
		"instances: [{name: a, slice: &s {jobs: *s}}]\nmethods: [fifo]\n":       "alias",
		"instances: [{name: a, slice: {jobs: !!int \"2\"}}]\nmethods: [fifo]\n": "tags",
		"---\n" + source + "...\n":                                              "",
		"instances: [&a {slice: &s {jobs: 2}, tooLarge: drop}, {<<: *a, name: b}, {name: c, slice: *s, tooLarge: drop}]\nmethods: [fifo]\n": "",
		"instances: [&a {slice: {jobs: 2.5}}, {<<: *a, name: b}]\nmethods: [fifo]\n":                                                        "whole number",
	} {
		_, err := planned(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("run: {jobs: 1}\n---\nrun: {jobs: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readConfig(file); err == nil {
		t.Error("a configuration of two documents is read")
	}
}
