package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"yardstick/bench"
	"yardstick/bench/hunt"
	"yardstick/bench/journal"
	"yardstick/bench/record"
	"yardstick/bench/suite"
	"yardstick/bounds/certify"
	"yardstick/datasets/interference"
	"yardstick/datasets/philly"
	"yardstick/datasets/profile"
	"yardstick/internal/tier"
	"yardstick/sched"
)

// jsonReader is a function that reads JSON documents, with one that it accepts.
type jsonReader struct {
	name, text string
	read       func(text string) error
	// data matches the paths of keys that are data, such as names of tasks: they
	// mean something else in another case.
	data string
}

// jsonReaders lists every reader of JSON. A new one belongs here: TestStrictJSON of
// internal/lint finds those that decode by package encoding/json.
func jsonReaders(t *testing.T) []jsonReader {
	var list []jsonReader
	atPath := func(name string, read func(path string) error) func(string) error {
		dir := t.TempDir()
		return func(text string) error {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			return read(path)
		}
	}
	for model, m := range certified() {
		var text, schedule strings.Builder
		if err := m.in.Write(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, jsonReader{"instance " + model, text.String(), func(text string) error {
			_, err := sched.ReadInstance(strings.NewReader(text))
			return err
		}, ""})
		methods := m.methods
		if !tier.All() {
			methods = methods[:2]
		}
		for _, path := range storeCertificates(t, m.in, methods...) {
			certificate, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, jsonReader{"certificate " + model + " " + filepath.Base(path), string(certificate), func(text string) error {
				_, err := certify.Check(m.in, []byte(reseal(text)))
				return err
			}, ""})
		}
		s := &sched.Schedule{Class: sched.Class{Kind: sched.S}, Segments: []sched.Segment{{End: 1, Place: sched.Placement{
			Shares: []sched.Share{{GPUs: 1, Stages: []int{1}, Devices: []int{0}}}, Config: &sched.Config{WorkerType: 1, ServerType: 1, Accumulation: 1}}}}}
		if err := s.Write(&schedule, m.in); err != nil {
			t.Fatal(err)
		}
		list = append(list, jsonReader{"schedule", schedule.String(), func(text string) error {
			_, _, err := sched.ReadSchedule(strings.NewReader(text))
			return err
		}, ""})
	}
	return append(list, runReaders(t, atPath)...)
}

// runReaders are those of what runs and hunts write, and of the files of others.
func runReaders(t *testing.T, atPath func(string, func(string) error) func(string) error) []jsonReader {
	dir := t.TempDir()
	mustRun(t, "run", write(t, "suite.yaml", tinySuite), "-q", "-o", dir+"/r")
	mustRun(t, "hunt", "--policy", "srtf", "--model", "preemptive", "--jobs", "3", "--gpus", "2", "--evaluations", "200", "-q", "-o", dir+"/h.json", "--resume", dir+"/state.json")
	mustRun(t, "hunt", "--policy", "fifo", "--jobs", "3", "--gpus", "2", "--evaluations", "200", "-q", "-o", dir+"/g.json")
	file := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	proof := func(text string) error {
		_, err := hunt.ReadProof(strings.NewReader(text))
		return err
	}
	state := func(path string) error {
		s, err := readState(path)
		if err != nil {
			return err
		}
		o, err := (&huntFlags{policyFlags: policyFlags{policy: "srtf"}, model: "preemptive", objective: suite.DefaultObjective.String(), space: hunt.Space{Jobs: 3, GPUs: 2, Servers: 1}, evaluations: 200, seed: 1, keep: "1"}).options(context.Background(), false)
		if err != nil {
			return err
		}
		o.Resume = s
		_, err = hunt.Run(t.Context(), o)
		return err
	}
	list := []jsonReader{
		{"plan", file("r/plan.json"), atPath("plan.json", func(path string) error {
			_, err := bench.ReadPlanFile(filepath.Dir(path))
			return err
		}), ""},
		{"manifest", unsealed(file("r/manifest.json")), func(text string) error {
			path := filepath.Join(dir, "r", record.ManifestName)
			good := file("r/manifest.json")
			defer os.WriteFile(path, []byte(good), 0o644)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := record.Open(filepath.Join(dir, "r"))
			return err
		}, `^suite\.(limits\.(cell|memory|nodes)|[^l])|^versions\.build\.`}, // of the suite, the limit of solves alone is read back
		{"proof", file("h.proof.json"), proof, ""},
		{"proof of gangs", file("g.proof.json"), proof, ""},
		{"state of a hunt", file("state.json"), atPath("state.json", state), ""},
		{"Piper", `{"nodes":[{"id":1,"name":"[1] a","TMPCs":{"1":[{"id":"vanilla","timePerSample":1,"parameterSize":1,"memoryUsageA":1}]}},
			{"id":2,"name":"[2] b","TMPCs":{"1":[{"id":"vanilla","timePerSample":1,"parameterSize":1,"memoryUsageA":1}]}}],
			"edges":[{"sourceId":1,"destId":2,"communicationCost":1}]}`, func(text string) error {
			_, err := profile.ImportPiper(strings.NewReader(text), profile.Origin{Model: "m", GPU: "v100", Batch: 1})
			return err
		}, ""},
		{"Philly", `[{"jobid":"a","id":"a","status":"Pass","vc":"v","user":"u","submitted_time":"2017-10-03 00:00:00","num_gpus":1,
			"attempts":[{"start_time":"2017-10-03 00:00:00","end_time":"2017-10-03 00:01:00","detail":[{"ip":"m","gpus":["g"]}]}]}]`,
			atPath("log.json", func(path string) error {
				_, err := philly.ImportLog(path, path+".parquet", philly.Options{})
				return err
			}), `\.ip$`}, // which is not read
		{"Gavel", `{"v100": {"('LM', 1)": {"null": 1, "('LM', 1)": [1, 1]}}}`, func(text string) error {
			_, _, err := interference.ImportGavel("t", strings.NewReader(text))
			return err
		}, `.`},
	}
	return append(list, journalReaders(t, dir)...)
}

// journalReaders are those of the lines of a journal whose hashes are right: of the
// first header, and of one cell per kind of method.
func journalReaders(t *testing.T, dir string) []jsonReader {
	_, plan, err := readPlan([]string{write(t, "suite.yaml", tinySuite)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []jsonReader
	seen := map[bench.Kind]bool{}
	for _, line := range journalLines(t, filepath.Join(dir, "r")) {
		id, content := line[0], line[1]
		if id == "header" {
			folder := t.TempDir()
			list = append(list, jsonReader{"header of a journal", content, func(text string) error {
				writeJournal(t, filepath.Join(folder, "000001-all.journal"), [][2]string{{id, text}})
				j, err := journal.Open(folder)
				if err == nil {
					j.Close()
				}
				return err
			}, ""})
			continue
		}
		i := slices.IndexFunc(plan.Cells, func(c bench.Cell) bool { return c.ID == id })
		if kind := plan.Cells[i].Method.Kind(); !seen[kind] {
			seen[kind] = true
			list = append(list, jsonReader{"cell " + string(kind), content, func(text string) error {
				_, err := bench.DecodeCell(plan.Cells[i], []byte(text))
				return err
			}, ""})
		}
	}
	if len(seen) < 3 {
		t.Fatalf("cells of %v only", seen)
	}
	return list
}

// journalLines are the IDs and contents of a result directory's only journal.
func journalLines(t *testing.T, dir string) [][2]string {
	t.Helper()
	data, err := os.ReadFile(journalFile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	var lines [][2]string
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		lines = append(lines, [2]string{parts[1], parts[2]})
	}
	return lines
}

func journalFile(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, journal.Folder, "*.journal"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	return names[0]
}

// writeJournal writes lines with the hashes that they should have.
func writeJournal(t *testing.T, path string, lines [][2]string) {
	t.Helper()
	var b bytes.Buffer
	for _, line := range lines {
		rest := line[0] + " " + strings.ReplaceAll(line[1], "\n", " ")
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256([]byte(rest)), rest)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// reseal gives a certificate the seal of what package encoding/json reads, so that
// the seal is not what refuses it.
func reseal(text string) string {
	var d struct {
		Format    string          `json:"format"`
		Kind      string          `json:"kind"`
		Objective json.RawMessage `json:"objective"`
		Class     json.RawMessage `json:"class"`
		Instance  string          `json:"instance_sha256"`
		Value     string          `json:"value"`
		Data      json.RawMessage `json:"data"`
		Seal      string          `json:"seal"`
	}
	if json.NewDecoder(strings.NewReader(text)).Decode(&d) != nil {
		return text
	}
	old := d.Seal
	d.Seal = ""
	bare, err := json.Marshal(&d)
	if err != nil {
		return text
	}
	return strings.ReplaceAll(text, old, certify.SHA256(bare))
}

// unsealed is a manifest without a hash of itself.
func unsealed(text string) string {
	return regexp.MustCompile(`,\s*"manifest_sha256": "[0-9a-f]*"`).ReplaceAllString(text, "")
}

// key is a key of a document: where it begins, where its value ends, and its path.
type key struct {
	from, to int
	name     string
	path     string
}

// keysOf lists the keys of well-formed JSON, one per path in which indices are left
// out.
func keysOf(t *testing.T, text string) []key {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	seen := map[string]bool{}
	var list []key
	var value func(path string)
	token := func() json.Token {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	value = func(path string) {
		switch token() {
		case json.Delim('['):
			for d.More() {
				value(path)
			}
			token()
		case json.Delim('{'):
			for d.More() {
				name := token().(string)
				end := int(d.InputOffset())
				from := strings.LastIndex(text[:end-1], `"`)
				k := key{from: from, name: name, path: strings.TrimPrefix(path+"."+name, ".")}
				value(k.path)
				k.to = int(d.InputOffset())
				if !seen[k.path] {
					seen[k.path] = true
					list = append(list, k)
				}
			}
			token()
		}
	}
	value("")
	return list
}

// otherCase is the name with its first letter in the other case.
func otherCase(name string) string {
	for i, r := range name {
		if unicode.IsUpper(r) {
			return name[:i] + string(unicode.ToLower(r)) + name[i+len(string(r)):]
		}
		if unicode.IsLower(r) {
			return name[:i] + string(unicode.ToUpper(r)) + name[i+len(string(r)):]
		}
	}
	return name
}

// TestReadersAreStrict: no reader takes a document with a key that is there twice or
// in another case, at any level, or with anything behind it; and says so.
func TestReadersAreStrict(t *testing.T) {
	total := 0
	for _, r := range jsonReaders(t) {
		if err := r.read(r.text); err != nil {
			t.Errorf("%s: the document as it is: %v", r.name, err)
			continue
		}
		refused := func(change, text, why string) {
			total++
			err := r.read(text)
			if err == nil || !regexp.MustCompile(why).MatchString(err.Error()) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %s: error %v, want one with %q", r.name, change, err, why)
			}
		}
		data := regexp.MustCompile(r.data)
		keys := keysOf(t, r.text)
		for _, k := range keys {
			member := r.text[k.from:k.to]
			refused(k.path+" twice", r.text[:k.to]+","+member+r.text[k.to:], "twice")
			refused(k.path+" twice, null", r.text[:k.to]+`,"`+k.name+`":null`+r.text[k.to:], "twice")
			if other := otherCase(k.name); other != k.name && (r.data == "" || !data.MatchString(k.path)) {
				refused(k.path+" as "+other, r.text[:k.from]+`"`+other+r.text[k.from+1+len(k.name):], "unknown key")
				refused(k.path+" and "+other, r.text[:k.to]+`,"`+other+member[1+len(k.name):]+r.text[k.to:], "unknown key")
			}
		}
		if len(keys) == 0 {
			t.Errorf("%s has no keys", r.name)
		}
		for _, more := range []string{" {}", "x", "]", " null", r.text} {
			refused("followed by "+more[:1], r.text+more, "more after|follows the end|no JSON|expected")
		}
	}
	t.Logf("%d documents", total)
}
