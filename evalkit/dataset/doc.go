// Package dataset loads, checks, writes, imports and generates data sets:
// documents and questions with evidence spans. It turns every offset into
// bytes of the stored text once and verifies it there; nothing after it
// searches for evidence. It is not for reading PDF, HTML or archives, and it
// never uses the network.
//
// # Folder
//
//	dataset.yaml       name, language (BCP 47), licence, analyzer, description, offsets (byte or rune)
//	documents/         **.md and **.txt; a document's id is its slash path below documents/
//	documents.jsonl    instead of documents/: {"id","text"}
//	queries.jsonl      {"id","question","gold":[…],"answer","unanswerable":true,"tags":[…]}
//	SHA256SUMS         optional; if present every file that is read must be listed and match
//
// Each entry of gold is one of
//
//	{"doc","start","end","text","grade"}        text and grade are optional
//	{"doc","quote","occurrence","grade"}        occurrence and grade are optional
//
// Offsets are half-open and count in the stored text, in bytes unless
// dataset.yaml says "offsets: rune" (Unicode code points). The stored text is
// the document without a leading byte-order mark, and otherwise unchanged: line
// ends and Unicode form are kept. A quote must occur exactly once in the stored
// text, or occurrence says which one is meant, from 1; occurrences may overlap.
// A grade of 0 or less says that the span was judged and is not relevant.
//
// # What is refused, and what is a warning
//
// Unknown keys, keys given twice, invalid UTF-8, ids that are empty or blank, empty
// questions, other content under an id that was seen before, gold that names no
// document or does not lie in it, and gold of a query that is marked
// unanswerable are errors with file and line. Up to MaxErrors are reported
// together. Exact repeats are dropped, and questions without gold and blank
// documents are kept; both are counted in the data set's Warnings. Files outside the folder
// are never read, even through symbolic links.
//
// Ids are data: they never become file names.
package dataset
