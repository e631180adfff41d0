package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// jobRow is a job of a list.
type jobRow struct {
	ID     string  `parquet:"id"`
	Submit float64 `parquet:"submit"`
	GPUs   int64   `parquet:"gpus"`
	Run    float64 `parquet:"duration"`
}

// TestSimulateKeepsTheClock writes job lists in every form that is read, with
// clocks that begin anywhere, and holds the output of simulate against them row by
// row: the submit time is the file's, no job starts before it as printed, and each
// runs for its duration.
func TestSimulateKeepsTheClock(t *testing.T) {
	type whole struct {
		ID     string `parquet:"job_id"`
		Submit int64  `parquet:"arrival_time"`
		GPUs   int64  `parquet:"num_gpus"`
		Run    int64  `parquet:"run_time"`
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for i, form := range []struct {
		name   string
		submit func(r *rand.Rand) string // as the file has it
		write  func(submits []string, jobs []jobRow) []byte
	}{
		{"whole.csv", func(r *rand.Rand) string { return strconv.Itoa(1_700_000_000 + r.IntN(30)) }, textList},
		{"micros.csv", func(r *rand.Rand) string { return fmt.Sprintf("%d.%06d", 1_700_000_000+r.IntN(30), r.IntN(1e6)) }, textList},
		{"nanos.csv", func(r *rand.Rand) string { return fmt.Sprintf("%d.%09d", 1_700_000_000+r.IntN(30), r.IntN(1e9)) }, textList},
		{"early.csv", func(r *rand.Rand) string { return fmt.Sprintf("%d.5", 3+r.IntN(30)) }, textList},
		{"exponent.csv", func(r *rand.Rand) string { return fmt.Sprintf("%de1", 400+r.IntN(3)) }, textList},
		{"packed.csv.gz", func(r *rand.Rand) string { return strconv.Itoa(86_400 + r.IntN(30)) }, func(submits []string, jobs []jobRow) []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write(textList(submits, jobs)); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}},
		{"double.parquet", func(r *rand.Rand) string { return number(1_700_000_000 + 30*r.Float64()) }, func(submits []string, jobs []jobRow) []byte {
			for k := range jobs {
				jobs[k].Submit, _ = strconv.ParseFloat(submits[k], 64)
			}
			return parquetList(t, jobs)
		}},
		{"whole.parquet", func(r *rand.Rand) string { return strconv.Itoa(1_700_000_000 + r.IntN(30)) }, func(submits []string, jobs []jobRow) []byte {
			var list []whole
			for k := range jobs {
				at, _ := strconv.ParseInt(submits[k], 10, 64)
				list = append(list, whole{jobs[k].ID, at, jobs[k].GPUs, int64(jobs[k].Run)})
			}
			return parquetList(t, list)
		}},
	} {
		r := rand.New(rand.NewPCG(uint64(i), 9))
		var submits []string
		var jobs []jobRow
		wanted := map[string]int{}
		for k := range 12 {
			wanted[fmt.Sprint("j", k)] = k
			submits = append(submits, form.submit(r))
			jobs = append(jobs, jobRow{ID: fmt.Sprint("j", k), GPUs: int64(1 + r.IntN(2)), Run: float64(1 + r.IntN(9))})
		}
		list, out := write(t, form.name, string(form.write(submits, jobs))), filepath.Join(t.TempDir(), "done.csv")
		mustRun(t, "simulate", list, "--policy", "sjf", "-p", "blocking=skip", "--gpus", "2", "-o", out)
		rows := readTable(t, out)
		if len(rows) != 1+len(jobs) {
			t.Fatalf("%s: %d rows", form.name, len(rows))
		}
		waits := false
		for _, row := range rows[1:] {
			k := wanted[row[0]]
			submit, start, finish := seconds(t, row[1]), seconds(t, row[3]), seconds(t, row[4])
			if submit.Cmp(seconds(t, submits[k])) != 0 {
				t.Errorf("%s: job %s was submitted at %s, and the output says %s", form.name, row[0], submits[k], row[1])
			}
			if start.Cmp(submit) < 0 {
				t.Errorf("%s: job %s starts at %s, before its submit time %s", form.name, row[0], row[3], row[1])
			}
			if new(big.Rat).Sub(finish, start).Cmp(new(big.Rat).SetFloat64(jobs[k].Run)) != 0 {
				t.Errorf("%s: job %s runs from %s to %s, and takes %v s", form.name, row[0], row[3], row[4], jobs[k].Run)
			}
			waits = waits || new(big.Rat).Sub(start, submit).Cmp(big.NewRat(1, 1)) > 0
			if wait := new(big.Rat).Sub(start, submit); wait.Cmp(big.NewRat(100, 1)) > 0 {
				t.Errorf("%s: job %s waits for %s s", form.name, row[0], wait.FloatString(3))
			}
		}
		if !waits {
			t.Errorf("%s: no job waits: the test shows nothing", form.name)
		}
	}
}

func textList(submits []string, jobs []jobRow) []byte {
	var b bytes.Buffer
	b.WriteString("id,submit,gpus,duration\n")
	for k := range jobs {
		fmt.Fprintf(&b, "%s,%s,%d,%v\n", jobs[k].ID, submits[k], jobs[k].GPUs, jobs[k].Run)
	}
	return b.Bytes()
}

func parquetList[T any](t *testing.T, list []T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, list); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func seconds(t *testing.T, text string) *big.Rat {
	t.Helper()
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is not a number", text)
	}
	return v
}
