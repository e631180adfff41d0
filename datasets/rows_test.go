package datasets

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"yardstick/datasets/table"
)

// randomRow draws a row in which every nullable column is NULL half of the
// time.
func randomRow(rng *rand.Rand, trace string, i int) Row {
	r := Row{Trace: trace, JobID: fmt.Sprintf("job-%d", i)}
	for c := range Columns() {
		if rng.IntN(2) == 0 {
			continue
		}
		switch f := r.field(c).(type) {
		case *Opt[string]:
			*f = Some(fmt.Sprintf("%c·%d", 'a'+rune(c), rng.IntN(20)))
		case *Opt[float64]:
			*f = Some(rng.Float64()*1e4 + 0.001)
		}
	}
	return r
}

// randomRows draws rows of one trace.
func randomRows(seed uint64, n int) []Row {
	rng := rand.New(rand.NewPCG(seed, 0))
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = randomRow(rng, "random", i)
	}
	return rows
}

// encode returns the rows as a Parquet file.
func encode(t testing.TB, rows []Row) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeBatches(&b, batches(All(rows))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decode reads a Parquet file from memory.
func decode(data []byte, columns ...string) ([]Row, int64, error) {
	file, err := table.New("memory", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, 0, err
	}
	s, err := newSource(file)
	if err != nil {
		return nil, 0, err
	}
	rows, err := collect(s.Rows(columns...))
	return rows, file.Rows(), err
}

func collect(seq iter.Seq2[Row, error]) ([]Row, error) {
	var rows []Row
	for r, err := range seq {
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// job is a row with what instances need.
func jobRow(id string, submit, gpus, duration float64) Row {
	return Row{Trace: "t", JobID: id, SubmitS: Some(submit), GPUs: Some(gpus), DurationS: Some(duration)}
}
