// Package notebook shows what evalkit measured in the cells of a GoNB notebook:
// Experiments, comparisons, what one question retrieved, and where chunks begin
// and end. It runs nothing and stores nothing: packages notebook/lab and
// notebook/results do. It is of no use outside a notebook, where it shows
// nothing.
//
// The tables and charts are those of package report. Start puts the chart library
// into the page, once; everything that is shown afterwards is a part of the page
// that needs no network, in Jupyter as in an export to HTML, light or dark.
//
// An Experiment is given as an *experiment.Result, or as any experiment.Source,
// such as one that package store opened; where several may stand, so may a slice
// of Results.
//
// An error ends the cell: it is written to standard error and the cell fails.
package notebook
