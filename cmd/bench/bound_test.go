package main

import (
	"encoding/json"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
)

// TestBound: the ladder of every model has proven bounds, the strongest first and
// none above the cheapest schedule.
func TestBound(t *testing.T) {
	for name, in := range models() {
		path := instanceFile(t, in)
		out := mustRun(t, "bound", path, "--format", "json", "--time-limit", "5s")
		var rows []map[string]string
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatal(err)
		}
		var last *big.Rat
		proven, refused := 0, 0
		for _, r := range rows {
			if r["exact"] == "" {
				refused++
				if !strings.HasPrefix(r["note"], "none: ") {
					t.Errorf("%s: %s has neither a value nor a reason", name, r["bound"])
				}
				continue
			}
			proven++
			v, ok := new(big.Rat).SetString(r["exact"])
			if !ok || last != nil && v.Cmp(last) > 0 || refused > 0 {
				t.Errorf("%s: %s is %s, after %v and %d refusals", name, r["bound"], r["exact"], last, refused)
			}
			if (r["best"] == "*") != (last == nil || v.Cmp(last) == 0 && rows[0]["exact"] == r["exact"]) {
				t.Errorf("%s: %s is marked %q", name, r["bound"], r["best"])
			}
			if share := r["of_best_known"]; len(share) > len("100.00 %") || share > "100.00 %" && len(share) == len("100.00 %") {
				t.Errorf("%s: %s is %s of a schedule's cost", name, r["bound"], share)
			}
			if (r["certified"] == "yes") != (len(r["certificate_sha256"]) == 64) {
				t.Errorf("%s: %s certified %s, certificate %q", name, r["bound"], r["certified"], r["certificate_sha256"])
			}
			last = v
		}
		if proven < 3 || refused < 10 {
			t.Errorf("%s: %d bounds, %d refusals", name, proven, refused)
		}
	}
}

// TestBoundClasses: a class that fewer bounds reach has fewer, and none is larger.
func TestBoundClasses(t *testing.T) {
	path := instanceFile(t, models()["preemptive"])
	values := func(class string) map[string]string {
		var rows []map[string]string
		if err := json.Unmarshal([]byte(mustRun(t, "bound", path, "--format", "json", "--class", class, "--time-limit", "5s")), &rows); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, r := range rows {
			if r["exact"] != "" {
				out[r["bound"]] = r["exact"]
			}
		}
		return out
	}
	n, p, continuous := values("Ns"), values("Ps"), values("P")
	if n["conf"] == "" || p["conf"] != "" || p["bout-dp"] == "" || continuous["bout-dp"] != "" || continuous["srpt"] != p["srpt"] || p["srpt"] != n["srpt"] {
		t.Errorf("Ns %v\nPs %v\nP %v", n, p, continuous)
	}
}

// TestBoundOutput: the certificate of the best bound, a file, a table.
func TestBoundOutput(t *testing.T) {
	path := instanceFile(t, models()["gang"])
	dir := t.TempDir()
	mustRun(t, "bound", path, "-o", filepath.Join(dir, "ladder.md"), "--format", "md", "--certificate", filepath.Join(dir, "c.json"))
	if out := mustRun(t, "bound", path, "--objective", "makespan"); !strings.Contains(out, "best lower bound") || !strings.Contains(out, "energy") {
		t.Errorf("makespan:\n%s", out)
	}
	brief, all := mustRun(t, "bound", path), mustRun(t, "bound", path, "--all")
	if strings.Contains(brief, "\nelastic-conf ") || !strings.Contains(brief, "do not apply (--all says why): ") || !strings.Contains(brief, "elastic-conf,") {
		t.Errorf("methods that do not apply are listed:\n%s", brief)
	}
	if !strings.Contains(all, "\nelastic-conf ") || !strings.Contains(all, "bound does not apply to the gang model") || strings.Contains(all, "--all") {
		t.Errorf("--all does not say why:\n%s", all)
	}
	for want, args := range map[string][]string{"--objective": {path, "--objective", "scheduled-weight"}, "--class": {path, "--class", "Q"},
		"slotted": {path, "--class", "Ns"}, "--format": {path, "--format", "xml"}} {
		if code, _, errOut := benchCommand(t, append([]string{"bound"}, args...)...); code != exitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errOut)
		}
	}
}
