package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/gob"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
)

// process is the warden of a running program, as this process sees it.
type process struct {
	cmd     *exec.Cmd
	control *os.File // the warden ends everything when it is closed
	in, out *os.File
	folder  string
	ended   chan struct{} // closed when the warden is gone
	end     string        // what the warden said of the program's end; valid when ended is closed
	stderr  tail
	program string // what was started
	ctx     context.Context
	undo    func() bool
	once    sync.Once
}

// order is what the warden is told.
type order struct {
	Spec
	Folder     string // an empty folder outside
	Namespaces bool
	User       int // whom the program runs as; 0: as the warden
	Root       bool
}

// report is what the warden says: at first what holds, or why nothing runs; and what
// became of the program.
type report struct {
	Held  []string
	Error string
	Errno syscall.Errno // of Error, if the kernel may do with fewer protections
	End   string
}

// namespaces are those of a program, beside that of users.
const namespaces = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS

// Start starts a program, which runs until Stop is called or the context ends.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	root := os.Geteuid() == 0
	var first error
	for _, flags := range []uintptr{namespaces, namespaces | syscall.CLONE_NEWUSER, 0} {
		if flags == namespaces && !root {
			continue
		}
		p, err := start(ctx, spec, flags)
		if err == nil {
			return p, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !slices.ContainsFunc(refusals, func(e syscall.Errno) bool { return errors.Is(err, e) }) {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// refusals are the errors by which a kernel says that it does not give namespaces: another
// try with fewer protections may do. Whatever else fails is no reason to protect less.
var refusals = []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOSYS, syscall.ENOSPC, syscall.EUSERS}

func start(ctx context.Context, spec Spec, flags uintptr) (*Process, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("sandbox: finding the running executable: %w", err)
	}
	folder, err := os.MkdirTemp("", "yardstick-")
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	p := &Process{process: process{folder: folder, program: spec.Args[0], ended: make(chan struct{}), ctx: ctx}}
	var pipes [5][2]*os.File // questions, answers, standard error, control, reports
	closeAll := func(side int) {
		for _, pipe := range pipes {
			if pipe[side] != nil {
				pipe[side].Close()
			}
		}
	}
	fail := func(err error) (*Process, error) {
		closeAll(0)
		closeAll(1)
		return nil, errors.Join(fmt.Errorf("sandbox: %w", err), os.RemoveAll(folder))
	}
	for i := range pipes {
		if pipes[i], err = blockingPipe(); err != nil {
			return fail(err)
		}
	}
	p.cmd = exec.Command(path)
	p.cmd.Env = []string{variable + "=1", "GOMAXPROCS=2", "GOGC=50"}
	p.cmd.Dir = "/"
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	p.cmd.ExtraFiles = []*os.File{pipes[3][0], pipes[4][1]}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Setsid: true}
	o := order{Spec: spec, Folder: folder, Namespaces: flags != 0, Root: os.Geteuid() == 0 && flags&syscall.CLONE_NEWUSER == 0}
	user, group := os.Geteuid(), os.Getegid()
	if user == 0 { // never root, in whatever namespace
		if user, err = ownUser(); err != nil {
			return fail(err)
		}
		group, o.User = user, user
	}
	if flags&syscall.CLONE_NEWUSER != 0 {
		p.cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: user, Size: 1}}
		p.cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: group, Size: 1}}
		if err := os.Chown(folder, user, group); err != nil {
			return fail(err)
		}
		if os.Geteuid() == 0 {
			// Without a number of the namespace the warden would lose its capabilities when it is
			// executed; with one, it may not enter every folder on the way to its file.
			p.cmd.SysProcAttr.Credential = &syscall.Credential{}
			p.cmd.SysProcAttr.GidMappingsEnableSetgroups = true
			executable, err := os.Open(path)
			if err != nil {
				return fail(err)
			}
			defer executable.Close()
			p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, executable)
			p.cmd.Path = fmt.Sprintf("/proc/self/fd/%d", 2+len(p.cmd.ExtraFiles))
		}
	}
	if err := p.cmd.Start(); err != nil {
		return fail(err)
	}
	p.in, p.out, p.control = pipes[0][1], pipes[1][0], pipes[3][1]
	pipes[0][1], pipes[1][0], pipes[3][1] = nil, nil, nil
	stderr, reports := pipes[2][0], pipes[4][0]
	pipes[2][0], pipes[4][0] = nil, nil
	for _, pipe := range [][2]*os.File{pipes[0], pipes[1], pipes[2], pipes[3], pipes[4]} {
		for _, f := range pipe {
			if f != nil {
				f.Close()
			}
		}
	}
	p.In, p.Out = p.in, p.out
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.stderr.read(stderr)
	}()
	dec := gob.NewDecoder(reports)
	var r report
	err = gob.NewEncoder(p.control).Encode(&o)
	if err == nil {
		err = dec.Decode(&r)
	}
	go func() {
		if err == nil && r.Error == "" {
			var last report
			if dec.Decode(&last) == nil {
				p.end = last.End
			}
		}
		_ = p.cmd.Wait()
		<-drained
		reports.Close()
		os.RemoveAll(folder)
		close(p.ended)
	}()
	if err != nil || r.Error != "" {
		p.Stop()
		if err != nil {
			return nil, fmt.Errorf("sandbox: the warden did not answer%s: its main function must call sandbox.Main first", p.stderr.text())
		}
		if r.Errno != 0 {
			return nil, fmt.Errorf("sandbox: %s: %w", r.Error, r.Errno)
		}
		return nil, errors.New("sandbox: " + r.Error)
	}
	p.Held = r.Held
	if o.Namespaces {
		os.Remove(folder) // it was where the warden put its new root together
	}
	p.undo = context.AfterFunc(ctx, func() { p.control.Close() })
	return p, nil
}

// ownUser returns a user number that nobody else has: above all that are given to people,
// and one of half a milliard.
func ownUser() (int, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(1<<29))
	if err != nil {
		return 0, err
	}
	return 1<<30 + int(n.Int64()), nil
}

// blockingPipe returns a pipe whose ends block a thread: an answer comes sooner than
// by way of the runtime's poller.
func blockingPipe() (ends [2]*os.File, err error) {
	var fd [2]int
	if err := syscall.Pipe2(fd[:], syscall.O_CLOEXEC); err != nil {
		return ends, err
	}
	return [2]*os.File{os.NewFile(uintptr(fd[0]), "pipe"), os.NewFile(uintptr(fd[1]), "pipe")}, nil
}

// patience is how long a program may take to end that has nothing more to do.
const patience = 5 * time.Second

// CloseIn tells the program that there is nothing more to read, and kills it if it goes
// on for long.
func (p *Process) CloseIn() {
	p.in.Close()
	timer := time.AfterFunc(patience, func() { p.control.Close() })
	go func() {
		<-p.ended
		timer.Stop()
	}()
}

// Stop kills the program and all that it has started, and waits until they are gone.
func (p *Process) Stop() {
	p.once.Do(func() {
		if p.undo != nil {
			p.undo()
		}
		p.in.Close()
		p.control.Close()
		timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
		<-p.ended
		timer.Stop()
		p.out.Close()
	})
}

// Why says why the program's streams have failed: it stops it. The error is of one
// line, with the last lines that the program wrote to standard error.
func (p *Process) Why() error {
	// A program that has ended by itself is reported at once.
	select {
	case <-p.ended:
	case <-p.ctx.Done():
	case <-time.After(patience):
	}
	p.Stop()
	switch {
	case p.ctx.Err() != nil:
		return fmt.Errorf("it was silent when its time was over%s: %w", p.stderr.text(), p.ctx.Err())
	case p.end == stopped:
		return fmt.Errorf("it closed a pipe and went on%s", p.stderr.text())
	case p.end == "":
		return fmt.Errorf("it was killed together with its warden%s", p.stderr.text())
	}
	said := p.stderr.text()
	return fmt.Errorf("it %s%s%s", p.end, said, notSeen(said, p.program))
}

// noModule and noFile are what interpreters say of a module and a file that they do not see.
var (
	noModule = regexp.MustCompile(`No module named '?([\w.]+)|Cannot find (?:module|package) '?([^' ]+)`)
	noFile   = regexp.MustCompile(`No such file or directory|ENOENT|cannot open`)
)

// notSeen says what to do about what a program misses because it sees nothing else of this
// machine; "" if it misses nothing.
func notSeen(said, program string) string {
	if m := noModule.FindStringSubmatch(said); m != nil {
		return fmt.Sprintf(": name %s with --policy-files (files in a suite) if it is yours, for the program sees copies of what is named alone; or install it for %s, in an environment", m[1]+m[2], program)
	}
	if noFile.MatchString(said) {
		return ": name its files with --policy-files (files in a suite), for it sees copies of what is named alone"
	}
	return ""
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const maxTail = 4096

func (t *tail) read(f *os.File) {
	defer f.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(buf)
		t.mu.Lock()
		t.last = append(t.last, buf[:n]...)
		t.last = bytes.Clone(t.last[max(0, len(t.last)-maxTail):])
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text returns ": " and the last lines in one, or "".
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(string(t.last), "?")) {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return ' '
		}, line))
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	const most, longest = 3, 200
	lines = lines[max(0, len(lines)-most):]
	for i, line := range lines {
		if r := []rune(line); len(r) > longest {
			lines[i] = string(r[:longest]) + "…"
		}
	}
	return ": " + strings.Join(lines, " / ")
}
