package importer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// readLine returns the next line without its end, and whether there was one.
// The line is valid until the next call.
func (c *CSV) readLine() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		c.long = c.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) && len(c.long) <= maxRecordBytes {
			c.long = append(c.long, line...)
			line, err = c.reader.ReadSlice('\n')
		}
		c.long = append(c.long, line...)
		line = c.long
	}
	switch {
	case len(line) > maxRecordBytes:
		return nil, fmt.Errorf("%s: line %d: is longer than %d MiB", c.name, c.lines+1, maxRecordBytes>>20)
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && len(line) == 0:
		return nil, io.EOF
	case err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s: damaged after line %d: %w", c.name, c.lines, err)
	}
	c.lines++
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, nil
}

// read reads the next record that is not an empty line.
func (c *CSV) read() error {
	line, err := c.readLine()
	for err == nil && len(line) == 0 {
		line, err = c.readLine()
	}
	if err != nil {
		return err
	}
	c.line = c.lines
	c.ends = c.ends[:0]
	if bytes.IndexByte(line, '"') >= 0 {
		return c.readQuoted(line)
	}
	c.record, c.gap = line, 1
	c.ends = append(appendPlaces(c.ends, line, c.options.Comma), int32(len(line)))
	return nil
}

// appendPlaces appends the places where a byte is in a line. It looks at eight
// bytes at once: fields are too short for a search to be set up for each. A
// byte of x is 0 where the line has the wanted one; adding 0x7f to its lower
// seven bits carries into the highest unless all are 0 (Warren, Hacker's
// Delight, section 6-1).
func appendPlaces(places []int32, line []byte, wanted byte) []int32 {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	at := 0
	for ; len(line)-at >= 8; at += 8 {
		x := binary.LittleEndian.Uint64(line[at:]) ^ ones*uint64(wanted)
		for found := ^((x&low + low) | x | low); found != 0; found &= found - 1 {
			places = append(places, int32(at+bits.TrailingZeros64(found)/8))
		}
	}
	for ; at < len(line); at++ {
		if line[at] == wanted {
			places = append(places, int32(at))
		}
	}
	return places
}

// readQuoted takes apart a record with quotes, which may go on over further
// lines.
func (c *CSV) readQuoted(line []byte) error {
	c.quoted, c.gap = c.quoted[:0], 0
	for {
		if len(line) == 0 || line[0] != '"' { // a plain field
			i := bytes.IndexByte(line, c.options.Comma)
			field := line
			if i >= 0 {
				field = line[:i]
			}
			if bytes.IndexByte(field, '"') >= 0 {
				return fmt.Errorf("%s: line %d: a quote within a field that does not begin with one", c.name, c.lines)
			}
			c.quoted = append(c.quoted, field...)
			c.ends = append(c.ends, int32(len(c.quoted)))
			if i < 0 {
				break
			}
			line = line[i+1:]
			continue
		}
		rest, err := c.quotedField(line[1:])
		if err != nil {
			return err
		}
		c.ends = append(c.ends, int32(len(c.quoted)))
		if len(rest) == 0 {
			break
		}
		if rest[0] != c.options.Comma {
			return fmt.Errorf("%s: line %d: a closing quote that does not end its field", c.name, c.lines)
		}
		line = rest[1:]
	}
	c.record = c.quoted
	return nil
}

// quotedField appends a field to quoted, from behind its opening quote, and
// returns what follows its closing one. A quote within the field is doubled.
func (c *CSV) quotedField(line []byte) (rest []byte, err error) {
	for {
		i := bytes.IndexByte(line, '"')
		switch {
		case i >= 0 && i+1 < len(line) && line[i+1] == '"':
			c.quoted = append(c.quoted, line[:i+1]...)
			line = line[i+2:]
		case i >= 0:
			c.quoted = append(c.quoted, line[:i]...)
			return line[i+1:], nil
		default: // the field has a line break
			c.quoted = append(append(c.quoted, line...), '\n')
			line, err = c.readLine()
			if errors.Is(err, io.EOF) || len(c.quoted) > maxRecordBytes {
				return nil, fmt.Errorf("%s: line %d: a quote is not closed", c.name, c.line)
			}
			if err != nil {
				return nil, err
			}
		}
	}
}
