package schedtest

import (
	"os"
	"testing"
)

// Missing ends a test that needs a program which this machine lacks or cannot run:
// it is skipped, and fails in CI, where internal/prepare.sh has installed everything.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
