package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"yardstick/solvers/milp"
)

// modelFile is the model, in the working directory of the program.
const modelFile = "model.mps"

func writeFiles(folder string, m *milp.Model, files map[string]string) error {
	f, err := os.Create(filepath.Join(folder, modelFile))
	if err != nil {
		return err
	}
	if err := errors.Join(milp.WriteMPS(f, m), f.Close()); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// ran is how a program ended.
type ran struct {
	stopped milp.Termination // if it was killed: why
	err     error            // it could not be started, or ended with a failure
	output  string           // both streams
	cpu     time.Duration
}

// run runs the program in the folder. Its output goes to a file: a pipe that a
// grandchild holds open would outlive the program.
func (s *Solver) run(ctx context.Context, folder string, args []string, limit time.Duration) ran {
	name := filepath.Join(folder, "output.txt")
	out, err := os.Create(name)
	if err != nil {
		return ran{err: err}
	}
	defer out.Close()
	hard := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		hard, cancel = context.WithTimeout(ctx, s.program.round(limit)+Grace)
		defer cancel()
	}
	cmd := exec.CommandContext(hard, s.path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, out, out
	cmd.Env = append(os.Environ(), "LC_ALL=C", "OMP_NUM_THREADS=1")
	// Linux kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = dieWithParent()
	err = cmd.Run()
	r := ran{err: err}
	if cmd.ProcessState != nil {
		r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.stopped = milp.Interrupted
	case hard.Err() != nil:
		r.stopped = milp.TimeLimit
	}
	text, readErr := os.ReadFile(name)
	r.output = string(text)
	if r.err == nil && readErr != nil {
		r.err = readErr
	}
	return r
}

// lastLine returns ": " and the last line that is not empty, or "".
func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return ": " + line
		}
	}
	return ""
}

// Version returns the first number with a dot that the program prints about
// itself, such as "2.10.8".
func (s *Solver) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, s.path, s.program.versionArgs()...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("external: asking %s for its version: %w", s.Name(), err)
	}
	v := versionNumber.FindString(string(out))
	if v == "" {
		return "", fmt.Errorf("external: %s prints no version", s.Name())
	}
	return v, nil
}
