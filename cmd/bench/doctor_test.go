package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDoctor: what is there is found where it is, and what is not has a way to be had.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	found := func(path string) map[string]map[string]string {
		t.Helper()
		t.Setenv("PATH", path)
		t.Setenv("HOME", t.TempDir()) // veripb may lie in the cache
		t.Setenv("XDG_CACHE_HOME", "")
		var rows []map[string]string
		if err := json.Unmarshal([]byte(mustRun(t, "doctor", "--format", "json")), &rows); err != nil {
			t.Fatal(err)
		}
		all := map[string]map[string]string{}
		for _, r := range rows {
			all[r["what"]] = r
			if r["for"] == "" || (r["here"] == "no") != (r["to_have_it"] != "") {
				t.Errorf("with %s: %v", path, r)
			}
		}
		return all
	}
	system := os.Getenv("PATH")
	none := found(dir)
	programs := []string{"glpsol", "cbc", "highs", "veripb", "python3", "pdflatex", "chromium"}
	for _, name := range append(slices.Clone(programs), "python3: polars", "python3: yardstick", "sandbox") {
		if none[name] == nil || none[name]["here"] != "no" {
			t.Errorf("nothing is on PATH, and %s is %v", name, none[name])
		}
	}
	if none["lp_solve"]["here"] == "no" {
		t.Error("lp_solve is not linked in")
	}
	for _, name := range programs {
		text := "#!/bin/sh\n"
		if name == "python3" {
			text += `echo '{"polars": "9.8.7"}'` + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	all := found(dir + ":" + system)
	for _, name := range programs {
		if all[name]["here"] != filepath.Join(dir, name) {
			t.Errorf("%s is %v", name, all[name])
		}
	}
	if all["python3: polars"]["here"] != "9.8.7" || all["python3: pyarrow"]["here"] != "no" || all["sandbox"]["here"] == "no" {
		t.Errorf("packages and sandbox: %v, %v, %v", all["python3: polars"], all["python3: pyarrow"], all["sandbox"])
	}
}
