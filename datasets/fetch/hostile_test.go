package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hostile serves an item by a handler and fetches it. It returns how often the server
// was asked, and what is left of the part.
func hostile(t *testing.T, item Item, o Options, serve http.HandlerFunc) (r *Result, asked int64, part []byte, err error) {
	t.Helper()
	var count atomic.Int64
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		serve(w, r)
	}))
	defer host.Close()
	defer host.CloseClientConnections()
	item.Name, item.URL = "log", host.URL+"/log.csv"
	path := filepath.Join(t.TempDir(), "log.csv")
	r, err = Fetch(context.Background(), item, path, o)
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("not one line: %v", err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("a file that is not whole has the name of a whole one")
		}
	}
	part, _ = os.ReadFile(path + ".part")
	return r, count.Load(), part, err
}

// stall waits for the client to leave.
func stall(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// A server that takes the connection and never answers, that answers and sends nothing,
// that sends some and stops, or that drips, is given up after some attempts; what it has
// sent is kept.
func TestFetchLeavesServersThatStall(t *testing.T) {
	data := content(200_000)
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		kept  bool
	}{
		"no answer": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false},
		"no body":   {stall, false},
		"half": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(data[:100_000])
			stall(w, r)
		}, true},
		"drips": {func(w http.ResponseWriter, r *http.Request) {
			for i := range data {
				_, _ = w.Write(data[i : i+1])
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(time.Millisecond):
				}
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := quick()
			o.Idle = 300 * time.Millisecond
			_, asked, part, err := hostile(t, Item{SHA256: shaOf(data)}, o, c.serve)
			if !errors.Is(err, errStalled) || !strings.Contains(err.Error(), "given up after 3 attempts") || asked != 3 {
				t.Errorf("asked %d times: %v", asked, err)
			}
			if kept := len(part) > 0; kept != c.kept && name != "half" || len(part) > 0 && !strings.HasPrefix(string(data), string(part)) {
				t.Errorf("%d bytes are kept", len(part))
			}
		})
	}
}

// A server that stalls at first and sends later is waited for.
func TestFetchGoesOnAfterStalls(t *testing.T) {
	data := content(200_000)
	s := &server{data: data, tag: `"one"`}
	stalls := 3
	o := quick()
	o.Idle, o.Attempts = time.Second, 50 // on a slow machine, others seem to stall too
	r, _, _, err := hostile(t, Item{SHA256: shaOf(data)}, o, func(w http.ResponseWriter, r *http.Request) {
		if stalls--; stalls >= 0 {
			stall(w, r)
			return
		}
		s.ServeHTTP(w, r)
	})
	if err != nil || r.Sums.Bytes != 200_000 {
		t.Errorf("%v, %v", r, err)
	}
}

// A server that breaks off in every answer and begins anew each time brings bytes for
// ever, and never the file.
func TestFetchLeavesServersThatBeginAnew(t *testing.T) {
	data := content(100_000)
	_, asked, part, err := hostile(t, Item{SHA256: shaOf(data)}, quick(), func(w http.ResponseWriter, _ *http.Request) {
		_, _ = (&cutter{w, 50_000}).Write(data)
	})
	if err == nil || !strings.Contains(err.Error(), "given up after 3 attempts") || asked != 4 || len(part) == 0 {
		t.Errorf("asked %d times, %d bytes kept: %v", asked, len(part), err)
	}
	// One byte more with each connection is no end either.
	o := quick()
	o.Connections = 20
	s := &server{data: data, tag: `"one"`}
	_, asked, part, err = hostile(t, Item{SHA256: shaOf(data)}, o, func(w http.ResponseWriter, r *http.Request) {
		s.cut = []int{1}
		s.ServeHTTP(w, r)
	})
	if err == nil || !strings.Contains(err.Error(), "given up after 20 connections") || asked != 20 || len(part) != 20 {
		t.Errorf("asked %d times, %d bytes kept: %v", asked, len(part), err)
	}
}

// A pause that the server asks for is made, unless it is too long.
func TestFetchRetryAfter(t *testing.T) {
	data := content(1000)
	s := &server{data: data}
	for name, c := range map[string]struct {
		after string
		asked int64
		want  string // of the error; "" for none
	}{
		"seconds":       {"1", 2, ""},
		"date":          {"Mon, 02 Jan 2006 15:04:06 GMT", 2, ""},
		"past":          {"Mon, 02 Jan 2006 15:04:04 GMT", 2, ""},
		"nonsense":      {"soon", 2, ""},
		"an hour":       {"3600", 1, "asks to come back in 1h0m0s: what arrived is kept"},
		"a date far on": {"Mon, 02 Jan 2006 16:04:05 GMT", 1, "asks to come back in 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused, start := false, time.Now()
			_, asked, _, err := hostile(t, Item{SHA256: shaOf(data)}, quick(), func(w http.ResponseWriter, r *http.Request) {
				if !refused {
					refused = true
					w.Header().Set("Date", "Mon, 02 Jan 2006 15:04:05 GMT")
					w.Header().Set("Retry-After", c.after)
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				s.ServeHTTP(w, r)
			})
			if asked != c.asked || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("asked %d times: %v", asked, err)
			}
			if took := time.Since(start); (name == "seconds" || name == "date") && took < time.Second {
				t.Errorf("went on after %v", took)
			}
		})
	}
}

// Redirects that come back to where they were, that never end, or that leave https are
// not tried again.
func TestFetchRedirects(t *testing.T) {
	_, asked, _, err := hostile(t, Item{}, quick(), func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, map[string]string{"/log.csv": "/a", "/a": "/b", "/b": "/log.csv"}[r.URL.Path], http.StatusFound)
	})
	if err == nil || !strings.Contains(err.Error(), "redirects in a circle") || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	_, asked, _, err = hostile(t, Item{}, quick(), func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"/more", http.StatusFound)
	})
	if err == nil || !strings.Contains(err.Error(), "more than ten times") || asked != 11 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a,b\n") }))
	defer plain.Close()
	safe := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer safe.Close()
	o := quick()
	o.Client = safe.Client()
	_, err = Fetch(context.Background(), Item{Name: "log", URL: safe.URL, Bytes: 4}, filepath.Join(t.TempDir(), "log.csv"), o)
	if err == nil || !strings.Contains(err.Error(), "nothing is encrypted") {
		t.Errorf("%v", err)
	}
}

// A Content-Length that is not that of the body, or of anything that the item can be.
func TestFetchLiesAboutLength(t *testing.T) {
	data := content(40_000)
	length := func(n int, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack() // Go's server does not lie
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", n, body)
		}
	}
	chunked := func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write(data)
	}
	for name, c := range map[string]struct {
		item  Item
		serve http.HandlerFunc
		asked int64
		want  string
	}{
		"longer than the body":      {Item{SHA256: shaOf(data)}, length(40_001, data), 4, "given up after 3 attempts"},
		"shorter than the body":     {Item{SHA256: shaOf(data)}, length(30_000, data), 1, "has the SHA-256"},
		"more than it can be":       {Item{Most: 39_999}, length(40_000, data), 1, "announces 40000 bytes, and 39999 are the most"},
		"more than anything":        {Item{}, length(1<<50, data), 1, "announces 1125899906842624 bytes, and 1073741824 are the most"},
		"not announced, too long":   {Item{Most: 39_999}, chunked, 1, "more arrived than the 39999 bytes"},
		"not announced, size known": {Item{Bytes: 39_999}, chunked, 1, "more arrived than the 39999 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, asked, part, err := hostile(t, c.item, quick(), c.serve)
			if err == nil || !strings.Contains(err.Error(), c.want) || asked != c.asked {
				t.Errorf("asked %d times: %v", asked, err)
			}
			if len(part) > 0 && c.asked == 1 {
				t.Errorf("%d bytes of something else are kept", len(part))
			}
		})
	}
}

// A web page in the place of a log is not taken for it, whatever it is called.
func TestFetchRefusesWebPages(t *testing.T) {
	page := "\n <!DOCTYPE html>\n<html><body>Sign in</body></html>\n"
	for _, kind := range []string{"text/html; charset=utf-8", "application/xhtml+xml", "text/plain", "application/octet-stream", "text/csv"} {
		_, asked, part, err := hostile(t, Item{}, quick(), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, page)
		})
		if err == nil || !strings.Contains(err.Error(), "sent a web page instead of the file") || asked != 1 || len(part) > 0 {
			t.Errorf("%s: asked %d times, %d bytes kept: %v", kind, asked, len(part), err)
		}
	}
}

// A body whose end is that of the connection may be cut anywhere: without a checksum or
// a size, nobody would see it.
func TestFetchWithoutAnEnd(t *testing.T) {
	data := content(1000)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write(append([]byte("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), data...))
			_ = c.Close()
		}
	}()
	for _, item := range []Item{{}, {Bytes: 1000}, {SHA256: shaOf(data)}} {
		item.Name, item.URL = "log", "http://"+listener.Addr().String()
		_, err := Fetch(context.Background(), item, filepath.Join(t.TempDir(), "log.csv"), quick())
		if known := item.Bytes > 0 || item.SHA256 != ""; known != (err == nil) || err != nil && !strings.Contains(err.Error(), "cannot be told") {
			t.Errorf("%+v: %v", item, err)
		}
	}
}
