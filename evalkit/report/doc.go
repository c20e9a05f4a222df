// Package report makes the pages: the Experiments list, an Experiment's detail,
// Compare, the managerial and the technical report, and a query's result. It
// computes no statistic (package compare does) and reads no file: Experiments
// come in through experiment.Source.
//
// Every page is made by one set of templates, in two ways. A Site gives the
// pages one by one, with links between them: the command writes them into a
// folder, the server sends them. Standalone pages hold their style, scripts and
// data in one file that opens without a network.
//
// The expansion tree is drawn from the stored tree, the flat list from the
// stored flat list; neither is made from the other.
package report
