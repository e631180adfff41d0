package importer

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func gz(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archives pack pairs of names and contents.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg}
		if strings.HasSuffix(files[i], "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// contents opens a file and returns what is in it, and its name after the path.
func contents(t *testing.T, data []byte, member string) (text, name string, err error) {
	t.Helper()
	path := write(t, data)
	f, err := Open(path, member)
	if err != nil {
		return "", "", err
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	b, err := io.ReadAll(f)
	return string(b), strings.TrimPrefix(f.Name(), path), err
}

func TestOpen(t *testing.T) {
	four := []string{"data/", "", "data/Earth/log.csv", "earth", "data/Venus/log.csv", "venus", "__MACOSX/data/._log.csv", "?"}
	for _, c := range []struct {
		name         string
		data         []byte
		member       string
		want, suffix string
	}{
		{"plain", []byte("abc"), "", "abc", ""},
		{"empty", nil, "", "", ""},
		{"gzip", gz(t, []byte("abc")), "x.csv", "abc", ""},
		{"gzip in gzip", gz(t, gz(t, []byte("abc"))), "", "abc", ""},
		{"concatenated gzip", append(gz(t, []byte("abc")), gz(t, []byte("def"))...), "", "abcdef", ""},
		{"zip of one", zipped(t, "a.csv", "abc"), "", "abc", ":a.csv"},
		{"zip, whole name", zipped(t, four...), "data/Venus/log.csv", "venus", ":data/Venus/log.csv"},
		{"zip, end of the name", zipped(t, four...), "Earth/log.csv", "earth", ":data/Earth/log.csv"},
		{"zip, pattern", zipped(t, four...), "V*/*.csv", "venus", ":data/Venus/log.csv"},
		{"tar.gz", gz(t, tarred(t, four...)), "Venus/log.csv", "venus", ":data/Venus/log.csv"},
		{"tar of one", tarred(t, "d/", "", "./d/a.csv", "abc"), "", "abc", ":./d/a.csv"},
		{"gzip in zip", zipped(t, "a.csv.gz", string(gz(t, []byte("abc")))), "", "abc", ":a.csv.gz"},
	} {
		text, name, err := contents(t, c.data, c.member)
		if err != nil || text != c.want || name != c.suffix {
			t.Errorf("%s: %q from %q, %v", c.name, text, name, err)
		}
	}
	for _, c := range []struct {
		name   string
		data   []byte
		member string
		want   string
	}{
		{"several in a zip", zipped(t, four...), "", "the archive has 2 files, say which one is meant: data/Earth/log.csv, data/Venus/log.csv"},
		{"several match", zipped(t, four...), "log.csv", `2 files of the archive are "log.csv"`},
		{"none matches", zipped(t, four...), "Mars", `no file of the archive is "Mars" (there are data/Earth/log.csv`},
		{"none in a tar", tarred(t, four...), "Mars", `no file of the archive is "Mars"`},
		{"several in a tar", tarred(t, four...), "", "the archive has another file, data/Venus/log.csv: say which"},
		{"an empty zip", zipped(t), "", "the archive is empty"},
		{"a damaged zip", zipped(t, four...)[:90], "", "damaged zip"},
		{"a damaged tar", tarred(t, four...)[:700], "Venus/log.csv", "damaged tar"},
		{"a damaged gzip", gz(t, []byte("abc"))[:12], "", "unexpected EOF"},
		{"a wrong gzip header", []byte("\x1f\x8bxxxxxxxxxxx"), "", "damaged gzip"},
		{"a bomb", gz(t, gz(t, gz(t, gz(t, gz(t, []byte("abc")))))), "", "more than 4 archives"},
	} {
		if text, _, err := contents(t, c.data, c.member); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", c.name, text, err)
		}
	}
	if _, err := Open("none.csv", ""); err == nil || err.Error() != "none.csv: no such file or directory" {
		t.Errorf("a file that is not there: %v", err)
	}
}
