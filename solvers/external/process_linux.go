package external

import "syscall"

// dieWithParent has the kernel kill the program when this process dies in a way
// that leaves it no time to do so.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
