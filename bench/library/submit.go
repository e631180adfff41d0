package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"yardstick/bounds"
	"yardstick/bounds/certify"
	"yardstick/bounds/proof"
	"yardstick/bounds/proof/tree"
	"yardstick/internal/input"
	"yardstick/internal/output"
	"yardstick/internal/strictjson"
	"yardstick/sched"
)

// Limits of a submission, which anybody may have made.
const (
	maxSubmitted      = 2_000    // files
	maxSubmittedBytes = 64 << 20 // of one file
)

// ErrContradiction means that a schedule and a bound, both checked, exclude each other.
var ErrContradiction = errors.New("one of the two checks is wrong, please report this")

// Verdict is what became of a file that was submitted.
type Verdict struct {
	File     string
	Entry    string // the instance that it is about; "" if it is about none of the library
	Kind     string // schedule, certificate or proof
	Accepted bool
	Why      string // in words
}

// Submit verifies the schedules, certificates and proofs of a folder, and writes those
// that are better than what the library has, under the name of who made them. Everything
// in the folder may be hostile: only regular files are read, so many and so large at
// most; none of them says what it is worth; and what is written is what was verified.
//
// Errors: the folder cannot be read; a name that cannot be kept; the library is damaged;
// the context's.
func (l *Library) Submit(ctx context.Context, dir, by, day string) ([]Verdict, error) {
	if err := (&Found{By: by, On: day}).validate(); err != nil {
		return nil, err
	}
	files, err := submitted(dir)
	if err != nil {
		return nil, err
	}
	entries, err := l.Entries()
	if err != nil {
		return nil, err
	}
	s := &submission{l: l, by: by, day: day, entries: map[string][]*Entry{}, standing: map[string]*Standing{}}
	for _, e := range entries {
		s.entries[e.Instance] = append(s.entries[e.Instance], e)
	}
	for _, file := range files {
		if ctx.Err() != nil {
			return s.verdicts, ctx.Err()
		}
		if err := s.file(dir, file); err != nil {
			return s.verdicts, err
		}
	}
	return s.verdicts, nil
}

// submitted lists the files of a folder that can be evidence, in order of name. A proof
// may be in a folder of its own, as bench prove writes it.
func submitted(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, errors.Unwrap(err))
	}
	var files []string
	add := func(folder string, f os.DirEntry) {
		if ext := filepath.Ext(f.Name()); f.Type().IsRegular() && (ext == ".json" || ext == ".cert") {
			files = append(files, filepath.Join(folder, f.Name()))
		}
	}
	for _, f := range list {
		add("", f)
		if !f.IsDir() {
			continue
		}
		inner, err := os.ReadDir(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		for _, g := range inner {
			add(f.Name(), g)
		}
	}
	if len(files) > maxSubmitted {
		return nil, fmt.Errorf("%s has %d files: at most %d are taken at a time", dir, len(files), maxSubmitted)
	}
	return files, nil
}

type submission struct {
	l        *Library
	by, day  string
	entries  map[string][]*Entry // by the hash of the instance
	standing map[string]*Standing
	verdicts []Verdict
}

// file takes one file. Only what is wrong with the library or the machine is an error.
func (s *submission) file(dir, name string) error {
	path := filepath.Join(dir, name)
	v := Verdict{File: output.Name(name)}
	refuse := func(format string, args ...any) {
		v.Why = output.Name(fmt.Sprintf(format, args...))
		s.verdicts = append(s.verdicts, v)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxSubmittedBytes || !info.Mode().IsRegular() {
		refuse("it has %d MB, more than the %d MB that are read", info.Size()>>20, maxSubmittedBytes>>20)
		return nil
	}
	text, err := input.Read(path)
	if err != nil {
		return err
	}
	var hash string
	if v.Kind, hash, err = kindOf(path, text); err != nil {
		refuse("%v", err)
		return nil
	}
	if v.Kind == "" {
		return nil // an instance, or what else lies beside
	}
	list := s.entries[hash]
	if len(list) == 0 {
		refuse("it is about an instance of sha256 %.12s…, which the library does not have", hash)
		return nil
	}
	for _, e := range list {
		v.Entry, v.Accepted = e.Name, false
		now, err := s.known(e)
		if errors.Is(err, ErrAbsent) {
			refuse("%v", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("the library is damaged: %w", err)
		}
		accept := map[string]func(*Standing, []byte) (string, error){"schedule": s.schedule, "certificate": s.certificate, "proof": s.proof}[v.Kind]
		why, err := accept(now, text)
		var kept *keptError
		switch {
		case errors.As(err, &kept):
			return kept.err
		case err != nil:
			refuse("%s", oneLine(err.Error()))
			continue
		}
		v.Accepted = true
		refuse("%s", why)
	}
	return nil
}

// keptError means that what was accepted could not be written, or contradicts what is
// known.
type keptError struct{ err error }

func (e *keptError) Error() string { return e.err.Error() }

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return text
}

// known returns what is known of an entry by now, checked once.
func (s *submission) known(e *Entry) (*Standing, error) {
	if now := s.standing[e.Name]; now != nil {
		return now, nil
	}
	now, err := s.l.Standing(e)
	if err == nil {
		s.standing = map[string]*Standing{e.Name: now} // one at a time: instances may be large
	}
	return now, err
}

// kindOf says what a file is, and the hash of the instance that it says it is about.
func kindOf(path string, text []byte) (kind, hash string, err error) {
	if filepath.Ext(path) == ".cert" {
		problem := filepath.Join(filepath.Dir(path), proof.ProblemName)
		info, err := os.Lstat(problem)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSubmittedBytes {
			return "", "", fmt.Errorf("a proof needs %s beside it, which says what instance it is about", proof.ProblemName)
		}
		about, err := input.Read(problem)
		if err != nil {
			return "", "", err
		}
		for line := range strings.Lines(string(about)) {
			if hash, ok := strings.CutPrefix(line, "instance "); ok {
				return "proof", strings.TrimSpace(hash), nil
			}
		}
		return "", "", fmt.Errorf("%s does not say what instance it is about", proof.ProblemName)
	}
	var keys map[string]json.RawMessage
	if err := strictjson.Unmarshal(text, &keys); err != nil {
		return "", "", err
	}
	switch {
	case keys["segments"] != nil:
		kind = "schedule"
	case keys["format"] != nil:
		kind = "certificate"
	default:
		return "", "", nil
	}
	if keys["instance_sha256"] == nil {
		return "", "", errors.New("it has no instance_sha256, which says what instance it is about")
	}
	if err := strictjson.Unmarshal(keys["instance_sha256"], &hash); err != nil {
		return "", "", fmt.Errorf("instance_sha256: %w", err)
	}
	return kind, hash, nil
}

// schedule takes a schedule that is better than the best one known. A seal is not asked
// for: what is written gets one.
func (s *submission) schedule(now *Standing, text []byte) (string, error) {
	e := now.Entry
	v, err := readSchedule(e, now.Instance, text, false)
	if err != nil {
		return "", err
	}
	cost := v.Cost(e.Objective)
	if !now.Better(v) {
		return "", fmt.Errorf("it is valid, and costs %s, which is no less than %s, the best known", shown(e.Objective, cost), shown(e.Objective, now.Cost()))
	}
	if now.Bound != nil && cost.Cmp(now.Bound) < 0 {
		return "", &keptError{fmt.Errorf("%s: a valid schedule costs %s, below the bound %s: %w", e.Name, cost.RatString(), now.Bound.RatString(), ErrContradiction)}
	}
	before := "none"
	if now.Schedule != nil {
		before = shown(e.Objective, now.Cost())
	}
	if err := s.l.keepSchedule(e, v, s.by, s.day); err != nil {
		return "", &keptError{err}
	}
	now.Schedule = v
	return fmt.Sprintf("%v %s, before %s", e.Objective, shown(e.Objective, cost), before), nil
}

// certificate takes a certificate that proves more than is known.
func (s *submission) certificate(now *Standing, text []byte) (string, error) {
	e := now.Entry
	st, err := certify.New(now.Instance, e.Instance).Check(text)
	if err != nil {
		return "", err
	}
	b := &bounds.Bound{Name: st.Kind, Class: st.Class, Objective: st.Objective, Value: st.Value}
	why, err := s.raised(now, b)
	if err != nil {
		return "", err
	}
	if err := s.l.keep(e, &e.Bound, certificateName, text, s.by, s.day); err != nil {
		return "", &keptError{err}
	}
	now.Bound, now.BoundBy, now.Proven = b.Value, b.Name, false
	return why, nil
}

// raised says by how much a bound is better than what is known.
//
// Errors: it is not, or is about something else.
func (s *submission) raised(now *Standing, b *bounds.Bound) (string, error) {
	e := now.Entry
	if err := b.Divides(e.Class, e.Objective); err != nil {
		return "", err
	}
	switch {
	case now.Bound != nil && b.Value.Cmp(now.Bound) <= 0:
		return "", fmt.Errorf("it holds, and proves %s, which is no more than %s, the best bound known", shown(e.Objective, b.Value), shown(e.Objective, now.Bound))
	case now.Schedule != nil && b.Value.Cmp(now.Cost()) > 0:
		return "", &keptError{fmt.Errorf("%s: a certificate that holds proves %s, above the schedule of %s: %w", e.Name, b.Value.RatString(), now.Cost().RatString(), ErrContradiction)}
	}
	before := "none"
	if now.Bound != nil {
		before = shown(e.Objective, now.Bound)
	}
	return fmt.Sprintf("no schedule below %s, before %s", shown(e.Objective, b.Value), before), nil
}

// proof takes a proof for strangers where there is none, or one that proves more.
func (s *submission) proof(now *Standing, text []byte) (string, error) {
	e := now.Entry
	p, stated, err := checkProof(e, now.Instance, text)
	if err != nil {
		return "", err
	}
	value := p.Value(stated.Value)
	why := "as much as was known, now for strangers"
	if now.Bound == nil || value.Cmp(now.Bound) != 0 || now.Proven {
		if why, err = s.raised(now, &bounds.Bound{Name: "tree", Class: p.Class, Objective: p.Objective, Value: value}); err != nil {
			return "", err
		}
	}
	if err := s.l.keep(e, &e.Proof, proofName, text, s.by, s.day); err != nil {
		return "", &keptError{err}
	}
	now.Bound, now.BoundBy, now.Proven = value, "tree", true
	return why, nil
}

// shown is a value as people read it.
func shown(o sched.Objective, v *big.Rat) string {
	return inSeconds(o, v).FloatString(6) + " s"
}

// Files returns what an entry is fetched as, by path: the instance, and its evidence as
// bench verify reads it.
//
// Errors: those of Standing.
func (l *Library) Files(e *Entry) (map[string][]byte, error) {
	s, err := l.Standing(e)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if err := s.Instance.Write(&b); err != nil {
		return nil, err
	}
	files := map[string][]byte{instanceName: []byte(b.String())}
	for _, side := range []struct {
		packed string
		found  *Found
	}{{scheduleName, e.Schedule}, {certificateName, e.Bound}} {
		if side.found == nil {
			continue
		}
		if files[strings.TrimSuffix(side.packed, ".gz")], err = l.unpack(e.Name, side.packed, side.found); err != nil {
			return nil, err
		}
	}
	if s.Proof == nil {
		return files, nil
	}
	p, stated, err := checkProof(e, s.Instance, s.Proof)
	if err != nil {
		return nil, err
	}
	c := &tree.Certificate{Problem: p, Text: s.Proof, Claim: proof.Claim{Value: stated.Value}}
	if stated.Optimum {
		c.Claim.Starts = slices.Repeat([]int64{0}, len(p.Jobs)) // that there are some is all that the folder says
	}
	for name, text := range proof.Folder(s.Instance, p, c.Claim, s.Optimal() && s.Proven, c.Section()) {
		files["proof/"+name] = text
	}
	return files, nil
}
