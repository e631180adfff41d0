package guides

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link     = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	fenced   = regexp.MustCompile("(?ms)^```.*?^```")
	inCode   = regexp.MustCompile("`[^`\n]+`")
	unspoken = regexp.MustCompile(`[^\p{L}\p{N}\p{M} _-]`)
)

// anchors lists the names that a page's headings have on GitHub and on the site.
func anchors(page string) (names []string) {
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		text := link.ReplaceAllString(m[1], "")
		name := strings.ReplaceAll(unspoken.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		seen[name]++
		if seen[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, seen[name]-1)
		}
		names = append(names, name)
	}
	return names
}

// pages lists the Markdown files of the tree.
func pages(t *testing.T) (files []string) {
	t.Helper()
	skip := []string{".git", ".venv", ".cache", "env", "bin", "dist", "site", "results", "out", "testdata"}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skip, d.Name()) && path != "../../docs/site":
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) < 50 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	return files
}

// Every link of a page leads to a file that is there, and to a heading that it has.
func TestLinks(t *testing.T) {
	count := 0
	for _, file := range pages(t) {
		for _, problem := range broken(t, file, &count) {
			t.Errorf("%s: %s", strings.TrimPrefix(file, "../../"), problem)
		}
	}
	if count < 400 {
		t.Errorf("%d links: the test has lost its subject", count)
	}
}

// broken says which links of a page lead nowhere, and counts those that it looked at.
func broken(t *testing.T, file string, count *int) (problems []string) {
	t.Helper()
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	text := inCode.ReplaceAllString(fenced.ReplaceAllString(read(file), ""), "")
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		*count++
		path, anchor, _ := strings.Cut(m[1], "#")
		to := filepath.Join(filepath.Dir(file), path)
		if path == "" {
			to = file
		}
		if _, err := os.Stat(to); err != nil {
			problems = append(problems, m[1]+" is not there")
			continue
		}
		if anchor != "" && filepath.Ext(to) == ".md" && !slices.Contains(anchors(read(to)), anchor) {
			problems = append(problems, fmt.Sprintf("%s: the page has no such heading, but %v", m[1], anchors(read(to))))
		}
	}
	return problems
}

// A page with a link of each kind: two lead somewhere.
func TestBrokenLinks(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "a.md")
	put(t, filepath.Join(dir, "b.md"), "# Some `code`, and more\n\n## Twice\n\n## Twice\n")
	put(t, page, "# A\n\n[1](b.md#some-code-and-more) [2](#a) [3](b.md#twice-1) [4](b.md#twice-2) [5](c.md) [6](#b) `[7](d.md)`\n\n```\n[8](d.md)\n```\n")
	count := 0
	if problems := broken(t, page, &count); len(problems) != 3 || count != 6 {
		t.Errorf("of %d links these are broken: %q", count, problems)
	}
}

// The index leads to every page of docs but the decisions and what other pages lead to, in one of its groups, of
// which the site makes its menu.
func TestIndexIsComplete(t *testing.T) {
	data, err := os.ReadFile("../../docs/index.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range pages(t) {
		name, ok := strings.CutPrefix(file, "../../docs/")
		if !ok || name == "index.md" || strings.HasPrefix(name, "decisions/") || strings.HasPrefix(name, "examples/") {
			continue
		}
		if !strings.Contains(string(data), "]("+name+")") {
			t.Errorf("docs/index.md does not lead to %s", name)
		}
	}
}
