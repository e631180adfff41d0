package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"yardstick/internal/schedtest"
)

// browser opens a page in headless Chromium and returns its DOM, what it
// printed to the console, and the addresses that it asked for. With a picture,
// it is written instead of the DOM.
func browser(t *testing.T, page, picture string, flags ...string) (dom string, console, asked []string) {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		schedtest.Missing(t, "chromium is not installed: make test installs it with apt-get, or: apt-get install chromium")
	}
	dir := t.TempDir()
	file, log := filepath.Join(dir, "page.html"), filepath.Join(dir, "net.json")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + filepath.Join(dir, "profile"), "--log-net-log=" + log, "--enable-logging=stderr",
		"--hide-scrollbars", "--window-size=1280,2400"}
	if picture != "" {
		args = append(args, "--screenshot="+picture)
	} else {
		args = append(args, "--dump-dom")
	}
	args = append(args, flags...)
	var out, errOut bytes.Buffer
	cmd := exec.Command(path, append(args, "file://"+file)...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, errOut.String())
	}
	for line := range strings.Lines(errOut.String()) {
		if strings.Contains(line, "CONSOLE") {
			console = append(console, strings.TrimSpace(line))
		}
	}
	return out.String(), console, requests(t, log)
}

// requests returns the addresses in Chromium's network log that are neither
// local nor of the browser's own services.
func requests(t *testing.T, log string) []string {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range regexp.MustCompile(`"url":("(?:[^"\\]|\\.)*")`).FindAllSubmatch(data, -1) {
		var text string
		if err := json.Unmarshal(m[1], &text); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		own := false
		for _, host := range []string{"google.com", "googleapis.com", "gvt1.com", "gstatic.com"} {
			own = own || u.Hostname() == host || strings.HasSuffix(u.Hostname(), "."+host)
		}
		if !own && u.Scheme != "file" && u.Scheme != "data" && u.Scheme != "chrome" && u.Scheme != "about" && u.Scheme != "chrome-extension" && u.Scheme != "" {
			list = append(list, text)
		}
	}
	return list
}

// The report opens without an error, asks for nothing, and is all there.
func TestInBrowser(t *testing.T) {
	page := pageOf(t, fullRun())
	dom, console, asked := browser(t, page, "")
	if len(console) > 0 || len(asked) > 0 {
		t.Errorf("console: %q\nasked for: %q", console, asked)
	}
	for _, s := range newPageOf(t).Sections {
		at := strings.Index(dom, `<section id="`+s.ID+`"`)
		if at < 0 || !strings.Contains(dom[at:], s.Title) {
			t.Errorf("section %s is not in the document", s.ID)
		}
	}
	if n, want := strings.Count(dom, "</svg>"), strings.Count(page, "</svg>"); n != want || n < 10 {
		t.Errorf("%d figures in the document, %d in the file", n, want)
	}
	if strings.Contains(page, "<button") || !strings.Contains(dom, `<th scope="col"><button type="button">`) || !strings.Contains(dom, `<label class="filter">`) {
		t.Error("the script did not run")
	}
	if !strings.Contains(dom, `<script type="application/json" id="report-data">`) {
		t.Error("the data for programs is not there")
	}
}

func newPageOf(t *testing.T) *page {
	t.Helper()
	p, err := newPage(fullRun())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The check above sees what it is there to see.
func TestBrowserSees(t *testing.T) {
	page := pageOf(t, sampleRun())
	_, console, _ := browser(t, strings.Replace(page, "<main>", `<main><script>console.log("ran")</script><img src="http://probe.invalid/x.png">`, 1), "")
	if text := strings.Join(console, "\n"); !strings.Contains(text, "Content Security Policy") || strings.Contains(text, `"ran"`) {
		t.Errorf("the policy refused neither script nor picture: %q", console)
	}
	open := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAllString(page, "")
	_, _, asked := browser(t, strings.Replace(open, "<main>", `<main><img src="http://probe.invalid/x.png">`, 1), "")
	if len(asked) == 0 {
		t.Error("a picture from outside went unseen")
	}
}

// The page is painted: text and figures in many colours, not one of them all
// over.
func TestPicture(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "report.png")
	browser(t, pageOf(t, fullRun()), picture)
	f, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colors := map[string]int{}
	bounds := img.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y += 3 {
		for x := bounds.Min.X; x < bounds.Max.X; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[fmt.Sprint(r>>8, g>>8, b>>8)]++
		}
	}
	most, all := 0, 0
	for _, n := range colors {
		most, all = max(most, n), all+n
	}
	if len(colors) < 30 || most*100 > all*99 {
		t.Errorf("%d colours, one of them on %d of %d points", len(colors), most, all)
	}
}
