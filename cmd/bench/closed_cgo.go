//go:build cgo && unix

package main

// #include <errno.h>
// #include <fcntl.h>
//
// static int closed;
//
// __attribute__((constructor)) static void look(void) {
// 	closed = fcntl(1, F_GETFL) == -1 && errno == EBADF;
// }
//
// static int standardOutputClosed(void) { return closed; }
import "C"

// standardOutputClosed says whether the program was started without a standard output
// (>&-). It has to be asked before Go starts, which opens /dev/null in its place.
func standardOutputClosed() bool { return C.standardOutputClosed() != 0 }
