package table

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestNearest(t *testing.T) {
	known := []string{"submit_s", "duration_s", "gpus", "cpus", "user"}
	for name, want := range map[string]string{"submit": "submit_s", "duration": "duration_s", "GPU": "gpus", "gpu_s": "gpus", "cpu": "cpus", "usr": "user", "": "gpus"} {
		if got := Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if Nearest("x", nil) != "" {
		t.Error("the nearest of no names")
	}
}

// slowDistance is the definition of the Levenshtein distance.
func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	if a[0] == b[0] {
		return slowDistance(a[1:], b[1:])
	}
	return 1 + min(slowDistance(a[1:], b), slowDistance(a, b[1:]), slowDistance(a[1:], b[1:]))
}

func TestDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	word := func() string {
		b := make([]byte, rng.IntN(7))
		for i := range b {
			b[i] = 'a' + byte(rng.IntN(3))
		}
		return string(b)
	}
	for range 2000 {
		a, b := word(), word()
		if got, want := distance(a, b), slowDistance(a, b); got != want {
			t.Fatalf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	have := []string{"Submit", " gpus ", "run_time"}
	for want, at := range map[string]int{"submit": 0, "gpus": 1, "x,run_time": 2, "run_time,submit": 2} {
		if got, err := Find(have, strings.Split(want, ",")...); err != nil || got != at {
			t.Errorf("Find(%s) = %d, %v", want, got, err)
		}
	}
	_, err := Find(have, "duration", "runtime")
	if err == nil || err.Error() != `has no column duration or runtime (the nearest is "run_time"; columns are Submit,  gpus , run_time)` {
		t.Errorf("%v", err)
	}
}

func TestCSV(t *testing.T) {
	c, err := NewCSV("f", strings.NewReader("a, b\n1 ,\"x\ny\"\n\n,2e1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Next(); err != nil || c.Line() != 2 || c.Text(1) != "x\ny" {
		t.Errorf("line %d: %q, %v", c.Line(), c.Text(1), err)
	}
	if v, ok, err := c.Number(0); v != 1 || !ok || err != nil {
		t.Errorf("%v %v %v", v, ok, err)
	}
	if _, _, err := c.Number(1); err == nil || !strings.HasPrefix(err.Error(), "f: line 2: column b: ") {
		t.Errorf("%v", err)
	}
	if err := c.Next(); err != nil || c.Line() != 5 {
		t.Errorf("line %d, %v", c.Line(), err)
	}
	if _, ok, err := c.Number(0); ok || err != nil {
		t.Errorf("an empty field: %v, %v", ok, err)
	}
	if err := c.Next(); err == nil || err.Error() != "EOF" {
		t.Errorf("%v", err)
	}
}

func TestCheckQuantity(t *testing.T) {
	for v, ok := range map[float64]bool{0: true, 1e300: true, -1e-300: false, math.Inf(1): false, math.Inf(-1): false, math.NaN(): false} {
		if err := CheckQuantity(v); (err == nil) != ok {
			t.Errorf("%v: %v", v, err)
		}
	}
}

func numbers(t *testing.T, n int) *File {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, []Column{{Name: "n", Kind: Number, Nullable: true}, {Name: "t", Kind: Text}})
	for i := range n {
		if i%3 != 0 {
			w.Number(0, float64(i))
		}
		w.Text(1, fmt.Sprint(i))
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := New("memory", bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestScansMayRunAtOnce(t *testing.T) {
	f := numbers(t, 10_000)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			row := 0
			for b, err := range f.Scan([]int{1, 0}) {
				if err != nil {
					t.Error(err)
					return
				}
				for i := range b.Rows {
					text, _ := b.Text(0, i)
					v, ok := b.Number(1, i)
					if text != fmt.Sprint(row) || ok != (row%3 != 0) || ok && v != float64(row) {
						t.Errorf("row %d is %q, %v, %v", row, text, v, ok)
						return
					}
					row++
				}
			}
			if row != 10_000 {
				t.Errorf("%d rows", row)
			}
		})
	}
	wg.Wait()
}

// A column of another file in place of one's own passes every check of
// Parquet's own, but not the checksums.
func TestChecksumsAreOverValues(t *testing.T) {
	f := numbers(t, 100)
	for name := range f.digests {
		f.digests[name]++
		err := error(nil)
		for _, e := range f.Scan([]int{0, 1}) {
			err = e
		}
		if err == nil || !strings.Contains(err.Error(), "column "+name+" does not match its checksum") {
			t.Errorf("%s: %v", name, err)
		}
		f.digests[name]--
	}
}

// Batches of any size, and rows between them, make one table.
func TestWriteBatches(t *testing.T) {
	columns := []Column{{Name: "n", Kind: Number, Nullable: true}, {Name: "t", Kind: Text}, {Name: "d", Kind: Text, Nullable: true, Distinct: true}, {Name: "m", Kind: Number, Distinct: true}}
	rng := rand.New(rand.NewPCG(3, 3))
	var out bytes.Buffer
	w := NewWriter(&out, columns)
	b := NewBatch(columns)
	const rows = 5000
	for row := range rows {
		set := func(b *Batch, i int) {
			if row%1000 < 300 && row%2 == 0 { // else NULL, also in whole batches
				b.SetNumber(0, i, float64(row))
				b.SetText(2, i, fmt.Sprint("d", row))
			}
			b.SetText(1, i, fmt.Sprint(row%7))
			b.SetNumber(3, i, -float64(row))
		}
		var err error
		if row%97 == 0 { // a row of its own, after what came before
			if err = w.Write(b); err == nil {
				b.Clear()
				set(w.batch, w.batch.Rows)
				err = w.EndRow()
			}
		} else {
			set(b, b.Rows)
			if b.Rows++; b.Rows == BatchRows || rng.IntN(50) == 0 {
				err = w.Write(b)
				b.Clear()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := New("memory", bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for b, err := range f.Scan([]int{0, 1, 2, 3}) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			n, there := b.Number(0, i)
			text, _ := b.Text(1, i)
			d, distinct := b.Text(2, i)
			m, _ := b.Number(3, i)
			want := row%1000 < 300 && row%2 == 0
			if there != want || distinct != want || want && (n != float64(row) || d != fmt.Sprint("d", row)) || text != fmt.Sprint(row%7) || m != -float64(row) {
				t.Fatalf("row %d is %v %v %q %q %v %v", row, n, there, text, d, distinct, m)
			}
			row++
		}
	}
	if row != rows {
		t.Errorf("%d rows", row)
	}
}

// What a writer holds in memory is bounded in bytes too.
func TestRowGroupsOfLongTexts(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, []Column{{Name: "t", Kind: Text}})
	const size, rows = 1 << 17, 3*rowGroupBytes/(1<<17) + 10
	for i := range rows {
		w.Text(0, strings.Repeat(string(rune('a'+i%26)), size))
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := New("memory", bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.file.RowGroups()); n < 3 || f.Rows() != rows {
		t.Errorf("%d rows in %d row groups", f.Rows(), n)
	}
}

func TestWriterNeedsValues(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a row without a value that must be there was written")
		}
	}()
	w := NewWriter(&bytes.Buffer{}, []Column{{Name: "n", Kind: Number}})
	_ = w.EndRow()
	_ = w.Close()
}

func TestKinds(t *testing.T) {
	var b bytes.Buffer
	type known struct {
		A float64  `parquet:"a"`
		B float32  `parquet:"b"`
		C int32    `parquet:"c"`
		D uint64   `parquet:"d"`
		E string   `parquet:"e"`
		F bool     `parquet:"f"`
		G int64    `parquet:"g,timestamp"`
		H int32    `parquet:"h,date"`
		I int64    `parquet:"i,decimal(2:18)"`
		J [16]byte `parquet:"j,uuid"`
		K []byte   `parquet:"k"`
		L *int64   `parquet:"l,optional"`
	}
	if err := parquet.Write(&b, []known{{D: math.MaxUint64}}); err != nil {
		t.Fatal(err)
	}
	f, err := New("memory", bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := []Kind{Number, Number, Number, Number, Text, Other, Other, Other, Other, Other, Text, Number}
	for i, c := range f.Columns() {
		if c.Kind != want[i] {
			t.Errorf("column %s (%s) is %v, want %v", c.Name, c.Type, c.Kind, want[i])
		}
	}
	for batch, err := range f.Scan([]int{3}) {
		if v, ok := batch.Number(0, 0); err != nil || !ok || v != math.MaxUint64 {
			t.Errorf("%v, %v, %v", v, ok, err)
		}
	}
	for _, err := range f.Scan([]int{5}) {
		if err == nil || !strings.Contains(err.Error(), "column f is BOOLEAN") {
			t.Errorf("%v", err)
		}
	}
}

// The walk over Thrift never leaves its input and never takes long, whatever
// the input is.
func TestCompactStructOfNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	whole := 0
	for range 200_000 {
		b := make([]byte, rng.IntN(40))
		for i := range b {
			b[i] = byte(rng.Uint32())
			if rng.IntN(3) == 0 {
				b[i] = byte(rng.IntN(16)) | 0x10 // a likely field header
			}
		}
		n, err := compactStruct(b)
		if n < 0 || n > len(b) || err == nil && (n == 0 || b[n-1] != 0) {
			t.Fatalf("%x: a struct of %d bytes, %v", b, n, err)
		}
		if err == nil {
			whole++
		}
	}
	if whole < 100 {
		t.Errorf("only %d of the inputs were structs: the test does not test", whole)
	}
	deep := bytes.Repeat([]byte{0x1c}, 100_000) // a struct in a struct in a …
	if _, err := compactStruct(deep); err == nil {
		t.Error("endless nesting was accepted")
	}
}

func TestZstdContentSize(t *testing.T) {
	for n := range 2000 {
		data := bytes.Repeat([]byte("x"), n*n/7)
		out, err := parquet.Zstd.Encode(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		if got, known := zstdContentSize(out[:min(len(out), 18)]); known && got != int64(len(data)) {
			t.Fatalf("%d bytes are said to be %d", len(data), got)
		} else if !known && n > 50 {
			t.Fatalf("the size of %d bytes is not known", len(data))
		}
	}
}
