package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readAll reads all records of a file with the columns a, b, ...
func readAll(text string, columns int) ([][]string, error) {
	var header []string
	for i := range columns {
		header = append(header, fmt.Sprint("no such name ", i))
	}
	c, err := NewCSV("x", strings.NewReader(text), CSVOptions{Header: header})
	if err != nil {
		return nil, err
	}
	var records [][]string
	for {
		err := c.Next()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		var record []string
		for i := range columns {
			record = append(record, c.Text(i))
		}
		records = append(records, record)
	}
}

// compareCSV holds the reader against encoding/csv.
func compareCSV(t *testing.T, text string) {
	t.Helper()
	// A byte order mark at the start is not part of the first field; package
	// encoding/csv leaves it in.
	reference := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	want, wantErr := reference.ReadAll()
	columns := 1
	if len(want) > 0 {
		columns = len(want[0])
	}
	for _, record := range want {
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
	}
	got, err := readAll(text, columns)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: %v; encoding/csv says %v", text, err, wantErr)
	}
	if err == nil && !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("%q: %q; encoding/csv reads %q", text, got, want)
	}
}

func TestCSVAgainstTheStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	pieces := []string{"a", "bc", ",", ",", "\"", "\"", "\"\"", "\n", "\n", "\r\n", "\r", " ", "é", "1.5"}
	for range 5000 {
		var b strings.Builder
		for range rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		compareCSV(t, b.String())
	}
	long := strings.Repeat("x", 3*bufferBytes) // lines longer than the reader's buffer
	compareCSV(t, "1,2\n"+long+",y\n\""+long+"\n\",z\n3,4")
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\"a\nb\",\"c\"\"d\"\r\n\r\n,\n", "a,\"b", "a,b\"c\n", "\"a\"b\n", "\ufeffa,b\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { compareCSV(t, text) })
}

// The places of a byte are those that one finds byte by byte.
func TestAppendPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 20000 {
		wanted := byte(rng.Uint32())
		line := make([]byte, rng.IntN(40))
		for i := range line {
			line[i] = wanted + byte(rng.IntN(3)) - 1 // also its neighbours, which carries could mistake for it
			if rng.IntN(2) == 0 {
				line[i] = wanted ^ 0x80
			}
		}
		var want []int32
		for i, b := range line {
			if b == wanted {
				want = append(want, int32(i))
			}
		}
		if got := appendPlaces(nil, line, wanted); !slices.Equal(got, want) {
			t.Fatalf("%x is at %v of %x, want %v", wanted, got, line, want)
		}
	}
}

// A text stays as it was, however many follow.
func TestTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var texts Texts
	var got, want []string
	b := make([]byte, 3*textBytes)
	for i := range 3000 {
		n := rng.IntN(300)
		if i%500 == 0 {
			n = len(b)
		}
		for j := range b[:n] {
			b[j] = byte(rng.Uint32())
		}
		got, want = append(got, texts.Text(b[:n])), append(want, string(b[:n]))
	}
	if !slices.Equal(got, want) {
		t.Error("a text has changed")
	}
	for n, want := range map[int]string{1: "000001", 99999: "099999", 100000: "100000", 1234567: "1234567"} {
		if got := texts.ID(n); got != want {
			t.Errorf("job %d is %s", n, got)
		}
	}
}

func TestCSVFields(t *testing.T) {
	c, err := NewCSV("f", strings.NewReader("\ufeffName, n ,when,\nann,1.50,2020-01-02 03:04:05,x\n\"b, c\",, None ,y\n ,1e3,1970-01-01 00:00:00,\n"), CSVOptions{Nulls: []string{"None"}})
	if err != nil {
		t.Fatal(err)
	}
	var name, n, when, none int
	if err := c.Columns(map[*int]string{&name: "user|name", &n: "N", &when: "?when", &none: "?none"}); err != nil || name != 0 || n != 1 || when != 2 || none != -1 {
		t.Fatalf("columns %d %d %d %d, %v", name, n, when, none, err)
	}
	type record struct {
		name, label string
		n           float64
		hasN        bool
		when        int64
		hasWhen     bool
		line        int
	}
	for i, want := range []record{{"ann", "ann", 1.5, true, 1577934245e9, true, 2}, {"b, c", "b, c", 0, false, 0, false, 3}, {"", "", 1000, true, 0, true, 4}} {
		if err := c.Next(); err != nil {
			t.Fatal(err)
		}
		number, err1 := c.Quantity(n)
		date, err2 := c.Time(when, Clock{})
		got := record{c.Text(name), c.Label(name).V, number.V, number.OK, date.V, date.OK, c.Line()}
		if got != want || err1 != nil || err2 != nil || c.Label(name).OK != (want.label != "") {
			t.Errorf("record %d: %+v, %v, %v", i, got, err1, err2)
		}
		if c.Text(none) != "" || c.Label(none).OK {
			t.Error("a column that is not there has a value")
		}
	}
	if err := c.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestCSVErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "f: is empty: a line with column names is needed",
		"a,a\n":              `f: line 1: column name "a" is there twice`,
		"a,b\n1\n":           "f: line 2: has 1 fields, the header has 2",
		"a,b\n\n\n1,\"2\n\n": "f: line 4: a quote is not closed",
		"a,b\n1,2\"\n":       "f: line 2: a quote within",
		"a,b\n\"1\"2,3\n":    "f: line 2: a closing quote",
		"a,b\n1,x\n":         `f: line 2: column b: "x" is not a number`,
		"a,b\n1,-1\n":        "f: line 2: column b: is -1: it must not be negative",
		"a,b\n1,NaN\n":       "f: line 2: column b: is NaN: it must be a finite number",
		"a,c\n":              `f: has no column b (the nearest is "a"`,
	} {
		c, err := NewCSV("f", strings.NewReader(text), CSVOptions{})
		b := 0
		if err == nil {
			b, err = c.Column("b")
		}
		if err == nil {
			err = c.Next()
		}
		if err == nil {
			_, err = c.Quantity(b)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	c, _ := NewCSV("f", strings.NewReader("a\n"+strings.Repeat("x", maxRecordBytes+2)), CSVOptions{})
	if err := c.Next(); err == nil || !strings.Contains(err.Error(), "longer than 16 MiB") {
		t.Errorf("an endless line: %v", err)
	}
}

func TestCSVWithoutHeader(t *testing.T) {
	for _, text := range []string{"1\t2\n3\t4\n", "a\tB\n1\t2\n3\t4"} {
		c, err := NewCSV("f", strings.NewReader(text), CSVOptions{Header: []string{"a", "b"}, Comma: '\t'})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.
		for c.Next() == nil {
			v, err := c.Number(1)
			if err != nil {
				t.Fatal(err)
			}
			sum += v.V
		}
		if sum != 6 {
			t.Errorf("%q: the second column adds up to %v", text, sum)
		}
	}
}

// Numbers are exactly those of strconv.
func TestDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	fast := 0
	for range 200000 {
		n := 1 + rng.IntN(17)
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(rng.IntN(10))
		}
		if rng.IntN(2) == 0 {
			b[rng.IntN(n)] = '.'
		}
		got, ok := decimal(b)
		want, err := strconv.ParseFloat(string(b), 64)
		if ok && (err != nil || math.Float64bits(got) != math.Float64bits(want)) {
			t.Fatalf("%s is read as %v: %v, %v", b, got, want, err)
		}
		if ok {
			fast++
		}
	}
	if fast < 100000 {
		t.Errorf("only %d of 200000 took the fast way", fast)
	}
	for _, bad := range []string{"", ".", "1.2.3", "-1", "1e3", "x", " 1", "+1"} {
		if v, ok := decimal([]byte(bad)); ok && bad != "" {
			t.Errorf("%q is read as %v", bad, v)
		}
	}
}
