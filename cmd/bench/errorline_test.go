package main

import (
	"errors"
	"strings"
	"testing"
)

// TestErrorText: an error keeps its words and its lines; what inputs put into it cannot
// flood or steer the terminal.
func TestErrorText(t *testing.T) {
	for text, want := range map[string]string{
		"trace.csv: line 3: “7” is no number\n  > 3 | a\tb": "trace.csv: line 3: “7” is no number\n  > 3 | a\tb",
		"name \x1b[31mred\x07":       `name \x1b[31mred\a`,
		"left \u202e to right \r\n":  `left \u202e to right \r` + "\n",
		"a \xff b":                   "a ? b",
		strings.Repeat("x", 600):     strings.Repeat("x", 600),
		strings.Repeat("[", 100_000): strings.Repeat("[", 400) + " …(99400 more characters)… " + strings.Repeat("[", 200),
	} {
		if got := errorText(errors.New(text)); got != want {
			t.Errorf("%.100q is shown as %.700q", text, got)
		}
	}
}
