package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	dictionary = "../../docs/columns.md"
	begin      = "<!-- begin bench/record: written by its tests with -update -->\n"
	end        = "<!-- end bench/record -->\n"
)

// TestDictionary keeps the part of docs/columns.md between its markers equal
// to the definitions in tables.go. Other packages own other parts.
func TestDictionary(t *testing.T) {
	path := filepath.FromSlash(dictionary)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the markers\n%s%s", dictionary, begin, end)
	}
	want := markdown()
	switch {
	case old == want:
	case *update:
		if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what tables.go says: run this test with -update and read the diff", dictionary)
	}
}

func markdown() string {
	var b strings.Builder
	for _, table := range append(Tables(Param{Name: "..."}), LibraryTable()) {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| column | type | unit | null | group | meaning |\n|---|---|---|---|---|---|\n", table.Name, table.Doc)
		for _, c := range table.Columns {
			name, null, typ, doc := c.Name, "", string(c.Type), c.Doc
			if c.Nullable {
				null = "yes"
			}
			if strings.HasPrefix(name, "p_") {
				name, typ, doc = "p_*", "utf8 or float64", "one column per swept parameter of the suite: its name in lower case, with _ for every character but letters and digits"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", name, typ, c.Unit, null, c.Group, doc)
		}
	}
	b.WriteString("\n")
	return b.String()
}
