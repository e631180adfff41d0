package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"yardstick/internal/output"
)

// Run is a result directory in memory.
type Run struct {
	Dir         string // where it was read from or written to
	Manifest    Manifest
	Ratios      []Ratio
	Features    []Instance // of the instances
	Jobs        []Job
	Segments    []Segment
	Solves      []Solve
	Bounds      []Bound
	Predictions []Prediction
	Theorems    []Theorem
	Placements  []Placement
	Events      []Event
	Library     []LibraryRow // of a library, which is no result directory: see WriteLibrary

	// Certificates and Instances are to be written, by their sha256: see
	// AddCertificate and AddInstance. Open leaves them where they are: see
	// ReadCertificate and ReadInstance.
	Certificates map[string][]byte
	Instances    map[string]func() []byte
	// Proofs and Problems likewise: see AddProof. Checkers, by file name, are written
	// beside them.
	Proofs, Problems, Checkers map[string][]byte
}

// Write writes the run's tables and manifest to dir, which it makes where it
// is missing. It fills in Dir and the manifest's format version, files and
// digest. Equal runs make equal bytes.
//
// Each file is written beside its place, synced and renamed, the manifest
// last; a directory whose writing was cut short never opens as a whole run.
//
// Errors name the file, row and column of a value that may not be stored, and
// come before any file of dir is touched.
func Write(dir string, run *Run) error {
	m := &run.Manifest
	m.FormatVersion = FormatVersion
	m.Created = m.Created.UTC().Truncate(time.Microsecond)
	if err := m.validate(); err != nil {
		return fmt.Errorf("record: manifest: %w", err)
	}
	digest, err := run.Digest()
	if err != nil {
		return err
	}
	m.ResultDigest, m.Files = digest, nil
	embedded, err := m.embedded()
	if err != nil {
		return fmt.Errorf("record: manifest: %w", err)
	}
	metadata := [][2]string{
		{"bench.schema_version", strconv.Itoa(FormatVersion)},
		{"bench.manifest", embedded},
		{"bench.plan_id", m.PlanID},
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	var pending []*pendingFile
	defer func() {
		for _, p := range pending {
			p.discard()
		}
	}()
	for _, f := range tables(m.Params) {
		p, err := newPendingFile(dir, f.table().Name)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		pending = append(pending, p)
		rows, err := f.encode(p, run, metadata)
		if err != nil {
			return fmt.Errorf("record: %s: %w", p.name, err)
		}
		m.Files = append(m.Files, FileInfo{Name: p.name, Rows: rows, Bytes: p.size, SHA256: hex.EncodeToString(p.hash.Sum(nil))})
	}
	p, err := newPendingFile(dir, ManifestName)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	pending = append(pending, p)
	text, err := m.seal()
	if err != nil {
		return fmt.Errorf("record: manifest: %w", err)
	}
	if _, err := p.Write(text); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	// All are complete. An old manifest goes first, so that at no moment one
	// vouches for files that it does not describe.
	if err := os.Remove(filepath.Join(dir, ManifestName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("record: %w", err)
	}
	if err := WriteCertificates(dir, run.Certificates); err != nil {
		return err
	}
	if err := instances().write(dir, run.Instances); err != nil {
		return err
	}
	if err := writeProofs(dir, run); err != nil {
		return err
	}
	for _, p := range pending {
		if err := p.commit(); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	run.Dir = dir
	return syncDir(dir)
}

// Open reads a result directory. Every file is checked against the manifest's
// sha256 before anything in it is looked at.
//
// Errors say which file is missing, damaged or foreign, and why.
func Open(dir string) (*Run, error) {
	return open(dir, func(string) bool { return true })
}

// OpenWithout is Open but for the tables of the given files, which are neither read nor
// checked: they stay empty.
func OpenWithout(dir string, files ...string) (*Run, error) {
	return open(dir, func(name string) bool { return !slices.Contains(files, name) })
}

// OpenReport is Open without the tables of jobs, segments and others that no report in
// text needs, however long they are. Their files are not looked at.
func OpenReport(dir string) (*Run, error) {
	return open(dir, func(name string) bool {
		return slices.Contains([]string{"ratios.arrow", "solves.arrow", "placements.arrow"}, name)
	})
}

// open reads those tables of a result directory that are wanted.
func open(dir string, wanted func(file string) bool) (*Run, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	run := &Run{Dir: dir, Manifest: *m}
	for _, f := range tables(m.Params) {
		name := f.table().Name
		if !wanted(name) {
			continue
		}
		path := filepath.Join(dir, name)
		info := m.file(name)
		if info == nil {
			if _, err := os.Stat(path); err == nil {
				return nil, fmt.Errorf("record: %s is there, but %s does not list it: one of the two is damaged or foreign", path, ManifestName)
			}
			continue // written before the table was added
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("record: a file that %s lists cannot be read: %w", ManifestName, err)
		}
		if got := hashOf(data); got != info.SHA256 {
			return nil, fmt.Errorf("record: %s is not the file that was written: its sha256 is %.12s…, %s says %.12s…; run again or restore it", path, got, ManifestName, info.SHA256)
		}
		rows, err := decodeSafely(f, data, run)
		if err == nil && rows != info.Rows {
			err = fmt.Errorf("holds %d rows, %s says %d", rows, ManifestName, info.Rows)
		}
		if err != nil {
			return nil, fmt.Errorf("record: %s: %w", path, err)
		}
	}
	return run, nil
}

func (m *Manifest) file(name string) *FileInfo {
	for i := range m.Files {
		if m.Files[i].Name == name {
			return &m.Files[i]
		}
	}
	return nil
}

// pendingFile is a file written beside its place until it is committed.
type pendingFile struct {
	name string
	file *output.File
	hash hash.Hash
	size int64
	done bool
}

func newPendingFile(dir, name string) (*pendingFile, error) {
	f, err := output.Create(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return &pendingFile{name: name, file: f, hash: sha256.New()}, nil
}

// Write implements io.Writer.
func (p *pendingFile) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.hash.Write(b[:n])
	p.size += int64(n)
	return n, err
}

func (p *pendingFile) commit() error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	p.done = true
	return p.file.Commit()
}

// discard removes a file that was not committed.
func (p *pendingFile) discard() {
	if !p.done {
		_ = p.file.Discard()
	}
}

// syncDir makes the renames durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}
