package fetch

import (
	"crypto/sha1" // git names its blobs by SHA-1; it is no defence against forgery
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
)

// Proof says what a file's content was held against.
type Proof uint8

// The proofs, from none to the strongest.
const (
	NoProof     Proof = iota // the item has no checksum; nothing was compared
	BlobPrefix               // the first digits of the git blob id
	Blob                     // the whole git blob id
	SHA256Proof              // the SHA-256
)

func (p Proof) String() string {
	return [...]string{"not verified: its source states no checksum", "the first digits of its git blob id are right", "its git blob id is right", "its SHA-256 is right"}[p]
}

// Sums are the checksums of a file.
type Sums struct {
	Bytes   int64
	SHA256  string
	GitBlob string
}

// Sum reads a file and computes its checksums.
func Sum(path string) (Sums, error) {
	f, err := os.Open(path)
	if err != nil {
		return Sums{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Sums{}, err
	}
	sha := sha256.New()
	// Git hashes the content behind a header with its length.
	blob := sha1.New()
	fmt.Fprintf(blob, "blob %d\x00", info.Size())
	n, err := io.Copy(io.MultiWriter(sha, blob), f)
	if err != nil {
		return Sums{}, fmt.Errorf("%s: %w", path, err)
	}
	text := func(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
	return Sums{n, text(sha), text(blob)}, nil
}

// check holds the sums of a file against what the item says.
func (it *Item) check(s Sums) (Proof, error) {
	if it.Bytes != 0 && s.Bytes != it.Bytes {
		return NoProof, fmt.Errorf("has %d bytes, %d are right", s.Bytes, it.Bytes)
	}
	switch {
	case it.SHA256 != "" && s.SHA256 != it.SHA256:
		return NoProof, fmt.Errorf("has the SHA-256 %s, %s is right", s.SHA256, it.SHA256)
	case it.SHA256 != "":
		return SHA256Proof, nil
	case !strings.HasPrefix(s.GitBlob, it.GitBlob):
		return NoProof, fmt.Errorf("has the git blob id %s, %s is right", s.GitBlob, it.GitBlob)
	case it.GitBlob == "":
		return NoProof, nil
	case len(it.GitBlob) < len(s.GitBlob):
		return BlobPrefix, nil
	}
	return Blob, nil
}
