// Package gate says whether a change made retrieval worse: it holds a candidate
// Experiment against a baseline, metric by metric, and answers pass, fail or
// inconclusive. It is for automatic checks; a person looks at a Compare.
//
// A metric passes when the whole interval of its paired difference lies above
// minus its margin: it is shown not to be worse by more than that. It fails when
// the whole interval lies below, or when it is significantly worse, by Holm over
// the family of the policy. Else the questions are too few to tell, which is
// neither a pass nor a fail; the verdict says how many would be needed.
package gate
