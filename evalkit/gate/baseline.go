package gate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// baselineVersion is the version of the format.
const baselineVersion = 2

// A Baseline is the state that candidates are held against, as a file for
// version control: JSON lines, so that a difference between two versions is a
// line per part of the record, per question, and per strategy and question. It
// holds no texts of documents and no trees.
//
//	{"baseline":2,"id":…,"reason":…,"measures":["recall+",…]}
//	{"record":"spec","value":{…}}      and so on: what was run, with what
//	{"query":"q1","text":…,"answer":…,"unanswerable":false,"gold":[{"doc":…,"start":…,"end":…,"grade":1}]}
//	{"strategy":"markdown(size=200,unit=token)","neighbor_prev":0,"neighbor_next":0,"chunks":{…},"means":[0.66,…]}
//	{"q":"q1","v":[1,0.5,null]}        of the strategy above, in the order of measures
type Baseline struct {
	ID       string
	Reason   string // why this state is the one to hold on to
	Measures []compare.Measure
	record   experiment.Record
	queries  []evalkit.Query
	results  []experiment.StrategyResult
}

type headLine struct {
	Baseline int      `json:"baseline"`
	ID       string   `json:"id"`
	Reason   string   `json:"reason"`
	Measures []string `json:"measures"`
}

type recordLine struct {
	Record string          `json:"record"` // a key of the record
	Value  json.RawMessage `json:"value"`
}

type queryLine struct {
	Query        evalkit.QueryID `json:"query"`
	Text         string          `json:"text"`
	Answer       string          `json:"answer,omitempty"`
	Unanswerable bool            `json:"unanswerable,omitempty"`
	Gold         []goldLine      `json:"gold"`
}

type goldLine struct {
	Doc   evalkit.DocID `json:"doc"`
	Start int           `json:"start"`
	End   int           `json:"end"`
	Grade float64       `json:"grade"`
}

type strategyLine struct {
	experiment.Effective
	Means []*float64 `json:"means"`
}

type valuesLine struct {
	Query  evalkit.QueryID `json:"q"`
	Values []*float64      `json:"v"`
	Failed string          `json:"failed,omitempty"`
}

// Save writes the measures of an Experiment as a Baseline.
func Save(w io.Writer, src experiment.Source, reason string, measures []compare.Measure) error {
	x, err := src.Overview()
	if err != nil {
		return err
	}
	ds, err := src.Dataset()
	if err != nil {
		return err
	}
	head := headLine{Baseline: baselineVersion, ID: x.Record.ID, Reason: reason}
	for _, m := range measures {
		head.Measures = append(head.Measures, m.String())
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(head); err != nil {
		return err
	}
	if err := saveRecord(e, x.Record); err != nil {
		return err
	}
	for _, q := range ds.Queries {
		line := queryLine{Query: q.ID, Text: q.Text, Answer: q.Answer, Unanswerable: q.Unanswerable, Gold: []goldLine{}}
		for _, g := range q.Qrels {
			line.Gold = append(line.Gold, goldLine{g.Doc, g.Span.Start, g.Span.End, g.Grade})
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	for i := range x.Strategies {
		s, err := src.Strategy(i)
		if err != nil {
			return err
		}
		if err := saveStrategy(e, x.Record.Effective[i], s, measures); err != nil {
			return err
		}
	}
	return nil
}

// saveRecord writes a line per key. The id is in the head, the values in force
// stand with their strategies, and the tables stay in the results folder.
func saveRecord(e *json.Encoder, rec experiment.Record) error {
	b, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, key := range []string{"id", "effective", "files"} {
		delete(parts, key)
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		if err := e.Encode(recordLine{key, parts[key]}); err != nil {
			return err
		}
	}
	return nil
}

func saveStrategy(e *json.Encoder, in experiment.Effective, s *experiment.StrategyResult, measures []compare.Measure) error {
	line := strategyLine{Effective: in}
	for _, m := range measures {
		mean, ok := meanOf(in, s, m)
		if !ok {
			return fmt.Errorf("save a baseline: %s did not measure %s", s.Strategy, m)
		}
		line.Means = append(line.Means, mean)
	}
	if err := e.Encode(line); err != nil {
		return err
	}
	for _, q := range s.Queries {
		line := valuesLine{Query: q.Query, Failed: q.Failed}
		for _, m := range measures {
			line.Values = append(line.Values, valueOf(q, m))
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func meanOf(in experiment.Effective, s *experiment.StrategyResult, m compare.Measure) (mean *float64, ok bool) {
	for _, r := range s.Summary {
		if r.Metric == m.Metric && r.View == m.View {
			return r.Mean, true
		}
	}
	if m.View == compare.Answers && in.Answers != nil {
		for _, r := range in.Answers.Means {
			if r.Metric == m.Metric {
				return r.Mean, true
			}
		}
	}
	return nil, false
}

func valueOf(q experiment.QueryResult, m compare.Measure) *float64 {
	if m.View == compare.Answers && q.Answer != nil {
		for _, s := range q.Answer.Scores {
			if s.Metric == m.Metric && s.Reason == "" {
				return &s.Value
			}
		}
	}
	for _, s := range q.Scores {
		if s.Metric == m.Metric && s.View == m.View && s.Reason == "" {
			return &s.Value
		}
	}
	return nil
}

// ReadBaseline reads a file that Save wrote. Errors name the line.
func ReadBaseline(path string) (*Baseline, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := &Baseline{}
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if lerr := b.line(line, n); lerr != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, lerr)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(b.results) == 0 {
		return nil, fmt.Errorf("%s: not a baseline, or cut off: it holds no strategy", path)
	}
	for _, s := range b.results {
		if len(s.Queries) != len(b.queries) {
			return nil, fmt.Errorf("%s: cut off: %s has %d of %d questions", path, s.Strategy, len(s.Queries), len(b.queries))
		}
	}
	return b, nil
}

func (b *Baseline) line(data []byte, n int) error {
	if n == 1 {
		return b.head(data)
	}
	var probe struct {
		Record   *string `json:"record"`
		Query    *string `json:"query"`
		Strategy *string `json:"strategy"`
	}
	if err := json.Unmarshal(data, &probe); err != nil {
		return err
	}
	switch {
	case probe.Record != nil:
		return b.part(data)
	case probe.Query != nil:
		var q queryLine
		if err := strict(data, &q); err != nil {
			return err
		}
		b.queries = append(b.queries, q.query())
	case probe.Strategy != nil:
		var s strategyLine // keys of a newer version are left out, as in part
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		b.record.Effective = append(b.record.Effective, s.Effective)
		r := experiment.StrategyResult{Strategy: s.Strategy, Window: evalkit.Window{Prev: s.NeighborPrev, Next: s.NeighborNext}}
		for i, m := range b.Measures {
			if i < len(s.Means) {
				r.Summary = append(r.Summary, experiment.SummaryRow{Metric: m.Metric, View: m.View, Mean: s.Means[i], N: len(b.queries)})
			}
		}
		b.results = append(b.results, r)
	default:
		return b.values(data)
	}
	return nil
}

func (b *Baseline) head(data []byte) error {
	var version struct{ Baseline int }
	if err := json.Unmarshal(data, &version); err != nil {
		return err
	}
	if version.Baseline != baselineVersion {
		return fmt.Errorf("version %d of the format, and this program reads %d: save the baseline again", version.Baseline, baselineVersion)
	}
	var h headLine
	if err := strict(data, &h); err != nil {
		return err
	}
	b.ID, b.Reason, b.record.ID = h.ID, h.Reason, h.ID
	for _, m := range h.Measures {
		r, err := parseRule(m, "0")
		if err != nil {
			return err
		}
		b.Measures = append(b.Measures, r.Measure)
	}
	return nil
}

// part reads one key of the record. A key of a newer version is left out, as in
// a stored Experiment.
func (b *Baseline) part(data []byte) error {
	var p recordLine
	if err := strict(data, &p); err != nil {
		return err
	}
	one, err := json.Marshal(map[string]json.RawMessage{p.Record: p.Value})
	if err != nil {
		return err
	}
	return json.Unmarshal(one, &b.record)
}

func (q queryLine) query() evalkit.Query {
	out := evalkit.Query{ID: q.Query, Text: q.Text, Answer: q.Answer, Unanswerable: q.Unanswerable}
	for _, g := range q.Gold {
		out.Qrels = append(out.Qrels, evalkit.Qrel{Doc: g.Doc, Span: evalkit.Span{Start: g.Start, End: g.End}, Grade: g.Grade})
	}
	return out
}

func (b *Baseline) values(data []byte) error {
	var v valuesLine
	if err := strict(data, &v); err != nil {
		return err
	}
	if len(b.results) == 0 || len(v.Values) != len(b.Measures) {
		return fmt.Errorf("question %q: %d values for %d measures", v.Query, len(v.Values), len(b.Measures))
	}
	s := &b.results[len(b.results)-1]
	if at := len(s.Queries); at >= len(b.queries) || b.queries[at].ID != v.Query {
		return fmt.Errorf("question %q: not in the order of the questions above", v.Query)
	}
	r := experiment.QueryResult{Query: v.Query, Failed: v.Failed}
	for i, m := range b.Measures {
		if m.View == compare.Answers {
			r.Answer = withScore(r.Answer, m.Metric, v.Values[i])
			continue
		}
		score := experiment.Score{Metric: m.Metric, View: m.View, Reason: "undefined"}
		if v.Values[i] != nil {
			score.Value, score.Reason = *v.Values[i], ""
		}
		r.Scores = append(r.Scores, score)
	}
	s.Queries = append(s.Queries, r)
	return nil
}

// withScore adds a score to an answer, which is made where there is none.
func withScore(a *experiment.Answer, metric string, v *float64) *experiment.Answer {
	if a == nil {
		a = &experiment.Answer{}
	}
	score := experiment.AnswerScore{Metric: metric, Reason: "undefined"}
	if v != nil {
		score.Value, score.Reason = *v, ""
	}
	a.Scores = append(a.Scores, score)
	return a
}

func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Overview implements experiment.Source.
func (b *Baseline) Overview() (*experiment.Result, error) {
	return &experiment.Result{Record: b.record, Strategies: b.results}, nil
}

// Dataset implements experiment.Source; it has no documents.
func (b *Baseline) Dataset() (*evalkit.Dataset, error) {
	info := b.record.Dataset
	return &evalkit.Dataset{Name: info.Name, Language: info.Language, Fingerprint: info.Fingerprint, Queries: b.queries}, nil
}

// Strategy implements experiment.Source; it has values, and no trees.
func (b *Baseline) Strategy(i int) (*experiment.StrategyResult, error) { return &b.results[i], nil }
