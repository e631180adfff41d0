package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shownCommand finds what a page shows of the command: lines of its blocks, which are fenced or
// indented by four, that begin with bench, as typed at a prompt.
var shownCommand = regexp.MustCompile(`(?m)^(?:    )?(?:\$ )?(?:\w+=\S+ )*(?:env/bin/|bin/)?bench ([a-z].*)$`)

// words splits a command line as far as the first of its commands goes. Quotes keep
// words together.
func words(line string) (list []string) {
	word, quote, open := "", rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ':
			if open || word != "" {
				list = append(list, word)
			}
			word, open = "", false
		case strings.ContainsRune("#|;&>", r):
			return list
		default:
			word += string(r)
		}
	}
	if open || word != "" {
		list = append(list, word)
	}
	return list
}

func TestWords(t *testing.T) {
	got := words(`score a.csv --map "x=y z" -p p='' | head # why`)
	if want := []string{"score", "a.csv", "--map", "x=y z", "-p", "p="}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// unknownIn says what is wrong with a command line, whose values may be placeholders: a command or a flag
// that there is not.
func unknownIn(line string) string {
	args := words(line)
	c, rest, err := (&app{}).command().Find(args)
	if err != nil {
		return err.Error()
	}
	if c.HasSubCommands() && !c.Runnable() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !slices.Contains([]string{"...", "…"}, rest[0]) {
		return "no such command: " + rest[0]
	}
	if err := c.ParseFlags(rest); err != nil && strings.HasPrefix(err.Error(), "unknown ") {
		return err.Error()
	}
	return ""
}

// Every command that the pages show exists, with its flags.
func TestDocumentedCommands(t *testing.T) {
	for _, line := range []string{"nonsense", "library nonsense", "run --nonsense", "run -Z"} {
		if unknownIn(line) == "" {
			t.Errorf("bench %s is found", line)
		}
	}
	count := 0
	check := func(path string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shownCommand.FindAllStringSubmatch(string(data), -1) {
			count++
			if wrong := unknownIn(m[1]); wrong != "" {
				t.Errorf("%s: bench %s: %s", strings.TrimPrefix(path, "../../"), m[1], wrong)
			}
		}
	}
	for _, page := range []string{"../../README.md", "../../CONTRIBUTING.md", "../../python/README.md"} {
		check(page)
	}
	err := filepath.WalkDir("../../docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			check(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 120 {
		t.Errorf("%d commands: the test has lost its subject", count)
	}
}
