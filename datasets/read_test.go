package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	// 0 rows, a row, less and more than one batch, several row groups.
	for _, n := range []int{0, 1, 255, 256, 257, 5000, 140_000} {
		want := randomRows(uint64(n), n)
		got, footer, err := decode(encode(t, want))
		if err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		if footer != int64(n) || !slices.Equal(got, want) {
			t.Fatalf("%d rows: the footer says %d, %d were read, and they are not those written", n, footer, len(got))
		}
	}
}

func TestOnlyTheAskedColumnsAreRead(t *testing.T) {
	want := randomRows(1, 300)
	got, _, err := decode(encode(t, want), "gpus", "job_id")
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != (Row{JobID: want[i].JobID, GPUs: want[i].GPUs}) {
			t.Fatalf("row %d is %+v", i, got[i])
		}
	}
	if _, _, err := decode(encode(t, want), "gpu"); err == nil || !strings.Contains(err.Error(), `nearest is "gpus"`) {
		t.Errorf("asking for column gpu: %v", err)
	}
}

func TestStoppingEarly(t *testing.T) {
	s, err := Open("builtin:philly-like")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range s.Rows() {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d rows seen", n)
	}
}

// The library's own reader, which shares no code with Source.Rows above the
// page decoders, sees the same table.
func TestAnotherReaderAgrees(t *testing.T) {
	type record struct {
		Trace     string   `parquet:"trace"`
		JobID     string   `parquet:"job_id"`
		User      *string  `parquet:"user,optional"`
		SubmitS   *float64 `parquet:"submit_s,optional"`
		DurationS *float64 `parquet:"duration_s,optional"`
		GPUs      *float64 `parquet:"gpus,optional"`
		Weight    *float64 `parquet:"weight,optional"`
	}
	want := randomRows(7, 1000)
	data := encode(t, want)
	got, err := parquet.Read[record](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	text := func(p *string) Opt[string] {
		if p == nil {
			return Opt[string]{}
		}
		return Some(*p)
	}
	number := func(p *float64) Opt[float64] {
		if p == nil {
			return Opt[float64]{}
		}
		return Some(*p)
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.Trace != w.Trace || g.JobID != w.JobID || text(g.User) != w.User || number(g.SubmitS) != w.SubmitS ||
			number(g.DurationS) != w.DurationS || number(g.GPUs) != w.GPUs || number(g.Weight) != w.Weight {
			t.Fatalf("row %d: %+v, want %+v", i, g, w)
		}
	}
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name())
	}
	if !slices.Equal(names, columnNames()) {
		t.Errorf("columns are written in the order %v", names)
	}
}

// foreign writes records with the library's own writer, as other programs
// might.
func foreign[T any](t *testing.T, records []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(records); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type plain struct {
	Trace  string   `parquet:"trace"`
	JobID  string   `parquet:"job_id"`
	Submit *float64 `parquet:"submit_s,optional"`
	Run    float64  `parquet:"duration_s"`
	GPUs   float64  `parquet:"gpus"`
}

func value(v float64) *float64 { return &v }

func TestForeignFiles(t *testing.T) {
	type integers struct {
		Trace  string  `parquet:"trace"`
		JobID  string  `parquet:"job_id"`
		Submit int64   `parquet:"submit_s"`
		Run    float32 `parquet:"duration_s"`
		GPUs   uint32  `parquet:"gpus"`
		CPUs   *int32  `parquet:"cpus,optional"`
	}
	for name, options := range map[string][]parquet.WriterOption{
		"snappy, pages v1": {parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)},
		"gzip, pages v2":   {parquet.Compression(&parquet.Gzip), parquet.DataPageVersion(2)},
		"uncompressed":     {parquet.PageBufferSize(64)},
	} {
		got, _, err := decode(foreign(t, []integers{{"t", "a", 3, 2.5, math.MaxUint32, nil}}, options...))
		want := Row{Trace: "t", JobID: "a", SubmitS: Some(3.0), DurationS: Some(2.5), GPUs: Some[float64](math.MaxUint32)}
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		got, _, err = decode(foreign(t, []plain{{"t", "a", nil, 1, 2}, {"t", "b", value(3), 1, 2}}, options...))
		if err != nil || len(got) != 2 || got[0].SubmitS.OK || got[1].SubmitS != Some(3.0) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestFilesThatBreakTheSchema(t *testing.T) {
	type missing struct {
		Trace  string  `parquet:"trace"`
		JobID  string  `parquet:"job_id"`
		Submit float64 `parquet:"submit_s"`
		Run    float64 `parquet:"duration_s"`
	}
	type unknown struct {
		plain
		User string `parquet:"usr"`
	}
	type mistyped struct {
		Trace  string  `parquet:"trace"`
		JobID  int64   `parquet:"job_id"`
		Submit float64 `parquet:"submit_s"`
	}
	type dated struct {
		Trace  string `parquet:"trace"`
		Submit int64  `parquet:"submit_s,timestamp"`
	}
	type nested struct {
		Trace []string `parquet:"trace"`
	}
	type nullID struct {
		Trace  string  `parquet:"trace"`
		JobID  *string `parquet:"job_id,optional"`
		Submit float64 `parquet:"submit_s"`
		Run    float64 `parquet:"duration_s"`
		GPUs   float64 `parquet:"gpus"`
	}
	type binary struct {
		Trace  []byte  `parquet:"trace"`
		JobID  string  `parquet:"job_id"`
		Submit float64 `parquet:"submit_s"`
		Run    float64 `parquet:"duration_s"`
		GPUs   float64 `parquet:"gpus"`
	}
	good := plain{"t", "a", value(0), 1, 1}
	id := "a"
	for _, c := range []struct {
		name string
		data []byte
		want []string // parts of the message
	}{
		{"missing column", foreign(t, []missing{{}}), []string{"memory", "has no column gpus"}},
		{"unknown column", foreign(t, []unknown{{}}), []string{"memory", `"usr"`, `nearest is "user"`}},
		{"text as number", foreign(t, []mistyped{{}}), []string{"memory", "column job_id", "INT", "text is required"}},
		{"timestamp as number", foreign(t, []dated{{}}), []string{"memory", "column submit_s", "TIMESTAMP", "number is required"}},
		{"list", foreign(t, []nested{{}}), []string{"memory", `"trace"`, "nested or repeated"}},
		{"NULL id", foreign(t, []nullID{{Trace: "t", JobID: &id}, {Trace: "t"}}), []string{"memory", "row 2", "column job_id", "NULL"}},
		{"bad UTF-8", foreign(t, []binary{{Trace: []byte{0xff}}}), []string{"memory", "column trace", "UTF-8"}},
		{"NaN", foreign(t, []plain{good, good, {"t", "a", value(math.NaN()), 1, 1}}), []string{"memory", "row 3", "column submit_s", "NaN"}},
		{"infinity", foreign(t, []plain{good, {"t", "a", value(1), math.Inf(1), 1}}), []string{"memory", "row 2", "column duration_s", "Inf"}},
		{"negative time", foreign(t, []plain{{"t", "a", value(-3), 1, 1}}), []string{"memory", "row 1", "column submit_s", "-3", "negative"}},
		{"negative demand", foreign(t, []plain{good, {"t", "a", value(1), 1, -1}}), []string{"memory", "row 2", "column gpus"}},
		{"empty id", foreign(t, []plain{good, {"t", "", value(1), 1, 1}}), []string{"memory", "row 2", "column job_id", "empty"}},
		{"not Parquet", []byte("trace,job_id\n1,2\n3,4\n5,6\n"), []string{"memory", "not a Parquet file"}},
		{"LZ4", foreign(t, []plain{good}, parquet.Compression(&parquet.Lz4Raw)), []string{"memory", "column trace", "LZ4", "zstd"}},
		{"tiny", []byte("PAR1"), []string{"memory", "4 bytes"}},
		{"empty", nil, []string{"memory", "0 bytes"}},
	} {
		_, _, err := decode(c.data)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", c.name, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %q", c.name, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	csv := filepath.Join(dir, "trace.csv")
	if err := os.WriteFile(csv, []byte("submit,gpus,duration\n0,1,60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "none.parquet"): "no such file",
		dir:                                "is a directory",
		csv:                                "not a Parquet file",
		"builtin:phily-like":               "nearest is builtin:philly-like",
	} {
		_, err := Open(name)
		if err == nil || !strings.HasPrefix(err.Error(), "datasets: "+name+":") || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s): %v", name, err)
		}
	}
}

// The embedded sample was written by an earlier version: what this one writes
// has the same columns, of the same types, and the same values.
func TestFilesAreLikeEarlierOnes(t *testing.T) {
	rows, _, err := decode(phillyLike)
	if err != nil {
		t.Fatal(err)
	}
	data := encode(t, rows)
	again, _, err := decode(data)
	if err != nil || !slices.Equal(again, rows) {
		t.Errorf("%d rows have become %d: %v", len(rows), len(again), err)
	}
	metadata := func(data []byte) *format.FileMetaData {
		f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return f.Metadata()
	}
	got, want := metadata(data), metadata(phillyLike)
	if !reflect.DeepEqual(got.Schema, want.Schema) || got.CreatedBy != want.CreatedBy {
		t.Errorf("the schema is %+v by %s, was %+v by %s", got.Schema, got.CreatedBy, want.Schema, want.CreatedBy)
	}
	if !reflect.DeepEqual(got.KeyValueMetadata, want.KeyValueMetadata) { // the checksums
		t.Errorf("%v, was %v", got.KeyValueMetadata, want.KeyValueMetadata)
	}
}

func TestWriteErrors(t *testing.T) {
	bad := jobRow("b", 0, 1, 1)
	bad.Weight = Some(0.0)
	broken := errors.New("broken source")
	for name, c := range map[string]struct {
		row  Row
		err  error
		want string
	}{
		"negative":      {row: jobRow("b", 0, 1, -1), want: "row 2: column duration_s is -1"},
		"zero weight":   {row: bad, want: "row 2: column weight is 0"},
		"no id":         {row: jobRow("", 0, 1, 1), want: "row 2: column job_id is empty"},
		"source's own":  {err: broken, want: "broken source"},
		"infinite GPUs": {row: jobRow("b", 0, math.Inf(1), 1), want: "row 2: column gpus is +Inf"},
	} {
		path := filepath.Join(t.TempDir(), "out.parquet")
		err := WriteFile(path, func(yield func(Row, error) bool) {
			_ = yield(jobRow("a", 0, 1, 1), nil) && yield(c.row, c.err)
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
			t.Errorf("%s: %v was left behind", name, left)
		}
	}
	// Rows are looked at in batches, but the first one that is bad counts, even
	// if the source fails behind it.
	for at, behind := range map[int]int{0: 1, 255: 0, 256: 3, 700: 40} {
		err := writeBatches(io.Discard, batches(func(yield func(Row, error) bool) {
			for i := range at + behind + 1 {
				row := jobRow(fmt.Sprint(i), 0, 1, 1)
				if i >= at {
					row.User, row.CPUs = Some("\xff"), Some(-1.)
				}
				if !yield(row, nil) {
					return
				}
			}
			yield(Row{}, broken)
		}))
		if want := fmt.Sprintf("row %d: column user is not UTF-8", at+1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := writeBatches(failing{}, batches(All(randomRows(1, 10)))); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a failing disk: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

var _ io.Writer = failing{}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.parquet")
	want := randomRows(3, 1000)
	for range 2 { // the second time over the first
		if err := WriteFile(path, All(want)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := collect(s.Rows())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d rows, %v", len(got), err)
	}
}
