package suite

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"yardstick/sched"
)

const minimalSuite = `
instances:
  - trace: builtin:philly-like
methods: [fifo]
`

func TestParseDefaults(t *testing.T) {
	s, err := Parse("s.yaml", []byte(minimalSuite))
	if err != nil {
		t.Fatal(err)
	}
	src := s.Instances[0]
	if s.Seed != 1 || s.Limits.Solve != time.Minute || src.Slice.Jobs != 8 || src.Cluster.Servers != 2 ||
		src.Cluster.Inter != 1_250_000_000 || src.Model != sched.ModelGang || src.Methods[0].Name != "fifo" {
		t.Errorf("defaults: %+v", s)
	}
}

func TestParse(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`
apiVersion: yardstick/v1
name: full
seed: 7
instances:
  - name: a
    trace: t.parquet
    where: {trace: philly, gpus: ">=2"}
    slice: {jobs: 5, at: "17", repeat: 3}
    cluster: {servers: 3, gpusPerServer: 8, inter: 50Gbps, intra: 300GB/s}
    round: 60s
    params: 500MB
    weights: random
    tooLarge: drop
    methods: [{name: sjf, params: {blocking: skip, placement: pool}}]
  - file: worst.json
objectives: [makespan, weighted-completion]
methods: [fifo]
references: [exhaustive]
limits: {solve: 90s, nodes: 1000, memory: 4GiB}
`))
	if err != nil {
		t.Fatal(err)
	}
	a, file := s.Instances[0], s.Instances[1]
	if a.Methods[0].String() != "sjf(blocking=skip,placement=pool)" || a.Round != 60*sched.Second || a.Params != 500e6 ||
		a.Cluster.Inter != 6_250_000_000 || a.Where["gpus"] != ">=2" || s.Limits.Memory != 4<<30 ||
		s.Objectives[1] != sched.WeightedCompletion || file.Name != "worst.json" || file.Methods[0].Name != "fifo" {
		t.Errorf("parsed: %+v", s)
	}
}

func TestParseErrors(t *testing.T) {
	for name, c := range map[string]struct{ suite, want string }{
		"empty":          {"", "empty"},
		"unknown key":    {"methds: [fifo]\n" + minimalSuite, `nearest key is "methods"`},
		"key of a model": {"instances:\n  - {trace: x, gpuMemory: 24GB}\nmethods: [fifo]\n", "has gpuMemory, which the gang model does not know: drop it, or say model: sharing"},
		"key of two":     {"instances:\n  - {trace: x, model: sharing, startup: 1s}\nmethods: [fifo]\n", "say model: preemptive or elastic"},
		"no profiles":    {"instances:\n  - {trace: x, singleShare: 0.5}\nmethods: [fifo]\n", "say profiles: builtin:v100"},
		"misplaced key":  {"cluster: {servers: 2}\n" + minimalSuite, "there is such a key, but not here"},
		"nested key":     {"instances:\n  - trace: x\n    slice: {job: 3}\nmethods: [fifo]\n", `nearest key is "jobs"`},
		"no instances":   {"methods: [fifo]\n", "instances is missing"},
		"no methods":     {"instances:\n  - trace: x\n", "has no methods"},
		"bare duration":  {minimalSuite + "limits: {solve: 60}\n", "limits"},
		"clock duration": {minimalSuite + "limits: {solve: \"10:30\"}\n", "10:30"},
		"objective":      {minimalSuite + "objectives: [total-completon]\n", "total-completon"},
		"bandwidth":      {"instances:\n  - cluster: {inter: 10}\nmethods: [fifo]\n", "10"},
		"version":        {minimalSuite + "apiVersion: yardstick/v9\n", "yardstick/v9"},
		"repeated key":   {minimalSuite + "methods: [sjf]\n", "methods"},
		"repeated name":  {"instances:\n  - name: a\n  - name: a\nmethods: [fifo]\n", "taken"},
		"negative slice": {"instances:\n  - slice: {jobs: -1}\nmethods: [fifo]\n", "must be positive"},
		"file and trace": {"instances:\n  - file: a.json\n    trace: b\nmethods: [fifo]\n", "do not go with it"},
		"slash in name":  {minimalSuite + "name: a/b\n", "slash"},
		"weights":        {"instances:\n  - weights: heavy\nmethods: [fifo]\n", "heavy"},
		"where to slice": {"instances:\n  - slice: {at: bussiest}\nmethods: [fifo]\n", "busiest"},
	} {
		_, err := Parse("s.yaml", []byte(c.suite))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "s.yaml: ") {
			t.Errorf("%s: error %q does not contain %q", name, err, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range [][2]string{{"solv", "solve"}, {"gpusPerSever", "gpusPerServer"}, {"zzzzz", ""}} {
		if got := Nearest(c[0], keysOf(reflect.TypeFor[Suite]())); got != c[1] {
			t.Errorf("Nearest(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestMatrix(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`
instances:
  - name: a
    slice: {jobs: 3}
  - file: worst.json
methods: [fifo]
matrix:
  cluster.inter: [1Gbps, 10Gbps]
  slice.jobs: [4, 8]
  exclude: [{cluster.inter: 1Gbps, slice.jobs: 8}]
  include: [{cluster.inter: 50Gbps, slice.jobs: 5}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, src := range s.Instances {
		got = append(got, src.instanceName(0))
	}
	want := []string{"a/00 cluster.inter=1Gbps slice.jobs=4", "a/00 cluster.inter=10Gbps slice.jobs=4",
		"a/00 cluster.inter=10Gbps slice.jobs=8", "a/00 cluster.inter=50Gbps slice.jobs=5", "worst.json/00"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("sources:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if src := s.Instances[3]; src.Cluster.Inter != 6_250_000_000 || src.Slice.Jobs != 5 || src.Cluster.Servers != 2 {
		t.Errorf("swept source: %+v", src)
	}
	if p := s.Matrix.Params(); p[0].Number || !p[1].Number {
		t.Errorf("params: %+v", p)
	}
}

// Sources that draw alike have the same jobs and container types whatever they
// are called, and others have not.
func TestDrawAs(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`
instances:
  - {name: a, drawAs: x, model: elastic, slice: {jobs: 4, at: random}, cluster: {servers: 2}}
  - {name: b, drawAs: x, model: elastic, slice: {jobs: 4, at: random}, cluster: {servers: 3}}
  - {name: c, model: elastic, slice: {jobs: 4, at: random}, cluster: {servers: 3}}
methods: [elastic-fifo]
`))
	if err != nil {
		t.Fatal(err)
	}
	var built []*Instance
	for i := range s.Instances {
		list, err := s.Instances[i].Build(1, &Budget{})
		if err != nil {
			t.Fatal(err)
		}
		built = append(built, list...)
	}
	a, b, c := built[0], built[1], built[2]
	if a.Seed != b.Seed || !reflect.DeepEqual(a.Jobs, b.Jobs) || !reflect.DeepEqual(a.Elastic, b.Elastic) {
		t.Errorf("sources that draw alike differ: %+v and %+v", a.Jobs, b.Jobs)
	}
	if a.Family != "a" || len(b.Cluster.Servers) != 3 {
		t.Errorf("family %q, %d servers", a.Family, len(b.Cluster.Servers))
	}
	if b.Seed == c.Seed || reflect.DeepEqual(b.Elastic, c.Elastic) {
		t.Error("sources of different names draw alike")
	}
}

func TestMatrixErrors(t *testing.T) {
	for name, c := range map[string]struct{ matrix, want string }{
		"no list":         {"{slice.jobs: 4}", "must be a list"},
		"empty":           {"{}", "no keys"},
		"unknown key":     {"{cluster.intr: [1Gbps]}", `the nearest is "cluster.inter"`},
		"bad value":       {"{cluster.inter: [fast]}", "fast"},
		"invalid value":   {"{slice.jobs: [-1]}", "must be positive"},
		"name":            {"{name: [a, b]}", "cannot be swept"},
		"foreign exclude": {"{slice.jobs: [4], exclude: [{seed: 1}]}", "seed"},
		"partial include": {"{slice.jobs: [4], cluster.servers: [2], include: [{slice.jobs: 4}]}", "every swept key"},
		"nothing left":    {"{slice.jobs: [4], exclude: [{slice.jobs: 4}]}", "no combination"},
	} {
		_, err := Parse("s.yaml", []byte(minimalSuite+"matrix: "+c.matrix+"\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v does not contain %q", name, err, c.want)
		}
	}
}

// Whatever is wrong in a suite, the message has its line and column, and what
// would be right.
func TestMessagesHavePlaces(t *testing.T) {
	const head = "name: x\ninstances:\n  - name: a\n"
	for text, want := range map[string][]string{
		head + "    slise: {jobs: 3}\nmethods: [m]\n":                   {"[4:5]", `"slice"`},
		head + "    slice: {jobs: many}\nmethods: [m]\n":                {"[4:19]", "whole number"},
		head + "    cluster: {inter: 10Gb}\nmethods: [m]\n":             {"[4:22]", "10Gbps"},
		head + "methods: [m]\nlimits: {solve: 60}\n":                    {"[5:17]", "duration", "90s"},
		head + "methods: [m]\nmatrix: {cluster.iner: [1Gbps]}\n":        {"[5:10]", `"cluster.inter"`},
		head + "methods: [m]\nmatrix: {cluster.inter: [1Gbps, fast]}\n": {"[5:33]", "10Gbps"},
		head + "methods: [m]\nobjectives: [total-jtc]\n":                {"[5:14]", "total-jct"},
		head + "    tooLarge: dropp\nmethods: [m]\n":                    {"[4:15]", "tooLarge", "drop"},
		head + "    model: gangs\nmethods: [m]\n":                       {"[4:12]", "elastic"},
		head + "    gpuMemory: 24GB\nmethods: [m]\n":                    {"[4:5]", "say model: sharing"},
		head + "    slice: &s {jobs: -1}\nmethods: [m]\n":               {"[4:22]", "must be positive"},
		head + "  - name: a\nmethods: [m]\n":                            {"[4:11]", "taken"},
		head + "methods: [m]\nlimits: {nodes: -1}\n":                    {"[5:17]", "limits.nodes"},
		head + "methods: [m]\nlimits: {solve: \"10:30\"}\n":             {"[5:17]", "1h30m"},
		head + "methods: [m]\nmatrix: {slice.jobs: 4}\n":                {"[5:22]", "must be a list"},
		// The same text stands elsewhere, and earlier.
		head + "methods: [m]\nmatrix: {name: [a, b]}\n":                               {"[5:10]", "cannot be swept"},
		head + "methods: [m]\nmatrix: {slice.jobs: [2, -1]}\n":                        {"[5:26]", "must be positive"},
		head + "methods: [m]\nmatrix: {slice.jobs: [2], exclude: [{x: 2}]}\n":         {"[5:38]", `"x"`},
		head + "methods: [m]\nmatrix: {storage: [1GB/s], slice.jobs: [2]}\n":          {"[5:10]", "no source knows"},
		"name: fast\n" + head[8:] + "methods: [m]\nmatrix: {cluster.inter: [fast]}\n": {"[5:26]", "10Gbps"},
		head + "    model: gangs\nmethods: [m]\nslice: {jobs: 2}\n":                   {"[6:1]", "slice"},
		"name: x\ninstances: 3\nmethods: [m]\n":                                       {"[2:12]"},
		head + "methods: [m]\n  limits: {}\n":                                         {"[5:"},
	} {
		_, err := Parse("s.yaml", []byte(text))
		if err == nil {
			t.Errorf("no error for\n%s", text)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("no %s in: %v", part, err)
			}
		}
	}
}

// A reference has its place in the file, as have its parameters, whatever else the
// message mentions; one that a setting gave has none.
func TestLocate(t *testing.T) {
	const text = `name: fifo
instances:
  - name: a
  - name: b
    methods:
      - name: sjf
        params:
          blocking: fifo
methods: [lb0, fifo]
references: [lb0]
`
	s, err := Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	wrong := errors.New(`"fifo" is wrong: the nearest is "lb0"`)
	a, b := s.Instances[0], s.Instances[1]
	for want, err := range map[string]error{
		"s.yaml: [9:16] ":   s.Locate(a.Methods[1], wrong),
		"s.yaml: [10:14] ":  s.Locate(b.References[0], wrong),
		"s.yaml: [6:15] ":   s.Locate(b.Methods[0], wrong),
		"s.yaml: [8:21] ":   s.Locate(b.Methods[0], fmt.Errorf("method: %w", &Error{Path: "params.blocking", Err: wrong})),
		"s.yaml: [8:11] ":   s.Locate(b.Methods[0], fmt.Errorf("method: %w", &Error{Path: "params.blocking", OfKey: true, Err: wrong})),
		`"fifo" is wrong: `: s.Locate(MethodRef{Name: "fifo"}, wrong),
	} {
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
	}
	if s, err = Parse("s.yaml", []byte(text), "methods=fifo"); err != nil {
		t.Fatal(err)
	}
	if err := s.Locate(s.Instances[1].Methods[0], wrong); err != wrong {
		t.Errorf("a reference of a setting has the place %v", err)
	}
	_, err = Parse("s.yaml", []byte(text+"limits: {nodes: 1}\n"), "limits.nodes=-1")
	if err == nil || err.Error() != "s.yaml: limits.nodes must not be negative" {
		t.Errorf("a value of a setting: %v", err)
	}
}

// Whatever the file holds, reading it ends with a suite that is valid or with an
// error that names the file.
func FuzzParse(f *testing.F) {
	for _, text := range []string{minimalSuite, "", "instances: [{name: a, drawAs: x, model: elastic, slice: {jobs: 4, at: random}, cluster: {servers: 2}}]\nmethods: [{name: sjf, params: {blocking: skip}}]\nmatrix: {slice.jobs: [3, 4], exclude: [{slice.jobs: 3}]}\nlimits: {solve: 1m}\n",
		"instances:\n  - &a {trace: x, where: {gpus: [\">=8\"]}}\n  - <<: *a\n    name: b\nmethods: [fifo]\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("s.yaml", data)
		if err != nil {
			if !strings.Contains(err.Error(), "s.yaml") {
				t.Errorf("%v", err)
			}
			return
		}
		if err := s.validate(); err != nil {
			t.Errorf("the suite that was read is not valid: %v", err)
		}
	})
}

// References are read as they are written.
func TestParseRefs(t *testing.T) {
	for _, text := range []string{"", "fifo", "fifo,sjf(blocking=skip,placement=pool),one-hot-alpha/branch"} {
		refs, err := ParseRefs(text)
		var names []string
		for _, ref := range refs {
			names = append(names, ref.String())
		}
		if got := strings.Join(names, ","); err != nil || got != text {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"fifo(", "fifo(a)", "fifo(=1)", "fifo(a=1", "fifo(a=1)b"} {
		if refs, err := ParseRefs(text); err == nil || !strings.Contains(err.Error(), "name(key=value") {
			t.Errorf("%q is %v, %v", text, refs, err)
		}
	}
}

// TestDraw: another draw changes the seed of the suite and of every generated trace,
// and nothing else; of other traces it changes the windows alone.
func TestDraw(t *testing.T) {
	text := "name: s\nmethods: [fifo]\nreferences: [lb0]\ninstances:\n  - {name: a, trace: \"builtin:pai?jobs=50&seed=3\", tooLarge: drop}\n  - {name: b, trace: \"builtin:pai?jobs=50\", tooLarge: drop}\n  - {name: c, tooLarge: drop}\n"
	want, err := Parse("s.yaml", []byte(strings.NewReplacer("&seed=3", "&seed=9", "builtin:pai?jobs=50\"", "builtin:pai?jobs=50&seed=9\"").Replace(text)+"seed: 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("s.yaml", []byte(text), "draw=9")
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Instances {
		if got.Instances[i].Trace != want.Instances[i].Trace {
			t.Errorf("%s: the trace is %s, want %s", want.Instances[i].Name, got.Instances[i].Trace, want.Instances[i].Trace)
		}
	}
	if got.Seed != 9 {
		t.Errorf("the seed is %d", got.Seed)
	}
	for _, bad := range []string{"draw=x", "draw=1,2", "draw=-1", "draw=1.5"} {
		if _, err := Parse("s.yaml", []byte(text), bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
