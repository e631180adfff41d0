package suite

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPathsAreOfTheSuite: a path of a suite is beside it, or else here; one that a setting
// gives is here. What things are called does not change with it.
func TestPathsAreOfTheSuite(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"sub/both", "both", "sub/there", "here"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"both": "sub/both", "there": "sub/there", "here": "here", "nowhere": "sub/nowhere", "../here": "here",
		"builtin:philly-like": "builtin:philly-like", filepath.Join(dir, "here"): filepath.Join(dir, "here")} {
		text := []byte("instances:\n  - {name: f, file: " + path + "}\n  - {trace: \"" + path + "\", model: sharing, gpuMemory: 1GB, sharing: {interference: \"" + path + "\"}}\n  - {name: p, profiles: \"" + path + "\"}\nmethods: [fifo]\n")
		s, err := Parse("sub/s.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		a, b, c := s.Instances[0], s.Instances[1], s.Instances[2]
		if a.File != want || b.Trace != want || b.Sharing.Interference != want || c.Profiles != want || b.Name != path {
			t.Errorf("%s is %s, %s, %s, %s and the source %q: want %s", path, a.File, b.Trace, b.Sharing.Interference, c.Profiles, b.Name, want)
		}
		if s.Methods[0].Folder != "sub" {
			t.Errorf("a method is of the folder %q", s.Methods[0].Folder)
		}
		if s, err = Parse("s.yaml", text); err != nil || s.Instances[0].File != path {
			t.Errorf("%s from a suite here: %v, %v", path, s.Instances[0].File, err)
		}
	}
	const text = "instances: [{name: a, trace: both}, {name: b, trace: both}]\nmethods: [fifo]\n"
	for setting, want := range map[string][2]string{"trace=both": {"both", "both"}, "b.trace=both": {"sub/both", "both"}, "slice.jobs=3": {"sub/both", "sub/both"}} {
		s, err := Parse("sub/s.yaml", []byte(text), setting)
		if err != nil || s.Instances[0].Trace != want[0] || s.Instances[1].Trace != want[1] {
			t.Errorf("%s: %s and %s, %v", setting, s.Instances[0].Trace, s.Instances[1].Trace, err)
		}
	}
	s, err := Parse("sub/s.yaml", []byte(text+"matrix: {trace: [both, here]}\n"))
	if err != nil || s.Instances[0].Trace != "sub/both" || s.Instances[1].Trace != "here" || s.Instances[0].Swept["trace"] != "both" {
		t.Errorf("swept: %+v, %v", s.Instances, err)
	}
}
