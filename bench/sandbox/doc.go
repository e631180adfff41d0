// Package sandbox runs a stranger's program so that it sees its question and nothing
// else, harms nothing, and is gone when it has to be.
//
// The program is the grandchild of this process. Between the two is a warden: this
// executable, started again, whose main function calls [Main] first. Where the kernel lets it, the
// warden is the first process of a PID namespace of its own, with mounts and a network
// of its own: it builds a file system of what the interpreter needs, read-only, and of an
// empty scratch folder of bounded size with copies of the program's files, and starts the
// program there. When the program ends, when it takes too much memory, or when this
// process ends or closes its pipe, the warden ends, and the kernel ends everything in
// its namespace. Elsewhere the warden is a subreaper, to which every orphan falls, and
// kills all descendants until none is left.
//
// The program has two pipes and standard error, a small environment, limits on its
// processes, files, the size of a file and memory, no new privileges, no capability,
// a filter of system calls (no sockets, no tracing, no mounts, no memory that is not
// counted) and, started as root, a user number that nobody else has. [Process.Held] says
// which of these held; nothing else here depends on them.
package sandbox

import "io"

// The protections, as Process.Held names them.
const (
	heldPID     = "pid"     // PID namespace: it sees no other process and leaves none
	heldMount   = "mount"   // file system of its own
	heldNet     = "net"     // network of its own, with nothing in it
	heldIPC     = "ipc"     // System V objects of its own
	heldUser    = "user"    // user number, or user namespace, of its own
	heldSeccomp = "seccomp" // filter of system calls
	heldNoNew   = "no-new-privileges"
	heldLimits  = "limits"
	heldMemory  = "memory" // over all its processes
	heldReaper  = "reaper" // in place of pid: all descendants are killed
)

// Limits of every program, beside its memory.
const (
	maxProcesses = 256
	maxOpen      = 64
	maxScratch   = 64 << 20 // bytes, all files together
)

// File is a copy of a file for the program.
type File struct {
	Path    string // within the scratch folder
	Content []byte
	Execute bool
}

// Spec is what to run.
type Spec struct {
	Args    []string // the program, by an absolute path or one in the scratch folder, and its arguments
	Files   []File
	Visible []string // folders and files of the machine that it sees, read-only, beside those of the system
	Memory  int64    // bytes over all its processes; 0 for no limit
}

// Process is a running program.
type Process struct {
	In   io.Writer // its standard input
	Out  io.Reader // its standard output
	Held []string  // the protections that hold

	process
}
