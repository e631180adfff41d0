package pack

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		i, u, text := rnd.Int64()>>rnd.IntN(64), rnd.Uint64()>>rnd.IntN(64), string(make([]byte, rnd.IntN(300)))
		if rnd.IntN(2) == 0 {
			i = -i
		}
		x := math.Float64frombits(rnd.Uint64())
		b := AppendFloat(AppendText(binary.AppendUvarint(binary.AppendVarint(nil, i), u), text), x)
		r := NewReader(b)
		if got := r.Varint(); got != i {
			t.Fatalf("%d became %d", i, got)
		}
		if got := r.Uvarint(); got != u {
			t.Fatalf("%d became %d", u, got)
		}
		if got := r.Text(); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		if got := r.Float(); math.Float64bits(got) != math.Float64bits(x) {
			t.Fatalf("%v became %v", x, got)
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		for n := range b { // nothing shorter is the same
			r := NewReader(b[:n])
			r.Varint()
			r.Uvarint()
			_ = r.Text()
			r.Float()
			if r.End() == nil {
				t.Fatalf("%d of %d bytes are read", n, len(b))
			}
		}
	}
}

// FuzzUvarint: what is read is what package encoding/binary would have written, byte for byte.
func FuzzUvarint(f *testing.F) {
	for _, b := range [][]byte{{0}, {0x80}, {0x80, 0}, {0xff, 1}, bytes.Repeat([]byte{0xff}, 10), append(bytes.Repeat([]byte{0xff}, 9), 1), append(bytes.Repeat([]byte{0xff}, 9), 2), bytes.Repeat([]byte{0x80}, 11)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(b)
		v := r.Uvarint()
		want, n := binary.Uvarint(b)
		canonical := n > 0 && bytes.Equal(binary.AppendUvarint(nil, want), b[:n])
		if canonical == r.Bad() || canonical && (v != want || len(r.rest) != len(b)-n) || !canonical && (v != 0 || r.End() == nil) {
			t.Errorf("%x: %d (bad: %v), package binary reads %d in %d bytes", b, v, r.Bad(), want, n)
		}
	})
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		bytes []byte
		size  int
		want  int
		bad   bool
	}{
		{[]byte{2, 0, 0}, 1, 2, false},
		{[]byte{2, 0, 0}, 2, 0, true},
		{[]byte{3, 0, 0}, 1, 0, true},
		{binary.AppendUvarint(nil, math.MaxUint64), 1, 0, true},
		{nil, 1, 0, true},
	} {
		r := NewReader(test.bytes)
		if n := r.Count(test.size); n != test.want || r.Bad() != test.bad {
			t.Errorf("%x in things of %d bytes: %d, bad: %v", test.bytes, test.size, n, r.Bad())
		}
	}
}
