package store

import (
	"errors"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

var _ experiment.Source = (*Experiment)(nil)

// Overview implements experiment.Source.
func (x *Experiment) Overview() (*experiment.Result, error) {
	rows, err := x.Summary()
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{Record: x.Record}
	at := map[string]int{}
	for i, e := range x.Record.Effective {
		at[e.Strategy] = i
		r.Strategies = append(r.Strategies, experiment.StrategyResult{
			Strategy: e.Strategy, Window: evalkit.Window{Prev: e.NeighborPrev, Next: e.NeighborNext},
		})
	}
	for _, row := range rows {
		i, ok := at[row.Strategy]
		if !ok {
			return nil, x.broken(summaryFile, "strategy %q is not in the record", row.Strategy)
		}
		s := &r.Strategies[i]
		s.Summary = append(s.Summary, experiment.SummaryRow{
			Metric: row.Metric, View: evalkit.View(row.View), Mean: row.Mean, SD: row.SD, DDOF: int(row.DDOF), MacroDoc: row.MacroDoc,
			N: int(row.N), Undefined: int(row.Undefined), Failed: int(row.Failed),
		})
	}
	return r, nil
}

// Dataset implements experiment.Source.
func (x *Experiment) Dataset() (*evalkit.Dataset, error) {
	info := x.Record.Dataset
	ds := &evalkit.Dataset{Name: info.Name, Language: info.Language, Fingerprint: info.Fingerprint}
	docs, err := x.Documents()
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		ds.Docs = append(ds.Docs, evalkit.Document{ID: evalkit.DocID(d.Doc), Text: d.Text})
	}
	queries, err := x.Queries()
	if err != nil {
		return nil, err
	}
	for _, row := range queries {
		q := evalkit.Query{ID: evalkit.QueryID(row.Query), Text: row.Question, Unanswerable: row.Unanswerable}
		if row.Answer != nil {
			q.Answer = *row.Answer
		}
		for _, g := range row.Gold {
			q.Qrels = append(q.Qrels, evalkit.Qrel{Doc: evalkit.DocID(g.Doc), Span: evalkit.Span{Start: int(g.Start), End: int(g.End)}, Grade: g.Grade})
		}
		ds.Queries = append(ds.Queries, q)
	}
	return ds, nil
}

// Strategy implements experiment.Source. The tree and the flat list are those
// that were written; neither is made from the other.
func (x *Experiment) Strategy(i int) (*experiment.StrategyResult, error) {
	e := x.Record.Effective[i]
	overview, err := x.Overview()
	if err != nil {
		return nil, err
	}
	queries, err := x.Queries()
	if err != nil {
		return nil, err
	}
	l := &loader{x: x, s: &overview.Strategies[i], chunks: map[evalkit.ChunkID]evalkit.Chunk{}, at: map[string]int{}}
	for i, q := range queries {
		l.at[q.Query] = i
		l.s.Queries = append(l.s.Queries, experiment.QueryResult{Query: evalkit.QueryID(q.Query)})
	}
	err = errors.Join(
		each(x, chunksFile, e.Strategy, func(r ChunkRow) string { return r.Strategy }, l.chunk),
		each(x, treeFile, e.Strategy, func(r TreeRow) string { return r.Strategy }, l.branch),
		each(x, retrievedFile, e.Strategy, func(r RetrievedRow) string { return r.Strategy }, l.retrieved),
		each(x, candidateFile, e.Strategy, func(r CandidateRow) string { return r.Strategy }, l.candidate),
		each(x, scoresFile, e.Strategy, func(r ScoreRow) string { return r.Strategy }, l.score),
		each(x, answersFile, e.Strategy, func(r AnswerRow) string { return r.Strategy }, l.answer),
	)
	return l.s, err
}

// each calls f for the rows of one strategy. A table that an older version did
// not write has none.
func each[T any](x *Experiment, table, strategy string, of func(T) string, f func(T) error) error {
	if _, ok := x.Record.Files[table]; !ok {
		return nil
	}
	for row, err := range rowsFor[T](x, table, strategy) {
		if err != nil {
			return err
		}
		if of(row) != strategy {
			continue
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return nil
}

// loader fills one StrategyResult from rows.
type loader struct {
	x      *Experiment
	s      *experiment.StrategyResult
	chunks map[evalkit.ChunkID]evalkit.Chunk
	at     map[string]int // query -> place
}

func (l *loader) chunk(r ChunkRow) error {
	c := evalkit.Chunk{
		Doc: evalkit.DocID(r.Doc), Index: int(r.ChunkIndex), Span: evalkit.Span{Start: int(r.Start), End: int(r.End)},
		Text: r.Text, Tokens: int(r.Tokens), Oversize: r.Oversize,
	}
	if r.Header != nil {
		c.Header = *r.Header
	}
	for _, u := range r.Units {
		c.Units = append(c.Units, evalkit.Span{Start: int(u.Start), End: int(u.End)})
	}
	l.chunks[c.ID()] = c
	l.s.Chunks = append(l.s.Chunks, c)
	return nil
}

// find returns the result of a query and a chunk.
func (l *loader) find(table, query, doc string, index int32) (*experiment.QueryResult, evalkit.Chunk, error) {
	c, ok := l.chunks[evalkit.ChunkID{Doc: evalkit.DocID(doc), Index: int(index)}]
	if !ok {
		return nil, c, l.x.broken(table, "chunk %s#%d is not in %s", doc, index, chunksFile)
	}
	i, ok := l.at[query]
	if !ok {
		return nil, c, l.x.broken(table, "query %q is not in %s", query, queriesFile)
	}
	return &l.s.Queries[i], c, nil
}

func (l *loader) branch(r TreeRow) error {
	q, c, err := l.find(treeFile, r.Query, r.Doc, r.ChunkIndex)
	if err != nil {
		return err
	}
	e := evalkit.ExpandedHit{Hit: evalkit.Hit{
		Chunk: c, Rank: int(r.Rank), Score: r.Score,
		Lexical: component(r.LexicalRank, r.LexicalScore), Dense: component(r.DenseRank, r.DenseScore),
	}}
	if e.NeighborsPrev, err = l.neighbors(r, r.NeighborsPrev); err != nil {
		return err
	}
	if e.NeighborsNext, err = l.neighbors(r, r.NeighborsNext); err != nil {
		return err
	}
	q.Tree = append(q.Tree, e)
	return nil
}

func (l *loader) neighbors(r TreeRow, rows []NeighborRow) ([]evalkit.Chunk, error) {
	out := make([]evalkit.Chunk, 0, len(rows))
	for _, n := range rows {
		_, c, err := l.find(treeFile, r.Query, r.Doc, n.ChunkIndex)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (l *loader) retrieved(r RetrievedRow) error {
	q, c, err := l.find(retrievedFile, r.Query, r.Doc, r.ChunkIndex)
	if err == nil {
		q.Flat = append(q.Flat, evalkit.RetrievedChunk{Chunk: c, Role: evalkit.Role(r.Label), Rank: int(r.Rank), Score: r.Score, Distance: int(r.Distance)})
	}
	return err
}

func (l *loader) candidate(r CandidateRow) error {
	q, c, err := l.find(candidateFile, r.Query, r.Doc, r.ChunkIndex)
	if err == nil {
		q.Below = append(q.Below, evalkit.Hit{
			Chunk: c, Rank: int(r.Rank), Score: r.Score,
			Lexical: component(r.LexicalRank, r.LexicalScore), Dense: component(r.DenseRank, r.DenseScore),
		})
	}
	return err
}

func (l *loader) score(r ScoreRow) error {
	i, ok := l.at[r.Query]
	if !ok {
		return l.x.broken(scoresFile, "query %q is not in %s", r.Query, queriesFile)
	}
	s := experiment.Score{Metric: r.Metric, View: evalkit.View(r.View)}
	switch {
	case r.Value != nil:
		s.Value = *r.Value
	case r.Reason != nil:
		s.Reason = *r.Reason
	default:
		s.Reason = "no value was stored"
	}
	q := &l.s.Queries[i]
	if s.Reason == failedReason {
		q.Failed = failedReason
	}
	q.Scores = append(q.Scores, s)
	return nil
}

// failedReason marks the scores of a query that failed.
const failedReason = "failed"

func component(rank *int32, score *float64) evalkit.Component {
	if rank == nil || score == nil {
		return evalkit.Component{}
	}
	return evalkit.Component{Rank: int(*rank), Score: *score}
}

func (x *Experiment) broken(table, format string, args ...any) error {
	return &TableError{x.path(table), fmt.Errorf(format, args...)}
}
