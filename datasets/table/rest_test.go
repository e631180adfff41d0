package table_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/datasets/table"
)

// TestRest: of a file of rows of one length, what follows is known to a few rows; of one
// that is no file, nothing.
func TestRest(t *testing.T) {
	const rows, read = 50_000, 1000
	text := "a,b\n" + strings.Repeat("12345,678\n", rows)
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := table.OpenCSV(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stream, err := table.NewCSV("stream", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for range read {
		if file.Next() != nil || stream.Next() != nil {
			t.Fatal("the file ends early")
		}
	}
	if rest := file.Rest(read); rest < rows-read || rest > (rows-read)*102/100 {
		t.Errorf("about %d rows follow: %d do", rest, rows-read)
	}
	if rest := stream.Rest(read); rest != 0 {
		t.Errorf("about %d rows follow in a stream", rest)
	}
}
