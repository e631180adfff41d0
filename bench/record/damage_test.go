package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// damage flips one to three bits, or cuts the tail off.
func damage(rng *rand.Rand, data []byte, from int) []byte {
	bad := bytes.Clone(data)
	if rng.IntN(5) == 0 {
		return bad[:rng.IntN(len(bad))]
	}
	for range 1 + rng.IntN(3) {
		bad[from+rng.IntN(len(bad)-from)] ^= 1 << rng.IntN(8)
	}
	if bytes.Equal(bad, data) { // the same bit twice
		bad[from] ^= 1
	}
	return bad
}

// Whatever happens to a table, Open says which file it was and does not return
// a run.
func TestOpenRefusesDamage(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	mustWrite(t, dir, randomRun(seed, 20))
	for i := range 400 {
		name := Tables()[rng.IntN(5)].Name
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(rng, good, 0), 0o644); err != nil {
			t.Fatal(err)
		}
		run, err := Open(dir)
		if err == nil || run != nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "sha256") || strings.Contains(err.Error(), "\n") {
			t.Fatalf("seed %d, mutant %d of %s: %v", seed, i, name, err)
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
}

// A damaged manifest is refused, or at least does not change a row.
func TestDamagedManifest(t *testing.T) {
	const seed = 12
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	want := randomRun(seed, 5)
	mustWrite(t, dir, want)
	path := filepath.Join(dir, ManifestName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range 300 {
		if err := os.WriteFile(path, damage(rng, good, 0), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Open(dir)
		if err != nil {
			refused++
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "record: ") {
				t.Fatalf("seed %d, mutant %d: %q", seed, i, err)
			}
			continue
		}
		if len(got.Manifest.Params) != len(want.Manifest.Params) { // their key in the manifest is gone
			for r := range want.Ratios {
				got.Ratios[r].Params = want.Ratios[r].Params
			}
		}
		got.Manifest = want.Manifest
		requireEqual(t, got, want)
	}
	if refused < 270 { // what is left has lost the key of its own hash
		t.Errorf("only %d of 300 damaged manifests were refused", refused)
	}
}

// Without the sha256 in front, the reader still neither panics nor asks for
// memory that it cannot have. Most of the flips hit the footer, where the
// lengths are.
func TestReaderSurvivesDamage(t *testing.T) {
	const seed = 13
	rng := rand.New(rand.NewPCG(seed, 0))
	run := randomRun(seed, 12)
	refused, total := 0, 0
	for _, f := range tables(run.Manifest.Params) {
		var b bytes.Buffer
		if _, err := f.encode(&b, run, [][2]string{{"bench.plan_id", "p"}}); err != nil {
			t.Fatal(err)
		}
		footer := b.Len() - 10 - int(b.Bytes()[b.Len()-10]) - int(b.Bytes()[b.Len()-9])<<8
		for i := range 1200 {
			from := 0
			if i%2 == 0 {
				from = footer
			}
			bad := damage(rng, b.Bytes(), from)
			total++
			if _, err := decodeSafely(f, bad, &Run{Manifest: run.Manifest}); err != nil {
				refused++
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("seed %d, mutant %d of %s: %q", seed, i, f.table().Name, err)
				}
			}
		}
	}
	t.Logf("%d of %d damaged files were refused without the sha256", refused, total)
	if refused < total/4 {
		t.Error("the damage was too little to test anything")
	}
}

func TestOpenRefusesForeignDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string) error
		want   string
	}{
		"no manifest":  {func(dir string) error { return os.Remove(filepath.Join(dir, ManifestName)) }, "it is not a result directory, or its run did not end"},
		"no JSON":      {func(dir string) error { return os.WriteFile(filepath.Join(dir, ManifestName), []byte("{"), 0o644) }, "is damaged"},
		"new format":   {func(dir string) error { return replace(dir, `"format_version": 1`, `"format_version": 2`) }, "format_version 2: this program reads 1"},
		"lost table":   {func(dir string) error { return os.Remove(filepath.Join(dir, "jobs.arrow")) }, "jobs.arrow: no such file"},
		"wrong count":  {func(dir string) error { return replace(dir, `"rows": 3`, `"rows": 4`) }, "ratios.arrow: holds 3 rows, manifest.json says 4"},
		"changed hash": {func(dir string) error { return replace(dir, `"sha256": "`, `"sha256": "0`) }, "is not the file that was written"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mustWrite(t, dir, sampleRun())
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "nowhere")); err == nil || !strings.Contains(err.Error(), "not a result directory") {
		t.Errorf("%v", err)
	}
}

// replace changes the manifest, which loses the hash of its own.
func replace(dir, old, new string) error {
	path := filepath.Join(dir, ManifestName)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(data, []byte(old)) {
		return fmt.Errorf("%s does not hold %s", path, old)
	}
	data = bytes.Replace(data, []byte(old), []byte(new), 1)
	// As if written by an older program, without a hash of itself.
	data = append(data[:bytes.LastIndex(data, []byte(",\n  \"manifest_sha256\""))], "\n}\n"...)
	return os.WriteFile(path, data, 0o644)
}

// arrowFile makes an Arrow file of one batch with the given columns.
func arrowFile(t *testing.T, fields []arrow.Field, options []ipc.Option, appendRow func(*array.RecordBuilder)) []byte {
	t.Helper()
	s := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), s)
	defer b.Release()
	appendRow(b)
	record := b.NewRecord()
	defer record.Release()
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&counter{Writer: &out}, append(options, ipc.WithSchema(s))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Files of other programs, versions and tables.
func TestReaderChecksTheSchema(t *testing.T) {
	text, num, integer := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32
	key := []arrow.Field{{Name: "cell_id", Type: text}, {Name: "schedule", Type: integer}, {Name: "job", Type: integer}}
	appendKey := func(b *array.RecordBuilder) {
		b.Field(0).(*array.StringBuilder).Append("c")
		b.Field(1).(*array.Int32Builder).Append(0)
		b.Field(2).(*array.Int32Builder).Append(7)
	}
	decode := func(data []byte) (Job, error) {
		run := &Run{}
		_, err := decodeSafely(jobTable(), data, run)
		if err != nil {
			return Job{}, err
		}
		return run.Jobs[0], nil
	}
	with := func(extra ...arrow.Field) []arrow.Field { return append(key[:3:3], extra...) }

	// An older file lacks columns, a newer one has more, in another order.
	data := arrowFile(t, with(arrow.Field{Name: "newer", Type: text}, arrow.Field{Name: "release_s", Type: num}), nil, func(b *array.RecordBuilder) {
		appendKey(b)
		b.Field(3).(*array.StringBuilder).Append("x")
		b.Field(4).(*array.Float64Builder).Append(2.5)
	})
	if job, err := decode(data); err != nil || job != (Job{CellID: "c", Job: 7, Release: 2.5}) {
		t.Errorf("%+v, %v", job, err)
	}

	refused := map[string]struct {
		data []byte
		want string
	}{
		"another program's": {[]byte("PAR1 this is a Parquet file PAR1"), "is not an Arrow IPC file"},
		"empty":             {nil, "is not an Arrow IPC file"},
		"another table": {arrowFile(t, key[:1], nil, func(b *array.RecordBuilder) {
			b.Field(0).(*array.StringBuilder).Append("c")
		}), "has no column schedule: it is not a table of jobs"},
		"other type": {arrowFile(t, with(arrow.Field{Name: "release_s", Type: integer}), nil, func(b *array.RecordBuilder) {
			appendKey(b)
			b.Field(3).(*array.Int32Builder).Append(1)
		}), "has column release_s of type int32: it must be float64"},
		"null key": {arrowFile(t, with(arrow.Field{Name: "release_s", Type: num, Nullable: true}), nil, func(b *array.RecordBuilder) {
			appendKey(b)
			b.Field(3).AppendNull()
		}), "row 0: column release_s is null"},
		"two of a name": {arrowFile(t, with(arrow.Field{Name: "release_s", Type: num}, arrow.Field{Name: "release_s", Type: num}), nil, func(b *array.RecordBuilder) {
			appendKey(b)
			b.Field(3).(*array.Float64Builder).Append(1)
			b.Field(4).(*array.Float64Builder).Append(1)
		}), "has 2 columns named release_s"},
		"1e30": {arrowFile(t, with(arrow.Field{Name: "release_s", Type: num}), nil, func(b *array.RecordBuilder) {
			appendKey(b)
			b.Field(3).(*array.Float64Builder).Append(1e30)
		}), "row 0: column release_s is 1e+30"},
	}
	for name, c := range refused {
		if _, err := decode(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v does not say %q", name, err, c.want)
		}
	}
}
