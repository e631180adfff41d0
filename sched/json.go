package sched

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
)

func writeIndented(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// decodeStrict decodes exactly one JSON value with no unknown keys; errors
// carry the line.
func decodeStrict(r io.Reader, v any) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		var offset int64
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			offset = syntax.Offset
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			offset, err = int64(len(data)), errors.New("the JSON ends too early")
		case errors.As(err, &kind):
			offset, err = errorOffset(data, v), fmt.Errorf("%s cannot be a %s", kind.Field, kind.Value)
		default:
			offset = errorOffset(data, v)
		}
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:min(offset, int64(len(data)))], []byte{'\n'}), err)
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return errors.New("there is more after the JSON value")
	}
	return nil
}

// errorOffset returns the end of the first token of well-formed JSON after
// which the data, cut off and closed there, no longer decodes into v. (The
// decoder reports neither the place of an unknown key nor that of a text that
// UnmarshalText refuses.)
func errorOffset(data []byte, v any) int64 {
	type cut struct {
		end    int64
		suffix string // closes what is open
	}
	var cuts []cut
	var open []byte // the closing brackets due, outermost first
	var key []bool  // for each, whether a key comes next
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			break
		}
		suffix := ""
		switch token {
		case json.Delim('{'):
			open, key = append(open, '}'), append(key, true)
		case json.Delim('['):
			open, key = append(open, ']'), append(key, false)
		default:
			if token == json.Delim('}') || token == json.Delim(']') {
				open, key = open[:len(open)-1], key[:len(key)-1]
			}
			if top := len(open) - 1; top >= 0 && open[top] == '}' {
				if key[top] {
					suffix = ":null"
				}
				key[top] = !key[top]
			}
		}
		closing := slices.Clone(open)
		slices.Reverse(closing)
		cuts = append(cuts, cut{d.InputOffset(), suffix + string(closing)})
	}
	bad := sort.Search(len(cuts), func(i int) bool {
		text := append(slices.Clone(data[:cuts[i].end]), cuts[i].suffix...)
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		return d.Decode(v) != nil
	})
	if bad == len(cuts) {
		return int64(len(data))
	}
	return cuts[bad].end
}
