// Package expand does Neighbor Expansion: after top-k, every hit also brings
// its previous and next chunks of the same document. It works on hits and
// chunks alone; it neither retrieves nor cuts, and whether a strategy expands
// at all is its caller's business (see evalkit.Expands).
//
// It makes both shapes of a response in one pass over the hits: the expansion
// tree, and the flat list that the LLM sees.
package expand
