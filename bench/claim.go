package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"yardstick/bench/record"
	"yardstick/internal/output"
)

// ErrBusy means that another run is at work in a result directory.
var ErrBusy = errors.New("another run is at work there")

// ErrOtherRun means that a result directory holds the run of another suite.
var ErrOtherRun = errors.New("it holds another run")

// Claim holds a result directory: as long as it is open, nothing else runs there but
// what may run beside it.
type Claim struct {
	Note string // of a file system without locks; "" of others

	lock *os.File
}

// Claiming says what a result directory is claimed for.
type Claiming struct {
	File    *PlanFile // what is to run there; nil is something else than a suite
	Plan    *Plan     // of the file
	Shared  bool      // with shards of the same plan, which run at the same time
	Force   bool      // replace what another suite left there
	Resolve Resolve
	Command string // for messages of others
	Instead string // what to do where the directory holds another run
}

// The files of a result directory that are locked: by what is at work there, and for the
// moment in which a plan is written.
const (
	lockName     = ".lock"
	planLockName = ".plan.lock"
)

// patience is how long a claim waits: a process that was killed may take a moment to go.
const patience = time.Second

// Take claims a result directory, which it makes if need be, writes the plan there, and
// removes what killed runs left half written.
//
// A directory holds one run. Its suite may run again, also after the program or a trace
// has changed, or with cells more than before.
//
// Errors: ErrBusy; ErrOtherRun; the directory cannot be written to.
func (c Claiming) Take(ctx context.Context, dir string) (_ *Claim, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	claim := &Claim{}
	if claim.lock, err = c.wait(ctx, dir, lockName, c.Shared); errors.Is(err, errors.ErrUnsupported) {
		claim.Note = fmt.Sprintf("%s cannot be locked (%v): let nothing else run there", dir, err)
	} else if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			claim.Close()
		}
	}()
	if c.Shared {
		guard, err := c.wait(ctx, dir, planLockName, false)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
		defer guard.Close()
	}
	if err := c.fits(dir); err != nil {
		return nil, err
	}
	if claim.lock != nil {
		host, _ := os.Hostname()
		_ = claim.lock.Truncate(0) // the text is for messages alone
		_, _ = fmt.Fprintf(claim.lock, "process %d on %s since %s: %s\n", os.Getpid(), host, time.Now().Format(time.DateTime), c.Command)
	}
	if !c.Shared {
		output.Sweep(dir, filepath.Join(dir, record.CertificateFolder), filepath.Join(dir, record.InstanceFolder), filepath.Join(dir, record.ProofFolder), os.TempDir())
	}
	if c.File != nil {
		if err := c.File.Write(dir); err != nil {
			return nil, fmt.Errorf("writing the plan into %s: %w", dir, err)
		}
	}
	return claim, nil
}

// Close lets others in.
func (c *Claim) Close() {
	if c.lock != nil {
		_ = errors.Join(c.lock.Truncate(0), c.lock.Close()) // as the process's end would
	}
}

// wait takes a lock in the directory, for which it waits a moment.
func (c Claiming) wait(ctx context.Context, dir, name string, shared bool) (*os.File, error) {
	path := filepath.Join(dir, name)
	for end := time.Now().Add(patience); ; {
		f, err := output.Lock(path, shared)
		if !errors.Is(err, output.ErrLocked) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s: %w (%s): wait until it has ended", dir, ErrBusy, holder(path))
		}
	}
}

// holder returns what the process that holds a lock wrote there: the start of a line.
func holder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	line := make([]byte, 300)
	n, _ := f.Read(line)
	text, _, _ := strings.Cut(string(line[:n]), "\n")
	return cmp.Or(text, "unknown")
}

// fits returns ErrOtherRun if the directory holds what is not to be mixed with the plan.
func (c Claiming) fits(dir string) error {
	old, err := ReadPlanFile(dir)
	switch {
	case c.Force && !c.Shared:
		return nil
	case err != nil: // then the tables say what they are of, unless they are lost too
		m, lost := record.ReadManifest(dir)
		if lost != nil || c.File == nil && errors.Is(err, fs.ErrNotExist) || c.File != nil && m.PlanID == c.File.PlanID {
			return nil
		}
		return fmt.Errorf("%s: %w, with tables and no plan.json: %s", dir, ErrOtherRun, c.Instead)
	case c.File == nil:
		return fmt.Errorf("%s: %w, of %s: %s", dir, ErrOtherRun, old.Suite, c.Instead)
	case old.PlanID == c.File.PlanID || !c.Shared && c.continues(old):
		return nil
	}
	return fmt.Errorf("%s: %w, plan %s (%s), and this is plan %s: %s", dir, ErrOtherRun, old.PlanID, old.Suite, c.File.PlanID, c.Instead)
}

// continues reports whether the plan is that of the same suite, for which the program or
// a trace has changed, or has all cells of the old one.
func (c Claiming) continues(old *PlanFile) bool {
	if old.Text == c.File.Text && slices.Equal(old.Settings, c.File.Settings) {
		return true
	}
	before, err := old.Plan(c.Resolve)
	if err != nil {
		return false
	}
	has := map[string]bool{}
	for i := range c.Plan.Cells {
		has[c.Plan.Cells[i].ID] = true
	}
	return !slices.ContainsFunc(before.Cells, func(cell Cell) bool { return !has[cell.ID] })
}
