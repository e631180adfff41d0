package lint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

// TestGolpIsTheOriginal holds the copy of golp against the sum of the module that
// go.mod requires: only what stands before its first #include, the paths to
// lp_solve, may differ.
func TestGolpIsTheOriginal(t *testing.T) {
	const original = "cee99174ec4d7385db0141c3dabf560ea6d2b990dde208cdf67e82eab0cf305f" // v0.0.0-20250721104811-2d405f0b4e68
	h := sha256.New()
	for _, name := range []string{"LICENSE", "stringbuilder.c", "stringbuilder.h", "lp.go"} {
		data, err := os.ReadFile("../golp/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "lp.go" {
			data = data[bytes.Index(data, []byte(`#include "lp_lib.h"`)):]
		}
		h.Write(data)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != original {
		t.Errorf("internal/golp has the sum %s, the original %s: golp is not changed here but for the paths (docs/decisions/0018-golp.md)", sum, original)
	}
}
