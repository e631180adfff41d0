package datasets

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime/metrics"
	"slices"
	"testing"
	"time"
	"yardstick/internal/tier"

	"github.com/parquet-go/parquet-go"
)

// mutate damages a copy of a file in one of the ways disks and networks do.
func mutate(rng *rand.Rand, data []byte) []byte {
	b := slices.Clone(data)
	flip := func(from int) {
		b[from+rng.IntN(len(b)-from)] ^= 1 << rng.IntN(8)
	}
	switch rng.IntN(6) {
	case 0: // one to three bits, anywhere
		for range 1 + rng.IntN(3) {
			flip(0)
		}
	case 1: // one bit of the footer
		flip(footerStart(b))
	case 2: // several bits of the footer
		for range 2 + rng.IntN(3) {
			flip(footerStart(b))
		}
	case 3: // cut off
		b = b[:rng.IntN(len(b))]
	case 4: // a stretch overwritten
		from := rng.IntN(len(b))
		for i := from; i < min(len(b), from+1+rng.IntN(64)); i++ {
			b[i] = byte(rng.Uint32())
		}
	case 5: // a stretch missing
		from := rng.IntN(len(b))
		b = slices.Delete(b, from, min(len(b), from+1+rng.IntN(64)))
	}
	return b
}

// footerStart returns where the footer of a Parquet file begins.
func footerStart(b []byte) int {
	end := len(b) - 8
	size := int(b[end]) | int(b[end+1])<<8 | int(b[end+2])<<16
	return max(0, end-size)
}

// A damaged file of our own ends in an error or reads back as it was written.
func TestDamagedFilesOfOurOwn(t *testing.T) {
	want := randomRows(11, 1500)
	data := encode(t, want)
	intact := 0
	for seed := range uint64(1200) {
		damaged := mutate(rand.New(rand.NewPCG(seed, 1)), data)
		start := time.Now()
		got, _, err := decode(damaged)
		if err == nil && !slices.Equal(got, want) {
			t.Errorf("seed %d: %d rows that are not those written, and no error", seed, len(got))
		}
		if err == nil {
			intact++
		} else if msg := err.Error(); bytes.ContainsAny([]byte(msg), "\n") || len(msg) > 1000 {
			t.Errorf("seed %d: the message is not one line: %q", seed, msg)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("seed %d took %v", seed, d)
		}
	}
	t.Logf("%d of 1200 read back unharmed", intact)
	if intact > 600 {
		t.Errorf("%d of 1200 mutations did no harm: the test does not test", intact)
	}
}

// Every single flipped bit of a footer ends in an error or does no harm, and
// never in a large allocation: what the metadata announce is not believed.
func TestEveryBitOfTheFooter(t *testing.T) {
	want := randomRows(13, 2)
	data := encode(t, want)
	before := allocated()
	for at := footerStart(data); at < len(data); at++ {
		for bit := range 8 {
			data[at] ^= 1 << bit
			got, _, err := decode(data)
			if err == nil && !slices.Equal(got, want) {
				t.Errorf("bit %d of byte %d: %d rows that are not those written, and no error", bit, at, len(got))
			}
			data[at] ^= 1 << bit
			after := allocated()
			if after-before > 8<<20 {
				t.Errorf("bit %d of byte %d: %d MiB were allocated for a file of %d bytes", bit, at, (after-before)>>20, len(data))
			}
			before = after
		}
	}
}

// allocated returns the bytes of memory allocated since the program began.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// A damaged file of another program, which may lack every checksum, ends in an
// error or in as many rows as its footer says.
func TestDamagedFilesOfOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 0))
	var records []plain
	for i := range 1500 {
		p := plain{"t", "job" + string(rune('a'+i%26)), value(float64(i)), rng.Float64() * 1000, float64(1 + rng.IntN(8))}
		if i%7 == 0 {
			p.Submit = nil
		}
		records = append(records, p)
	}
	files := map[string][]byte{
		"snappy v1": foreign(t, records, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1), parquet.PageBufferSize(2000)),
		"plain v2":  foreign(t, records, parquet.DataPageVersion(2), parquet.PageBufferSize(2000)),
		"brotli":    foreign(t, records, parquet.Compression(&parquet.Brotli)),
		"gzip":      foreign(t, records, parquet.Compression(&parquet.Gzip)),
		"zstd":      foreign(t, records, parquet.Compression(&parquet.Zstd)),
	}
	for name, data := range files {
		checkDamaged(t, name, data, 300)
	}
}

// The same for a file that DuckDB wrote.
func TestDamagedFilesOfDuckDB(t *testing.T) {
	data, err := os.ReadFile(sharedJobs)
	if err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	checkDamaged(t, "DuckDB", data, tier.Draws(5, 15))
}

func checkDamaged(t *testing.T, name string, data []byte, mutations int) {
	t.Helper()
	if _, _, err := decode(data); err != nil {
		t.Errorf("%s: the undamaged file: %v", name, err)
	}
	refused := 0
	for seed := range uint64(mutations) {
		got, footer, err := decode(mutate(rand.New(rand.NewPCG(seed, 2)), data))
		if err == nil && int64(len(got)) != footer {
			t.Errorf("%s, seed %d: %d rows, the footer says %d", name, seed, len(got), footer)
		}
		if err != nil {
			refused++
		}
	}
	t.Logf("%s: %d of %d refused", name, refused, mutations)
}

// FuzzRead gives the reader arbitrary bytes: an error or rows of the footer's
// number that keep the schema, and never a panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte("PAR1PAR1"))
	f.Add(encode(f, nil))
	f.Add(encode(f, randomRows(1, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, footer, err := decode(data)
		if err != nil {
			return
		}
		if int64(len(rows)) != footer {
			t.Errorf("%d rows, the footer says %d", len(rows), footer)
		}
		for i := range rows {
			if err := rows[i].Check(); err != nil {
				t.Errorf("row %d: %v", i, err)
			}
		}
	})
}
