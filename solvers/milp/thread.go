package milp

import (
	"syscall"
	"time"
)

// ThreadTime returns the processor time that the calling thread has used, or 0 where
// that is not known. A difference means something on a locked thread alone:
// runtime.LockOSThread.
func ThreadTime() time.Duration {
	const rusageThread = 1 // RUSAGE_THREAD of Linux
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
