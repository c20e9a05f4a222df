package compare

import "github.com/chunkeval/chunkeval/evalkit"

// A Boundary says what the cuts of a strategy do to the gold.
type Boundary struct {
	Spans int `json:"spans"` // gold spans
	Cut   int `json:"cut"`   // of them, those that no single chunk holds whole
	// Needed counts the spans by the window that would make them whole from the
	// chunk that holds most of them: Needed[n] need n chunks on the larger side.
	// Spans with text outside all chunks, which is white space, count by the rest.
	Needed []int `json:"needed_window"`
}

// Rate returns the share of gold spans that are cut; 0 if there are none.
func (b Boundary) Rate() float64 {
	if b.Spans == 0 {
		return 0
	}
	return float64(b.Cut) / float64(b.Spans)
}

// Boundary looks at every gold span once for each question that names it.
func (l *Look) Boundary() Boundary {
	var b Boundary
	for i := range l.queries {
		for _, q := range l.queries[i].judged.Query.Qrels {
			if q.Grade <= 0 {
				continue
			}
			w, ok := windowFor(l.chunks[q.Doc], q.Span)
			if !ok {
				continue // no chunk holds any of it
			}
			b.Spans++
			need := max(w.Prev, w.Next)
			if need > 0 {
				b.Cut++
			}
			for len(b.Needed) <= need {
				b.Needed = append(b.Needed, 0)
			}
			b.Needed[need]++
		}
	}
	return b
}

// windowFor returns the smallest window by which the chunk that holds most of
// span, the first of equals, covers all of it that any chunk holds.
func windowFor(chunks []evalkit.Chunk, span evalkit.Span) (evalkit.Window, bool) {
	at, most := -1, 0
	for i, c := range chunks {
		if n := c.Span.Intersect(span).Len(); n > most {
			at, most = i, n
		}
	}
	if at < 0 {
		return evalkit.Window{}, false
	}
	var all []evalkit.Span
	for _, c := range chunks {
		all = append(all, c.Span.Intersect(span))
	}
	missing := evalkit.Subtract(evalkit.Union(all), []evalkit.Span{chunks[at].Span})
	var w evalkit.Window
	for prev := at - 1; prev >= 0 && len(missing) > 0 && missing[0].Start < chunks[at].Span.Start; prev-- {
		missing = evalkit.Subtract(missing, []evalkit.Span{chunks[prev].Span})
		w.Prev++
	}
	for next := at + 1; next < len(chunks) && len(missing) > 0; next++ {
		missing = evalkit.Subtract(missing, []evalkit.Span{chunks[next].Span})
		w.Next++
	}
	return w, true
}
