// Package fetch downloads the public logs that the importers read: it knows
// where they are, how large they are and which checksum they have.
//
// A download goes into a file beside its place (name.part) and is renamed once
// the checksum is right, so that a file under its own name is always whole. A
// download that was cut off is resumed with an HTTP range request (RFC 9110,
// section 14), also by a later run.
//
// The logs have licences of their own; [Item] names them.
package fetch
