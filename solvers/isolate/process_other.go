//go:build !linux

package isolate

import "syscall"

// DieWithParent is of Linux alone.
func DieWithParent() *syscall.SysProcAttr { return nil }

// Resident returns 0: not known.
func Resident(int) int64 { return 0 }

// PeakResident returns 0: not known.
func PeakResident() int64 { return 0 }

// ForgetPeak does nothing.
func ForgetPeak() {}
