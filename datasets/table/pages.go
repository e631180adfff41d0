package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// Limits on one page. Writers aim at 1 MiB and some tens of thousands of
	// values; a page that announces more than this is damaged.
	maxPageBytes  = 1 << 28
	maxPageValues = 1 << 24

	// A page is unpacked in memory as a whole: it may have this, and ten times what it
	// takes in the file.
	freePageBytes = 1 << 24

	// How much is read of a page to find its header, at first and at most.
	headerBytes    = 1 << 12
	maxHeaderBytes = 1 << 20
)

// checkFooter checks that the file ends in a footer whose lengths all make
// sense.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if _, err := r.ReadAt(tail[:], size-8); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the footer: %w", err)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	if magic := string(tail[4:]); magic != "PAR1" {
		return fmt.Errorf("not a Parquet file, or cut off: it ends in %q", magic)
	}
	if length > size-12 {
		return fmt.Errorf("damaged: a footer of %d bytes in a file of %d", length, size)
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-8-length); err != nil {
		return fmt.Errorf("reading the footer: %w", err)
	}
	n, err := compactStruct(footer)
	if err == nil && n != len(footer) {
		err = fmt.Errorf("damaged: a footer of %d bytes ends after %d", length, n)
	}
	return err
}

// checkPages walks the headers of a column chunk's pages before any page is
// decoded: they must fill the chunk, and the values that they announce must be
// as many as the row group has rows.
func (t *File) checkPages(m *format.ColumnMetaData) error {
	switch m.Codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd:
	default:
		// The library's LZ4 decoder takes all memory there is when it meets
		// damage.
		return fmt.Errorf("is compressed with %v, which is not supported: zstd, snappy, gzip and brotli are", m.Codec)
	}
	at := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		at = m.DictionaryPageOffset
	}
	end := at + m.TotalCompressedSize
	if at < 4 || end < at || end > t.size {
		return fmt.Errorf("damaged: its pages are said to be at bytes %d to %d of %d", at, end, t.size)
	}
	values := int64(0)
	for at < end {
		header, body, err := t.pageHeader(at, end)
		if err != nil {
			return err
		}
		next := body + int64(header.CompressedPageSize)
		if most := freePageBytes + 10*int64(header.CompressedPageSize); int64(header.UncompressedPageSize) > most && header.UncompressedPageSize <= maxPageBytes {
			return fmt.Errorf("a page of %d bytes unpacks to %d, and %d of them are read: write smaller pages", header.CompressedPageSize, header.UncompressedPageSize, most)
		}
		if header.CompressedPageSize < 0 || header.UncompressedPageSize < 0 || header.UncompressedPageSize > maxPageBytes || next > end {
			return fmt.Errorf("damaged: a page of %d bytes (%d uncompressed) at byte %d of a column that ends at byte %d",
				header.CompressedPageSize, header.UncompressedPageSize, body, end)
		}
		n, err := pageValues(header)
		if err != nil {
			return err
		}
		values += n
		if err := t.checkCompressed(m.Codec, header, body); err != nil {
			return err
		}
		at = next
	}
	if values != m.NumValues {
		return fmt.Errorf("damaged: its pages announce %d values for %d rows", values, m.NumValues)
	}
	return nil
}

// pageHeader reads the page header at a byte, and returns where the page's
// body begins.
func (t *File) pageHeader(at, end int64) (*format.PageHeader, int64, error) {
	for want := int64(headerBytes); ; want = maxHeaderBytes {
		b := make([]byte, min(want, end-at))
		if _, err := t.reader.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("reading a page header: %w", err)
		}
		n, err := compactStruct(b)
		if err != nil && want < maxHeaderBytes && int64(len(b)) < end-at {
			continue // perhaps it is a long one
		}
		if err != nil {
			return nil, 0, err
		}
		header := new(format.PageHeader)
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), b[:n], header); err != nil {
			return nil, 0, fmt.Errorf("damaged page header: %w", oneLine(err))
		}
		return header, at + int64(n), nil
	}
}

// pageValues returns the number of values in a data page, 0 for others.
func pageValues(h *format.PageHeader) (int64, error) {
	n, levels := int32(0), int32(0)
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		n = h.DataPageHeader.V.NumValues
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v2 := &h.DataPageHeaderV2.V
		n, levels = v2.NumValues, v2.DefinitionLevelsByteLength
		if v2.NumNulls < 0 || v2.NumNulls > n || v2.NumRows != n || v2.RepetitionLevelsByteLength != 0 {
			return 0, fmt.Errorf("damaged: a page of %d values, %d NULL, in %d rows", n, v2.NumNulls, v2.NumRows)
		}
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		// Each entry takes at least the four bytes of a length or a number.
		if d := h.DictionaryPageHeader.V.NumValues; d < 0 || int64(d)*4 > int64(h.UncompressedPageSize) {
			return 0, fmt.Errorf("damaged: a dictionary of %d entries in %d bytes", d, h.UncompressedPageSize)
		}
		return 0, nil
	default:
		return 0, fmt.Errorf("damaged: a page of type %v without its header", h.Type)
	}
	if n < 0 || n > maxPageValues || levels < 0 || levels > min(h.CompressedPageSize, h.UncompressedPageSize) {
		return 0, fmt.Errorf("damaged: a page of %d values with %d bytes of levels in %d", n, levels, h.UncompressedPageSize)
	}
	return int64(n), nil
}

// checkCompressed holds the size that compressed data announce at their
// beginning against the page header's: decoders allocate it.
func (t *File) checkCompressed(codec format.CompressionCodec, h *format.PageHeader, body int64) error {
	size, want := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if h.Type == format.DataPageV2 {
		v2 := &h.DataPageHeaderV2.V
		levels := int64(v2.DefinitionLevelsByteLength)
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			return nil
		}
		body, size, want = body+levels, size-levels, want-levels
	}
	head := make([]byte, min(size, 18))
	if _, err := t.reader.ReadAt(head, body); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading a page: %w", err)
	}
	got, known := int64(0), false
	switch codec {
	case format.Snappy:
		v, n := binary.Uvarint(head)
		got, known = int64(v), n > 0
	case format.Zstd:
		got, known = zstdContentSize(head)
	}
	if known && got != want {
		return fmt.Errorf("damaged: compressed data of %d bytes in a page of %d", got, want)
	}
	return nil
}

// zstdContentSize returns the size of the content that a Zstandard frame
// announces, if it does (RFC 8878, section 3.1.1.1).
func zstdContentSize(b []byte) (int64, bool) {
	if len(b) < 18 { // the longest header, so that no field is cut off
		b = append(b[:len(b):len(b)], make([]byte, 18-len(b))...)
	}
	if binary.LittleEndian.Uint32(b) != 0xFD2FB528 {
		return 0, false
	}
	descriptor := b[4]
	single := descriptor>>5&1 == 1
	at := 5
	if !single {
		at++ // window descriptor
	}
	at += []int{0, 1, 2, 4}[descriptor&3] // dictionary
	switch descriptor >> 6 {
	case 0:
		return int64(b[at]), single
	case 1:
		return int64(binary.LittleEndian.Uint16(b[at:])) + 256, true
	case 2:
		return int64(binary.LittleEndian.Uint32(b[at:])), true
	default:
		return int64(binary.LittleEndian.Uint64(b[at:]) & (1<<63 - 1)), true
	}
}
