package gate

import (
	"fmt"
	"math"

	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// judging is what a check is judged by.
type judging struct {
	policy   Policy
	relative bool // the margin is a share of the baseline's mean
	tests    int  // of the family
}

// judge sets the state of a check from a row of the Compare; strict is the same
// row with intervals that hold for the family.
func (k *Check) judge(row, strict compare.Row, j judging) {
	base, cell := row.Cells[0], row.Cells[1]
	if base.Mean == nil || cell.Mean == nil {
		k.State, k.Needed, k.Text = Inconclusive, minQuestions, "no question has a value in both"
		return
	}
	k.Baseline, k.Value, k.Delta = base.Mean, cell.Mean, cell.Delta
	if j.relative {
		k.Margin *= math.Abs(*base.Mean)
	}
	d, interval := k.Delta, k.Delta.Interval()
	if d.N < minQuestions || interval == nil {
		k.State, k.Needed = Inconclusive, minQuestions
		k.Text = fmt.Sprintf("questions: %d; too few to tell, at least %d are needed", d.N, minQuestions)
		return
	}
	gain, lo, hi := benefit(d.Mean, *interval, row.Higher)
	s := spread{sd: d.SD * wider(d), n: d.N, tests: j.tests, policy: j.policy, margin: k.Margin}
	if s.sd > 0 {
		loss := s.detectable()
		k.Detectable = &loss
	}
	worse := isWorse(d, strict.Cells[1].Delta, row.Higher, j.policy.Alpha)
	switch {
	case lo >= -k.Margin && !(worse && j.policy.Significant == SignificantFails):
		k.State, k.Text = Pass, "shown not to be worse by more than the margin"
		if worse {
			k.Text = "significantly worse, but shown to be within the margin"
		}
	case worse && hi < -k.Margin:
		k.State, k.Text = Fail, "worse by more than the margin"
	case worse && j.policy.Significant != SignificantPasses:
		k.State, k.Text = Fail, fmt.Sprintf("significantly worse: p %s after correction", pvalue(*d.Holm))
	default:
		k.State, k.Needed = Inconclusive, s.needed(gain)
		k.Text = fmt.Sprintf("not enough evidence: %d questions find a loss of %.2g or more, about %d would be needed", d.N, *k.Detectable, k.Needed)
	}
}

// benefit turns a difference so that more is better.
func benefit(mean float64, i compare.Interval, higher bool) (gain, lo, hi float64) {
	if higher {
		return mean, i.Lo, i.Hi
	}
	return -mean, -i.Hi, -i.Lo
}

// isWorse reports a loss that holds for the whole family: by p, which Holm
// corrected, and, where questions share documents, by the interval that draws
// documents whole.
func isWorse(d, strict *compare.Delta, higher bool, alpha float64) bool {
	if d.Holm == nil || *d.Holm > alpha {
		return false
	}
	i := compare.Interval{Lo: d.Mean, Hi: d.Mean}
	if strict.Cluster != nil {
		i = *strict.Cluster
	}
	_, _, hi := benefit(d.Mean, i, higher)
	return hi < 0
}

// wider is the factor by which questions that share documents widen the interval.
func wider(d *compare.Delta) float64 {
	if d.Naive == nil || d.Naive.Hi == d.Naive.Lo {
		return 1
	}
	i := d.Interval()
	return (i.Hi - i.Lo) / (d.Naive.Hi - d.Naive.Lo)
}

// spread is what a check's power depends on.
type spread struct {
	sd     float64 // of the differences, as wide as documents make it
	n      int
	tests  int
	policy Policy
	margin float64
}

// alone is the level that a single one of all tests has to reach at worst.
func (s spread) alone() float64 { return s.policy.Alpha / float64(s.tests) }

// detectable returns the smallest true loss that fails with 80 % power.
func (s spread) detectable() float64 {
	loss := compare.Detectable(s.sd, s.n, s.alone(), compare.Power)
	switch s.policy.Significant {
	case SignificantFails:
		return loss
	case SignificantPasses: // the whole interval has to lie below the margin
		return max(loss, s.margin+compare.Detectable(s.sd, s.n, s.policy.Alpha, compare.Power))
	}
	// Not too small to be shown to be within the margin.
	return max(loss, s.margin-compare.Detectable(s.sd, s.n, s.policy.Alpha, 1-compare.Power))
}

// needed returns the number of questions with which a true gain of this size
// passes or fails with 80 % power.
func (s spread) needed(gain float64) int {
	pass := compare.Needed(s.sd, gain+s.margin, s.policy.Alpha, compare.Power)
	fail := compare.Needed(s.sd, gain, s.alone(), compare.Power)
	if s.policy.Significant == SignificantPasses {
		fail = max(fail, pass)
	}
	n := 0
	if gain+s.margin > 0 {
		n = pass
	}
	if gain < 0 && (n == 0 || fail < n && fail > 0) {
		n = fail
	}
	return max(s.n+1, n)
}
