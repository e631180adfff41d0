package main

import (
	"fmt"
	"strings"

	"yardstick/internal/output"
)

// What an error shows of a long line: its beginning and its end.
const (
	lineHead = 400
	lineTail = 200
)

// errorText returns the text of an error as a terminal may show it. Inputs speak in it:
// what they hold is neither obeyed nor repeated at length.
func errorText(err error) string {
	lines := strings.Split(strings.ToValidUTF8(err.Error(), "?"), "\n")
	for i, line := range lines {
		runes := []rune(line)
		if cut := len(runes) - lineHead - lineTail; cut > 0 {
			lines[i] = fmt.Sprintf("%s …(%d more characters)… %s", string(runes[:lineHead]), cut, string(runes[len(runes)-lineTail:]))
		}
	}
	return output.Text(strings.Join(lines, "\n"))
}
