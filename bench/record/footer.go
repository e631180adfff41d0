package record

import (
	"encoding/binary"
	"errors"
)

var errNotArrow = errors.New("is not an Arrow IPC file")
var errFooter = errors.New("is a damaged Arrow file: its footer is not consistent")

// checkFooter walks the footer of an Arrow IPC file and returns an error if a
// vector in it claims more elements than the footer has room for. The Arrow
// reader believes such claims and may ask for hundreds of gigabytes, which
// ends the process.
//
// Source: the Arrow columnar format, "IPC File Format", with File.fbs and
// Schema.fbs; the FlatBuffers binary format.
func checkFooter(data []byte) error {
	const magic = "ARROW1"
	n := len(data)
	if n < 8+4+len(magic) || string(data[:len(magic)]) != magic || string(data[n-len(magic):]) != magic {
		return errNotArrow
	}
	end := n - len(magic) - 4
	size := int(binary.LittleEndian.Uint32(data[end:]))
	if size < 8 || size > end-8 {
		return errFooter
	}
	b := flatbuffer(data[end-size : end])
	ok := b.root(func(footer fbTable) bool {
		return footer.table(1, b.checkSchema) && // schema
			footer.vector(2, 24, nil) && // dictionaries: structs Block
			footer.vector(3, 24, nil) && // recordBatches
			footer.vector(4, 4, b.checkKeyValue) // custom_metadata
	})
	if !ok {
		return errFooter
	}
	return nil
}

func (b flatbuffer) checkSchema(s fbTable) bool {
	return s.vector(1, 4, b.checkField) && s.vector(2, 4, b.checkKeyValue) && s.vector(3, 8, nil)
}

// checkField also refuses nested columns, which no table here has.
func (b flatbuffer) checkField(f fbTable) bool {
	return f.vector(0, 1, nil) && f.vector(6, 4, b.checkKeyValue) &&
		f.vector(5, 4, func(fbTable) bool { return false })
}

func (b flatbuffer) checkKeyValue(kv fbTable) bool {
	return kv.vector(0, 1, nil) && kv.vector(1, 1, nil)
}

// flatbuffer is a FlatBuffers buffer. All its methods report whether what they
// followed lies within it.
type flatbuffer []byte

// fbTable is a table at a position of a buffer, with its vtable.
type fbTable struct {
	b           flatbuffer
	pos, vtable int
	vtableSize  int
}

func (b flatbuffer) uint16(at int) (int, bool) {
	if at < 0 || at+2 > len(b) {
		return 0, false
	}
	return int(binary.LittleEndian.Uint16(b[at:])), true
}

func (b flatbuffer) uint32(at int) (int, bool) {
	if at < 0 || at+4 > len(b) {
		return 0, false
	}
	return int(binary.LittleEndian.Uint32(b[at:])), true
}

func (b flatbuffer) root(check func(fbTable) bool) bool {
	at, ok := b.uint32(0)
	return ok && b.at(at, check)
}

// at checks the table at a position. A table starts with the signed distance
// back to its vtable: {uint16 size of the vtable, uint16 size of the table,
// uint16 offset of each field, 0 if absent}.
func (b flatbuffer) at(pos int, check func(fbTable) bool) bool {
	back, ok := b.uint32(pos)
	if !ok {
		return false
	}
	t := fbTable{b: b, pos: pos, vtable: pos - int(int32(uint32(back)))}
	t.vtableSize, ok = b.uint16(t.vtable)
	return ok && t.vtable+t.vtableSize <= len(b) && check(t)
}

// target returns the position that a field's offset leads to, 0 if absent.
func (t fbTable) target(field int) (int, bool) {
	if slot := 4 + 2*field; slot+2 <= t.vtableSize {
		offset, ok := t.b.uint16(t.vtable + slot)
		if !ok || offset == 0 {
			return 0, ok
		}
		distance, ok := t.b.uint32(t.pos + offset)
		return t.pos + offset + distance, ok
	}
	return 0, true
}

// table checks the table that a field leads to; an absent one passes.
func (t fbTable) table(field int, check func(fbTable) bool) bool {
	at, ok := t.target(field)
	return ok && (at == 0 || t.b.at(at, check))
}

// vector checks that a field's vector of elements of the given size lies
// within the buffer, and each element with check, if any: the elements then
// are offsets to tables. An absent vector passes.
func (t fbTable) vector(field, size int, check func(fbTable) bool) bool {
	at, ok := t.target(field)
	if !ok || at == 0 {
		return ok
	}
	n, ok := t.b.uint32(at)
	if !ok || n > (len(t.b)-at-4)/size {
		return false
	}
	for i := 0; check != nil && i < n; i++ {
		slot := at + 4 + size*i
		distance, ok := t.b.uint32(slot)
		if !ok || !t.b.at(slot+distance, check) {
			return false
		}
	}
	return true
}
