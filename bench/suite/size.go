package suite

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"yardstick/internal/input"
)

// Deepest is how deep values may lie; an alias of what it is part of lies deeper.
const Deepest = 50

// deepestBrackets is how many brackets may be open in a text, those in comments too. The
// YAML reader takes memory by the square of that, before check sees the values.
const deepestBrackets = 1000

// plainText returns a text of YAML without its byte order mark, if it is small enough
// to be read: the YAML reader takes some kilobytes a value.
//
// Errors: it is no UTF-8; it is beyond a limit.
func plainText(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := input.UTF8(data); err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		bad := slices.IndexFunc(bytes.SplitAfter(data, []byte("\n")), func(line []byte) bool { return !utf8.Valid(line) })
		return nil, fmt.Errorf("line %d is not UTF-8: save the file in that encoding", bad+1)
	}
	if err := input.YAMLLines.Check(int64(bytes.Count(data, []byte("\n"))), 0); err != nil {
		return nil, err
	}
	values, open := int64(0), 0
	for line := range bytes.Lines(data) {
		for i, c := range line {
			switch c {
			case '[', '{':
				open++
				values++
			case ']', '}':
				open = max(open-1, 0)
			case '\n', ',', '*':
				values++
			}
			if open > deepestBrackets {
				return nil, fmt.Errorf("more than %d brackets are open at byte %d of a line: values lie at most %d deep", deepestBrackets, i+1, Deepest)
			}
		}
		if nested(line) > Deepest {
			return nil, fmt.Errorf("values lie more than %d deep in a line", Deepest)
		}
	}
	return data, input.YAMLValues.Check(values, 0)
}

// nested counts the marks in a row of which each begins a value within the one before:
// entries of lists, keys, tags, anchors. Comments have none.
func nested(line []byte) int {
	most, n := 0, 0
	for word := range bytes.FieldsSeq(line) {
		c := word[0]
		if c == '#' {
			break
		}
		if len(word) == 1 && (c == '-' || c == '?' || c == ':') || c == '!' || c == '&' {
			n++
			most = max(most, n)
			continue
		}
		n = 0
	}
	return most
}

// countValues counts the values of a document as often as aliases repeat them.
func countValues(n ast.Node) error {
	most, err := input.YAMLValues.Value(0)
	if err != nil {
		return err
	}
	anchors, count := map[string]ast.Node{}, int64(0)
	var walk func(n ast.Node, depth int)
	walk = func(n ast.Node, depth int) {
		if count++; count > most || depth > deepestBrackets {
			return
		}
		switch n := n.(type) {
		case *ast.AnchorNode:
			anchors[n.Name.GetToken().Value] = n.Value
			walk(n.Value, depth+1)
		case *ast.AliasNode:
			if to := anchors[n.Value.GetToken().Value]; to != nil {
				walk(to, depth+1)
			}
		case *ast.TagNode:
			walk(n.Value, depth+1)
		case *ast.MappingNode:
			for _, v := range n.Values {
				walk(v.Value, depth+1)
			}
		case *ast.MappingValueNode:
			walk(n.Value, depth+1)
		case *ast.SequenceNode:
			for _, v := range n.Values {
				walk(v, depth+1)
			}
		}
	}
	walk(n, 0)
	if count > most {
		return fmt.Errorf("aliases make of it more than the %d %s that are read; $%s raises that", most, input.YAMLValues.Of, input.YAMLValues.Variable)
	}
	return nil
}
