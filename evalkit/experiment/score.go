package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// score makes the Result of one setting from the hits that were found.
func (g *group) score(ctx context.Context, x Setting) (*Result, error) {
	defer g.opt.Profile.track("score")()
	ds := g.setup.Dataset
	r := &Result{Dataset: ds, Metrics: g.setup.Metrics}
	for _, st := range g.searched {
		sr := StrategyResult{Strategy: st.strategy.String(), Chunks: st.chunks, Queries: make([]QueryResult, len(st.units))}
		if evalkit.Expands(st.strategy) {
			sr.Window = x.Window
		}
		err := parallel(ctx, g.opt.Workers, len(st.units), func(i int) error {
			sr.Queries[i] = g.scoreUnit(&st.units[i], x, sr.Window)
			return g.answer(ctx, &st.units[i], &sr.Queries[i])
		})
		if err != nil {
			return nil, g.interrupted(ctx)
		}
		sr.Summary = summarize(g.setup.Metrics, ds.Queries, sr.Queries)
		r.Strategies = append(r.Strategies, sr)
		e := effective(st, x.Window, sr.Window)
		e.Unanswerable = unanswerable(ds.Queries, sr.Queries)
		e.Answers = g.summarizeAnswers(sr.Queries)
		r.Record.Effective = append(r.Record.Effective, e)
	}
	g.record(r)
	return r, nil
}

func (g *group) scoreUnit(u *unit, x Setting, w evalkit.Window) QueryResult {
	q := QueryResult{Query: u.judged.Query.ID}
	if u.err != nil {
		q.Failed = u.err.Error()
		for _, m := range g.setup.Metrics {
			q.Scores = append(q.Scores, Score{m.String(), evalkit.HitOnly, 0, "failed"}, Score{m.String(), evalkit.Expanded, 0, "failed"})
		}
		return q
	}
	served := min(x.TopK, len(u.hits))
	q.Tree, q.Flat = g.setup.Expander.Expand(u.hits[:served], u.judged.Chunks, w)
	q.Below = u.hits[served:max(served, min(x.Candidates, len(u.hits)))]
	hits := hitsOf(q.Flat)
	for _, m := range g.setup.Metrics {
		for _, v := range []evalkit.View{evalkit.HitOnly, evalkit.Expanded} {
			got := q.Flat
			if v == evalkit.HitOnly {
				got = hits
			}
			q.Scores = append(q.Scores, scoreOne(m, &u.judged, v, got))
		}
	}
	return q
}

// hitsOf returns the entries labelled hit in rank order.
func hitsOf(flat []evalkit.RetrievedChunk) []evalkit.RetrievedChunk {
	hits := make([]evalkit.RetrievedChunk, 0, len(flat))
	for _, c := range flat {
		if c.Role == evalkit.RoleHit {
			hits = append(hits, c)
		}
	}
	slices.SortStableFunc(hits, func(a, b evalkit.RetrievedChunk) int { return cmp.Compare(a.Rank, b.Rank) })
	return hits
}

func scoreOne(m evalkit.Metric, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) Score {
	s := Score{Metric: m.String(), View: v}
	value, err := m.Score(j, v, got)
	switch {
	case errors.Is(err, evalkit.ErrUndefined):
		s.Reason = err.Error()
	case err != nil:
		s.Reason = "error: " + err.Error()
	case value-value != 0: // NaN or infinite: a fault of the metric, shown and not averaged
		s.Reason = fmt.Sprintf("error: metric %s gave %v", m, value)
	default:
		s.Value = value
	}
	return s
}

func effective(st *searched, asked, got evalkit.Window) Effective {
	e := Effective{Strategy: st.strategy.String(), NeighborPrev: got.Prev, NeighborNext: got.Next}
	if asked != got {
		e.Note = "neighbor_prev and neighbor_next apply to fixed_size only"
	}
	e.Chunks = ChunkStats{N: len(st.chunks), EmptyDocs: st.empty}
	total := 0
	for i, c := range st.chunks {
		total += c.Tokens
		if i == 0 || c.Tokens < e.Chunks.MinTokens {
			e.Chunks.MinTokens = c.Tokens
		}
		e.Chunks.MaxTokens = max(e.Chunks.MaxTokens, c.Tokens)
		if c.Oversize {
			e.Chunks.Oversize++
		}
	}
	if len(st.chunks) > 0 {
		e.Chunks.MeanTokens = float64(total) / float64(len(st.chunks))
	}
	return e
}

// record fills what the run knows of its Record.
func (g *group) record(r *Result) {
	ds := g.setup.Dataset
	rec := &r.Record
	rec.SchemaVersion = SchemaVersion
	rec.Dataset = DatasetInfo{Name: ds.Name, Language: ds.Language, Fingerprint: ds.Fingerprint, Docs: len(ds.Docs), Queries: len(ds.Queries)}
	rec.Warnings = []string{}
	for _, w := range ds.Warnings {
		rec.Warnings = append(rec.Warnings, w.Error())
	}
	for _, q := range ds.Queries {
		rec.Dataset.Gold += len(q.Qrels)
	}
	for i, st := range g.searched {
		rec.Provenance.Restored += st.restored
		for j, u := range st.units {
			rec.Counts.Units++
			q := u.judged.Query
			switch {
			case u.err != nil:
				rec.Counts.Failed++
				if errors.Is(u.err, evalkit.ErrNoVector) {
					rec.Counts.NoVector++
				}
			case len(r.Strategies[i].Queries[j].Flat) == 0:
				rec.Counts.NoResults++
			}
			if q.Unanswerable {
				rec.Counts.Unanswerable++
			} else if len(q.Gold()) == 0 {
				rec.Counts.NoGold++
			}
		}
		rec.Warnings = append(rec.Warnings, strategyWarnings(st)...)
		if g.setup.Inspect != nil {
			for _, w := range g.setup.Inspect(st.chunks) {
				rec.Warnings = append(rec.Warnings, fmt.Sprintf("%s: %s", st.strategy, w))
			}
		}
		rec.Warnings = append(rec.Warnings, shortcomings(&r.Strategies[i])...)
		failed, warnings := answerWarnings(&r.Strategies[i])
		rec.Counts.AnswersFailed += failed
		rec.Warnings = append(rec.Warnings, warnings...)
		if note := rec.Effective[i].Note; note != "" {
			rec.Warnings = append(rec.Warnings, fmt.Sprintf("%s: %s", st.strategy, note))
		}
	}
}

func strategyWarnings(st *searched) []string {
	var out []string
	if len(st.empty) > 0 {
		out = append(out, fmt.Sprintf("%s: %d documents gave no chunk: %q …", st.strategy, len(st.empty), st.empty[0]))
	}
	if st.invalid > 0 {
		out = append(out, fmt.Sprintf("%s: %d passages have no vector and cannot be found by dense retrieval", st.strategy, st.invalid))
	}
	failed, first := 0, error(nil)
	for _, u := range st.units {
		if u.err != nil {
			if failed++; first == nil {
				first = u.err
			}
		}
	}
	if failed > 0 {
		out = append(out, fmt.Sprintf("%s: %d queries failed and count 0: %v", st.strategy, failed, first))
	}
	return out
}
