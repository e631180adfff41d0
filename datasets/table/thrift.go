package table

import (
	"encoding/binary"
	"errors"
)

// The footer and the page headers of a Parquet file are structs in Thrift's
// compact protocol. The library allocates what they announce before it reads
// it, so that one flipped bit can ask for terabytes, which ends the process.
// Hence they are first skipped over here, with every announced length held
// against the bytes that are there.

var errThrift = errors.New("damaged: a length in the metadata exceeds the bytes that are there")

// compactStruct returns the length of the Thrift struct that b begins with.
//
// Errors: b ends before the struct does, or what is there is no struct.
func compactStruct(b []byte) (int, error) {
	c := compact{b: b}
	c.structure(0)
	if c.bad {
		return 0, errThrift
	}
	return c.at, nil
}

// compact walks a Thrift value; bad is set once it makes no sense.
type compact struct {
	b   []byte
	at  int
	bad bool
}

// The types of the compact protocol.
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

func (c *compact) skip(n uint64) {
	if c.bad || n > uint64(len(c.b)-c.at) {
		c.bad = true
		return
	}
	c.at += int(n)
}

func (c *compact) byte() byte {
	c.skip(1)
	if c.bad {
		return 0
	}
	return c.b[c.at-1]
}

func (c *compact) varint() uint64 {
	v, n := binary.Uvarint(c.b[c.at:])
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.skip(uint64(n))
	return v
}

func (c *compact) structure(depth int) {
	for !c.bad {
		header := c.byte()
		if header == 0 {
			return
		}
		if header>>4 == 0 { // the field's number follows
			c.varint()
		}
		if kind := header & 15; kind != thriftTrue && kind != thriftFalse { // these have no more bytes
			c.value(kind, depth+1)
		}
	}
}

func (c *compact) value(kind byte, depth int) {
	const deepest = 32 // Parquet nests 7 deep
	switch {
	case c.bad || depth > deepest:
		c.bad = true
	case kind <= thriftByte:
		c.skip(1)
	case kind <= thriftInt64:
		c.varint()
	case kind == thriftDouble:
		c.skip(8)
	case kind == thriftBinary:
		c.skip(c.varint())
	case kind == thriftList || kind == thriftSet:
		head := c.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = c.varint()
		}
		c.values(n, depth, head&15)
	case kind == thriftMap:
		if n := c.varint(); n > 0 {
			kinds := c.byte()
			c.values(n, depth, kinds>>4, kinds&15)
		}
	case kind == thriftStruct:
		c.structure(depth)
	default:
		c.bad = true
	}
}

// values walks n tuples of the given types. Every value takes at least a byte.
func (c *compact) values(n uint64, depth int, kinds ...byte) {
	if n > uint64(len(c.b)-c.at) {
		c.bad = true
	}
	for i := uint64(0); i < n && !c.bad; i++ {
		for _, k := range kinds {
			c.value(k, depth+1)
		}
	}
}
