package veripb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Version is the version of VeriPB that the tests run, and internal/prepare.sh installs.
const Version = "3.0.2"

// ErrNotInstalled means that this machine has no VeriPB.
var ErrNotInstalled = errors.New("veripb is not installed: cargo install veripb --version " + Version + " --locked (Rust 1.84 or later)")

// Find returns the path of VeriPB: on PATH, or where internal/prepare.sh installs it.
func Find() (string, error) {
	if path, err := exec.LookPath("veripb"); err == nil {
		return path, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", ErrNotInstalled
	}
	path := filepath.Join(cache, "yardstick", "veripb-"+Version, "bin", "veripb")
	if _, err := os.Stat(path); err != nil {
		return "", ErrNotInstalled
	}
	return path, nil
}

// Verdict is what VeriPB has verified: Lower ≤ cost of the optimum ≤ Upper; nil is none.
type Verdict struct{ Lower, Upper *big.Int }

// RefusedError means that a proof is not accepted, and says why.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

var verified = regexp.MustCompile(`(?m)^s VERIFIED BOUNDS (-?[0-9]+) <= obj(?: <= (-?[0-9]+|INF))?$`)

// Check has VeriPB check a proof, both by their paths.
//
// Errors: ErrNotInstalled; *RefusedError; what the process could not be run by.
func Check(ctx context.Context, model, proof string) (*Verdict, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--opb", model, proof)
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.Env = append(os.Environ(), "RUST_BACKTRACE=0")
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("veripb: %w", err)
	}
	found := verified.FindSubmatch(out.Bytes())
	if err != nil || found == nil {
		return nil, &RefusedError{Reason: "veripb refuses the proof: " + reason(log.String()+out.String())}
	}
	v := &Verdict{}
	v.Lower, _ = new(big.Int).SetString(string(found[1]), 10)
	if len(found[2]) > 0 && string(found[2]) != "INF" {
		v.Upper, _ = new(big.Int).SetString(string(found[2]), 10)
	}
	return v, nil
}

// reason returns what VeriPB says in one line: the place, and the cause below it.
func reason(log string) string {
	var said []string
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Stack backtrace") {
			break
		}
		if line != "" && line != "Caused by:" && !strings.HasPrefix(line, "Running VeriPB") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}
