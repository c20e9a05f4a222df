// Package store keeps Experiments on disk, as Parquet tables beside a record
// in JSON. It is the only importer of Arrow. It computes nothing.
//
// One folder per Experiment, named by its id, below a results folder:
//
//	experiment.json    the record: spec, values in force, fingerprints, counts, warnings, files
//	documents.parquet  the documents
//	queries.parquet    the questions with their gold
//	chunks.parquet     every chunk of every strategy
//	tree.parquet       the expansion tree, a row per hit, neighbors as nested lists
//	retrieved.parquet  the flat list as the LLM saw it, a row per chunk
//	candidates.parquet what was ranked after top_k: for analysis, never sent to the LLM
//	scores.parquet     a value per strategy, query, metric and view
//	summary.parquet    a row per strategy, metric and view
//	answers.parquet    a row per strategy and query, where an answerer was named
//
// The columns are the fields of the Row types; their meaning and unit are in
// each file's key-value metadata, under "column.NAME". Offsets are bytes of
// the document's stored text. Texts of retrieved chunks are in chunks.parquet,
// by strategy, doc and chunk_index.
//
// A folder is written under a temporary name and renamed when every file is
// closed and synced, so a folder under its final name is complete. Nothing is
// overwritten: the id of an equal Experiment gets a number. Names that begin
// with a dot are never read.
//
// Columns and keys are only ever added. Reading an older file leaves what it
// lacks null; what a newer file has in addition is left out with a notice.
package store
