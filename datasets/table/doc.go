// Package table reads flat tables of text and number columns, from Parquet or
// CSV, and writes Parquet. It knows files, not traces: package datasets and the
// importers give the columns their meaning.
//
// Everything streams: memory depends on the number of columns, not of rows.
// Input is never trusted. A damaged file ends in one error that names the file,
// the place and the reason; it never ends in a panic, and never in fewer rows
// than the file announces.
package table
