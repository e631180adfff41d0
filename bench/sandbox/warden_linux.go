package sandbox

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// variable is what makes a process a warden.
const variable = "YARDSTICK_SANDBOX"

// The warden's pipes beside the program's, which are its standard streams.
const (
	controlFD = 3
	reportFD  = 4
)

// Main returns at once, unless the process is the warden of a program: then it starts
// the program, waits for its end and exits. Call it first in main, or in TestMain.
func Main() {
	if os.Getenv(variable) == "" {
		return
	}
	os.Unsetenv(variable)
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	runtime.LockOSThread() // what is set per thread is inherited by the program
	w := &warden{control: os.NewFile(controlFD, "control"), reports: gob.NewEncoder(os.NewFile(reportFD, "reports"))}
	closeOnExec()
	if err := w.run(); err != nil {
		_ = w.reports.Encode(&report{Error: err.Error(), Errno: refusalOf(err)})
	}
	os.Exit(0)
}

type warden struct {
	order
	control *os.File
	reports *gob.Encoder
	held    []string
}

// closeOnExec keeps every descriptor but the standard streams from the program, those too
// that somebody further up has left open.
func closeOnExec() {
	const sysCloseRange, flagCloseOnExec = 436, 4
	if _, _, err := syscall.RawSyscall(sysCloseRange, 3, ^uintptr(0)>>32, flagCloseOnExec); err == 0 {
		return
	}
	list, _ := os.ReadDir("/proc/self/fd") // an older kernel
	for _, entry := range list {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// refusalOf is the kernel's error in another one, if fewer protections may avoid it.
func refusalOf(err error) syscall.Errno {
	if _, missing := errors.AsType[*startError](err); missing {
		return 0
	}
	errno, _ := errors.AsType[syscall.Errno](err)
	return errno
}

// startError means that the program cannot be started, however it is kept.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }

func (w *warden) run() error {
	if err := gob.NewDecoder(w.control).Decode(&w.order); err != nil {
		return err
	}
	scratch := w.Folder
	if w.Namespaces {
		if err := w.buildRoot(); err != nil {
			return err
		}
		scratch = "/scratch"
		w.held = append(w.held, heldPID, heldMount, heldNet, heldIPC, heldUser)
	} else {
		if err := prctl(prSetChildSubreaper, 1); err != nil {
			return err
		}
		w.held = append(w.held, heldReaper)
		defer os.RemoveAll(scratch) // also if our parent is gone
		if err := w.fillScratch(scratch); err != nil {
			return err
		}
		if w.Root {
			w.held = append(w.held, heldUser)
		}
	}
	if err := w.limit(); err != nil {
		return err
	}
	pid, err := w.launch(scratch)
	if err != nil {
		return &startError{err}
	}
	if w.Memory > 0 {
		w.held = append(w.held, heldMemory)
	}
	for _, fd := range []int{0, 1, 2} { // they are the program's alone, so that it can close them
		if err := syscall.Close(fd); err != nil {
			return err
		}
	}
	if err := w.reports.Encode(&report{Held: w.held}); err != nil {
		return err
	}
	killed := make(chan string, 1)
	go w.obey(killed)
	go w.watch(scratch, killed)
	status := w.await(pid)
	w.sweep()
	end := describe(status)
	select {
	case end = <-killed:
	default:
	}
	return w.reports.Encode(&report{End: end})
}

// stopped is the end of a program that had to be stopped.
const stopped = "was stopped"

// obey kills everything when the pipe to the parent closes.
func (w *warden) obey(killed chan<- string) {
	_, _ = io.Copy(io.Discard, w.control)
	w.kill(killed, stopped)
}

func (w *warden) kill(killed chan<- string, why string) {
	select {
	case killed <- why:
	default:
	}
	for {
		w.killAll(syscall.SIGKILL)
		time.Sleep(time.Millisecond) // until run is through with it
	}
}

// watch kills everything when it takes too much memory or room.
func (w *warden) watch(scratch string, killed chan<- string) {
	const sample = 20 * time.Millisecond
	for range time.Tick(sample) {
		if used := w.memory(); w.Memory > 0 && used > w.Memory {
			w.kill(killed, fmt.Sprintf("took %d MiB of memory, and the limit is %d MiB", used>>20, w.Memory>>20))
		}
		if !w.Namespaces && folderSize(scratch) > maxScratch {
			w.kill(killed, fmt.Sprintf("filled its folder with more than %d MiB", maxScratch>>20))
		}
	}
}

func folderSize(folder string) (sum int64) {
	_ = filepath.WalkDir(folder, func(_ string, entry os.DirEntry, err error) error {
		if err == nil {
			if info, err := entry.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// await waits for the program, and for whatever orphans fall to this process.
func (w *warden) await(program int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		switch pid, err := syscall.Wait4(-1, &status, 0, nil); {
		case pid == program:
			return status
		case err != nil && err != syscall.EINTR:
			return status
		}
	}
}

// sweep kills all that is left, until nothing is.
func (w *warden) sweep() {
	for {
		w.killAll(syscall.SIGKILL)
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(-1, &status, 0, nil); err == syscall.ECHILD {
			return
		}
	}
}

// killAll signals every process of the program.
func (w *warden) killAll(sig syscall.Signal) {
	if w.Namespaces {
		_ = syscall.Kill(-1, sig)
		return
	}
	for _, pid := range descendants() {
		_ = syscall.Kill(pid, sig)
	}
}

// memory is what the program's processes have of their own, in bytes.
func (w *warden) memory() (sum int64) {
	for _, pid := range descendants() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			if name == "RssAnon" || name == "RssShmem" {
				kib, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
				sum += kib << 10
			}
		}
	}
	return sum
}

// descendants lists the processes under this one.
func descendants() (list []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	parents := map[int]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1]) // after the state
		}
	}
	self := os.Getpid()
	for pid := range parents {
		for up, known := pid, true; known && up != 0; up, known = parents[up] {
			if parents[up] == self {
				list = append(list, pid)
				break
			}
		}
	}
	return list
}

func describe(s syscall.WaitStatus) string {
	switch {
	case s.Exited():
		return fmt.Sprintf("ended with exit status %d", s.ExitStatus())
	case s.Signaled():
		return fmt.Sprintf("was ended by the signal %v", s.Signal())
	}
	return "ended"
}

const (
	prSetDumpable       = 4
	prSetNoNewPrivs     = 38
	prSetChildSubreaper = 36
	prSetSecurebits     = 28
	noRoot              = 1 | 2 // SECBIT_NOROOT, locked: user 0 has no capabilities after exec
	rlimitNProc         = 6
	rlimitMemlock       = 8
	rlimitMsgQueue      = 12
)

func prctl(option, value uintptr) error {
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); err != 0 {
		return err
	}
	return nil
}

// limit sets what the program inherits from this thread and process.
func (w *warden) limit() error {
	limits := map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_NOFILE: maxOpen, syscall.RLIMIT_FSIZE: maxScratch, rlimitNProc: maxProcesses,
		rlimitMemlock: 0, rlimitMsgQueue: 0}
	if !w.Root && !w.Namespaces {
		delete(limits, rlimitNProc) // it counts what else the user runs
	}
	for which, most := range limits {
		if err := syscall.Setrlimit(which, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit %d: %w", which, err)
		}
	}
	w.held = append(w.held, heldLimits)
	if !w.Root {
		if err := prctl(prSetSecurebits, noRoot); err != nil && w.Namespaces {
			return fmt.Errorf("securebits: %w", err)
		}
	}
	// Of a process that cannot be dumped, a program of the same user reads nothing in /proc.
	if err := prctl(prSetDumpable, 0); err != nil {
		return fmt.Errorf("not dumpable: %w", err)
	}
	if err := prctl(prSetNoNewPrivs, 1); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	w.held = append(w.held, heldNoNew)
	if filter() == nil {
		w.held = append(w.held, heldSeccomp)
	}
	return nil
}

// limitData limits the memory that the program's processes may have of their own, each. It
// is the program's alone, because the warden may need more; a program can lift it where
// this process may not set it in another, and meets watch then.
func limitData(most int64, start func() (int, error)) (pid int, err error) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &before); err != nil {
		return 0, err
	}
	limit := syscall.Rlimit{Cur: uint64(most), Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return 0, err
	}
	pid, err = start()
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &before); err != nil {
		return pid, err
	}
	limit.Max = limit.Cur
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_DATA, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	return pid, err
}

// launch starts the program.
func (w *warden) launch(scratch string) (pid int, err error) {
	path := "/usr/local/bin:/usr/bin:/bin"
	if filepath.IsAbs(w.Args[0]) {
		path = filepath.Dir(w.Args[0]) + ":" + path
	}
	env := []string{"PATH=" + path, "HOME=" + scratch, "TMPDIR=" + scratch, "LANG=C.UTF-8", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
		"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"}
	attr := &syscall.ProcAttr{Dir: scratch, Env: env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	if w.Root {
		attr.Sys.Credential = &syscall.Credential{Uid: uint32(w.User), Gid: uint32(w.User)}
	}
	start := func() (int, error) { return syscall.ForkExec(w.Args[0], w.Args, attr) }
	if w.Memory > 0 {
		pid, err = limitData(w.Memory, start)
	} else {
		pid, err = start()
	}
	if err != nil {
		err = fmt.Errorf("%s cannot be started: %w", w.Args[0], err)
		if w.Root && !w.Namespaces {
			const alone = "%w: this machine gives no namespaces, so it runs as a user of its own, who may not enter %s: "
			if closed := closedTo(scratch); closed != "" {
				err = fmt.Errorf(alone+"set TMPDIR to a folder that all may enter, such as /tmp", err, closed)
			} else if closed := closedTo(filepath.Dir(w.Args[0])); closed != "" {
				err = fmt.Errorf(alone+"take an interpreter that all may run, such as /usr/bin/python3", err, closed)
			}
		}
		return 0, err
	}
	return pid, nil
}

// closedTo returns the topmost folder on the way to this one that only some may enter, or "".
func closedTo(folder string) (closed string) {
	for ; filepath.IsAbs(folder) && folder != "/"; folder = filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && info.Mode()&1 == 0 {
			closed = folder
		}
	}
	return closed
}

// fillScratch writes the copies of the files. The folder and they belong to the warden,
// and nobody may write them.
func (w *warden) fillScratch(scratch string) error {
	for _, f := range w.Files {
		path := filepath.Join(scratch, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o444)
		if f.Execute {
			mode = 0o555
		}
		if err := os.WriteFile(path, f.Content, mode); err != nil {
			return err
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the mask
			return err
		}
	}
	return os.Chmod(scratch, 0o777|os.ModeSticky) // the program may add files, not remove these
}
