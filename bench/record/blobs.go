package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"yardstick/internal/input"
	"yardstick/internal/output"
)

// Beside its tables a result directory keeps what proves them: certificates and
// instances, each in a file that the sha256 of its text names, so that equal ones
// are kept once.
const (
	CertificateFolder = "certificates" // SHA256.json
	InstanceFolder    = "instances"    // SHA256.json.gz
	// ProofFolder has what strangers check: proofs, SHA256.cert, the problems that they
	// are about, SHA256.txt, and the programs that check the one against the other.
	ProofFolder = "proofs"
)

// blobs is a folder of texts.
type blobs struct {
	folder, suffix string
	what           string // one of them
	zipped         bool
}

func certificates() blobs { return blobs{CertificateFolder, ".json", "certificate", false} }
func instances() blobs    { return blobs{InstanceFolder, ".json.gz", "instance", true} }
func proofs() blobs       { return blobs{ProofFolder, ".cert", "proof", false} }
func problems() blobs     { return blobs{ProofFolder, ".txt", "problem", false} }

// AddCertificate keeps the text of a certificate, to be written with the run, and
// returns its sha256 in hex.
func (r *Run) AddCertificate(text []byte) Text {
	if r.Certificates == nil {
		r.Certificates = map[string][]byte{}
	}
	hash := hashOf(text)
	r.Certificates[hash] = text
	return Text(hash)
}

// AddProof keeps a proof for strangers and the problem that it is about, to be written
// with the run and what checks them, by file name, and returns the sha256 of both in hex.
func (r *Run) AddProof(proof, problem []byte, checkers map[string][]byte) (ofProof, ofProblem Text) {
	if r.Proofs == nil {
		r.Proofs, r.Problems = map[string][]byte{}, map[string][]byte{}
	}
	r.Checkers = checkers
	a, b := hashOf(proof), hashOf(problem)
	r.Proofs[a], r.Problems[b] = proof, problem
	return Text(a), Text(b)
}

// AddInstance keeps an instance, to be written with the run: text returns its
// canonical JSON, which has the given sha256, in hex.
func (r *Run) AddInstance(hash string, text func() []byte) {
	if r.Instances == nil {
		r.Instances = map[string]func() []byte{}
	}
	r.Instances[hash] = text
}

// WriteCertificates makes the certificates of a result directory those given by
// their sha256. It removes others. Write calls it.
func WriteCertificates(dir string, texts map[string][]byte) error {
	return certificates().write(dir, later(texts))
}

func later(texts map[string][]byte) map[string]func() []byte {
	list := make(map[string]func() []byte, len(texts))
	for hash, text := range texts {
		list[hash] = func() []byte { return text }
	}
	return list
}

// writeProofs makes the proofs of a result directory those of the run.
func writeProofs(dir string, run *Run) error {
	if err := problems().write(dir, later(run.Problems)); err != nil {
		return err
	}
	if err := proofs().write(dir, later(run.Proofs)); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, ProofFolder, "*.py"))
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	for name, text := range run.Checkers {
		write := func(w io.Writer) error { _, err := w.Write(text); return err }
		err = errors.Join(err, output.Write(filepath.Join(dir, ProofFolder, name), write))
	}
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// ReadProof returns the proof of a result directory that has the given sha256, and the
// problem of the other one, both in hex.
//
// Errors: there is none; a file has another sha256.
func ReadProof(dir, proof, problem string) (ofProof, ofProblem []byte, err error) {
	if ofProof, err = proofs().read(dir, proof); err != nil {
		return nil, nil, err
	}
	ofProblem, err = problems().read(dir, problem)
	return ofProof, ofProblem, err
}

// ReadCertificate returns the certificate of a result directory that has the given
// sha256, in hex.
//
// Errors: there is none; the file has another sha256.
func ReadCertificate(dir, hash string) ([]byte, error) { return certificates().read(dir, hash) }

// ReadInstance returns the canonical JSON of the instance of a result directory that
// has the given sha256, in hex.
//
// Errors: there is none; the file has another sha256.
func ReadInstance(dir, hash string) ([]byte, error) { return instances().read(dir, hash) }

func (b blobs) path(dir, hash string) string { return filepath.Join(dir, b.folder, hash+b.suffix) }

func (b blobs) read(dir, hash string) ([]byte, error) {
	text, err := os.ReadFile(b.path(dir, hash))
	if err == nil && b.zipped {
		text, err = unzip(text)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %s %.12s…: %w", b.what, hash, err)
	}
	if got := hashOf(text); got != hash {
		return nil, fmt.Errorf("record: %s %.12s… has the sha256 %.12s…: it is not the file that was written", b.what, hash, got)
	}
	return text, nil
}

// write makes the texts of the folder those given, and removes others. Those that
// are there are kept if they are whole.
func (b blobs) write(dir string, texts map[string]func() []byte) error {
	folder := filepath.Join(dir, b.folder)
	old, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record: %w", err)
	}
	kept := map[string]bool{}
	for _, f := range old {
		hash, ok := strings.CutSuffix(f.Name(), b.suffix)
		if !ok {
			continue
		}
		if _, err := b.read(dir, hash); err == nil && texts[hash] != nil {
			kept[hash] = true
		} else if err := os.Remove(filepath.Join(folder, f.Name())); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	for hash, text := range texts {
		if kept[hash] {
			continue
		}
		if err := b.writeOne(dir, hash, text()); err != nil {
			return fmt.Errorf("record: %s: %w", b.what, err)
		}
	}
	return syncDir(folder)
}

func (b blobs) writeOne(dir, hash string, text []byte) error {
	if b.zipped {
		var err error
		if text, err = zip(text); err != nil {
			return err
		}
	}
	f, err := output.Create(b.path(dir, hash)) // not synced: whoever reads it checks its hash
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}

// zip compresses a text; equal texts become equal bytes.
func zip(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func unzip(data []byte) ([]byte, error) {
	r, err := input.Gzip(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
