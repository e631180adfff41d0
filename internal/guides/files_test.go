package guides

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// statement is what a guide says that it takes, in the paragraph
//
//	N files, and a line in `CHANGELOG.md`: new `A`, `B`; changed `C`, `D`.
var statement = regexp.MustCompile("(\\d+) files, and a line in `CHANGELOG\\.md`: (?:new ([^;]+);\\s+)?changed\\s+((?:`[^`]+`,?\\s*)+)\\.")

// row is a line of the table of what to add where, of what there is a guide for.
var row = regexp.MustCompile(`(?m)^\| [^|]+ \| (\d+) files: [^|]+ \| \[[^|]+\]\(guides/([a-z-]+)\.md\) \|$`)

// touched lists the files that a guide's blocks write and change. Those at the root
// of the tree are for trying and belong to no commit.
func touched(steps []block) (written, changed []string) {
	for _, b := range steps {
		switch {
		case !strings.Contains(b.path, "/"):
		case b.verb == "new":
			written = append(written, b.path)
		case b.verb == "insert" && !slices.Contains(written, b.path) && !slices.Contains(changed, b.path):
			changed = append(changed, b.path)
		}
	}
	return written, changed
}

// quoted lists the words of a text that stand between backticks.
func quoted(text string) (words []string) {
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			words = append(words, part)
		}
	}
	return words
}

// Every guide says how many files it takes and which, and the page on architecture
// says the same number; and every guide is where readers look for it.
func TestFilesAreStated(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	stated := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(read("docs/architecture.md"), -1) {
		stated[m[2]] = m[1]
	}
	for name, steps := range guides(t) {
		written, changed := touched(steps)
		for _, page := range []string{"CONTRIBUTING.md", "docs/index.md"} {
			if !strings.Contains(read(page), "guides/"+name+".md") {
				t.Errorf("%s does not name the guide %s", page, name)
			}
		}
		if len(written)+len(changed) == 0 {
			if !strings.Contains(read("docs/guides/"+name+".md"), "No file of Yardstick changes.") {
				t.Errorf("the guide %s does not say that no file of Yardstick changes", name)
			}
			continue
		}
		count := strconv.Itoa(len(written) + len(changed))
		m := statement.FindStringSubmatch(read("docs/guides/" + name + ".md"))
		if m == nil {
			t.Errorf("the guide %s does not say how many files it takes: N files, and a line in `CHANGELOG.md`: new `A`; changed `B`.", name)
			continue
		}
		if m[1] != count || !sameFiles(quoted(m[2]), written) || !sameFiles(quoted(m[3]), changed) {
			t.Errorf("the guide %s says %s files, new %v, changed %v; its blocks write %v and change %v", name, m[1], quoted(m[2]), quoted(m[3]), written, changed)
		}
		if stated[name] != count {
			t.Errorf("docs/architecture.md says %q files of the guide %s, which takes %s", stated[name], name, count)
		}
	}
}

func sameFiles(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
