package store

import (
	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// A DocumentRow is a document.
type DocumentRow struct {
	Doc  string `arrow:"doc" doc:"document id"`
	Text string `arrow:"text" doc:"stored text, which all offsets count in"`
}

// A QueryRow is a question.
type QueryRow struct {
	Query        string    `arrow:"query" doc:"query id"`
	Question     string    `arrow:"question" doc:"text of the question"`
	Answer       *string   `arrow:"answer" doc:"reference answer; null if there is none"`
	Unanswerable bool      `arrow:"unanswerable" doc:"marked so by the data set"`
	Gold         []GoldRow `arrow:"gold" doc:"judged spans: doc, start and end in bytes, grade, text"`
}

// A GoldRow is a judged span.
type GoldRow struct {
	Doc   string  `arrow:"doc"`
	Start int64   `arrow:"start"`
	End   int64   `arrow:"end"`
	Grade float64 `arrow:"grade"`
	Text  string  `arrow:"text"`
}

// A ChunkRow is a chunk of one strategy.
type ChunkRow struct {
	Strategy   string    `arrow:"strategy" doc:"strategy that made the chunk"`
	Doc        string    `arrow:"doc" doc:"document id"`
	ChunkIndex int32     `arrow:"chunk_index" doc:"position among the document's chunks, from 0"`
	Start      int64     `arrow:"start" doc:"first byte in the document" unit:"byte"`
	End        int64     `arrow:"end" doc:"byte after the last in the document" unit:"byte"`
	Tokens     int32     `arrow:"tokens" doc:"tokens of text" unit:"token"`
	Oversize   bool      `arrow:"oversize" doc:"the strategy could not cut it to its size"`
	Header     *string   `arrow:"header" doc:"indexed with the chunk, never scored; null if there is none"`
	Units      []SpanRow `arrow:"units" doc:"spans indexed in the chunk's place, in bytes; empty means the chunk itself"`
	Text       string    `arrow:"text" doc:"the document's text over [start,end)"`
}

// A SpanRow is a range of bytes.
type SpanRow struct {
	Start int64 `arrow:"start"`
	End   int64 `arrow:"end"`
}

// A TreeRow is one branch of an expansion tree.
type TreeRow struct {
	Strategy      string        `arrow:"strategy" doc:"strategy"`
	Query         string        `arrow:"query" doc:"query id"`
	Rank          int32         `arrow:"rank" doc:"rank of the hit, from 1"`
	Score         float64       `arrow:"score" doc:"score of the hit"`
	Doc           string        `arrow:"doc" doc:"document id"`
	ChunkIndex    int32         `arrow:"chunk_index" doc:"chunk_index of the hit"`
	Start         int64         `arrow:"start" doc:"first byte of the hit" unit:"byte"`
	End           int64         `arrow:"end" doc:"byte after the last of the hit" unit:"byte"`
	LexicalRank   *int32        `arrow:"lexical_rank" doc:"rank in the lexical leg; null if it did not return the chunk"`
	LexicalScore  *float64      `arrow:"lexical_score" doc:"raw score in the lexical leg"`
	DenseRank     *int32        `arrow:"dense_rank" doc:"rank in the dense leg; null if it did not return the chunk"`
	DenseScore    *float64      `arrow:"dense_score" doc:"raw score in the dense leg"`
	NeighborsPrev []NeighborRow `arrow:"neighbors_prev" doc:"previous neighbors in document order; empty if there are none"`
	NeighborsNext []NeighborRow `arrow:"neighbors_next" doc:"next neighbors in document order; empty if there are none"`
}

// A NeighborRow is a chunk that a hit brought in; its document is the hit's.
type NeighborRow struct {
	ChunkIndex int32 `arrow:"chunk_index"`
	Start      int64 `arrow:"start"`
	End        int64 `arrow:"end"`
}

// A RetrievedRow is one entry of a flat list.
type RetrievedRow struct {
	Strategy   string  `arrow:"strategy" doc:"strategy"`
	Query      string  `arrow:"query" doc:"query id"`
	Position   int32   `arrow:"position" doc:"place in the flat list, from 0"`
	Label      string  `arrow:"label" doc:"hit or neighbor"`
	Rank       int32   `arrow:"rank" doc:"of the hit itself, or of the best-ranked hit that brought it in"`
	Score      float64 `arrow:"score" doc:"score of that hit"`
	Distance   int32   `arrow:"distance" doc:"chunk_index minus that of the nearest hit that brought it in; 0 for a hit" unit:"chunk"`
	Doc        string  `arrow:"doc" doc:"document id"`
	ChunkIndex int32   `arrow:"chunk_index" doc:"chunk_index"`
	Start      int64   `arrow:"start" doc:"first byte in the document" unit:"byte"`
	End        int64   `arrow:"end" doc:"byte after the last in the document" unit:"byte"`
}

// A CandidateRow is a chunk that was ranked after top_k.
type CandidateRow struct {
	Strategy     string   `arrow:"strategy" doc:"strategy"`
	Query        string   `arrow:"query" doc:"query id"`
	Rank         int32    `arrow:"rank" doc:"rank, after top_k"`
	Score        float64  `arrow:"score" doc:"score"`
	Doc          string   `arrow:"doc" doc:"document id"`
	ChunkIndex   int32    `arrow:"chunk_index" doc:"chunk_index"`
	LexicalRank  *int32   `arrow:"lexical_rank" doc:"rank in the lexical leg; null if it did not return the chunk"`
	LexicalScore *float64 `arrow:"lexical_score" doc:"raw score in the lexical leg"`
	DenseRank    *int32   `arrow:"dense_rank" doc:"rank in the dense leg; null if it did not return the chunk"`
	DenseScore   *float64 `arrow:"dense_score" doc:"raw score in the dense leg"`
}

// A ScoreRow is one value of one query.
type ScoreRow struct {
	Strategy string   `arrow:"strategy" doc:"strategy"`
	Query    string   `arrow:"query" doc:"query id"`
	Metric   string   `arrow:"metric" doc:"metric"`
	View     string   `arrow:"view" doc:"hit_only or expanded"`
	Value    *float64 `arrow:"value" doc:"value; null where it is not defined"`
	Reason   *string  `arrow:"reason" doc:"why there is no value"`
}

// A SummaryRow is one metric over all queries of a strategy.
type SummaryRow struct {
	Strategy     string   `arrow:"strategy" doc:"strategy"`
	NeighborPrev *int32   `arrow:"neighbor_prev" doc:"previous neighbors in force for the strategy" unit:"chunk"`
	NeighborNext *int32   `arrow:"neighbor_next" doc:"next neighbors in force for the strategy" unit:"chunk"`
	Metric       string   `arrow:"metric" doc:"metric"`
	View         string   `arrow:"view" doc:"hit_only or expanded"`
	Mean         *float64 `arrow:"mean" doc:"mean over queries, a failed one counts 0; null if none has a value"`
	SD           *float64 `arrow:"sd" doc:"standard deviation over queries, with ddof"`
	DDOF         int32    `arrow:"ddof" doc:"delta degrees of freedom of sd"`
	MacroDoc     *float64 `arrow:"macro_doc" doc:"mean over documents of the mean of their queries"`
	N            int32    `arrow:"n" doc:"queries in the mean" unit:"query"`
	Undefined    int32    `arrow:"undefined" doc:"queries left out because they have no value" unit:"query"`
	Failed       int32    `arrow:"failed" doc:"queries that failed and count 0" unit:"query"`
}

func documentRows(ds *evalkit.Dataset) []DocumentRow {
	rows := make([]DocumentRow, 0, len(ds.Docs))
	for _, d := range ds.Docs {
		rows = append(rows, DocumentRow{string(d.ID), d.Text})
	}
	return rows
}

func queryRows(ds *evalkit.Dataset) []QueryRow {
	docs := ds.DocMap()
	rows := make([]QueryRow, 0, len(ds.Queries))
	for _, q := range ds.Queries {
		row := QueryRow{Query: string(q.ID), Question: q.Text, Answer: optional(q.Answer), Unanswerable: q.Unanswerable, Gold: []GoldRow{}}
		for _, g := range q.Qrels {
			row.Gold = append(row.Gold, GoldRow{string(g.Doc), int64(g.Span.Start), int64(g.Span.End), g.Grade, docs[g.Doc].Text[g.Span.Start:g.Span.End]})
		}
		rows = append(rows, row)
	}
	return rows
}

func chunkRows(s *experiment.StrategyResult) []ChunkRow {
	rows := make([]ChunkRow, 0, len(s.Chunks))
	for _, c := range s.Chunks {
		row := ChunkRow{
			Strategy: s.Strategy, Doc: string(c.Doc), ChunkIndex: int32(c.Index), Start: int64(c.Span.Start), End: int64(c.Span.End),
			Tokens: int32(c.Tokens), Oversize: c.Oversize, Header: optional(c.Header), Units: []SpanRow{}, Text: c.Text,
		}
		for _, u := range c.Units {
			row.Units = append(row.Units, SpanRow{int64(u.Start), int64(u.End)})
		}
		rows = append(rows, row)
	}
	return rows
}

func treeRows(s *experiment.StrategyResult) []TreeRow {
	var rows []TreeRow
	for _, q := range s.Queries {
		for _, e := range q.Tree {
			c := e.Hit.Chunk
			row := TreeRow{
				Strategy: s.Strategy, Query: string(q.Query), Rank: int32(e.Hit.Rank), Score: e.Hit.Score,
				Doc: string(c.Doc), ChunkIndex: int32(c.Index), Start: int64(c.Span.Start), End: int64(c.Span.End),
				NeighborsPrev: neighborRows(e.NeighborsPrev), NeighborsNext: neighborRows(e.NeighborsNext),
			}
			row.LexicalRank, row.LexicalScore = componentColumns(e.Hit.Lexical)
			row.DenseRank, row.DenseScore = componentColumns(e.Hit.Dense)
			rows = append(rows, row)
		}
	}
	return rows
}

func neighborRows(chunks []evalkit.Chunk) []NeighborRow {
	rows := make([]NeighborRow, 0, len(chunks)) // an empty list, not null
	for _, c := range chunks {
		rows = append(rows, NeighborRow{int32(c.Index), int64(c.Span.Start), int64(c.Span.End)})
	}
	return rows
}

func componentColumns(c evalkit.Component) (*int32, *float64) {
	if c.Rank == 0 {
		return nil, nil
	}
	rank := int32(c.Rank)
	return &rank, &c.Score
}

func retrievedRows(s *experiment.StrategyResult) []RetrievedRow {
	var rows []RetrievedRow
	for _, q := range s.Queries {
		for i, c := range q.Flat {
			rows = append(rows, RetrievedRow{
				Strategy: s.Strategy, Query: string(q.Query), Position: int32(i), Label: string(c.Role), Rank: int32(c.Rank),
				Score: c.Score, Distance: int32(c.Distance), Doc: string(c.Chunk.Doc), ChunkIndex: int32(c.Chunk.Index),
				Start: int64(c.Chunk.Span.Start), End: int64(c.Chunk.Span.End),
			})
		}
	}
	return rows
}

func candidateRows(s *experiment.StrategyResult) []CandidateRow {
	var rows []CandidateRow
	for _, q := range s.Queries {
		for _, h := range q.Below {
			row := CandidateRow{Strategy: s.Strategy, Query: string(q.Query), Rank: int32(h.Rank), Score: h.Score, Doc: string(h.Chunk.Doc), ChunkIndex: int32(h.Chunk.Index)}
			row.LexicalRank, row.LexicalScore = componentColumns(h.Lexical)
			row.DenseRank, row.DenseScore = componentColumns(h.Dense)
			rows = append(rows, row)
		}
	}
	return rows
}

func scoreRows(s *experiment.StrategyResult) []ScoreRow {
	var rows []ScoreRow
	for _, q := range s.Queries {
		for _, v := range q.Scores {
			row := ScoreRow{Strategy: s.Strategy, Query: string(q.Query), Metric: v.Metric, View: string(v.View), Reason: optional(v.Reason)}
			if v.Reason == "" {
				row.Value = &v.Value
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func summaryRows(s *experiment.StrategyResult) []SummaryRow {
	prev, next := int32(s.Window.Prev), int32(s.Window.Next)
	rows := make([]SummaryRow, 0, len(s.Summary))
	for _, v := range s.Summary {
		rows = append(rows, SummaryRow{
			Strategy: s.Strategy, NeighborPrev: &prev, NeighborNext: &next, Metric: v.Metric, View: string(v.View), Mean: v.Mean, SD: v.SD,
			DDOF: int32(v.DDOF), MacroDoc: v.MacroDoc, N: int32(v.N), Undefined: int32(v.Undefined), Failed: int32(v.Failed),
		})
	}
	return rows
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
