// Package synth has a model write questions over documents, each with quoted
// evidence, for those who have no questions yet. It is a start for a data set
// and not the end of it: a person should read what it made, and the review file
// is made for that. It neither calls a server nor knows one; a Chat does.
//
// A question is kept only if every quote occurs in the text that the model saw,
// exactly or but for white space, and in one place of the document. Questions
// that are near others by their vectors, or far from their own quotes, are
// rejected. What was rejected stays in the review file with the reason, and a
// person may overrule it.
//
// Equal documents, options, model answers and vectors give equal questions. With
// a Chat whose answers are kept, a run that was stopped goes on where it was when
// it is started again.
package synth
