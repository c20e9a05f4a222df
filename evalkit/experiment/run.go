package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Setup holds what the Experiments of one group share.
type Setup struct {
	Dataset    *evalkit.Dataset
	Tokenizer  evalkit.Tokenizer
	Strategies []evalkit.Strategy
	Indexer    evalkit.Indexer
	Expander   evalkit.Expander
	Metrics    []evalkit.Metric
	Answerer   Answerer // nil: nothing is answered
	// Inspect returns warnings about the chunks of one strategy; nil: there are none.
	Inspect func([]evalkit.Chunk) []string
}

// Options hold what changes no number. The zero value is usable.
type Options struct {
	Workers  int      // goroutines; 0 means one per core
	Journal  *Journal // nil: every query is searched
	Progress func(Progress)
	Profile  *Profile // nil: no times are taken
}

// Progress tells how far a group is. It is called from one goroutine at a time.
type Progress struct {
	Stage       string // "chunk", "index", "retrieve" or "score"
	What        string // the strategy, or the setting
	Done, Total int    // units of the whole group in this stage
}

// An InterruptedError says what a run had done when its context ended. It
// wraps the context's error.
type InterruptedError struct {
	Finished, Failed, NotStarted int // units: strategy × query
	cause                        error
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("interrupted: %d units finished, %d failed, %d not started", e.Finished, e.Failed, e.NotStarted)
}

// Unwrap returns the context's error.
func (e *InterruptedError) Unwrap() error { return e.cause }

// Run runs the Experiments of a group and yields a Result for each setting, in
// order. Of the Result's Record it fills Effective, Dataset, Counts and
// Warnings; the caller knows the rest. A query or strategy that fails is
// marked so and does not stop the run. The error, after which nothing
// follows, is an *InterruptedError, or one of the journal.
func Run(ctx context.Context, s Setup, settings []Setting, o Options) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		if len(settings) == 0 {
			return
		}
		g := newGroup(s, settings, o)
		if err := g.search(ctx); err != nil {
			yield(nil, err)
			return
		}
		for _, x := range settings {
			r, err := g.score(ctx, x)
			if err != nil || !yield(r, err) {
				if err != nil {
					yield(nil, err)
				}
				return
			}
		}
	}
}

func newGroup(s Setup, settings []Setting, o Options) *group {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	g := &group{setup: s, opt: o, total: len(s.Strategies) * len(s.Dataset.Queries)}
	for _, x := range settings {
		g.depth = max(g.depth, x.TopK, x.Candidates)
	}
	return g
}

// group is the state of one Run.
type group struct {
	setup Setup
	opt   Options
	shard Shard
	depth int // the largest top_k or number of candidates
	total int // units

	searched []*searched
	finished atomic.Int64 // units with hits
	failed   atomic.Int64
	progress sync.Mutex
}

// searched is one strategy after retrieval.
type searched struct {
	strategy evalkit.Strategy
	chunks   []evalkit.Chunk
	byDoc    map[evalkit.DocID][]evalkit.Chunk
	empty    []evalkit.DocID
	units    []unit
	restored int
	invalid  int // passages without a vector
}

// unit is one query of one strategy.
type unit struct {
	judged evalkit.Judgments
	hits   []evalkit.Hit
	err    error
	done   bool
}

func (g *group) search(ctx context.Context) error {
	texts := evalkit.NewTexts(g.setup.Dataset.Docs, g.setup.Tokenizer)
	for _, s := range g.setup.Strategies {
		st := &searched{strategy: s, units: make([]unit, len(g.setup.Dataset.Queries))}
		g.searched = append(g.searched, st)
		err := g.cut(ctx, st)
		for i, q := range g.setup.Dataset.Queries {
			st.units[i].judged = evalkit.Judgments{Query: q, Texts: texts, Chunks: st.byDoc}
		}
		if err == nil {
			err = g.retrieveAll(ctx, st)
		}
		if ctx.Err() != nil {
			return g.interrupted(ctx)
		}
		var fatal *journalError
		if errors.As(err, &fatal) {
			return fatal.err
		}
		if err != nil {
			g.failAll(st, err)
		}
	}
	return nil
}

// journalError is an error of the run itself, not of a unit.
type journalError struct{ err error }

func (e *journalError) Error() string { return e.err.Error() }

func (g *group) failAll(st *searched, err error) {
	for i := range st.units {
		if u := &st.units[i]; !u.done {
			u.err, u.done = err, true
			g.failed.Add(1)
		}
	}
}

func (g *group) interrupted(ctx context.Context) error {
	finished, failed := int(g.finished.Load()), int(g.failed.Load())
	return &InterruptedError{finished, failed, g.total - finished - failed, context.Cause(ctx)}
}

// cut chunks all documents.
func (g *group) cut(ctx context.Context, st *searched) error {
	defer g.opt.Profile.track("chunk")()
	docs := g.setup.Dataset.Docs
	perDoc := make([][]evalkit.Chunk, len(docs))
	err := parallel(ctx, g.opt.Workers, len(docs), func(i int) error {
		chunks, err := st.strategy.Split(ctx, docs[i])
		if err == nil {
			err = checkChunks(docs[i], chunks)
		}
		if err != nil {
			return fmt.Errorf("strategy %s: document %q: %w", st.strategy, docs[i].ID, err)
		}
		perDoc[i] = chunks
		return nil
	})
	if err != nil {
		return err
	}
	st.byDoc = make(map[evalkit.DocID][]evalkit.Chunk, len(docs))
	for i, chunks := range perDoc {
		if len(chunks) == 0 {
			st.empty = append(st.empty, docs[i].ID)
		}
		st.byDoc[docs[i].ID] = chunks
		st.chunks = append(st.chunks, chunks...)
	}
	g.report(Progress{Stage: "chunk", What: st.strategy.String(), Done: len(g.searched), Total: len(g.setup.Strategies)})
	return nil
}

// checkChunks holds a strategy to the rules that everything after it builds on.
func checkChunks(doc evalkit.Document, chunks []evalkit.Chunk) error {
	for i, c := range chunks {
		if err := c.Span.Check(doc.Text); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
		switch {
		case c.Doc != doc.ID || c.Index != i:
			return fmt.Errorf("chunk %d: names itself %v", i, c.ID())
		case c.Text != doc.Text[c.Span.Start:c.Span.End]:
			return fmt.Errorf("chunk %d: text is not the document's text over %v", i, c.Span)
		case i > 0 && evalkit.CompareSpans(chunks[i-1].Span, c.Span) >= 0:
			return fmt.Errorf("chunk %d: %v does not come after %v", i, c.Span, chunks[i-1].Span)
		}
		for _, u := range c.Units {
			if !c.Span.Contains(u) || u.Check(doc.Text) != nil {
				return fmt.Errorf("chunk %d: unit %v is not a part of %v", i, u, c.Span)
			}
		}
	}
	return nil
}

// retrieveAll finds the hits of every query, from the journal where it has them.
func (g *group) retrieveAll(ctx context.Context, st *searched) (err error) {
	p, err := g.opt.Journal.open(g.pageKey(st))
	if err != nil {
		return &journalError{err}
	}
	defer func() {
		if cerr := p.close(); err == nil && cerr != nil {
			err = &journalError{cerr}
		}
	}()
	var missing []*unit
	for i := range st.units {
		u := &st.units[i]
		if !g.shard.has(i) {
			continue
		}
		if u.hits, u.done = p.hits(u.judged.Query.ID, g.depth, st.byDoc); u.done {
			st.restored++
			g.finished.Add(1)
			continue
		}
		missing = append(missing, u)
	}
	if len(missing) == 0 {
		return nil
	}
	r, err := g.index(ctx, st)
	if err != nil {
		return fmt.Errorf("strategy %s: %w", st.strategy, err)
	}
	if c, ok := r.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	defer g.opt.Profile.track("retrieve")()
	return parallel(ctx, g.opt.Workers, len(missing), func(i int) error {
		u := missing[i]
		hits, err := r.Retrieve(ctx, u.judged.Query, g.depth)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			err = checkHits(hits, st.byDoc)
		}
		u.hits, u.err, u.done = hits, err, true
		if err != nil {
			g.failed.Add(1)
			return nil
		}
		g.finished.Add(1)
		g.report(Progress{"retrieve", st.strategy.String(), int(g.finished.Load() + g.failed.Load()), g.total})
		if err := p.add(u.judged.Query.ID, g.depth, hits); err != nil {
			return &journalError{err}
		}
		return nil
	})
}

func (g *group) index(ctx context.Context, st *searched) (evalkit.Retriever, error) {
	defer g.opt.Profile.track("index")()
	g.report(Progress{Stage: "index", What: st.strategy.String(), Done: len(g.searched), Total: len(g.setup.Strategies)})
	r, err := g.setup.Indexer.Index(ctx, st.chunks)
	if v, ok := r.(interface{ Invalid() int }); ok && err == nil {
		st.invalid = v.Invalid()
	}
	return r, err
}

// checkHits holds a retriever to what the metrics build on: a chunk that came
// twice would count twice.
func checkHits(hits []evalkit.Hit, byDoc map[evalkit.DocID][]evalkit.Chunk) error {
	seen := make(map[evalkit.ChunkID]bool, len(hits))
	for i, h := range hits {
		if seen[h.Chunk.ID()] {
			return fmt.Errorf("hit %d is chunk %v, which was a hit before", i+1, h.Chunk.ID())
		}
		seen[h.Chunk.ID()] = true
		switch {
		case h.Rank != i+1:
			return fmt.Errorf("hit %d has rank %d", i+1, h.Rank)
		case h.Score-h.Score != 0:
			return fmt.Errorf("hit %d, chunk %v, has the score %v", i+1, h.Chunk.ID(), h.Score)
		case h.Chunk.Index < 0 || h.Chunk.Index >= len(byDoc[h.Chunk.Doc]):
			return fmt.Errorf("hit %d is chunk %v, which the strategy did not make", i+1, h.Chunk.ID())
		}
	}
	return nil
}

// pageKey identifies an index by its content: a strategy whose code changed
// under the same name does not find the old hits.
func (g *group) pageKey(st *searched) string {
	type piece struct {
		Doc    evalkit.DocID
		Span   evalkit.Span
		Text   string
		Header string
		Units  []evalkit.Span
	}
	pieces := make([]piece, len(st.chunks))
	for i, c := range st.chunks {
		pieces[i] = piece{c.Doc, c.Span, c.Text, c.Header, c.Units}
	}
	type question struct {
		ID   evalkit.QueryID
		Text string
	}
	type key struct {
		Indexer string
		Chunks  string
		Queries []question
		Gold    string
	}
	k := key{Indexer: evalkit.Fingerprint(g.setup.Indexer), Chunks: digest(pieces)}
	for _, u := range st.units {
		k.Queries = append(k.Queries, question{u.judged.Query.ID, u.judged.Query.Text})
	}
	// Note: an oracle ranks by the gold, so the gold is in the key.
	k.Gold = digest(g.setup.Dataset.Queries)
	return digest(k)
}

func (g *group) report(p Progress) {
	if g.opt.Progress == nil {
		return
	}
	g.progress.Lock()
	defer g.progress.Unlock()
	g.opt.Progress(p)
}
