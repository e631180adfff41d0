package sched

import (
	"encoding/binary"
	"errors"
	"fmt"

	"yardstick/internal/pack"
)

// packedFormat is the first number of a packed schedule.
const packedFormat = 1

// Bits of the number that begins a packed segment: its phase, and what follows.
const (
	packedPhase   = 3 // Train, Load or Pause
	packedConfig  = 4 // a Config
	packedOne     = 8 // one share without stages and devices, and no count of shares
	packedUnknown = ^uint64(packedPhase | packedConfig | packedOne)
)

// leastSegment and leastShare are the fewest bytes that a packed segment and a packed share
// take.
const leastSegment, leastShare = 5, 4

// Pack returns the schedule in a form of some 12 bytes a segment, a tenth of its JSON,
// that Unpack reads: numbers as package encoding/binary has them, starts counted from the
// segment before. Empty lists and nil are the same there, as in JSON.
func (s *Schedule) Pack() []byte {
	b := make([]byte, 0, 64+14*len(s.Segments))
	b = append(b, packedFormat)
	b = pack.AppendText(b, s.Class.String())
	b = binary.AppendUvarint(b, uint64(len(s.Segments)))
	last := Time(0)
	for i := range s.Segments {
		seg := &s.Segments[i]
		shares := seg.Place.Shares
		one := len(shares) == 1 && len(shares[0].Stages) == 0 && len(shares[0].Devices) == 0
		head := uint64(seg.Phase)
		if seg.Place.Config != nil {
			head |= packedConfig
		}
		if one {
			head |= packedOne
		}
		b = binary.AppendUvarint(b, head)
		b = binary.AppendVarint(b, int64(seg.Job))
		b = binary.AppendVarint(b, int64(seg.Start-last)) // wraps around, as reading does
		b = binary.AppendVarint(b, int64(seg.End-seg.Start))
		last = seg.Start
		if !one {
			b = binary.AppendUvarint(b, uint64(len(shares)))
		}
		for k := range shares {
			b = binary.AppendVarint(b, int64(shares[k].Server))
			b = binary.AppendVarint(b, int64(shares[k].GPUs))
			if !one {
				b = packInts(packInts(b, shares[k].Stages), shares[k].Devices)
			}
		}
		if c := seg.Place.Config; c != nil {
			for _, v := range []int{c.WorkerType, c.ServerType, c.Accumulation} {
				b = binary.AppendVarint(b, int64(v))
			}
		}
	}
	return b
}

func packInts(b []byte, list []int) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, v := range list {
		b = binary.AppendVarint(b, int64(v))
	}
	return b
}

// Unpack reads what Pack wrote. The schedule is a claim, as one from a file is.
//
// Errors: another format; pack.ErrDamaged where it is not what Pack writes.
func Unpack(data []byte) (*Schedule, error) {
	r := pack.NewReader(data)
	if format := r.Uvarint(); format != packedFormat && !r.Bad() {
		return nil, fmt.Errorf("a packed schedule of format %d: this program reads %d", format, packedFormat)
	}
	s := &Schedule{}
	if err := s.Class.UnmarshalText([]byte(r.Text())); err != nil && !r.Bad() {
		return nil, err
	}
	if n := r.Count(leastSegment); n > 0 {
		s.Segments = make([]Segment, n)
	}
	u := unpacker{Reader: r}
	last := Time(0)
	for i := range s.Segments {
		if u.segment(&s.Segments[i], last); r.Bad() {
			break
		}
		last = s.Segments[i].Start
	}
	if err := errors.Join(r.End(), u.err); err != nil {
		return nil, fmt.Errorf("a schedule: %w", err)
	}
	return s, nil
}

// unpacker reads segments, whose lists are cut from long ones: a schedule has as many
// as it has segments.
type unpacker struct {
	*pack.Reader
	shares []Share
	ints   []int
	err    error
}

func (u *unpacker) segment(seg *Segment, last Time) {
	head := u.Uvarint()
	seg.Phase = Phase(head & packedPhase)
	if head&packedUnknown != 0 || seg.Phase > Pause {
		u.err = pack.ErrDamaged
	}
	seg.Job = JobID(u.Int())
	seg.Start = last + Time(u.Varint())
	seg.End = seg.Start + Time(u.Varint())
	one := head&packedOne != 0
	n := 1
	if !one {
		n = u.Count(leastShare)
	}
	seg.Place.Shares = cut(&u.shares, n)
	for k := range seg.Place.Shares {
		share := &seg.Place.Shares[k]
		share.Server, share.GPUs = u.Int(), u.Int()
		if !one {
			share.Stages, share.Devices = u.list(), u.list()
		}
	}
	if shares := seg.Place.Shares; !one && len(shares) == 1 && shares[0].Stages == nil && shares[0].Devices == nil {
		u.err = pack.ErrDamaged // it is written shorter
	}
	if head&packedConfig != 0 {
		seg.Place.Config = &Config{WorkerType: u.Int(), ServerType: u.Int(), Accumulation: u.Int()}
	}
}

func (u *unpacker) list() []int {
	list := cut(&u.ints, u.Count(1))
	for i := range list {
		list[i] = u.Int()
	}
	return list
}

// cut returns n of the elements of a long list, which it makes anew when it is used up;
// nil for none.
func cut[T any](long *[]T, n int) []T {
	const many = 512
	if n == 0 {
		return nil
	}
	if n > len(*long) {
		*long = make([]T, max(n, many))
	}
	part := (*long)[:n:n]
	*long = (*long)[n:]
	return part
}
