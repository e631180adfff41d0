package record

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Any Arrow file is read as texts, and a damaged one is an error.
func TestTexts(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "job", Type: arrow.BinaryTypes.String}, {Name: "start", Type: arrow.PrimitiveTypes.Float64},
		{Name: "end", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "at", Type: arrow.FixedWidthTypes.Timestamp_s}}, nil)
	f, err := os.Create(filepath.Join(t.TempDir(), "table.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	build := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	for i := range 3 {
		build.Field(0).(*array.StringBuilder).Append([]string{"a", "b", "c,d"}[i])
		build.Field(1).(*array.Float64Builder).Append([]float64{0.5, 1700000000.25, 3}[i])
		if i == 1 {
			build.Field(2).AppendNull()
		} else {
			build.Field(2).(*array.Int64Builder).Append(int64(7 + i))
		}
		build.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(86400 * i))
	}
	if err := w.Write(build.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	header, rows, err := Texts(data)
	want := [][]string{{"a", "0.5", "7", "1970-01-01 00:00:00Z"}, {"b", "1.70000000025e+09", "", "1970-01-02 00:00:00Z"}, {"c,d", "3", "9", "1970-01-03 00:00:00Z"}}
	if err != nil || !reflect.DeepEqual(header, []string{"job", "start", "end", "at"}) || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v %q %v", header, rows, err)
	}
	for cut := range data {
		if _, _, err := Texts(data[:cut]); err == nil {
			t.Errorf("%d of %d bytes are read", cut, len(data))
		}
	}
}
