package record

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCertificates: those of a run are written and read, others are removed, and
// damage shows.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, CertificateFolder)
	run := &Run{}
	a, b := run.AddCertificate([]byte("first\n")), run.AddCertificate([]byte("second\n"))
	if err := WriteCertificates(dir, run.Certificates); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadCertificate(dir, string(a)); err != nil || string(text) != "first\n" {
		t.Errorf("%q, %v", text, err)
	}
	delete(run.Certificates, string(b))
	if err := os.WriteFile(filepath.Join(folder, string(a)+".json"), []byte("damaged\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCertificate(dir, string(a)); err == nil {
		t.Error("a damaged certificate is read")
	}
	if err := WriteCertificates(dir, run.Certificates); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadCertificate(dir, string(a)); err != nil || string(text) != "first\n" {
		t.Errorf("after it was written again: %q, %v", text, err)
	}
	if _, err := ReadCertificate(dir, string(b)); err == nil {
		t.Error("a certificate of another run is left")
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("%d files are left: %v", len(files), err)
	}
	if err := WriteCertificates(filepath.Join(dir, "none"), nil); err != nil {
		t.Errorf("no certificates: %v", err)
	}
}
