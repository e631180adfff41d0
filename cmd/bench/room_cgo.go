//go:build cgo && unix

package main

// #include <stdio.h>
// #include <sys/resource.h>
// #include <unistd.h>
//
// // What the Go runtime and the solvers need to begin with. Most of the address space is
// // reserved and never used.
// enum { least_space_mb = 3072, least_files = 64 };
//
// // Below that the Go runtime ends in stacks of its own, before any of ours runs.
// __attribute__((constructor)) static void room(void) {
// 	struct rlimit l;
// 	if (getrlimit(RLIMIT_AS, &l) == 0 && l.rlim_cur != RLIM_INFINITY && l.rlim_cur < (rlim_t)least_space_mb << 20) {
// 		fprintf(stderr, "bench: the address space is limited to %llu MB (ulimit -v), and %d MB are needed to start: raise it\n", (unsigned long long)(l.rlim_cur >> 20), least_space_mb);
// 		_exit(1);
// 	}
// 	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < least_files) {
// 		fprintf(stderr, "bench: %llu files may be open at a time (ulimit -n), and %d are needed: raise it\n", (unsigned long long)l.rlim_cur, least_files);
// 		_exit(1);
// 	}
// }
import "C"
