package external

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine is the length in bytes beyond which a line is refused.
const maxLine = 16 << 20

// Conn is the way to a program and back.
type Conn struct {
	w   io.Writer
	r   io.Reader
	buf []byte
	// Cause says why the program is gone, once a stream has failed; nil if nobody knows.
	Cause func() error
}

// NewConn returns a connection that writes questions to w and reads answers from r.
func NewConn(w io.Writer, r io.Reader) *Conn { return &Conn{w: w, r: r, buf: make([]byte, 0, 4096)} }

// errSecond is the fault of a program that says more than it was asked.
var errSecond = errors.New("it wrote a second line where one answer was due")

// tell writes a line, which ends with a newline.
func (c *Conn) tell(line []byte) error {
	if _, err := c.w.Write(line); err != nil {
		return c.gone(err)
	}
	return nil
}

// ask writes a line and returns the one that answers it, without its newline. It is
// valid until the next call.
func (c *Conn) ask(line []byte) ([]byte, error) {
	if err := c.tell(line); err != nil {
		return nil, err
	}
	return c.line()
}

// line reads a line, as ask returns it.
func (c *Conn) line() ([]byte, error) {
	c.buf = c.buf[:0]
	for {
		if len(c.buf) == cap(c.buf) {
			c.buf = append(c.buf, 0)[:len(c.buf)]
		}
		seen := len(c.buf)
		n, err := c.r.Read(c.buf[seen:cap(c.buf)])
		c.buf = c.buf[:seen+n]
		switch end := bytes.IndexByte(c.buf[seen:], '\n'); {
		case end >= 0 && seen+end+1 < len(c.buf):
			return nil, errSecond
		case end >= 0:
			return c.buf[:seen+end], nil
		case len(c.buf) > maxLine:
			return nil, fmt.Errorf("its answer is longer than %d MiB", maxLine>>20)
		case err != nil:
			return nil, c.gone(err)
		}
	}
}

// Rest reads to the end of what the program says and returns an error if that is
// anything: nothing was asked any more.
func (c *Conn) Rest() error {
	n, err := c.r.Read(c.buf[:1])
	switch {
	case n > 0:
		return errSecond
	case err != nil && !errors.Is(err, io.EOF):
		return c.gone(err)
	}
	return nil
}

// gone is the error of a stream that has failed.
func (c *Conn) gone(err error) error {
	if c.Cause != nil {
		if why := c.Cause(); why != nil {
			return why
		}
	}
	if errors.Is(err, io.EOF) {
		return errors.New("it closed its output and gave no answer")
	}
	return fmt.Errorf("it cannot be reached: %w", err)
}
