package suite

import (
	"slices"
	"strings"
	"testing"
)

const threeFamilies = `name: three
instances:
  - {name: small, slice: {jobs: 3}}
  - {name: small.long, slice: {jobs: 9}, methods: [sjf]}
  - {name: shared, model: sharing, gpuMemory: 24GB, methods: [{name: sharing-fifo}, {name: sharing-sjf, params: {order: lpt}}]}
methods: [fifo, {name: a-srpt, params: {tau: 1}}]
references: [lb0]
`

// shape is what of each source tests look at: name, jobs, methods and references.
func shape(s *Suite) string {
	var lines []string
	for _, src := range s.Instances {
		line := []string{src.Name, src.Slice.At.String(), string(src.Model)}
		for _, m := range append(src.Methods, src.References...) {
			line = append(line, m.String())
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return strings.Join(lines, "\n")
}

// TestFamilySettings: a setting of one family changes what the same key in the file does
// there, wherever it stands among the settings.
func TestFamilySettings(t *testing.T) {
	for _, c := range []struct{ settings, old, new string }{
		{"small.slice.jobs=5", "{name: small, slice: {jobs: 3}", "{name: small, slice: {jobs: 5}"},
		{"small.long.slice.jobs=5", "slice: {jobs: 9}", "slice: {jobs: 5}"}, // the longest name
		{"small.slice.at=busiest", "slice: {jobs: 3}", "slice: {jobs: 3, at: busiest}"},
		{"small.methods=sjf,fifo", "slice: {jobs: 3}", "slice: {jobs: 3}, methods: [sjf, fifo]"},
		{"shared.methods=sharing-fifo", ", {name: sharing-sjf, params: {order: lpt}}", ""},
		{"small.references=area,lb0", "slice: {jobs: 3}", "slice: {jobs: 3}, references: [area, lb0]"},
		{"small.objectives=makespan", "slice: {jobs: 3}", "slice: {jobs: 3}, objectives: [makespan]"},
		{"small.gpuMemory=24GB small.model=sharing small.methods=sharing-fifo", "slice: {jobs: 3}", "slice: {jobs: 3}, model: sharing, gpuMemory: 24GB, methods: [sharing-fifo]"},
		{"small.slice.jobs=5 slice.jobs=7", "{name: small, slice: {jobs: 3}}\n  - {name: small.long, slice: {jobs: 9},", "{name: small, slice: {jobs: 5}}\n  - {name: small.long, slice: {jobs: 7},"},
	} {
		changed := strings.Replace(threeFamilies, c.old, c.new, 1)
		if changed == threeFamilies {
			t.Fatalf("%s: nothing to change", c.settings)
		}
		if strings.HasSuffix(c.settings, "slice.jobs=7") {
			changed = strings.Replace(changed, "model: sharing", "slice: {jobs: 7}, model: sharing", 1)
		}
		want, err := Parse("s.yaml", []byte(changed))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("s.yaml", []byte(threeFamilies), strings.Fields(c.settings)...)
		if err != nil {
			t.Errorf("%s: %v", c.settings, err)
			continue
		}
		if shape(got) != shape(want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.settings, shape(got), shape(want))
		}
		for i := range want.Instances {
			if g, w := got.Instances[i], want.Instances[i]; g.Slice.Jobs != w.Slice.Jobs || g.GPUMemory != w.GPUMemory || !slices.Equal(g.Objectives, w.Objectives) || len(g.given) != len(w.given) {
				t.Errorf("%s: %q is %+v, want %+v", c.settings, g.Name, g, w)
			}
		}
	}
}

// TestOnly: what is left of a suite by only and only.methods, in the order of the file.
func TestOnly(t *testing.T) {
	for settings, want := range map[string]string{
		"only=shared":                                "shared  sharing sharing-fifo sharing-sjf(order=lpt) lb0",
		"only=shared,small only=shared":              "small  gang fifo a-srpt(tau=1) lb0\nshared  sharing sharing-fifo sharing-sjf(order=lpt) lb0",
		"only.methods=a-srpt":                        "small  gang a-srpt(tau=1) lb0",
		"only.methods=a-srpt(tau=1),sharing-sjf,sjf": "small  gang a-srpt(tau=1) lb0\nsmall.long  gang sjf lb0\nshared  sharing sharing-sjf(order=lpt) lb0",
		"only=small only.methods=fifo":               "small  gang fifo lb0",
		"only.methods=sjf methods=sjf only=small":    "small  gang sjf lb0", // whatever the order
	} {
		text := threeFamilies
		if strings.Contains(settings, " methods=sjf") {
			text = strings.Replace(text, "model: sharing, gpuMemory: 24GB, ", "", 1)
		}
		s, err := Parse("s.yaml", []byte(text), strings.Fields(settings)...)
		if err != nil {
			t.Errorf("%s: %v", settings, err)
			continue
		}
		if got := shape(s); got != strings.ReplaceAll(want, "  ", " "+s.Instances[0].Slice.At.String()+" ") {
			t.Errorf("%s:\n%s\nwant\n%s", settings, got, want)
		}
	}
}

// TestOnlyErrors: what there is not is said in a line, with what may be meant.
func TestOnlyErrors(t *testing.T) {
	sweeping := threeFamilies + "matrix: {slice.jobs: [2, 3]}\n"
	for _, c := range []struct{ text, settings, want string }{
		{threeFamilies, "only=smal", `no family "smal": the nearest is "small"`},
		{threeFamilies, "only=q", `no family "q": it has shared, small, small.long`},
		{threeFamilies, "only=small,", "a name in the list is empty"},
		{threeFamilies, "only.methods=fifi", `no method "fifi": the nearest is "fifo"`},
		{threeFamilies, "only.methods=lb0", `no method "lb0"`}, // a reference is none
		{threeFamilies, "only=shared only.methods=fifo", "no family of shared has a method of fifo"},
		{threeFamilies, "smal.slice.jobs=5", `no family "smal": the nearest is "small"`},
		{threeFamilies, "q.slice.jobs=5", `no family "q": it has small, small.long, shared`},
		{threeFamilies, "small.slice.job=5", `the nearest is "slice.jobs"`},
		{threeFamilies, "small.slice.jobs=5,6", "one family takes one value"},
		{threeFamilies, "small.slice.jobs=-1", "must be positive"},
		{threeFamilies, "small.gpuMemory=1GB", `"small" has gpuMemory, which the gang model does not know`},
		{threeFamilies, "small.name=x", "name cannot be"},
		{sweeping, "small.slice.jobs=5", "the matrix sweeps slice.jobs"},
		{threeFamilies, "small.slice.jobs=5 slice.jobs=2,3", "the matrix sweeps slice.jobs"},
		{threeFamilies, "cluster.slice.jobs=5", `"cluster.servers"`},
	} {
		_, err := Parse("s.yaml", []byte(c.text), strings.Fields(c.settings)...)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.settings, err, c.want)
		}
	}
}
