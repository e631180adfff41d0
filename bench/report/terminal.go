//go:build linux || darwin

package report

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// Terminal returns the options for printing a table to f: the width of its
// terminal and whether to use colours. Elsewhere than on a terminal the width is
// that of the environment variable COLUMNS, without which there is no limit, and
// there is no colour; NO_COLOR and TERM=dumb forbid colours too.
func Terminal(f *os.File) Options {
	var size struct{ rows, columns, x, y uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
		if err != nil || columns < 1 {
			columns = 0
		}
		return Options{Width: columns}
	}
	return Options{Width: int(size.columns), Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}
