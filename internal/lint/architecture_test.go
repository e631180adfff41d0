package lint

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestArchitecture: every package has a room in docs/architecture.md, by its whole
// path or, in the row of a package above it, by its last part; and what the rows name
// in that way is there.
func TestArchitecture(t *testing.T) {
	data, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rooms, _ := strings.Cut(string(data), "## Rooms")
	rooms, _, ok := strings.Cut(rooms, "\n## ")
	if !ok {
		t.Fatal("the page has no section on rooms")
	}
	named := map[string]bool{}
	for _, row := range strings.Split(rooms, "\n") {
		words := regexp.MustCompile("`([a-z/…]+)`").FindAllStringSubmatch(row, -1)
		if len(words) == 0 {
			continue
		}
		room := strings.TrimSuffix(words[0][1], "/…")
		last := room
		for _, w := range words {
			name := found(room, last, strings.TrimSuffix(w[1], "/…"))
			if name == "" {
				t.Errorf("docs/architecture.md names %s in the row of %s: there is no such folder", w[1], room)
				continue
			}
			named[name], last = true, name
		}
	}
	for _, p := range packages(t) {
		if !named[p.path()] {
			t.Errorf("package %s has no room in docs/architecture.md", p.path())
		}
	}
}

// found returns the folder that a word means: one below the row's room, below or
// beside the last one named, or a whole path; "" if there is none.
func found(room, last, word string) string {
	word = strings.TrimPrefix(word, "/")
	for _, name := range []string{path.Join(last, word), path.Join(path.Dir(last), word), path.Join(room, word), word} {
		if info, err := os.Stat(filepath.Join("../..", name)); err == nil && info.IsDir() {
			return name
		}
	}
	return ""
}
