package answer

import (
	"strings"
	"unicode"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Score is one value of an answer. Exactly one of Value and Reason says
// something.
type Score struct {
	Metric string
	Value  float64 // a fraction, higher is better
	Reason string  // why there is no value
}

// The scores of an answer.
const (
	MetricExactMatch   = "exact_match"  // 1 or 0: equal to a reference after normalisation
	MetricTokenF1      = "token_f1"     // harmonic mean of precision and recall of the words, as a bag
	MetricROUGEL       = "rouge_l"      // the same of the longest common subsequence
	MetricAbstention   = "abstention"   // 1 if it abstains where it should, or answers where it should
	MetricFaithfulness = "faithfulness" // share of judge passes that say: all of it is in the context
	MetricCorrectness  = "correctness"  // share of judge passes that say: it means what the reference says
)

// Scores returns exact_match, token_f1, rouge_l and abstention. The first three
// are not defined for an unanswerable query, and for one without a reference
// answer; an answer that abstains from an answerable query has 0.
func Scores(q evalkit.Query, a *Answer) []Score {
	abstention := Score{Metric: MetricAbstention}
	if a.Abstained == q.Unanswerable {
		abstention.Value = 1
	}
	reason := noReference(q)
	out := []Score{{Metric: MetricExactMatch, Reason: reason}, {Metric: MetricTokenF1, Reason: reason}, {Metric: MetricROUGEL, Reason: reason}, abstention}
	if reason == "" && !a.Abstained {
		out[0].Value, out[1].Value, out[2].Value = ExactMatch(a.Text, q.Answer), TokenF1(a.Text, q.Answer), ROUGEL(a.Text, q.Answer)
	}
	return out
}

func noReference(q evalkit.Query) string {
	switch {
	case q.Unanswerable:
		return "unanswerable: see abstention"
	case strings.TrimSpace(q.Answer) == "":
		return "no reference answer"
	}
	return ""
}

// ExactMatch returns 1 if answer equals one of the references after the
// normalisation of TokenF1, else 0.
func ExactMatch(answer string, references ...string) float64 {
	return best(references, func(r string) float64 {
		if strings.Join(squadWords(answer), " ") == strings.Join(squadWords(r), " ") {
			return 1
		}
		return 0
	})
}

// TokenF1 returns the F1 of the words of answer against those of the best
// reference, each word as often as it occurs:
//
//	P = shared/|answer|   R = shared/|reference|   F1 = 2PR/(P+R)
//
// Words are normalised as in SQuAD's evaluate-v2.0.py: lower case, without
// punctuation, without the English articles a, an and the, whatever the
// language of the text; parted at white space. In addition every character of a
// script that is written without blanks (Han, Hiragana, Katakana, Thai) is a
// word, and punctuation is that of Unicode. If one side has no words, the value
// is 1 if both have none, else 0.
func TokenF1(answer string, references ...string) float64 {
	return best(references, func(r string) float64 {
		a, b := squadWords(answer), squadWords(r)
		count := map[string]int{}
		for _, w := range b {
			count[w]++
		}
		shared := 0
		for _, w := range a {
			if count[w] > 0 {
				count[w]--
				shared++
			}
		}
		return f1(shared, len(a), len(b))
	})
}

// ROUGEL returns the F1 of the longest common subsequence of the words of
// answer and of the best reference (Lin 2004, with equal weight of precision
// and recall, without stemming). Words are longest runs of letters and digits in
// lower case, as in Google's rouge_score but for all scripts; articles stay.
func ROUGEL(answer string, references ...string) float64 {
	return best(references, func(r string) float64 {
		a, b := plainWords(answer), plainWords(r)
		return f1(lcs(a, b), len(a), len(b))
	})
}

func best(references []string, f func(string) float64) float64 {
	top := 0.0
	for _, r := range references {
		top = max(top, f(r))
	}
	return top
}

func f1(shared, a, b int) float64 {
	switch {
	case a == 0 && b == 0:
		return 1
	case shared == 0:
		return 0
	}
	return 2 * float64(shared) / float64(a+b)
}

func lcs(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diag := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diag = up
		}
	}
	return row[len(b)]
}

// squadWords returns the words of text, normalised.
func squadWords(text string) []string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.IsPunct(r) || unicode.IsSymbol(r) && r < unicode.MaxASCII:
		case blankless(r):
			b.WriteString(" " + string(r) + " ")
		default:
			b.WriteRune(r)
		}
	}
	var out []string
	for _, w := range strings.FieldsFunc(b.String(), evalkit.IsSpace) {
		if w != "a" && w != "an" && w != "the" {
			out = append(out, w)
		}
	}
	return out
}

// plainWords returns the runs of letters and digits of text in lower case.
func plainWords(text string) []string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case blankless(r):
			b.WriteString(" " + string(r) + " ")
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

// blankless reports whether r belongs to a script that is written without blanks.
func blankless(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
