// Package experiment runs the grid: every strategy × query × setting of one
// data set. It sees the stages through the interfaces of package evalkit and
// builds none of them; package wire does. It writes no result files; package
// store does.
//
// A Setup holds what a group of Experiments shares; each Setting is one
// Experiment of the group. For every strategy the documents are cut once, and
// every query is searched once, at the largest top_k; all smaller top_k and all
// windows are cut from those hits. Queries that were searched are kept in a
// Journal, so a run that was killed goes on where it stopped.
//
// Results are the same bytes for any number of workers.
package experiment
