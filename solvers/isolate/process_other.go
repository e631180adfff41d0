//go:build !linux

package isolate

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }

func resident(int) int64 { return 0 }

func peak() int64 { return 0 }
