package input

import (
	"compress/gzip"
	"fmt"
	"io"
)

// free is how many bytes may come out of a few compressed ones before their ratio
// counts.
const free = 16 << 20

// Counter counts the compressed bytes that are read through it.
type Counter struct {
	r io.Reader
	n int64
}

// Packed is a counter of compressed bytes whose number is known.
func Packed(n int64) *Counter { return &Counter{n: n} }

// Read implements io.Reader.
func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Gzip returns a reader of what gzip data unpack to.
//
// Errors: they are damaged. Reading fails as [Unpack] says.
func Gzip(r io.Reader) (io.Reader, error) {
	packed := &Counter{r: r}
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("damaged gzip: %w", err)
	}
	return Unpack(packed, unzipped), nil
}

// Unpack returns a reader of what comes out of compressed bytes. It fails where more
// does than Ratio allows: a few bytes over and over, which no trace is.
func Unpack(packed *Counter, out io.Reader) io.Reader {
	return &unpacked{packed: packed, r: out}
}

type unpacked struct {
	packed *Counter
	r      io.Reader
	out    int64
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.out += int64(n)
	if u.out <= free {
		return n, err
	}
	most, wrong := Ratio.Value(0)
	if wrong != nil {
		return 0, wrong
	}
	if u.out/most > u.packed.n {
		return 0, fmt.Errorf("unpacks to more than %d %s; $%s raises that", most, Ratio.Of, Ratio.Variable)
	}
	return n, err
}
