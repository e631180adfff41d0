package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"yardstick/internal/strictjson"
)

const maxValueBytes = 1 << 22 // of one JSON value

// JSON reads a long JSON file one value after the other: the elements of an
// array, or values without anything around them.
type JSON struct {
	file    *File
	lines   *lines
	decoder *json.Decoder
	line    int  // on which the current value begins, from 1
	array   bool // that the values are in
	started bool
}

// OpenJSON opens a file as Open does, and reads it under a watch. The caller closes it.
func OpenJSON(path, member string, w Watch) (*JSON, error) {
	f, err := OpenWatched(path, member, w)
	if err != nil {
		return nil, err
	}
	j := &JSON{file: f, lines: &lines{in: f, passed: 1}}
	j.decoder = json.NewDecoder(j.lines)
	return j, nil
}

// Name returns the name the file was opened by.
func (j *JSON) Name() string { return j.file.Name() }

// Close closes the file.
func (j *JSON) Close() error { return j.file.Close() }

// Next reads the next value into v, as strictjson.UnmarshalPart does. At the end it
// returns io.EOF; every other error names the file and the line.
func (j *JSON) Next(v any) error {
	if !j.started {
		j.started = true
		first, err := j.file.reader.Peek(1)
		for err == nil && (first[0] <= ' ' || first[0] == 0xef || first[0] == 0xbb || first[0] == 0xbf) {
			if first[0] == '\n' {
				j.lines.passed++
			}
			_, _ = j.file.reader.Discard(1)
			first, err = j.file.reader.Peek(1)
		}
		if err == nil && first[0] == '[' {
			j.array = true
			j.lines.budget = maxValueBytes
			_, err := j.decoder.Token()
			j.line = j.lines.at(j.decoder.InputOffset())
			if err != nil {
				return j.failed(err)
			}
		}
	}
	if !j.more() {
		return j.end()
	}
	return j.value(v)
}

func (j *JSON) more() bool {
	j.lines.budget = maxValueBytes
	return j.decoder.More()
}

// end makes sure that the array ends where the values do.
func (j *JSON) end() error {
	t, err := j.decoder.Token()
	j.line = j.lines.at(j.decoder.InputOffset())
	switch {
	case errors.Is(err, io.EOF) && !j.array:
		return io.EOF
	case errors.Is(err, io.EOF):
		return j.failed(io.ErrUnexpectedEOF)
	case err != nil:
		return j.failed(err)
	case !j.array || t != json.Delim(']'):
		return j.Errorf("there is %v where a value is expected", t)
	}
	return j.nothing()
}

// nothing returns io.EOF at the end of the file.
func (j *JSON) nothing() error {
	j.lines.budget = maxValueBytes
	t, err := j.decoder.Token()
	j.line = j.lines.at(j.decoder.InputOffset())
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return j.failed(err)
	}
	return j.Errorf("there is %v behind the end of the JSON value: there must be nothing more after it", t)
}

func (j *JSON) value(v any) error {
	j.lines.budget = maxValueBytes
	before := j.decoder.InputOffset()
	var text json.RawMessage
	err := j.decoder.Decode(&text)
	j.line = j.lines.behind(before) // only now has the place surely been read
	if err != nil {
		return j.failed(err)
	}
	var wrong *strictjson.Error
	if err := strictjson.UnmarshalPart(text, v); errors.As(err, &wrong) {
		return j.Errorf("%s", wrong.Text)
	}
	return err
}

// failed says where the decoder met an error.
func (j *JSON) failed(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%s: line %d: no JSON: %w", j.Name(), j.lines.at(syntax.Offset), err)
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: damaged after line %d: %w", j.Name(), j.line, err)
}

// Errorf returns an error about the current value that names the file and the
// line on which the value begins.
func (j *JSON) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %w", j.Name(), j.line, fmt.Errorf(format, args...))
}

// lines passes bytes on and knows which line each is on. It gives up after too
// many bytes for one value.
type lines struct {
	in     io.Reader
	budget int
	window []byte // bytes passed on, from the last offset asked for
	offset int64  // of the window
	passed int    // line of the window's first byte, from 1
}

func (l *lines) Read(p []byte) (int, error) {
	if l.budget <= 0 {
		return 0, fmt.Errorf("a value is larger than %d MiB", maxValueBytes>>20)
	}
	n, err := l.in.Read(p[:min(len(p), 1<<16)])
	l.budget -= n
	l.window = append(l.window, p[:n]...)
	return n, err
}

// at returns the line of an offset; offsets must not decrease.
func (l *lines) at(offset int64) int {
	n := min(max(0, int(offset-l.offset)), len(l.window))
	l.passed += bytes.Count(l.window[:n], []byte{'\n'})
	l.window = l.window[n:]
	l.offset += int64(n)
	return l.passed
}

// behind returns the line of the first byte from an offset that begins a value.
func (l *lines) behind(offset int64) int {
	l.at(offset)
	n := 0
	for n < len(l.window) && strings.IndexByte(" \t\r\n,:", l.window[n]) >= 0 {
		n++
	}
	return l.at(l.offset + int64(n))
}
