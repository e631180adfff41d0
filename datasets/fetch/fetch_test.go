package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// content returns bytes that no two places share.
func content(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func blobID(b []byte) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(b), b)))
}

func shaOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// server serves one file and can break off, refuse and change.
type server struct {
	data     []byte
	tag      string
	cut      []int // of the first answers, how many bytes are sent before the connection breaks
	refuse   []int // status codes of the first answers
	noRanges bool
	hold     int      // if set, sends so many bytes and then nothing until the client leaves
	ranges   []string // what was asked for, one per request
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	if len(s.refuse) > 0 {
		code := s.refuse[0]
		s.refuse = s.refuse[1:]
		w.WriteHeader(code)
		return
	}
	if s.tag != "" {
		w.Header().Set("ETag", s.tag)
	}
	if s.noRanges {
		r.Header.Del("Range")
	}
	if s.hold > 0 {
		_, _ = w.Write(s.data[:s.hold])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	}
	if len(s.cut) > 0 {
		n := s.cut[0]
		s.cut = s.cut[1:]
		w = &cutter{w, n}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.data))
}

// cutter breaks the connection after some bytes.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	if c.left == 0 {
		panic(http.ErrAbortHandler)
	}
	n, err := c.ResponseWriter.Write(b[:min(c.left, len(b))])
	c.left -= n
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	if err == nil && n < len(b) {
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// start serves s and returns an item for it with the SHA-256 of data.
func start(t *testing.T, s *server) Item {
	t.Helper()
	host := httptest.NewServer(s)
	t.Cleanup(host.Close)
	return Item{Name: "log", URL: host.URL + "/log.csv", SHA256: shaOf(s.data)}
}

// quick are options that do not wait.
func quick() Options { return Options{Wait: time.Nanosecond, Attempts: 3} }

// whole checks that the file is there, and nothing else.
func whole(t *testing.T, path string, data []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes of %d, equal %v: %v", len(got), len(data), bytes.Equal(got, data), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFetch(t *testing.T) {
	data := content(300_000)
	for name, c := range map[string]struct {
		item   Item
		proof  Proof
		report string
	}{
		"SHA-256":       {Item{SHA256: shaOf(data)}, SHA256Proof, "its SHA-256 is right"},
		"with size":     {Item{SHA256: shaOf(data), Bytes: 300_000}, SHA256Proof, "300000 bytes"},
		"git blob":      {Item{GitBlob: blobID(data)}, Blob, "its git blob id is right"},
		"short blob id": {Item{GitBlob: blobID(data)[:8]}, BlobPrefix, "first digits of its git blob id"},
		"no checksum":   {Item{}, NoProof, "not verified"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{data: data}
			c.item.URL = start(t, s).URL
			path := filepath.Join(t.TempDir(), "log.csv")
			var done, total int64
			r, err := Fetch(context.Background(), c.item, path, Options{Progress: func(d, n int64) { done, total = d, n }})
			if err != nil {
				t.Fatal(err)
			}
			whole(t, path, data)
			if r.Proof != c.proof || r.Already || r.Resumed != 0 || !strings.Contains(r.String(), c.report) || !strings.Contains(r.String(), shaOf(data)) {
				t.Errorf("%v", r)
			}
			if done != 300_000 || total != 300_000 {
				t.Errorf("progress ends at %d of %d", done, total)
			}
			again, err := Fetch(context.Background(), c.item, path, quick())
			if err != nil || !again.Already || again.Proof != c.proof || len(s.ranges) != 1 {
				t.Errorf("again: %v, %v, %d requests", again, err, len(s.ranges))
			}
		})
	}
}

// A connection that breaks is taken up where it broke, within a run as long as
// something arrives.
func TestFetchGoesOnAfterBreaks(t *testing.T) {
	data := content(1_000_000)
	s := &server{data: data, tag: `"one"`, cut: []int{1, 300_000, 0, 1, 400_000}, refuse: []int{503, 429}}
	path := filepath.Join(t.TempDir(), "log.csv")
	r, err := Fetch(context.Background(), start(t, s), path, quick())
	if err != nil {
		t.Fatal(err)
	}
	whole(t, path, data)
	if len(s.ranges) != 8 || s.ranges[7] == "" || r.Resumed != 0 {
		t.Errorf("asked for %q, %v", s.ranges, r)
	}
}

// A later run takes up what an earlier one left.
func TestFetchResumesAnEarlierRun(t *testing.T) {
	data := content(100_000)
	for name, c := range map[string]struct {
		part, version string
		server        server
		noChecksum    bool
		ranges        string
		resumed       int64
	}{
		"with version":        {string(data[:70_000]), `"one"`, server{tag: `"one"`}, false, "bytes=70000-", 70_000},
		"without version":     {string(data[:70_000]), "", server{}, false, "bytes=70000-", 70_000},
		"all there":           {string(data), `"one"`, server{tag: `"one"`}, false, "bytes=100000-", 100_000},
		"other version":       {strings.Repeat("x", 70_000), `"old"`, server{tag: `"one"`}, false, "bytes=70000-", 0},
		"no ranges":           {string(data[:70_000]), "", server{noRanges: true}, false, "bytes=70000-", 0},
		"longer than it":      {strings.Repeat("x", 100_001), "", server{}, false, "bytes=100001- ", 0},
		"nothing to trust":    {strings.Repeat("x", 70_000), "", server{}, true, "", 0},
		"version to trust":    {string(data[:70_000]), `"one"`, server{tag: `"one"`}, true, "bytes=70000-", 70_000},
		"empty part, no more": {"", "", server{}, false, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.server
			s.data = data
			item := start(t, &s)
			if c.noChecksum {
				item.SHA256 = ""
			}
			path := filepath.Join(t.TempDir(), "log.csv")
			if err := os.WriteFile(path+".part", []byte(c.part), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.version != "" {
				if err := os.WriteFile(path+".part.version", []byte(c.version), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Fetch(context.Background(), item, path, quick())
			if err != nil {
				t.Fatal(err)
			}
			whole(t, path, data)
			if got := strings.Join(s.ranges, " "); got != c.ranges || r.Resumed != c.resumed {
				t.Errorf("asked for %q, want %q; resumed at %d, want %d", got, c.ranges, r.Resumed, c.resumed)
			}
		})
	}
}

func TestFetchErrors(t *testing.T) {
	data := content(50_000)
	pointer := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")
	for name, c := range map[string]struct {
		server server
		change func(*Item)
		want   string
		part   bool // whether the part stays
	}{
		"checksum":      {server{data: data}, func(it *Item) { it.SHA256 = shaOf(nil) }, "SHA-256", false},
		"blob id":       {server{data: data}, func(it *Item) { it.SHA256, it.GitBlob = "", "0000" }, "git blob id", false},
		"too short":     {server{data: data}, func(it *Item) { it.Bytes = 50_001 }, "has 50000 bytes, 50001 are right", false},
		"too long":      {server{data: data}, func(it *Item) { it.Bytes = 49_999 }, "announces 50000 bytes, and 49999 are the most", false},
		"pointer":       {server{data: pointer}, func(it *Item) { it.SHA256 = shaOf(data) }, "Git LFS pointer", false},
		"not found":     {server{data: data, refuse: []int{404}}, nil, "answers 404 Not Found", false},
		"gone for long": {server{data: data, refuse: []int{500, 502, 503}}, nil, "given up after 3 attempts", false},
		"always breaks": {server{data: data, cut: []int{20_000, 0, 0, 0}}, nil, "given up after 3 attempts", true},
		"no such host":  {server{data: data}, func(it *Item) { it.URL = "http://[::1" }, "missing ']'", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.server
			item := start(t, &s)
			if c.change != nil {
				c.change(&item)
			}
			path := filepath.Join(t.TempDir(), "log.csv")
			_, err := Fetch(context.Background(), item, path, quick())
			if err == nil || !strings.HasPrefix(err.Error(), "fetch: log: ") || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v", err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("a file that is not whole has the name of a whole one")
			}
			if _, err := os.Stat(path + ".part"); (err == nil) != c.part {
				t.Errorf("the part: %v", err)
			}
		})
	}
}

func TestFetchKeepsOtherFiles(t *testing.T) {
	s := &server{data: content(10)}
	path := filepath.Join(t.TempDir(), "log.csv")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Fetch(context.Background(), start(t, s), path, quick())
	if err == nil || !strings.Contains(err.Error(), "is there already") || len(s.ranges) != 0 {
		t.Errorf("%v after %d requests", err, len(s.ranges))
	}
	whole(t, path, []byte("mine"))
}

// What arrived before an interruption stays for the next run.
func TestFetchStopsWhenAsked(t *testing.T) {
	data := content(500_000)
	s := &server{data: data, tag: `"one"`, hold: 200_000}
	item := start(t, s)
	path := filepath.Join(t.TempDir(), "log.csv")
	ctx, cancel := context.WithCancel(context.Background())
	o := quick()
	o.Progress = func(int64, int64) { cancel() }
	if _, err := Fetch(ctx, item, path, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	info, err := os.Stat(path + ".part")
	if err != nil || info.Size() == 0 {
		t.Fatalf("nothing was kept: %v", err)
	}
	s.hold = 0
	r, err := Fetch(context.Background(), item, path, quick())
	if err != nil || r.Resumed != info.Size() {
		t.Fatalf("%v, %v", r, err)
	}
	whole(t, path, data)
}

func TestCatalog(t *testing.T) {
	list := Catalog()
	files := map[string]bool{}
	for i, it := range list {
		if i > 0 && list[i-1].Name >= it.Name {
			t.Errorf("%s and %s are not in order", list[i-1].Name, it.Name)
		}
		if it.What == "" || it.Licence == "" || it.Format == "" || it.File != filepath.Base(it.File) || files[it.File] || !strings.HasPrefix(it.URL, "https://") {
			t.Errorf("%+v", it)
		}
		files[it.File] = true
		if n := len(it.SHA256); n != 0 && n != 64 || it.SHA256 != "" && it.GitBlob != "" {
			t.Errorf("%s: %d digits of SHA-256, blob %q", it.Name, n, it.GitBlob)
		}
		if n := len(it.GitBlob); n != 0 && (n < 8 || n > 40) || strings.Trim(it.SHA256+it.GitBlob, "0123456789abcdef") != "" {
			t.Errorf("%s: %q %q", it.Name, it.SHA256, it.GitBlob)
		}
		if it.Bytes == 0 && it.Most == 0 {
			t.Errorf("%s: nothing says how large it can be", it.Name)
		}
		if got, err := Find(it.Name); err != nil || got != it {
			t.Errorf("%s: %v", it.Name, err)
		}
	}
	if _, err := Find("philli"); err == nil || !strings.Contains(err.Error(), `the nearest is "philly"`) {
		t.Error(err)
	}
}

// The checksums of files that are here agree with the catalogue's.
func TestCatalogAgainstFiles(t *testing.T) {
	const raw = "../../../shared/data/raw/"
	if _, err := os.Stat(raw); err != nil {
		t.Skipf("the shared traces are not here: %v", err)
	}
	for name, file := range map[string]string{"tiresias-60": "tiresias/60_job.csv.gz", "openb": "alibaba_gpu_v2023/openb_pod_list_default.csv.gz",
		"muri-1": "muri/trace1.csv.gz", "pollux-1": "pollux/simulator/workloads/workload-1.csv.gz"} {
		item, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), item.File)
		if err := os.WriteFile(path, unzipped(t, raw+file), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Fetch(context.Background(), item, path, Options{Client: &http.Client{Transport: offline{}}})
		if err != nil || r.Proof != Blob {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// offline is a network that fails every request.
type offline struct{}

func (offline) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s was asked for", r.URL)
}

func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
