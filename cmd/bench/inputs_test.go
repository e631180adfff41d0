package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"yardstick/datasets/profile"
)

// TestInputs: the manifest lists every file that a suite names, with its hash: what
// the schema says takes a file is in the test.
func TestInputs(t *testing.T) {
	profiles := filepath.Join(t.TempDir(), "layers.parquet")
	builtin, err := profile.Builtin("v100")
	if err != nil {
		t.Fatal(err)
	}
	if err := profile.WriteFile(profiles, builtin); err != nil {
		t.Fatal(err)
	}
	file := map[string]string{
		"instances.file":                 instanceFile(t, models()["gang"]),
		"instances.trace":                keyTrace(t, "a.parquet", 1, 1),
		"instances.profiles":             profiles,
		"instances.sharing.interference": factorsFile(t, func(int, int) float64 { return 1.5 }),
	}
	for _, k := range schemaKeys(t) {
		text, _ := k.schema["description"].(string)
		if named := k.schema["type"] == "string" && (strings.Contains(text, "A file that") || strings.Contains(text, "Parquet file")); named != (file[k.path] != "") {
			t.Errorf("%s takes a file: %v; it is in this test: %v", k.path, named, file[k.path] != "")
		}
	}
	suite := write(t, "suite.yaml", fmt.Sprintf(`instances:
  - {name: file, file: %q}
  - {name: profiles, trace: %q, slice: {jobs: 2, at: 12}, cluster: {servers: 4, gpusPerServer: 4}, profiles: %q}
  - {name: factors, trace: %[2]q, slice: {jobs: 2, at: 12}, cluster: {servers: 4, gpusPerServer: 4}, model: sharing, gpuMemory: 24GB, sharing: {interference: %[4]q}, methods: [sharing-fifo]}
methods: [fifo]
references: [lb0]
`, file["instances.file"], file["instances.trace"], file["instances.profiles"], file["instances.sharing.interference"]))
	dir := t.TempDir()
	mustRun(t, "run", suite, "-q", "-o", dir)
	var got, want []string
	for _, in := range openRun(t, dir).Manifest.Inputs {
		got = append(got, in.Name+" "+in.SHA256)
	}
	for _, name := range []string{suite, file["instances.file"], file["instances.trace"], profiles, file["instances.sharing.interference"]} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		want = append(want, name+" "+hex.EncodeToString(sum[:]))
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("inputs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
