package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/expand"
)

// Extractive answers with the sentences of the context that match the question
// best. It needs no network and is deterministic; it is a lower mark for
// models, and lets the rest be tried without one.
//
// The words of the question weigh by how rare they are among the N sentences
// of the context, and a sentence s scores
//
//	idf(w)   = ln(1 + N/df(w))
//	score(s) = Σ idf(w) over the words of the question in s, / √(different words of s)
//
// Where the best sentence has less than MinMatch of the question's weight, the
// answer abstains.
type Extractive struct {
	Sentences int     // of the answer, 1 or more
	MinMatch  float64 // from 0 to 1
}

func parseExtractive(set *evalkit.Settings) (Spec, error) {
	s := Extractive{set.Int("sentences", 1), set.Float("min_match", 0.25)}
	switch err := set.Err(); {
	case err != nil:
		return nil, err
	case s.Sentences < 1:
		return nil, fmt.Errorf("sentences: %d is below 1", s.Sentences)
	case s.MinMatch < 0 || s.MinMatch > 1:
		return nil, fmt.Errorf("min_match: %v is not from 0 to 1", s.MinMatch)
	}
	return s, nil
}

// String returns the form that Parse reads.
func (s Extractive) String() string {
	return fmt.Sprintf("extractive(sentences=%d,min_match=%v)", s.Sentences, s.MinMatch)
}

// New returns s itself.
func (s Extractive) New(Env) (Answerer, error) { return s, nil }

// Prompt returns the prompt that a model would get.
func (s Extractive) Prompt(question string, flat []evalkit.RetrievedChunk, texts *evalkit.Texts) Prompt {
	return NewPrompt(DefaultTemplate(), defaultAbstain, question, flat, texts)
}

// Answer picks sentences, in their order.
func (s Extractive) Answer(ctx context.Context, p Prompt) (*Answer, error) {
	sentences := contextSentences(p.Context)
	matches, total := matchAll(p.Question, sentences)
	a := &Answer{PromptHash: p.SHA256()}
	if len(matches) == 0 || matches[0].weight == 0 || matches[0].weight < s.MinMatch*total {
		a.Text, a.Abstained = defaultAbstain, true
		return a, ctx.Err()
	}
	var picked []int
	for _, m := range matches[:min(s.Sentences, len(matches))] {
		if m.weight > 0 {
			picked = append(picked, m.at)
		}
	}
	slices.Sort(picked)
	var out []string
	for _, i := range picked {
		out = append(out, sentences[i])
	}
	a.Text = strings.Join(out, " ")
	return a, ctx.Err()
}

// match is how well a sentence matches a question.
type match struct {
	at     int // of the sentence
	score  float64
	weight float64 // of the question's words in it
}

// matchAll returns the sentences, the best first, and the weight of all words of
// the question.
func matchAll(question string, sentences []string) (matches []match, total float64) {
	words := make([]map[string]bool, len(sentences))
	df := map[string]int{}
	for i, t := range sentences {
		words[i] = wordSet(t)
		for w := range words[i] {
			df[w]++
		}
	}
	asked := slices.Compact(slices.Sorted(slices.Values(plainWords(question)))) // the order of a sum is part of its value
	idf := make([]float64, len(asked))
	for j, w := range asked {
		idf[j] = math.Log(1 + float64(len(sentences))/float64(max(1, df[w])))
		total += idf[j]
	}
	for i := range sentences {
		m := match{at: i}
		for j, w := range asked {
			if words[i][w] {
				m.weight += idf[j]
			}
		}
		m.score = m.weight / math.Sqrt(float64(max(1, len(words[i]))))
		matches = append(matches, m)
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	return matches, total
}

// contextSentences returns the sentences of a merged context, trimmed, none of
// them across a mark between pieces.
func contextSentences(text string) []string {
	var out []string
	for doc := range strings.SplitSeq(text, expand.DocumentMark) {
		for piece := range strings.SplitSeq(doc, expand.GapMark) {
			for _, s := range chunk.Sentences(piece) {
				if t := strings.TrimFunc(piece[s.Start:s.End], evalkit.IsSpace); t != "" {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range plainWords(text) {
		set[w] = true
	}
	return set
}
