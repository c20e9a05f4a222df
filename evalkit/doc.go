// Package evalkit measures how to cut documents into chunks and how to
// retrieve them. It holds the nouns of the field and the small interfaces
// between the stages; the stages themselves are in its subpackages. It does
// not run anything: package experiment does.
//
// Documents and questions with evidence spans go in; for every chunking
// strategy and retrieval setting, numbers come out. The data goes one way:
//
//	dataset -> chunk -> embed -> index -> retrieve (top-k hits) -> expand (tree, flat list)
//	        -> metric (hit_only, expanded) -> experiment -> store -> report
//
// # Rules of the whole module
//
// Offsets are bytes of a document's stored text, on rune boundaries. A chunk's
// text is the document's text over its span. Nothing is searched for afterwards.
//
// A component's identity is a string that its package's Parse reads back; the
// grammar is that of Expr. Every ranking has a total order: score descending,
// then document id, then chunk_index. A value that does not exist is
// ErrUndefined with a reason; it is never 0 and never NaN. Arguments are not
// modified.
//
// # Neighbor Expansion
//
// After top-k, every hit also brings its neighbor_prev previous and
// neighbor_next next chunks of the same document. It applies to fixed_size
// only, at query time only, and adds to the hits: the context may exceed
// top_k. The flat list is what the LLM saw; the expansion tree says which hit
// brought what.
package evalkit
