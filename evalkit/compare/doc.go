// Package compare puts Experiments side by side, paired by query: how large a
// difference is, how sure it is, what it costs in tokens and where it comes
// from. It draws nothing and prints nothing; packages chart and report do.
//
// It reads finished Experiments through experiment.Source and computes
// everything from what they stored.
package compare
