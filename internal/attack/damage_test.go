//go:build linux

package attack

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

var (
	numeral = regexp.MustCompile(`-?\d+(\.\d+)?`)
	word    = regexp.MustCompile(`[A-Za-z_]+`)
)

// extremes are numbers that readers like least.
var extremes = []string{"0", "-1", "1", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e308", "1e-308", "1e999999999",
	"0.1", "NaN", "Inf", "2000000000", "99999999999999999999999999", "00", "0x10", "1_000", "", "null", "true", "[]", "{}", `"x"`}

// oddities are texts that terminals, spreadsheets and parsers take for something else.
var oddities = []string{"\x1b[31m", "\x00", "\n", "\r\n", "\t", "\xff\xfe", "\u202e", "=1+1", "../../x", "", "\ufeff", "'", `"`, "&a", "*a", "!!binary", "#", ": ", "- ", "%YAML 2.0\n---\n", "---\n"}

// damage returns the content with one or a few damages. What is text has more kinds.
func damage(rng *rand.Rand, content []byte) []byte {
	out := slices.Clone(content)
	for range 1 + rng.IntN(3)*rng.IntN(2) {
		if len(out) == 0 {
			return out
		}
		at := rng.IntN(len(out))
		end := min(len(out), at+1+rng.IntN(1+len(out)/4))
		switch rng.IntN(12) {
		case 0, 1:
			out[at] ^= 1 << rng.IntN(8)
		case 2:
			out = out[:at]
		case 3:
			out = slices.Delete(out, at, end)
		case 4:
			out = slices.Insert(out, at, slices.Clone(out[at:end])...)
		case 5:
			for i := at; i < min(end, at+64); i++ {
				out[i] = byte(rng.Uint32())
			}
		case 6, 7:
			out = exchange(rng, out, numeral, extremes)
		case 8:
			out = exchange(rng, out, word, append(strings.Fields("null true name jobs seed model"), oddities...))
		case 9:
			out = slices.Insert(out, at, []byte(oddities[rng.IntN(len(oddities))])...)
		case 10: // two lines change places, or one is there twice
			lines := bytes.SplitAfter(out, []byte("\n"))
			i, k := rng.IntN(len(lines)), rng.IntN(len(lines))
			if rng.IntN(2) == 0 {
				lines[i], lines[k] = lines[k], lines[i]
			} else {
				lines = slices.Insert(lines, i, lines[k])
			}
			out = bytes.Join(lines, nil)
		case 11: // deep and long
			open := []string{"[", "{\"a\":", "(", "- "}[rng.IntN(4)]
			out = slices.Insert(out, at, []byte(strings.Repeat(open, 1+rng.IntN(80_000)))...)
		}
	}
	return out
}

// exchange puts another text in the place of one match.
func exchange(rng *rand.Rand, content []byte, pattern *regexp.Regexp, by []string) []byte {
	all := pattern.FindAllIndex(content, -1)
	if len(all) == 0 {
		return content
	}
	m := all[rng.IntN(len(all))]
	return slices.Concat(content[:m[0]], []byte(by[rng.IntN(len(by))]), content[m[1]:])
}
