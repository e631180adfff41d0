package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/internal/python"
	"yardstick/sched"
)

// checkSuites validates YAML files with a validator that is not ours, and prints
// "name: ok" or "name: where: what" for each.
const checkSuites = `
import json, sys, jsonschema, yaml
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
check = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    error = next(check.iter_errors(yaml.safe_load(open(path))), None)
    print(path + ":", "ok" if error is None else error.json_path + ": " + error.message)
`

// TestGlossaryListsObjectives: whoever reads of an objective finds what it is.
func TestGlossaryListsObjectives(t *testing.T) {
	data, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range sched.Objectives() {
		if !strings.Contains(string(data), "\n| `"+o.String()+"` |") {
			t.Errorf("docs/glossary.md has no row for the objective %v", o)
		}
	}
}

// TestSchema: an independent validator finds the schema valid, accepts every suite
// that comes with the program or is in the documentation, and refuses what the
// program refuses.
func TestSchema(t *testing.T) {
	interpreter := python.Interpreter(t, "jsonschema")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	schema := write("schema.json", mustRun(t, "config", "schema"))
	validate := func(paths []string) []string {
		t.Helper()
		out, err := exec.Command(interpreter, append([]string{"-c", checkSuites, schema}, paths...)...).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(lines) != len(paths) {
			t.Fatalf("%v\n%s", err, out)
		}
		return lines
	}

	var good []string
	for _, pattern := range []string{"suites/*.yaml", "../../bench/reproduce/suites/*.yaml", "../../docs/suites/*.yaml", "../../notebooks/golden/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no suites (%v)", pattern, err)
		}
		good = append(good, paths...)
	}
	for _, line := range validate(good) {
		if !strings.HasSuffix(line, ": ok") {
			t.Error(line)
		}
	}

	const rest = "\nmethods: [fifo]\n"
	var bad []string
	for name, text := range map[string]string{
		"key":       "instances: [{trace: builtin:philly-like, nonsense: 1}]" + rest,
		"unit":      "instances: [{trace: builtin:philly-like, cluster: {inter: 10 parsecs}}]" + rest,
		"type":      "instances: [{trace: builtin:philly-like, slice: {jobs: many}}]" + rest,
		"method":    "instances: [{trace: builtin:philly-like}]\nmethods: [fastest]\n",
		"model":     "instances: [{trace: builtin:philly-like, model: quantum}]" + rest,
		"objective": "instances: [{trace: builtin:philly-like}]\nobjectives: [happiness]" + rest,
	} {
		bad = append(bad, write(name+".yaml", text))
	}
	for i, line := range validate(bad) {
		if strings.HasSuffix(line, ": ok") {
			t.Errorf("the schema accepts %s", bad[i])
		}
		if code, _, errOut := benchCommand(t, "plan", bad[i]); code != exitUsage {
			t.Errorf("plan %s ends with code %d: %s", bad[i], code, errOut)
		}
	}
}
