//go:build !linux

package external

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
