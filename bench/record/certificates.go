package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CertificateFolder is where a result directory keeps its certificates, each in a
// file that its sha256 names.
const CertificateFolder = "certificates"

const certificateSuffix = ".json"

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

// WriteCertificates makes the certificates of a result directory those given by
// their sha256. It removes others. Write calls it.
func WriteCertificates(dir string, texts map[string][]byte) error {
	folder := filepath.Join(dir, CertificateFolder)
	old, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record: %w", err)
	}
	kept := map[string]bool{}
	for _, f := range old {
		hash, ok := strings.CutSuffix(f.Name(), certificateSuffix)
		if !ok {
			continue
		}
		if _, err := ReadCertificate(dir, hash); err == nil && texts[hash] != nil {
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
		if !kept[hash] {
			if err := writeCertificate(folder, hash, text); err != nil {
				return fmt.Errorf("record: certificate: %w", err)
			}
		}
	}
	return syncDir(folder)
}

func writeCertificate(folder, hash string, text []byte) error {
	f, err := os.CreateTemp(folder, "."+hash+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails where it was renamed
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(folder, hash+certificateSuffix))
}

// ReadCertificate returns the certificate of a result directory that has the given
// sha256, in hex.
//
// Errors: there is none; the file has another sha256.
func ReadCertificate(dir, hash string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, CertificateFolder, hash+certificateSuffix))
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if got := hashOf(text); got != hash {
		return nil, fmt.Errorf("record: certificate %.12s… has the sha256 %.12s…: it is not the file that was written", hash, got)
	}
	return text, nil
}
