// Package record stores what a run found: Arrow IPC files, one per table, and a
// manifest that names and hashes them. It is the only package that knows
// Arrow, and it knows nothing of scheduling: callers hand it rows whose ratios
// they computed from exact values.
//
// Every table is defined once, in tables.go. The Arrow schema, the writer, the
// reader, the column dictionary in docs/columns.md and the result digest are
// all derived from that definition.
//
// Conventions: plain UTF-8 strings, no dictionaries, no compression; times are
// float64 seconds in columns that end in _s; missing is null, never NaN, an
// infinity or 1e30, which the writer refuses; key columns are never null.
// Columns are only ever appended, never renamed or retyped.
//
// A float64 is the nearest one to the exact value. Rounding to nearest is
// monotone: whatever is ordered exactly is ordered (weakly) in the files too,
// and a ratio of at least 1 is stored as at least 1.
package record
