//go:build linux || darwin

package report

import (
	"os"
	"syscall"
	"unsafe"
)

// Terminal returns the options for printing a table to f: the width of its
// terminal and whether to use colours. Elsewhere than on a terminal there is
// no limit in width and no colour; the environment variables NO_COLOR and
// TERM=dumb forbid colours too.
func Terminal(f *os.File) Options {
	var size struct{ rows, columns, x, y uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return Options{}
	}
	return Options{Width: int(size.columns), Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}
