package main

import (
	"fmt"
	"math"
	"os"
	"syscall"
	"time"
)

// addressSpace returns the limit on the address space in bytes; 0 if there is none.
func addressSpace() int64 {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &l); err != nil || l.Cur > math.MaxInt64/2 {
		return 0
	}
	return int64(l.Cur)
}

// watchSpace ends the program in one line where the address space is limited and nearly
// used up: Go itself would end it in stacks. What is finished is in the journal.
func watchSpace() {
	limit := addressSpace()
	if limit == 0 {
		return
	}
	const (
		spare  = 256 << 20 // Go takes 64 MB at a time, and a thread as much
		period = 10 * time.Millisecond
	)
	go func() {
		for range time.Tick(period) {
			text, err := os.ReadFile("/proc/self/statm")
			var pages int64
			if _, scanned := fmt.Sscan(string(text), &pages); err != nil || scanned != nil {
				return
			}
			if used := pages * int64(os.Getpagesize()); used > limit-spare {
				fmt.Fprintf(os.Stderr, "bench: %d of %d MB of address space are taken (ulimit -v): out of memory; raise the limit, or ask for less\n", used>>20, limit>>20)
				os.Exit(exitInternal)
			}
		}
	}()
}
