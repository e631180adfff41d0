package latex

import (
	"strings"
	"unicode"
)

// size is the font size of tables in points, with the distance of their lines.
const (
	size    = 8.0
	leading = 9.5
)

// sign is how a character is written that LaTeX gives a meaning, or lacks in its text
// fonts, and how wide it is in thousandths of the font's size.
type sign struct {
	tex   string
	width int
}

var signs = map[rune]sign{
	'\\': {`\textbackslash{}`, 531}, '&': {`\&`, 826}, '%': {`\%`, 885}, '$': {`\$`, 531}, '#': {`\#`, 885}, '_': {`\_`, 420}, '{': {`\{`, 531}, '}': {`\}`, 531},
	'~': {`$\sim$`, 826}, '^': {`\^{}`, 531}, '<': {`$<$`, 826}, '>': {`$>$`, 826}, '|': {`$|$`, 295}, '"': {`''`, 531},
	'[': {`{[}`, 295}, '*': {`{*}`, 531}, // else they are arguments of the end of a line
	'≤': {`$\le$`, 826}, '≥': {`$\ge$`, 826}, '·': {`$\cdot$`, 295}, '×': {`$\times$`, 826}, 'µ': {`$\mu$`, 640}, 'μ': {`$\mu$`, 640}, 'λ': {`$\lambda$`, 619},
	'α': {`$\alpha$`, 684}, 'ε': {`$\varepsilon$`, 500}, 'ξ': {`$\xi$`, 508}, '−': {`$-$`, 826}, '±': {`$\pm$`, 826}, '∞': {`$\infty$`, 1062},
	'–': {`--`, 531}, '—': {`---`, 1063}, '…': {`\dots{}`, 1420}, '’': {`'`, 295}, '“': {"``", 531}, '”': {`''`, 531}, '→': {`$\to$`, 1062}, '\u00a0': {`~`, 354},
}

// widths are those of the printable ASCII characters in cmr8, Computer Modern at 8
// points, in thousandths of the size, from its font metrics.
var widths = [...]int{
	354, 295, 531, 885, 531, 885, 826, 295, 413, 413, 531, 826, 295, 354, 295, 531,
	531, 531, 531, 531, 531, 531, 531, 531, 531, 531, 295, 295, 826, 826, 826, 502,
	826, 796, 752, 767, 811, 723, 693, 834, 796, 383, 545, 825, 664, 973, 796, 826,
	723, 826, 782, 590, 767, 796, 796, 1091, 796, 796, 649, 295, 531, 295, 531, 531,
	295, 531, 590, 472, 590, 472, 325, 531, 590, 295, 325, 561, 295, 885, 590, 531,
	590, 561, 414, 419, 413, 590, 561, 767, 561, 561, 472, 531, 295, 531, 531,
}

// accented are the letters beyond ASCII that LaTeX has in every encoding of its fonts.
const accented = "äöüÄÖÜßéèêëÉáàâåÅçñóòôøØúùûíìîï"

// Escape returns text as LaTeX prints it, on one line. What its fonts lack becomes a
// question mark.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		x, special := signs[r]
		switch {
		case special:
			b.WriteString(x.tex)
		case r >= ' ' && r < 127, strings.ContainsRune(accented, r):
			b.WriteRune(r)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// breakable is Escape where lines may break between the parts of words too.
func breakable(s string) string {
	words := strings.Fields(s)
	for i, word := range words {
		var b strings.Builder
		list := parts(word)
		for k, part := range list {
			b.WriteString(Escape(part))
			if k < len(list)-1 && !strings.HasSuffix(part, "-") && !strings.HasSuffix(part, "–") { // where TeX breaks itself
				b.WriteString(`\allowbreak{}`)
			}
		}
		words[i] = b.String()
	}
	return strings.Join(words, " ")
}

// width returns how wide a text is in a table, in points.
func width(s string) float64 {
	sum := 0
	for _, r := range oneLine(s) {
		x, special := signs[r]
		switch {
		case special:
			sum += x.width
		case r >= ' ' && r < 127:
			sum += widths[r-' ']
		default:
			sum += 900
		}
	}
	return float64(sum) * size / 1000
}

// longest returns the width of the longest part of a text that lines cannot break.
func longest(s string) float64 {
	most := 0.0
	for _, word := range strings.Fields(s) {
		for _, part := range parts(word) {
			most = max(most, width(part))
		}
	}
	return most
}

// parts are the pieces of a word between which lines may break: after hyphens and after
// what joins the parts of names, but not within numbers, and before brackets.
func parts(word string) (list []string) {
	var part []rune
	runes := []rune(word)
	for i, r := range runes {
		if r == '(' && i > 0 && unicode.IsLetter(runes[i-1]) {
			list, part = append(list, string(part)), nil
		}
		part = append(part, r)
		joins := strings.ContainsRune(",;:/_=?&", r) && i > 0 && i < len(runes)-1 && !(unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1]))
		if joins || r == '-' || r == '–' {
			list, part = append(list, string(part)), nil
		}
	}
	if part != nil {
		list = append(list, string(part))
	}
	return list
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) && r != '\u00a0' }), " ")
}
