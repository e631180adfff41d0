package importer

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

const (
	// SorterBytes is what a Sorter holds in memory by default.
	SorterBytes = 32 << 20

	maxRuns    = 64      // files that are merged at once
	entrySize  = 48      // of an entry and its place for sorting, in bytes
	blockBytes = 1 << 18 // of records in memory
)

// Sorter sorts records, a key and a value, by the bytes of the key. What does
// not fit into its memory waits in temporary files: sorted runs, merged at the
// end, and in between where they become too many (Knuth, The Art of Computer
// Programming, vol. 3, section 5.4). Records with equal keys keep their order.
type Sorter struct {
	dir     string
	limit   int
	blocks  [][]byte // the records in memory, one after the other
	used    int      // blocks in use
	bytes   int      // in these
	entries []entry  // one per record
	dealt   []entry  // memory for the entries, for sorting
	runs    []*os.File
}

// entry is one record in memory.
type entry struct {
	prefix     uint64 // the first bytes of the key, for most comparisons
	block, at  uint32 // where the key is, with the value behind it
	key, value uint32 // lengths
}

// NewSorter returns a sorter that holds at most limit bytes in memory, or
// SorterBytes if limit is 0, and puts its files into dir. The caller closes it.
func NewSorter(dir string, limit int) *Sorter {
	if limit <= 0 {
		limit = SorterBytes
	}
	return &Sorter{dir: dir, limit: limit}
}

// Add adds a record, of which it makes a copy.
//
// Errors: a temporary file cannot be written.
func (s *Sorter) Add(key, value []byte) error {
	size := len(key) + len(value)
	if len(s.entries) > 0 && s.bytes+size+(len(s.entries)+1)*entrySize > s.limit {
		if err := s.spill(); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
	}
	if s.used == 0 || cap(s.blocks[s.used-1])-len(s.blocks[s.used-1]) < size {
		s.block(size)
	}
	last := &s.blocks[s.used-1]
	s.entries = append(s.entries, entry{prefix: prefix(key), block: uint32(s.used - 1), at: uint32(len(*last)), key: uint32(len(key)), value: uint32(len(value))})
	*last = append(append(*last, key...), value...)
	s.bytes += size
	return nil
}

// block begins the next block, which has room for so many bytes. Blocks are
// used again after a spill.
func (s *Sorter) block(size int) {
	switch {
	case s.used == len(s.blocks):
		s.blocks = append(s.blocks, make([]byte, 0, max(size, blockBytes)))
	case cap(s.blocks[s.used]) < size:
		s.blocks[s.used] = make([]byte, 0, size)
	default:
		s.blocks[s.used] = s.blocks[s.used][:0]
	}
	s.used++
}

// prefix returns the first eight bytes as a number that compares as they do.
func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

func (s *Sorter) key(e *entry) []byte { return s.blocks[e.block][e.at : e.at+e.key] }

func (s *Sorter) value(e *entry) []byte {
	at := e.at + e.key
	return s.blocks[e.block][at : at+e.value]
}

// sort sorts the records in memory by prefix, and those with equal prefixes by
// the whole key.
func (s *Sorter) sort() {
	s.sortPrefixes()
	for rest := s.entries; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].prefix == rest[0].prefix {
			n++
		}
		slices.SortFunc(rest[:n], func(a, b entry) int {
			return cmp.Or(bytes.Compare(s.key(&a), s.key(&b)), cmp.Compare(a.block, b.block), cmp.Compare(a.at, b.at))
		})
		rest = rest[n:]
	}
}

// sortPrefixes is a radix sort from the last byte of the prefixes to the first
// (Knuth, The Art of Computer Programming, vol. 3, section 5.2.5): each pass
// deals the entries to the places of their byte, in the order of the pass
// before.
func (s *Sorter) sortPrefixes() {
	var counts [8][256]int
	for i := range s.entries {
		for b := range counts {
			counts[b][byte(s.entries[i].prefix>>(8*b))]++
		}
	}
	from, to := s.entries, slices.Grow(s.dealt, len(s.entries))[:len(s.entries)]
	for b := range counts {
		next, one := 0, false // place of the next byte; whether all entries have the same
		for v, n := range counts[b] {
			counts[b][v], next, one = next, next+n, one || n == len(from)
		}
		if one {
			continue
		}
		for i := range from {
			v := byte(from[i].prefix >> (8 * b))
			to[counts[b][v]] = from[i]
			counts[b][v]++
		}
		from, to = to, from
	}
	s.entries, s.dealt = from, to[:0]
}

// spill writes the records in memory as a run.
func (s *Sorter) spill() error {
	s.sort()
	err := s.writeRun(func(yield func(key, value []byte) error) error {
		for i := range s.entries {
			if err := yield(s.key(&s.entries[i]), s.value(&s.entries[i])); err != nil {
				return err
			}
		}
		return nil
	})
	s.entries, s.used, s.bytes = s.entries[:0], 0, 0
	if err == nil && len(s.runs) >= maxRuns {
		err = s.mergeRuns()
	}
	return err
}

// writeRun writes records as a new run: lengths as varints, then the bytes.
func (s *Sorter) writeRun(records func(yield func(key, value []byte) error) error) error {
	f, err := newTemporary(s.dir)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	w := bufio.NewWriterSize(f, spoolBuffer)
	var head []byte
	err = records(func(key, value []byte) error {
		head = binary.AppendUvarint(head[:0], uint64(len(key)))
		head = binary.AppendUvarint(head, uint64(len(value)))
		_, _ = w.Write(head) // the error stays with the writer
		_, _ = w.Write(key)
		_, err := w.Write(value)
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// mergeRuns makes one run of all.
func (s *Sorter) mergeRuns() error {
	old := s.runs
	s.runs = nil
	defer func() {
		for _, f := range old {
			f.Close()
		}
	}()
	m, err := newMerge(old)
	if err != nil {
		return err
	}
	return s.writeRun(func(yield func(key, value []byte) error) error {
		for len(m.runs) > 0 {
			if err := yield(m.runs[0].key, m.runs[0].value); err != nil {
				return err
			}
			if err := m.next(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Record is a record of a Sorter. Its bytes are valid until the next one.
type Record struct{ Key, Value []byte }

// Sorted returns the records in order of their keys, once.
func (s *Sorter) Sorted() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if len(s.runs) == 0 {
			s.sort()
			for i := range s.entries {
				if !yield(Record{s.key(&s.entries[i]), s.value(&s.entries[i])}, nil) {
					return
				}
			}
			return
		}
		err := s.spill()
		s.blocks, s.entries, s.dealt = nil, nil, nil
		var m *merge
		if err == nil {
			m, err = newMerge(s.runs)
		}
		for err == nil && len(m.runs) > 0 {
			if !yield(Record{m.runs[0].key, m.runs[0].value}, nil) {
				return
			}
			err = m.next()
		}
		if err != nil {
			yield(Record{}, fmt.Errorf("temporary file: %w", err))
		}
	}
}

// Close removes the temporary files.
func (s *Sorter) Close() {
	for _, f := range s.runs {
		f.Close()
	}
	s.runs, s.blocks, s.entries, s.dealt, s.used = nil, nil, nil, nil, 0
}

// run is one sorted file that is being read.
type run struct {
	number     int // runs with lower numbers hold earlier records
	in         *bufio.Reader
	key, value []byte
	bytes      []byte
}

// read reads the next record; io.EOF says that there is none.
func (r *run) read() error {
	k, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err
	}
	v, err := binary.ReadUvarint(r.in)
	if err != nil {
		return fmt.Errorf("cut off: %w", io.ErrUnexpectedEOF)
	}
	if n := int(k + v); cap(r.bytes) < n {
		r.bytes = make([]byte, 2*n)
	}
	b := r.bytes[:k+v]
	if _, err := io.ReadFull(r.in, b); err != nil {
		return fmt.Errorf("cut off: %w", io.ErrUnexpectedEOF)
	}
	r.key, r.value = b[:k], b[k:]
	return nil
}

// merge is a heap of runs; the first has the least record.
type merge struct{ runs []*run }

func newMerge(files []*os.File) (*merge, error) {
	m := &merge{}
	for i, f := range files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		r := &run{number: i, in: bufio.NewReaderSize(f, spoolBuffer/4)}
		if err := r.read(); err == io.EOF {
			continue
		} else if err != nil {
			return nil, err
		}
		m.runs = append(m.runs, r)
	}
	heap.Init(m)
	return m, nil
}

// next goes to the next record of the first run.
func (m *merge) next() error {
	err := m.runs[0].read()
	if err == io.EOF {
		heap.Pop(m)
		return nil
	}
	heap.Fix(m, 0)
	return err
}

func (m *merge) Len() int { return len(m.runs) }

func (m *merge) Less(i, j int) bool {
	a, b := m.runs[i], m.runs[j]
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c < 0
	}
	return a.number < b.number
}

func (m *merge) Swap(i, j int) { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }

func (m *merge) Push(x any) { m.runs = append(m.runs, x.(*run)) }

func (m *merge) Pop() any {
	last := m.runs[len(m.runs)-1]
	m.runs = m.runs[:len(m.runs)-1]
	return last
}
