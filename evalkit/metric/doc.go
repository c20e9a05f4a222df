// Package metric scores what a query retrieved. Every value belongs to a
// family and is computed per query; means are taken elsewhere.
//
//	span    share of the gold text in the context, strict; both views
//	evid    gold spans found by rank, comparable across chunkings; hits
//	rank    chunks as documents, as trec_eval scores them; hits
//	chroma  as brandonstarxel/chunking_evaluation d451fc4 scores them
//	attr    what of the gold comes from hits and what from neighbors; expanded
//	cost    what the context costs; both views
//
// Lengths are code points unless a metric is asked for (unit=token). G is the
// union of a query's gold spans, R that of the retrieved spans, per document.
// Half-open spans that only touch do not overlap. A metric that has no value
// for a query, or none in a view, returns evalkit.ErrUndefined with the reason.
package metric
