package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// What NeededQuestions assumes when Check asks it.
const (
	checkDelta = 0.05 // smallest difference of means that would decide something
	checkSD    = 0.3  // of the differences per question; typical of recall per question
)

// NeededQuestions returns how many questions a paired, two-sided test at level
// 0.05 needs to find a difference delta of means with a power of 80 %, if the
// differences per question have standard deviation sd:
//
//	n = ceil(((z(0.975) + z(0.80)) · sd / delta)²),  z(0.975) = 1.95996, z(0.80) = 0.84162
//
// It is the normal approximation; delta must not be 0.
func NeededQuestions(delta, sd float64) int {
	const zLevel, zPower = 1.959964, 0.841621
	x := (zLevel + zPower) * sd / delta
	return int(math.Ceil(x * x))
}

// Check returns what is doubtful about ds as Warnings, beyond the Warnings
// that ds has from loading. In this order: gold texts that occur more than
// once in their document; gold spans of one query that overlap; documents that
// no strategy cuts into two or more chunks, so that they cannot tell
// strategies apart (only if strategies are given); and too few questions with
// gold for a decision. An error of a strategy or of ctx is returned among them.
func Check(ctx context.Context, ds *evalkit.Dataset, strategies ...evalkit.Strategy) []error {
	var out []error
	ambiguous := &Warning{Text: "gold passages occur more than once in their document, so another place may answer as well"}
	overlapping := &Warning{Text: "queries have gold spans that overlap; each byte counts once"}
	docs := ds.DocMap()
	scored := 0
	for _, q := range ds.Queries {
		if err := ctx.Err(); err != nil {
			return append(out, err)
		}
		checkAmbiguous(docs, q, ambiguous)
		if overlaps(q) {
			overlapping.note("%q", q.ID)
		}
		if len(q.Gold()) > 0 {
			scored++
		}
	}
	out = append(out, found(ambiguous, overlapping)...)
	out = append(out, checkUncut(ctx, ds, strategies)...)
	if need := NeededQuestions(checkDelta, checkSD); scored < need {
		out = append(out, &Warning{Text: fmt.Sprintf("%d questions with gold are few: to find a difference of %.2f with a power of 80 %% takes %d (paired, level 0.05, standard deviation of the differences %.1f)",
			scored, checkDelta, need, checkSD)})
	}
	return out
}

func checkAmbiguous(docs map[evalkit.DocID]evalkit.Document, q evalkit.Query, w *Warning) {
	for _, r := range q.Qrels {
		if r.Grade <= 0 {
			continue
		}
		text := docs[r.Doc].Text
		passage := text[r.Span.Start:r.Span.End]
		if strings.Contains(text[:r.Span.End-1], passage) || strings.Contains(text[r.Span.Start+1:], passage) {
			w.note("query %q %v of %q", q.ID, r.Span, r.Doc)
		}
	}
}

func overlaps(q evalkit.Query) bool {
	for i, r := range q.Qrels {
		for _, s := range q.Qrels[:i] {
			if r.Grade > 0 && s.Grade > 0 && r.Doc == s.Doc && r.Span.Overlaps(s.Span) {
				return true
			}
		}
	}
	return false
}

// checkUncut counts the documents that stay in one piece under every strategy.
func checkUncut(ctx context.Context, ds *evalkit.Dataset, strategies []evalkit.Strategy) []error {
	if len(strategies) == 0 {
		return nil
	}
	w := &Warning{Text: fmt.Sprintf("of %d documents fit into one chunk of every strategy and cannot tell them apart", len(ds.Docs))}
	for _, d := range ds.Docs {
		cut, err := anyCuts(ctx, d, strategies)
		if err != nil {
			return []error{err}
		}
		if !cut {
			w.note("%q", d.ID)
		}
	}
	return found(w)
}

func anyCuts(ctx context.Context, d evalkit.Document, strategies []evalkit.Strategy) (bool, error) {
	for _, s := range strategies {
		chunks, err := s.Split(ctx, d)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return false, fmt.Errorf("split document %q by %v: %w", d.ID, s, err)
		}
		if len(chunks) > 1 {
			return true, nil
		}
	}
	return false, nil
}
