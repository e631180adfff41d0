package table

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
)

// digestKey names the entry of the footer that holds one CRC-32C per column,
// over all its values in order. Parquet's own page checksums are optional and
// cover neither page headers nor the footer; with these, a file either reads
// back as it was written or is refused.
const digestKey = "yardstick.crc32c"

// digests are checksums by column name.
type digests map[string]uint32

// String returns "name=hex" pairs in order of name, with spaces between.
func (d digests) String() string {
	var parts []string
	for name, sum := range d {
		parts = append(parts, fmt.Sprintf("%s=%08x", name, sum))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func parseDigests(text string) (digests, error) {
	d := digests{}
	for _, part := range strings.Fields(text) {
		name, hex, _ := strings.Cut(part, "=")
		sum, err := strconv.ParseUint(hex, 16, 32)
		if err != nil {
			return nil, fmt.Errorf("damaged: checksum %q is not hexadecimal", part)
		}
		d[name] = uint32(sum)
	}
	return d, nil
}

// digest is the running checksum of one column. It does not depend on how the
// values are split into batches.
type digest struct {
	sum   uint32
	bytes []byte // of one batch; kept to be reused
}

// add appends the first n cells: per value a byte for presence, then a number's
// eight bytes or a text's length and bytes. It returns the number of bytes.
func (d *digest) add(c *cells, n int) int {
	b := d.bytes[:0]
	if !c.used {
		b = append(b, make([]byte, n)...)
		n = 0 // done
	}
	for i, present := range c.present[:n] {
		switch {
		case !present:
			b = append(b, 0)
		case c.texts == nil:
			b = binary.LittleEndian.AppendUint64(append(b, 1), math.Float64bits(c.numbers[i]))
		default:
			b = binary.LittleEndian.AppendUint32(append(b, 1), uint32(len(c.texts[i])))
			b = append(b, c.texts[i]...)
		}
	}
	d.sum = crc32.Update(d.sum, crc32.MakeTable(crc32.Castagnoli), b)
	d.bytes = b
	return len(b)
}
