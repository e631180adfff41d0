package output

import (
	"strconv"
	"strings"
)

// Count is "1 violation", "2 violations" or "no violations".
func Count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	if n == 0 {
		return "no " + noun + "s"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
