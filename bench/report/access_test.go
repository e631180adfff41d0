package report

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"yardstick/internal/schedtest"
)

// Chromium shows the page in frames, and each frame tells the document around it what it
// saw, as it alone may look into itself.
const (
	looking = `<script>
addEventListener("load", async () => {
  const rules = (await axe.run(document, {resultTypes: ["violations"]})).violations.map((v) => v.id + ": " + v.nodes[0].html);
  let least = 99, cut = [];
  for (const svg of document.querySelectorAll(".picture svg")) {
    const box = svg.getBoundingClientRect(), holder = svg.parentElement;
    if (box.width < holder.clientWidth - 1) cut.push("a figure of " + box.width + " px in " + holder.clientWidth);
    for (const text of svg.querySelectorAll("text")) {
      const r = text.getBoundingClientRect();
      least = Math.min(least, parseFloat(getComputedStyle(text).fontSize) * svg.getScreenCTM().a);
      if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1) cut.push(text.textContent + " is cut");
    }
  }
  const table = document.querySelector("#ratios table"), heads = [...table.tHead.rows[0].cells];
  const at = heads.findIndex((h) => h.textContent === "geo mean"), column = () => [...table.tBodies[0].rows].map((r) => r.cells[at].textContent);
  heads[at].firstChild.click();
  const up = column();
  heads[at].firstChild.click();
  const input = document.querySelector("#solves ~ section input, main input"), rows = input.closest("label").nextElementSibling.querySelectorAll("tbody tr");
  input.value = rows[0].cells[0].textContent;
  input.dispatchEvent(new Event("input"));
  const seen = [...rows].filter((r) => !r.hidden).length;
  const first = document.querySelector("#ratios tbody th"), scroller = first.closest(".scroll");
  scroller.scrollLeft = 200;
  parent.postMessage({Width: innerWidth, Dark: matchMedia("(prefers-color-scheme: dark)").matches, Page: document.documentElement.scrollWidth, Rules: rules, Least: least, Cut: cut, Up: up, Down: column(),
    Sorted: heads[at].getAttribute("aria-sort"), Rows: rows.length, Seen: seen, Sticky: first.getBoundingClientRect().left - scroller.getBoundingClientRect().left}, "*");
});
</script></body>`
	frames = `<!DOCTYPE html><body><pre id="seen"></pre><iframe src="%[1]s" width="1400" height="900"></iframe><iframe src="%[1]s" width="390" height="900"></iframe>
<script>const seen = []; addEventListener("message", (e) => { seen.push(e.data); document.getElementById("seen").textContent = JSON.stringify(seen); });</script></body>`
)

// what a frame saw.
type seen struct {
	Width, Page int
	Dark        bool
	Rules       []string // of axe-core that are broken
	Least       float64  // size of text in figures, in px as shown
	Cut         []string
	Up, Down    []string // a column, sorted either way
	Sorted      string
	Rows, Seen  int     // of a table, and with a filter
	Sticky      float64 // where the first column is, from the edge of a table that was scrolled
}

// On a wide screen and on a phone, light and dark, axe-core finds nothing, figures fill their
// cards with text of 9 px or more that is not cut, and tables sort, filter and keep their
// first column in sight.
func TestAccessible(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(cache, "yardstick", "axe-core-4.12.1", "axe.min.js"))
	if err != nil {
		schedtest.Missing(t, "axe-core is not there: internal/prepare.sh test installs it")
	}
	page := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAllString(pageOf(t, fullRun()), "")
	page = strings.Replace(page, "</body>", `<script src="data:text/javascript;base64,`+base64.StdEncoding.EncodeToString(script)+`"></script>`+looking, 1)
	file := filepath.Join(t.TempDir(), "framed.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, flag := range map[string]string{"light": "--blink-settings=preferredColorScheme=1", "dark": "--blink-settings=preferredColorScheme=0"} {
		dom, console, _ := browser(t, fmt.Sprintf(frames, "file://"+file), "", flag, "--virtual-time-budget=60000")
		_, rest, _ := strings.Cut(dom, `<pre id="seen">`)
		text, _, _ := strings.Cut(rest, "</pre>")
		var list []seen
		if err := json.Unmarshal([]byte(html.UnescapeString(text)), &list); err != nil || len(list) != 2 {
			t.Fatalf("%s: %v in %.300q; console %q", name, err, text, console)
		}
		for _, s := range list {
			at := fmt.Sprintf("%s, %d px", name, s.Width)
			if s.Dark != (name == "dark") {
				t.Errorf("%s: the other scheme is shown", at)
			}
			if len(s.Rules)+len(s.Cut) > 0 || s.Least < 9 || s.Page > s.Width {
				t.Errorf("%s: page of %d px, text of %.1f px\nrules broken: %q\ncut: %q", at, s.Page, s.Least, s.Rules, s.Cut)
			}
			if s.Sorted != "descending" || len(s.Up) < 2 || s.Up[0] >= s.Up[len(s.Up)-2] || s.Down[0] < s.Down[len(s.Down)-2] {
				t.Errorf("%s: sorted %s: %q, %q", at, s.Sorted, s.Up, s.Down)
			}
			if s.Seen == 0 || s.Seen == s.Rows || s.Sticky < -1 || s.Sticky > 1 {
				t.Errorf("%s: %d of %d rows with a filter; first column at %.0f px", at, s.Seen, s.Rows, s.Sticky)
			}
		}
	}
}
