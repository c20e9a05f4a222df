// Package answer lets a model, or a simple rule, answer the questions from what
// was retrieved, and scores the answers. It shows what a change of chunking
// does to the end of the pipeline; it is not for measuring retrieval, which
// package metric does without a model.
//
// The context of the prompt is exactly the flat list of retrieved chunks,
// merged, as package expand does it: what is scored is what the model saw.
//
// Scores against a reference answer are exact match, token F1 and ROUGE-L. A
// Judge asks a second model whether an answer is faithful to the context and
// correct; it asks twice, and Kappa says how far the two passes agree. A
// question marked unanswerable is scored by whether the answer abstains.
package answer
