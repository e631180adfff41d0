//go:build linux && (amd64 || arm64)

package sandbox

import (
	"runtime"
	"syscall"
	"unsafe"
)

// machine has the numbers of system calls that package syscall lacks.
type machine struct {
	audit       uint32 // what the kernel calls the architecture
	memfdCreate uint32
	userfaultfd uint32
	bpf         uint32
	setns       uint32
	openHandle  uint32
	readVM      uint32
	writeVM     uint32
}

var machines = map[string]machine{
	"amd64": {0xC000003E, 319, 323, 321, 308, 304, 310, 311},
	"arm64": {0xC00000B7, 279, 282, 280, 268, 265, 270, 271},
}

// Numbers that all architectures share.
const (
	sysIOUringSetup = 425
	sysIOUringEnter = 426
	sysIOUringReg   = 427
	sysOpenTree     = 428
	sysMoveMount    = 429
	sysFsopen       = 430
	sysFsmount      = 432
	sysClone3       = 435
)

// Instructions of the filter machine, for which see seccomp(2) and bpf(4).
const (
	loadWord   = 0x20 // BPF_LD | BPF_W | BPF_ABS
	ifEqual    = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	ifAtLeast  = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	ifAnyBit   = 0x45 // BPF_JMP | BPF_JSET | BPF_K
	end        = 0x06 // BPF_RET | BPF_K
	allow      = 0x7fff0000
	kill       = 0x80000000
	fail       = 0x00050000 // with the error in the low half
	offsetNr   = 0
	offsetArch = 4
	offsetArg0 = 16
	newSpaces  = 0x7e020000 // CLONE_NEW*
	x32        = 0x40000000
)

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// filter keeps this thread, and what it starts, from sockets, tracing, mounts, new
// namespaces, keys, and memory that no limit counts. What is refused fails with EPERM,
// so that interpreters can go on without.
func filter() error {
	m := machines[runtime.GOARCH]
	refused := []uint32{syscall.SYS_SOCKET, syscall.SYS_PTRACE, m.readVM, m.writeVM, syscall.SYS_MOUNT, syscall.SYS_UMOUNT2, syscall.SYS_PIVOT_ROOT,
		syscall.SYS_CHROOT, syscall.SYS_UNSHARE, m.setns, syscall.SYS_KEYCTL, syscall.SYS_ADD_KEY, syscall.SYS_REQUEST_KEY, m.bpf, syscall.SYS_PERF_EVENT_OPEN,
		m.userfaultfd, m.memfdCreate, m.openHandle, syscall.SYS_SHMGET, syscall.SYS_MSGGET, syscall.SYS_SEMGET, syscall.SYS_INIT_MODULE, syscall.SYS_KEXEC_LOAD,
		sysIOUringSetup, sysIOUringEnter, sysIOUringReg, sysOpenTree, sysMoveMount, sysFsopen, sysFsmount, sysMountSetattr}
	program := []instruction{
		{loadWord, 0, 0, offsetArch},
		{ifEqual, 1, 0, m.audit},
		{end, 0, 0, kill},
		{loadWord, 0, 0, offsetNr},
		{ifAtLeast, 0, 1, x32},
		{end, 0, 0, fail | uint32(syscall.EPERM)},
		{ifEqual, 0, 1, sysClone3}, // its flags are in memory, which no filter reads: libraries take clone instead
		{end, 0, 0, fail | uint32(syscall.ENOSYS)},
	}
	for _, nr := range refused {
		program = append(program, instruction{ifEqual, 0, 1, nr}, instruction{end, 0, 0, fail | uint32(syscall.EPERM)})
	}
	program = append(program,
		instruction{ifEqual, 0, 3, syscall.SYS_CLONE},
		instruction{loadWord, 0, 0, offsetArg0},
		instruction{ifAnyBit, 0, 1, newSpaces},
		instruction{end, 0, 0, fail | uint32(syscall.EPERM)},
		instruction{end, 0, 0, allow})
	list := struct {
		length uint16
		first  *instruction
	}{uint16(len(program)), &program[0]}
	const setSeccomp, modeFilter = 22, 2
	if _, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, setSeccomp, modeFilter, uintptr(unsafe.Pointer(&list))); err != 0 {
		return err
	}
	return nil
}
