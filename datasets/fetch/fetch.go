package fetch

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options of a download. The zero value is ready to use.
type Options struct {
	Client   *http.Client            // nil is http.DefaultClient
	Progress func(done, total int64) // if set, called as bytes arrive; total is 0 if not known
	Attempts int                     // connections in a row that may bring nothing new, or stall, before it gives up; 0 is 5
	Wait     time.Duration           // before every further connection, doubled after each of these; 0 is one second
	// Connections is how many are made in all; 0 is 100.
	Connections int
	// Idle is how long the server may take to answer, and then for every 32 KiB; 0 is
	// 30 s. A connection that is slower is given up.
	Idle time.Duration
	// Patience is the longest pause, also where the server asks for one; if it asks for
	// a longer one, the download ends. 0 is two minutes.
	Patience time.Duration
}

// filled are the options with what zero values stand for.
func (o Options) filled() Options {
	o.Client = cmp.Or(o.Client, http.DefaultClient)
	o.Attempts, o.Connections = cmp.Or(o.Attempts, 5), cmp.Or(o.Connections, 100)
	o.Wait, o.Idle, o.Patience = cmp.Or(o.Wait, time.Second), cmp.Or(o.Idle, 30*time.Second), cmp.Or(o.Patience, 2*time.Minute)
	return o
}

// least is how many bytes have to arrive within Options.Idle.
const least = 1 << 15

// Result says what a download did.
type Result struct {
	Path    string
	Sums    Sums
	Proof   Proof
	Already bool  // the file was there, whole; nothing was downloaded
	Resumed int64 // bytes that were there from an earlier run
}

// String says it in one line.
func (r *Result) String() string {
	how := "downloaded"
	switch {
	case r.Already:
		how = "already there"
	case r.Resumed > 0:
		how = fmt.Sprintf("downloaded, resumed at byte %d", r.Resumed)
	}
	return fmt.Sprintf("%s: %s, %d bytes, SHA-256 %s; %s", r.Path, how, r.Sums.Bytes, r.Sums.SHA256, r.Proof)
}

// Fetch downloads an item to a path, or finds that it is there. While it is
// not whole, the file is path.part; what the server calls the version that the
// part belongs to is in path.part.version, and a part of another version is
// thrown away.
//
// Errors: the server refuses, stalls, redirects in a circle or cannot be reached
// after several attempts (what arrived stays, and the next run goes on from
// there); it sends a web page, or more than the item can have; the content does
// not match the item's size or checksum (then the part is deleted); a file with
// other content is already at path.
func Fetch(ctx context.Context, it Item, path string, o Options) (*Result, error) {
	r, err := fetch(ctx, it, path, o)
	if err != nil {
		return nil, fmt.Errorf("fetch: %s: %w", it.Name, err)
	}
	return r, nil
}

func fetch(ctx context.Context, it Item, path string, o Options) (*Result, error) {
	sums, err := Sum(path)
	if err == nil {
		proof, err := it.check(sums)
		if err != nil {
			return nil, fmt.Errorf("%s is there already, but %w: remove it and try again", path, err)
		}
		return &Result{Path: path, Sums: sums, Proof: proof, Already: true}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d := &download{item: &it, options: o.filled(), part: path + ".part", version: path + ".part.version"}
	resumed, err := d.run(ctx)
	if err != nil {
		return nil, err
	}
	if sums, err = Sum(d.part); err != nil {
		return nil, err
	}
	proof, err := it.check(sums)
	if err != nil {
		hint := ""
		if isPointer(d.part) {
			hint = " (it is a Git LFS pointer, not the file)"
		}
		// Resuming would only add to what is wrong.
		err = errors.Join(d.discard(), fmt.Errorf("what %s sent%s %w: it was deleted", it.URL, hint, err))
		return nil, err
	}
	if err := os.Rename(d.part, path); err != nil {
		return nil, err
	}
	if err := remove(d.version); err != nil {
		return nil, err
	}
	return &Result{Path: path, Sums: sums, Proof: proof, Resumed: resumed}, nil
}

// isPointer reports whether a file is what git stores in place of a file that
// Git LFS holds.
func isPointer(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 40)
	n, _ := io.ReadFull(f, head)
	return strings.HasPrefix(string(head[:n]), "version https://git-lfs.")
}

// download is one item on its way.
type download struct {
	item          *Item
	options       Options
	part, version string // paths
	idle          *time.Timer
}

// run downloads until all is there; it returns how much was there before.
func (d *download) run(ctx context.Context) (resumed int64, err error) {
	o := &d.options
	resumed, err = size(d.part)
	if err != nil {
		return 0, err
	}
	farthest, failed := resumed, 0
	for connections := 1; ; connections++ {
		before, err := size(d.part)
		if err != nil {
			return 0, err
		}
		after, err := d.attempt(ctx, before)
		resumed = min(resumed, after.kept)
		if err == nil {
			return resumed, nil
		}
		if errors.As(err, new(permanent)) || ctx.Err() != nil {
			return 0, err
		}
		// A server that begins anew every time brings bytes, but nothing new.
		if reached := after.kept + after.received; reached > farthest && !errors.Is(err, errStalled) {
			farthest, failed = reached, 0
		} else {
			failed++
		}
		switch {
		case failed >= o.Attempts:
			return 0, fmt.Errorf("given up after %d attempts that brought nothing new; what arrived is kept for the next run: %w", failed, err)
		case connections >= o.Connections:
			return 0, fmt.Errorf("given up after %d connections; what arrived is kept for the next run: %w", connections, err)
		}
		pause := min(o.Wait<<max(failed-1, 0), o.Patience)
		if asked := new(later); errors.As(err, asked) {
			if pause = max(pause, asked.pause); pause > o.Patience {
				return 0, fmt.Errorf("%w and asks to come back in %v: what arrived is kept for the next run", err, asked.pause)
			}
		}
		if err := sleep(ctx, pause); err != nil {
			return 0, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// permanent is an error that another attempt would not mend.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// later is an error of a server that says when to come back.
type later struct {
	error
	pause time.Duration
}

func (l later) Unwrap() error { return l.error }

// errStalled ends a connection that brings too little.
var errStalled = errors.New("the server stalled")

// outcome of one attempt: how much of the part was kept, and how many bytes
// were added.
type outcome struct{ kept, received int64 }

// attempt asks for what is missing behind the given number of bytes.
func (d *download) attempt(ctx context.Context, have int64) (out outcome, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.idle = time.AfterFunc(d.options.Idle, func() {
		cancel(fmt.Errorf("%w: less than %d bytes in %v", errStalled, least, d.options.Idle))
	})
	defer d.idle.Stop()
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), errStalled) {
			err = fmt.Errorf("%s: %w", d.item.URL, context.Cause(ctx))
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.item.URL, nil)
	if err != nil {
		return outcome{}, permanent{err}
	}
	// Otherwise Go asks for gzip and unpacks it, and ranges mean other bytes.
	request.Header.Set("Accept-Encoding", "identity")
	version, err := os.ReadFile(d.version)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outcome{}, permanent{err}
	}
	// A part that neither a version nor a checksum vouches for is not built on.
	if have > 0 && (len(version) > 0 || d.item.Verifiable()) {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if len(version) > 0 {
			request.Header.Set("If-Range", string(version)) // all of the file, if it changed
		}
	}
	response, err := d.client().Do(request)
	if err != nil {
		return outcome{kept: have}, err
	}
	defer response.Body.Close()
	d.idle.Reset(d.options.Idle)
	total, kept := int64(0), have
	switch response.StatusCode {
	case http.StatusOK: // all of it, from the start
		total, kept = max(response.ContentLength, 0), 0
	case http.StatusPartialContent:
		var first int64
		if first, total, err = contentRange(response); err != nil || first != have {
			return outcome{}, errors.Join(d.discard(), err, fmt.Errorf("%s was asked for the bytes from %d and sent %q", d.item.URL, have, response.Header.Get("Content-Range")))
		}
	case http.StatusRequestedRangeNotSatisfiable:
		// Nothing is missing, or the part is longer than the file.
		if response.Header.Get("Content-Range") == fmt.Sprintf("bytes */%d", have) {
			return outcome{kept: have}, nil
		}
		return outcome{}, errors.Join(d.discard(), fmt.Errorf("%s answers %s", d.item.URL, response.Status))
	default:
		err := fmt.Errorf("%s answers %s", d.item.URL, response.Status)
		if code := response.StatusCode; code < 500 && code != http.StatusTooManyRequests && code != http.StatusRequestTimeout {
			err = permanent{err}
		} else if pause := retryAfter(response); pause > 0 {
			err = later{err, pause}
		}
		return outcome{kept: have}, err
	}
	if err := d.refuse(response, total); err != nil {
		return outcome{kept: have}, permanent{errors.Join(d.discard(), err)}
	}
	if err := d.remember(response); err != nil {
		return outcome{}, permanent{err}
	}
	received, err := d.receive(response.Body, kept, total)
	if err == nil && total > 0 && kept+received != total {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		err = fmt.Errorf("%s broke off at byte %d: %w", d.item.URL, kept+received, err)
	}
	return outcome{kept, received}, err
}

// client is the client of the options, which follows ten redirects at most, none to
// where it was before, and none from https to anything else.
func (d *download) client() *http.Client {
	c := *d.options.Client
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch {
		case slices.ContainsFunc(via, func(v *http.Request) bool { return v.URL.String() == r.URL.String() }):
			return permanent{errors.New("it redirects in a circle")}
		case len(via) > 10:
			return permanent{errors.New("it redirects more than ten times")}
		case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
			return permanent{errors.New("it redirects to where nothing is encrypted")}
		}
		return nil
	}
	return &c
}

// retryAfter is how long a server asks to wait, 0 if it does not. It says seconds or a
// date (RFC 9110, section 10.2.3), which its own clock is held against.
func retryAfter(r *http.Response) time.Duration {
	text := r.Header.Get("Retry-After")
	if s, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	at, err := http.ParseTime(text)
	now, err2 := http.ParseTime(r.Header.Get("Date"))
	if err != nil || err2 != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}

// refuse says what is wrong with an answer before anything of it is written.
func (d *download) refuse(r *http.Response, total int64) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return d.webPage()
	case total > d.item.limit():
		return fmt.Errorf("%s announces %d bytes, and %d are the most that the file can have", d.item.URL, total, d.item.limit())
	case r.ProtoMajor == 1 && r.ContentLength < 0 && len(r.TransferEncoding) == 0 && !d.item.Verifiable() && d.item.Bytes == 0:
		return fmt.Errorf("%s does not say how many bytes it sends, and no checksum is known: whether all of them arrive cannot be told", d.item.URL)
	}
	return nil
}

func (d *download) webPage() error {
	return fmt.Errorf("%s sent a web page instead of the file: a proxy or a login may answer in its place; open the address in a browser", d.item.URL)
}

// contentRange parses "bytes first-last/total"; total is 0 if it is not said.
func contentRange(r *http.Response) (first, total int64, err error) {
	text, ok := strings.CutPrefix(r.Header.Get("Content-Range"), "bytes ")
	span, all, ok2 := strings.Cut(text, "/")
	from, _, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return 0, 0, errors.New("no usable Content-Range")
	}
	if first, err = strconv.ParseInt(from, 10, 64); err != nil {
		return 0, 0, err
	}
	if all == "*" {
		return first, 0, nil
	}
	total, err = strconv.ParseInt(all, 10, 64)
	return first, total, err
}

// remember stores what names the version of the file: a strong entity tag or
// the time of the last change.
func (d *download) remember(r *http.Response) error {
	v := r.Header.Get("ETag")
	if v == "" || strings.HasPrefix(v, "W/") {
		v = r.Header.Get("Last-Modified")
	}
	if v == "" {
		return remove(d.version)
	}
	return os.WriteFile(d.version, []byte(v), 0o644)
}

// receive writes the body behind the bytes of the part that are kept.
func (d *download) receive(body io.Reader, kept, total int64) (received int64, err error) {
	f, err := os.OpenFile(d.part, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, permanent{err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(kept); err != nil {
		return 0, permanent{err}
	}
	if _, err := f.Seek(kept, io.SeekStart); err != nil {
		return 0, permanent{err}
	}
	start := bufio.NewReaderSize(body, 1<<17)
	if head, _ := start.Peek(512); kept == 0 && strings.HasPrefix(http.DetectContentType(head), "text/html") {
		return 0, permanent{errors.Join(d.discard(), d.webPage())}
	}
	buffer, since := make([]byte, 1<<17), 0
	for {
		n, err := start.Read(buffer)
		if since += n; since >= least {
			since = 0
			d.idle.Reset(d.options.Idle)
		}
		if _, writeErr := f.Write(buffer[:n]); writeErr != nil {
			return received, permanent{writeErr}
		}
		received += int64(n)
		if kept+received > d.item.limit() {
			return received, permanent{errors.Join(d.discard(), fmt.Errorf("more arrived than the %d bytes that the file can have", d.item.limit()))}
		}
		if n > 0 && d.options.Progress != nil {
			d.options.Progress(kept+received, total)
		}
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return received, nil
		}
		if err != nil {
			return received, err
		}
	}
}

// discard deletes the part.
func (d *download) discard() error { return errors.Join(remove(d.part), remove(d.version)) }

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// size returns the size of a file, 0 if there is none.
func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
