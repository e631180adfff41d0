package record

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// Texts reads any Arrow file without nested columns, not only those of results: the names
// of its columns and its rows, every value as Arrow writes it, "" where it is null.
//
// Errors: it is none, or damaged.
func Texts(data []byte) (header []string, rows [][]string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("is a damaged Arrow file: %v", p)
		}
	}()
	if err := checkFooter(data); err != nil {
		return nil, nil, err
	}
	in, err := ipc.NewFileReader(bytes.NewReader(data), ipc.WithAllocator(newBudget(len(data))))
	if err != nil {
		return nil, nil, fmt.Errorf("is a damaged Arrow file: %w", err)
	}
	defer in.Close()
	for _, f := range in.Schema().Fields() {
		header = append(header, f.Name)
	}
	for b := range in.NumRecords() {
		batch, err := in.Record(b)
		if err != nil {
			return nil, nil, fmt.Errorf("is a damaged Arrow file: %w", err)
		}
		if n := batch.NumRows(); n < 0 || n > int64(len(data)) {
			return nil, nil, fmt.Errorf("is a damaged Arrow file: %d rows in %d bytes", n, len(data))
		}
		for i := range int(batch.NumRows()) {
			row := make([]string, len(header))
			for c := range row {
				if column := batch.Column(c); !column.IsNull(i) {
					row[c] = strings.Clone(column.ValueStr(i))
				}
			}
			rows = append(rows, row)
		}
	}
	return header, rows, nil
}
