package schedtest

import (
	"os"
	"testing"
)

// Missing ends a test that needs a program, or what every Linux has, which this machine
// lacks or cannot run: it is skipped, and fails in CI, where internal/prepare.sh has
// installed everything.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Forbidden skips a test that needs what the kernel need not grant, in CI no more than
// elsewhere, and what no installation mends: to mount, to be another user, to have
// namespaces of one's own.
func Forbidden(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Skipf("the kernel does not let us: "+format, args...)
}
