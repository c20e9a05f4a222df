// Package chunk holds the strategies that cut documents into chunks, one a
// file. It neither indexes nor retrieves, and it does not search for a chunk's
// text afterwards: every span comes from the cut itself.
//
// # Rules of all strategies
//
// One rule of trimming holds: white space at both edges of a chunk is left out
// (see evalkit.IsSpace), the span follows, and what is blank is no chunk. Only
// fixed_size can be told not to, with trim=false. A chunk that would lie
// within the one before is dropped. No cut falls between CR and LF.
//
// Sizes and overlaps are in tokens of the Experiment's tokenizer unless a
// setting says otherwise; unit=rune counts code points. A piece that is larger
// than the size is cut further, at last between tokens, never inside a
// character. A chunk whose text still counts more than the size is marked
// Oversize: joined pieces may count differently than one by one.
package chunk
