package logs

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/schedules.md names the fields with all their columns, and every format; the schema
// has the fields, by the name that is looked for first.
func TestDocuments(t *testing.T) {
	page, err := os.ReadFile("../../../docs/schedules.md")
	if err != nil {
		t.Fatal(err)
	}
	cells := regexp.MustCompile("`([a-z_0-9]+)`")
	rows := map[string][]string{}
	for _, line := range strings.Split(string(page), "\n") {
		fields := strings.Split(line, "|")
		if len(fields) < 4 {
			continue
		}
		for _, name := range cells.FindAllStringSubmatch(fields[1], -1) {
			if rows[name[1]] == nil { // of several tables the first
				rows[name[1]] = []string{}
			}
			for _, m := range cells.FindAllStringSubmatch(fields[2], -1) {
				rows[name[1]] = append(rows[name[1]], m[1])
			}
		}
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	text, err := os.ReadFile("../../../docs/schedule.schema.json")
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Generic().columns {
		if !slices.Equal(rows[c.Field], c.Names) {
			t.Errorf("docs/schedules.md has %v for %s, the reader %v", rows[c.Field], c.Field, c.Names)
		}
		if schema.Properties[c.Field] == nil || c.Field != "queue" && c.Names[0] != c.Field {
			t.Errorf("the schema has no %s, or the reader looks for another name first (%v)", c.Field, c.Names)
		}
	}
	if len(schema.Properties) != len(Fields()) || len(Generic().columns) != len(Fields()) {
		t.Errorf("%d properties and %d columns for %d fields", len(schema.Properties), len(Generic().columns), len(Fields()))
	}
	for _, f := range Formats() {
		if rows[f.Name] == nil {
			t.Errorf("docs/schedules.md has no row for the format %s", f.Name)
		}
	}
}

// The example of the page is read as it stands.
func TestExample(t *testing.T) {
	page, err := os.ReadFile("../../../docs/schedules.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^    (\{"job".*\})$`).FindStringSubmatch(string(page))
	if line == nil {
		t.Fatal("docs/schedules.md has no example")
	}
	l := read(t, "table", line[1]+"\n")
	r := &l.Rows[0]
	if r.Job != "train-17" || r.Start.V != 105e6 || r.End.V != 115_250_000 || r.GPUs != 4000 || len(r.Place) != 1 || len(r.Place[0].Devices) != 4 {
		t.Errorf("%+v", r)
	}
}
