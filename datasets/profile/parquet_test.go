package profile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"yardstick/datasets/table"
)

func written(t testing.TB, profiles []Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, profiles); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readBytes(b []byte) ([]Profile, error) {
	file, err := table.New("x.parquet", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return readTable(file)
}

func TestRoundTrip(t *testing.T) {
	list, err := Builtin("a100")
	if err != nil {
		t.Fatal(err)
	}
	list[2].Layers[3].Stored = Stored{}
	list[1].Source, list[1].GPU = Measured, "another"
	path := filepath.Join(t.TempDir(), "p.parquet")
	if err := WriteFile(path, list); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(list) {
		t.Error("profiles change on the way through a file")
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is read")
	}
	if err := WriteFile(filepath.Join(t.TempDir(), "no", "where"), list); err == nil {
		t.Error("a file is written to a folder that is not there")
	}
	names := map[string]bool{}
	for _, c := range Columns() {
		if names[c.Name] || c.Description == "" || c.Type != "utf8" && c.Type != "double" {
			t.Errorf("column %+v", c)
		}
		names[c.Name] = true
	}
}

// docs/profiles.md documents the columns as they are.
func TestDocumentedColumns(t *testing.T) {
	text, err := os.ReadFile("../../docs/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, c := range Columns() {
		unit := c.Unit
		if unit != "" {
			unit += " "
		}
		at := strings.Index(string(text), fmt.Sprintf("| %s | %s | %s| %s", c.Name, c.Type, unit, c.Description))
		if at <= last {
			t.Errorf("docs/profiles.md lacks column %s, or has it out of order", c.Name)
		}
		last = at
	}
}

func TestValidate(t *testing.T) {
	good := func() *Profile {
		return &Profile{Model: "m", GPU: "g", Source: Measured, Batch: 1, Layers: []Layer{{Name: "a", Forward: 1, Activation: 5}, {Name: "b", Backward: 1}}}
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Profile){
		"no name":             func(p *Profile) { p.Model = "" },
		"GPU has no name":     func(p *Profile) { p.GPU = "" },
		"source is":           func(p *Profile) { p.Source = "guess" },
		"batch is 0":          func(p *Profile) { p.Batch = 0 },
		"has 0 layers":        func(p *Profile) { p.Layers = nil },
		"layer 1 \"\"":        func(p *Profile) { p.Layers[1].Name = "" },
		"forward_ns is -1":    func(p *Profile) { p.Layers[0].Forward = -1 },
		"parameter_bytes is":  func(p *Profile) { p.Layers[0].Parameters = maxBytes + 1 },
		"must be 0":           func(p *Profile) { p.Layers[1].Activation = 1 },
		"marked unknown":      func(p *Profile) { p.Layers[1].Stored.Bytes = 1 },
		"take no time":        func(p *Profile) { p.Layers[0].Forward, p.Layers[1].Backward = 0, 0 },
		"layers 0 to 1 take ": func(p *Profile) { p.Layers[0].Parameters, p.Layers[1].Parameters = maxBytes, maxBytes },
	} {
		p := good()
		spoil(p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if err := Write(new(bytes.Buffer), []Profile{*p}); err == nil {
			t.Errorf("a profile with %q is written", want)
		}
	}
	if err := Write(new(bytes.Buffer), []Profile{*good(), *good()}); err == nil {
		t.Error("one profile is written twice")
	}
	if err := Write(new(bytes.Buffer), nil); err == nil {
		t.Error("no profiles are written")
	}
}

// Files that other programs may write, with one thing wrong.
func TestReadErrors(t *testing.T) {
	type row map[string]any
	base := func() []row {
		var rows []row
		for i := range 3 {
			rows = append(rows, row{"profile": "m", "gpu": "g", "source": "measured", "batch": 2.0, "layer": float64(i), "name": "l", "forward_ns": 1.0,
				"backward_ns": 2.0, "activation_bytes": 0.0, "parameter_bytes": 4.0, "stored_bytes": 5.0})
		}
		return rows
	}
	encode := func(rows []row, skip string, extra string) []byte {
		var columns []table.Column
		for _, c := range Columns() {
			if c.Name != skip {
				columns = append(columns, table.Column{Name: c.Name, Kind: kind(c), Nullable: true})
			}
		}
		if extra != "" {
			columns = append(columns, table.Column{Name: extra, Kind: table.Number, Nullable: true})
		}
		var b bytes.Buffer
		w := table.NewWriter(&b, columns)
		for _, r := range rows {
			for i, c := range columns {
				switch v := r[c.Name].(type) {
				case string:
					w.Text(i, v)
				case float64:
					w.Number(i, v)
				}
			}
			if err := w.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	got, err := readBytes(encode(base(), "", ""))
	if err != nil || len(got) != 1 || len(got[0].Layers) != 3 || !got[0].Layers[2].Stored.Known {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = readBytes(encode(base(), "stored_bytes", ""))
	if err != nil || got[0].Layers[0].Stored.Known {
		t.Errorf("without stored_bytes: %+v, %v", got, err)
	}
	for _, c := range []struct{ skip, extra, want string }{{"gpu", "", "no column gpu"}, {"", "colour", `column "colour" is not in`}} {
		if _, err := readBytes(encode(base(), c.skip, c.extra)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for want, spoil := range map[string]func([]row) []row{
		"row 2: layer 2 of":           func(r []row) []row { return append(r[:1], r[2]) },
		"comes before layer 0":        func(r []row) []row { return r[1:] },
		"row 3: column name is NULL":  func(r []row) []row { delete(r[2], "name"); return r },
		"row 1: column layer is NULL": func(r []row) []row { delete(r[0], "layer"); return r },
		"must be a whole number":      func(r []row) []row { r[1]["forward_ns"] = 1.5; return r },
		"row 2: layer 1 of \"other\"": func(r []row) []row { r[1]["profile"] = "other"; return r },
		"there twice":                 func(r []row) []row { return append(r, base()...) },
		"source is \"guess\"": func(r []row) []row {
			for i := range r {
				r[i]["source"] = "guess"
			}
			return r
		},
		"there are no profiles": func(r []row) []row { return nil },
	} {
		if _, err := readBytes(encode(spoil(base()), "", "")); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "profile: x.parquet: ") {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// A damaged file is refused or reads as it was written.
func TestDamage(t *testing.T) {
	list, err := Builtin("v100")
	if err != nil {
		t.Fatal(err)
	}
	whole := written(t, list[:3])
	want := fmt.Sprint(list[:3])
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 4))
	for n := range 400 {
		b := bytes.Clone(whole)
		switch n % 3 {
		case 0:
			b[r.IntN(len(b))] ^= byte(1 << r.IntN(8))
		case 1:
			b = b[:r.IntN(len(b))]
		case 2:
			at := r.IntN(len(b))
			for i := at; i < min(at+20, len(b)); i++ {
				b[i] = byte(r.Uint32())
			}
		}
		if got, err := readBytes(b); err == nil && fmt.Sprint(got) != want {
			t.Fatalf("seed %d, case %d: a damaged file reads as something else", seed, n)
		}
	}
}

func FuzzRead(f *testing.F) {
	list, err := Builtin("v100")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(written(f, list[:1]))
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := readBytes(b); err == nil {
			written(t, got)
		}
	})
}

func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		if _, err := Builtin("v100"); err != nil {
			b.Fatal(err)
		}
	}
}
