// Package external lets a program in any language be an online policy: it speaks the
// protocol yardstick-policy/1 of docs/protocol-policy.md with it, over two streams,
// and answers the simulator with what the program decides.
//
// What crosses is what [sim.View] shows. Jobs are numbered anew in order of release, and
// users and groups have pseudonyms, so that nothing but the data themselves tells which
// trace they are of. The program's answers are read strictly and vetted by the
// simulator; a program that breaks the protocol ends its run with an error of one line.
//
// The package starts no process and reads no clock.
package external

// Protocol is the name and version of the protocol.
const Protocol = "yardstick-policy/1"
