package external_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"yardstick/internal/python"
)

// The published schema takes the documented dialogues, and refuses what the
// documentation forbids.
func TestSchema(t *testing.T) {
	interpreter := python.Interpreter(t, "jsonschema")
	page, err := os.ReadFile("../../docs/protocol-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(page)) {
		if mark, text, _ := strings.Cut(strings.TrimSpace(line), " "); (mark == ">" || mark == "<") && strings.HasPrefix(text, "{") {
			lines = append(lines, map[string]string{">": "question", "<": "answer"}[mark]+" valid "+text)
		}
	}
	if len(lines) < 20 {
		t.Fatalf("the page has only %d lines of dialogue", len(lines))
	}
	for _, wrong := range []string{`{"cost":0}`, `null`, `{"start":[[]]}`, `{"start":[[0,[]]]}`, `{"start":[[0,[[0,1,1]]]]}`, `{"start":[[-1]]}`, `{"wake":1.5}`,
		`{"hello":{"name":"mine"}}`, `{"hello":{"name":"mine","class":"P0"}}`, `{"hello":{"name":"mine","class":"N","wants":["future"]}}`,
		`{"hello":{"name":"mine","class":"N","protocol":"yardstick-policy/2"}}`, `{"start":[[0,null,{"speed":2}]]}`} {
		lines = append(lines, "answer wrong "+wrong)
	}
	cmd := exec.Command(interpreter, "-c", `
import json, sys, jsonschema
schema = json.load(open("../../docs/protocol-policy.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
for line in sys.stdin:
    side, verdict, text = line.split(" ", 2)
    checker = jsonschema.Draft202012Validator({"$ref": "#/$defs/" + side, "$defs": schema["$defs"]})
    if checker.is_valid(json.loads(text)) != (verdict == "valid"):
        print("the schema does not find this", side, verdict + ":", text, end="")
`)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
