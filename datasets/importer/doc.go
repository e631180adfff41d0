// Package importer holds what the importers of public traces share. An importer
// is a function
//
//	Import(in, out string, o Options) (*importer.Report, error)
//
// that reads a trace in its original format and writes it in the unified
// schema. The way of the data:
//
//	Open/OpenCSV ──> rows with absolute times ──Keep──> kept rows ──Write──> Parquet
//
// [Open] finds the file within gzip, tar and zip; [CSV] reads records without
// allocating; a [Clock] reads dates; a [Rule] is a cleaning rule with a name;
// [Keep] applies the rules and counts in a [Report]; [Write] lets submission
// times count from the earliest one and writes the file; a [Sorter] sorts and
// joins tables that do not fit into memory.
//
// Everything streams: memory does not depend on the size of the input. What
// has to wait, because the earliest submission is known only at the end or
// because tables are joined, waits in temporary files beside the output, which
// are removed at the end whatever happens.
//
// Input is never trusted: a damaged file ends in one error that names the file,
// the line and the column, and leaves no output.
package importer
