package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

// words cuts at blanks; it stands under the name of a strategy that expands.
type words struct{ name string }

func (w words) String() string { return w.name }

func (w words) Split(_ context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	var out []evalkit.Chunk
	start := 0
	for _, word := range strings.SplitAfter(doc.Text, " ") {
		s := evalkit.Span{Start: start, End: start + len(strings.TrimSpace(word))}
		if !s.Empty() {
			out = append(out, evalkit.Chunk{Doc: doc.ID, Index: len(out), Span: s, Text: doc.Text[s.Start:s.End], Tokens: 1})
		}
		start += len(word)
	}
	return out, nil
}

// counter is an Indexer that scores shared letters and counts its searches.
type counter struct {
	searches *atomic.Int64
	stop     func(n int64) // called at every search
	fail     evalkit.QueryID
}

func (c counter) String() string { return "letters" }

func (c counter) Index(_ context.Context, chunks []evalkit.Chunk) (evalkit.Retriever, error) {
	return letters{c, chunks}, nil
}

type letters struct {
	counter
	chunks []evalkit.Chunk
}

func (l letters) Retrieve(ctx context.Context, q evalkit.Query, k int) ([]evalkit.Hit, error) {
	n := l.searches.Add(1)
	if l.stop != nil {
		l.stop(n)
	}
	if q.ID == l.fail {
		return nil, errors.New("the model is out")
	}
	hits := make([]evalkit.Hit, 0, len(l.chunks))
	for _, c := range l.chunks {
		score := 0.0
		for _, r := range c.Text {
			score += float64(strings.Count(q.Text, string(r)))
		}
		hits = append(hits, evalkit.Hit{Chunk: c, Score: score})
	}
	slices.SortStableFunc(hits, func(a, b evalkit.Hit) int {
		if a.Score != b.Score {
			return int(b.Score - a.Score)
		}
		return 0
	})
	hits = hits[:min(k, len(hits))]
	for i := range hits {
		hits[i].Rank = i + 1
	}
	return hits, ctx.Err()
}

// flat is an Expander that brings the next chunk of each hit.
type flat struct{}

func (flat) Expand(hits []evalkit.Hit, chunks map[evalkit.DocID][]evalkit.Chunk, w evalkit.Window) (tree []evalkit.ExpandedHit, out []evalkit.RetrievedChunk) {
	for _, h := range hits {
		tree = append(tree, evalkit.ExpandedHit{Hit: h, NeighborsPrev: []evalkit.Chunk{}, NeighborsNext: []evalkit.Chunk{}})
		out = append(out, evalkit.RetrievedChunk{Chunk: h.Chunk, Role: evalkit.RoleHit, Rank: h.Rank, Score: h.Score})
		if i := h.Chunk.Index + 1; w.Next > 0 && i < len(chunks[h.Chunk.Doc]) {
			out = append(out, evalkit.RetrievedChunk{Chunk: chunks[h.Chunk.Doc][i], Role: evalkit.RoleNeighbor, Rank: h.Rank, Distance: 1})
		}
	}
	return tree, out
}

// size counts what came back.
type size struct{}

func (size) String() string     { return "size" }
func (size) Info() evalkit.Info { return evalkit.Info{Family: "cost", Unit: "chunk", Hi: 1e9} }
func (size) Score(j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	if len(j.Query.Gold()) == 0 {
		return 0, evalkit.Undefined("no gold")
	}
	return float64(len(got)), nil
}

func setup(queries int, ix counter) Setup {
	ds := &evalkit.Dataset{Name: "toy", Fingerprint: "f", Docs: []evalkit.Document{
		{ID: "a", Text: "the quick brown fox jumps over the lazy dog"}, {ID: "b", Text: " "}, {ID: "c", Text: "pack my box with five dozen jugs"},
	}}
	for i := range queries {
		q := evalkit.Query{ID: evalkit.QueryID(fmt.Sprintf("q%02d", i)), Text: strings.Repeat("x", i) + "quick jugs"}
		q.Qrels = []evalkit.Qrel{{Doc: "a", Span: evalkit.Span{Start: 4, End: 9}, Grade: 1}}
		ds.Queries = append(ds.Queries, q)
	}
	return Setup{
		Dataset: ds, Strategies: []evalkit.Strategy{words{"fixed_size(size=1)"}, words{"recursive(size=1)"}},
		Indexer: ix, Expander: flat{}, Metrics: []evalkit.Metric{size{}},
	}
}

func collect(t *testing.T, ctx context.Context, s Setup, settings []Setting, o Options) ([]*Result, error) {
	t.Helper()
	var all []*Result
	for r, err := range Run(ctx, s, settings, o) {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

var grid = []Setting{{TopK: 2}, {TopK: 4, Window: evalkit.Window{Next: 1}}}

func TestOneSearchServesAllSettings(t *testing.T) {
	var n atomic.Int64
	got, err := collect(t, t.Context(), setup(20, counter{searches: &n}), grid, Options{})
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.EqualValues(t, 20*2, n.Load(), "one search per strategy and query")
	assert.Len(t, got[0].Strategies[0].Queries[0].Tree, 2)
	assert.Len(t, got[1].Strategies[0].Queries[0].Tree, 4)
	assert.Equal(t, evalkit.Window{Next: 1}, got[1].Strategies[0].Window)
	assert.Equal(t, evalkit.Window{}, got[1].Strategies[1].Window, "only fixed_size expands")
	assert.Contains(t, got[1].Record.Effective[1].Note, "fixed_size only")
	assert.Equal(t, []evalkit.DocID{"b"}, got[0].Record.Effective[0].Chunks.EmptyDocs)
}

func TestWorkersChangeNothing(t *testing.T) {
	var n atomic.Int64
	one, err := collect(t, t.Context(), setup(30, counter{searches: &n}), grid, Options{Workers: 1})
	require.NoError(t, err)
	eight, err := collect(t, t.Context(), setup(30, counter{searches: &n}), grid, Options{Workers: 8})
	require.NoError(t, err)
	for i := range one {
		assert.Equal(t, one[i].Strategies, eight[i].Strategies)
		assert.Equal(t, one[i].Record, eight[i].Record)
	}
}

// TestHO_RUN_01_ResumeComputesOnlyWhatIsMissing stops a run after 13 of 40
// units, adds the torn line of a killed process, and runs again.
func TestHO_RUN_01_ResumeComputesOnlyWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	var n atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	first := counter{searches: &n, stop: func(i int64) {
		if i == 14 {
			cancel()
		}
	}}
	_, err := collect(t, ctx, setup(20, first), grid, Options{Workers: 1, Journal: NewJournal(dir)})
	var stopped *InterruptedError
	require.ErrorAs(t, err, &stopped)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, InterruptedError{Finished: 13, NotStarted: 27, cause: context.Canceled}, *stopped)

	files, err := filepath.Glob(filepath.Join(dir, "*.hits"))
	require.NoError(t, err)
	require.Len(t, files, 1, "the two strategies cut alike and share an index")
	f, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`deadbeef {"q":"q19","k":4,"h":[{"d":"a"`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	n.Store(0)
	resumed, err := collect(t, t.Context(), setup(20, counter{searches: &n}), grid, Options{Journal: NewJournal(dir)})
	require.NoError(t, err)
	assert.EqualValues(t, 7, n.Load(), "20 queries less the 13 kept; the second strategy finds all")

	whole, err := collect(t, t.Context(), setup(20, counter{searches: &n}), grid, Options{})
	require.NoError(t, err)
	for i := range whole {
		assert.Equal(t, whole[i].Strategies, resumed[i].Strategies)
	}

	n.Store(0)
	again, err := collect(t, t.Context(), setup(20, counter{searches: &n}), grid, Options{Journal: NewJournal(dir)})
	require.NoError(t, err)
	assert.Zero(t, n.Load())
	assert.Equal(t, 40, again[0].Record.Provenance.Restored)
}

func TestHO_ME_09_FailedQueryStaysVisible(t *testing.T) {
	var n atomic.Int64
	got, err := collect(t, t.Context(), setup(4, counter{searches: &n, fail: "q03"}), grid[:1], Options{Journal: NewJournal(t.TempDir())})
	require.NoError(t, err)
	r := got[0]
	assert.Equal(t, 2, r.Record.Counts.Failed)
	row := r.Strategies[0].Summary[0]
	assert.Equal(t, 4, row.N)
	assert.Equal(t, 1, row.Failed)
	assert.InDelta(t, 2*3/4.0, *row.Mean, 1e-12)
	assert.Contains(t, strings.Join(r.Record.Warnings, "\n"), "1 queries failed and count 0: the model is out")
}

// broken is a strategy that breaks a rule.
type broken struct{ words }

func (b broken) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	chunks, err := b.words.Split(ctx, doc)
	if len(chunks) > 1 {
		chunks[1].Text = "something else"
	}
	return chunks, err
}

func TestBrokenStrategyFailsAndOthersGoOn(t *testing.T) {
	var n atomic.Int64
	s := setup(3, counter{searches: &n})
	s.Strategies[0] = broken{words{"mine"}}
	got, err := collect(t, t.Context(), s, grid[:1], Options{})
	require.NoError(t, err)
	assert.Contains(t, got[0].Strategies[0].Queries[0].Failed, `strategy mine: document "a": chunk 1: text is not the document's text`)
	assert.Empty(t, got[0].Strategies[1].Queries[0].Failed)
}

// TestHO_RUN_04_Interrupt checks in a bubble that no goroutine outlives Run.
func TestHO_RUN_04_Interrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var n atomic.Int64
		ix := counter{searches: &n, stop: func(i int64) {
			if i == 3 {
				cancel()
			}
		}}
		_, err := collect(t, ctx, setup(50, ix), grid, Options{Workers: 4})
		var stopped *InterruptedError
		require.ErrorAs(t, err, &stopped)
		assert.Equal(t, 100, stopped.Finished+stopped.Failed+stopped.NotStarted)
		assert.Less(t, stopped.Finished, 8)
	})
}

func TestUnanswerable(t *testing.T) {
	var n atomic.Int64
	s := setup(4, counter{searches: &n})
	s.Dataset.Queries[3] = evalkit.Query{ID: "u", Text: "0", Unanswerable: true}
	got, err := collect(t, t.Context(), s, grid[:1], Options{})
	require.NoError(t, err)
	u := got[0].Record.Effective[0].Unanswerable
	require.NotNil(t, u)
	assert.Equal(t, 1, u.N)
	assert.InDelta(t, 1, *u.AUROC, 0, "every answerable query scores above the one that matches nothing")
	assert.Equal(t, 3, got[0].Strategies[0].Summary[0].N)
}

func TestAUROC(t *testing.T) {
	assert.Nil(t, auroc(nil, []float64{1}))
	assert.InDelta(t, 0.5, *auroc([]float64{1, 1}, []float64{1}), 0, "ties count half")
	assert.InDelta(t, 0.75, *auroc([]float64{1, 3}, []float64{0, 2}), 0) // 3 of 4 pairs
}
