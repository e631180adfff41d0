package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
)

// The table of docs/running.md is that of the program, it has every code, and no help
// speaks of another.
func TestExitCodes(t *testing.T) {
	page, err := os.ReadFile("../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9]+) \| (.*) \| (yes|no) \|$`).FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, strings.Join(m[1:], " "))
	}
	var want []string
	codes := map[int]bool{}
	for _, c := range exitCodes {
		want = append(want, fmt.Sprint(c.code, " ", c.when, " ", map[bool]string{true: "yes", false: "no"}[c.again]))
		codes[c.code] = true
	}
	if !slices.Equal(rows, want) {
		t.Errorf("docs/running.md has\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "exit") {
			return true
		}
		if lit, ok := v.Values[0].(*ast.BasicLit); ok {
			code, err := strconv.Atoi(lit.Value)
			if constants++; err != nil || !codes[code] {
				t.Errorf("%s, %s, is not in the table", v.Names[0].Name, lit.Value)
			}
		}
		return true
	})
	if constants != len(exitCodes) {
		t.Errorf("%d constants, %d rows", constants, len(exitCodes))
	}
	for name, c := range everyCommand() {
		_, said, _ := strings.Cut(c.Long, "Exit code")
		for _, word := range regexp.MustCompile(`\b[0-9]+\b`).FindAllString(said, -1) {
			if code, _ := strconv.Atoi(word); !codes[code] {
				t.Errorf("the help of bench %s speaks of exit code %s", name, word)
			}
		}
	}
}

// A policy that refuses an instance in the middle of a replay is refused, like one that
// refuses it before.
func TestRefusedInTheMiddle(t *testing.T) {
	in := schedtest.Every(0)["elastic of 3 with a deadline"]
	in.Slot = 1 // so that there are too many of them
	code, _, errOut := benchCommand(t, "simulate", instanceFile(t, in), "--policy", "primal-dual")
	if code != exitUsage || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, "use longer slots") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}
