// Package retrieve ranks the chunks of one index for a query. It holds these
// retrievers:
//
//	bm25    textbook BM25 over bleve's analysis chain (the default lexical leg)
//	bleve   bleve's own index and scoring, under its own name
//	dense   exact inner product over the vectors of an evalkit.Embedder
//	hybrid  a lexical and a dense leg, fused by rank or by scaled score
//	oracle  the best ranking that the query's own evidence allows
//
// It is not a search server: indexes are built for one experiment, live in
// memory and are never written to disk, so no two processes can lock each
// other out. There is no approximate search: it would blur the very
// differences between chunkings that are measured.
//
// # Order
//
// Every list, that of a single leg included, is in one total order before it is
// cut to its length: score descending, then document id, then chunk_index. A
// shorter list is a prefix of a longer one, and neither the order of indexing
// nor the number of workers changes a bit of it.
//
// # Units
//
// A chunk that has Units (see evalkit.Chunk) is indexed as its passages, and
// scores as the best of them. Document frequencies and lengths are those of
// passages. All that leaves the package is per chunk.
//
// # Chunks
//
// An index keeps the slice of chunks that it was given if it is already in the
// order of document id and chunk_index, else a sorted copy. The slice must not
// be changed while the index is in use.
package retrieve
