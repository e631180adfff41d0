package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"yardstick/internal/latex"
	"yardstick/internal/latex/latextest"
)

// TestPapers: TeX takes what every command writes for papers, of several widths, and finds
// no box too wide. A command that offers latex and is not tried fails.
func TestPapers(t *testing.T) {
	instance, done := write(t, "in_1.json", tinyInstance), write(t, "done_&.csv", "job,end\n1,10\n2,40\n")
	jobs := write(t, "jobs.csv", "submit,gpus,duration\n0,1,10\n5,2,20\n")
	gang, models, placing := "../../notebooks/golden/gang", "../../notebooks/golden/models", "../../notebooks/golden/placing"
	library := "--library=" + ownLibrary(t)
	lines := map[string][][]string{
		"report":  {{"report", gang}, {"report", models}, {"report", placing, "--part", "summary"}},
		"compare": {{"compare", gang, models}, {"compare", resultDir(t, 1), resultDir(t, 2)}},
		"bound":   {{"bound", instance, "-q"}}, "score": {{"score", jobs, done, "--gpus", "2", "--all", "--objective", "all"}},
		"library table": {{"library", "table", library, "-q"}}, "library run": {{"library", "run", "--policy", "sjf", library, "-q"}},
	}
	eachFlag(func(command string, f *pflag.Flag) {
		if (f.Name == "format" || f.Name == "report") && strings.Contains(f.Usage, "latex") && lines[command] == nil {
			t.Errorf("bench %s --%s latex is not typeset here", command, f.Name)
		}
	})
	for _, width := range []string{"345pt", "8.4cm", "500pt"} {
		most, err := latex.ParseWidth(width)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for name, list := range lines {
			for _, args := range list {
				flag := "--format"
				if name == "score" {
					flag = "--report"
				}
				code, out, errOut := benchCommand(t, append(slices.Clone(args), flag, "latex", "--width", width)...)
				if code != exitOK || !strings.Contains(out, `\label{tab:`) || !strings.Contains(out, "solve 5") {
					t.Errorf("%v: exit code %d, %s%.300s", args, code, errOut, out)
				}
				all.WriteString(strings.ReplaceAll(out, `\label`, `\relax\def\x`)) // labels of several results are alike
				all.WriteString("\\clearpage\n")
			}
		}
		if found := latextest.Complaints(t, all.String(), most, nil); found != nil {
			t.Errorf("%s: %s", width, strings.Join(found, "\n"))
		}
	}
}

// TestChosenColumns: columns and methods of a report are those asked for, in their order.
func TestChosenColumns(t *testing.T) {
	dir := "../../notebooks/golden/gang"
	out := mustRun(t, "report", dir, "--format", "latex", "--part", "summary", "--columns", "worst,method", "--methods", "a-srpt")
	if !strings.Contains(out, `{worst} & `) || strings.Contains(out, "geo") || strings.Contains(out, "wcs-duration") || !strings.Contains(out, "a-srpt-1: a-srpt(predictor=median)") && !strings.Contains(out, `predictor=`) {
		t.Errorf("%.1500s", out)
	}
	for flag, wrong := range map[string]string{"--columns": "wrost", "--methods": "a-srtp", "--width": "3 apples"} {
		code, _, errOut := benchCommand(t, "report", dir, flag, wrong)
		if code != exitUsage || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, wrong) {
			t.Errorf("%s %s: exit code %d, %s", flag, wrong, code, errOut)
		}
	}
	if code, _, errOut := benchCommand(t, "report", dir, "--format", "html", "--methods", "a-srpt", "-o", filepath.Join(t.TempDir(), "x.html")); code != exitUsage {
		t.Errorf("exit code %d, %s", code, errOut)
	}
}
