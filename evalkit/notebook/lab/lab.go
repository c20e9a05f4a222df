// Package lab runs Experiments from the cells of a notebook: a configuration as
// text, beside it strategies that the notebook itself defines. It keeps nothing but
// a cache, and it shows nothing but the progress; packages notebook and
// notebook/results do.
//
// Paths are relative to the notebook's folder. An error ends the cell. Every cell
// is a program of its own, so results do not live from one cell to the next: a cell
// that needs them runs them again, which is quick, since hits and vectors are kept
// by their content in the cache folder. That is evalkit in the user's cache folder,
// or what the variable EVALKIT_CACHE names.
package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/notebook"
	"github.com/chunkeval/chunkeval/evalkit/report"
	"github.com/chunkeval/chunkeval/evalkit/token"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// Run runs the Experiments of a configuration, written as wire.Config says, and
// returns them in its order. own are strategies that are run beside those that it
// names.
func Run(config string, own ...evalkit.Strategy) []*experiment.Result {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, done := notebook.Progress()
	results, err := run(ctx, config, own, report)
	done()
	return notebook.Must(results, err)
}

// One is Run for a configuration of one Experiment.
func One(config string, own ...evalkit.Strategy) *experiment.Result {
	all := Run(config, own...)
	if len(all) != 1 {
		notebook.Check(fmt.Errorf("the configuration gives %d Experiments, and one is wanted", len(all)))
	}
	return all[0]
}

// Dataset loads the data set in a folder.
func Dataset(dir string) *evalkit.Dataset { return notebook.Must(dataset.Load(dir)) }

// Strategy returns the strategy that s names, with tokens of wire.DefaultTokenizer.
// One that needs an embedder or a model can only be run.
func Strategy(s string) evalkit.Strategy {
	tok := notebook.Must(token.Parse(wire.DefaultTokenizer))
	return notebook.Must(chunk.Parse(s, chunk.Env{Tokenizer: tok}))
}

// Split cuts a document.
func Split(s evalkit.Strategy, doc evalkit.Document) []evalkit.Chunk {
	return notebook.Must(s.Split(context.Background(), doc))
}

// Chunks makes chunks of the spans that a strategy of a notebook found in doc, in
// their order, with tokens of wire.DefaultTokenizer.
func Chunks(doc evalkit.Document, spans []evalkit.Span) []evalkit.Chunk {
	tok := notebook.Must(token.Parse(wire.DefaultTokenizer))
	out := make([]evalkit.Chunk, len(spans))
	for i, s := range spans {
		text := doc.Text[s.Start:s.End]
		out[i] = evalkit.Chunk{Doc: doc.ID, Index: i, Span: s, Text: text, Tokens: tok.Count(text)}
	}
	return out
}

// Asker returns what notebook.Ask needs to retrieve by the strategies of a
// configuration, and their names. A question of the data set brings its gold.
func Asker(config string, own ...evalkit.Strategy) (notebook.Answer, []string) {
	l, groups, err := open(config, own)
	notebook.Check(err)
	g := groups[0]
	b := &bench{lab: l, group: g, texts: evalkit.NewTexts(g.Setup.Dataset.Docs, g.Setup.Tokenizer), askers: map[int]*wire.Asker{}}
	return b.ask, g.Specs[0].Strategies
}

func run(ctx context.Context, config string, own []evalkit.Strategy, progress func(experiment.Progress)) (all []*experiment.Result, err error) {
	l, groups, err := open(config, own)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	opt := experiment.Options{Journal: l.Journal(), Progress: progress}
	for _, g := range groups {
		start, n := time.Now(), 0
		for r, err := range experiment.Run(ctx, g.Setup, g.Settings, opt) {
			if err != nil {
				return nil, err
			}
			complete(&r.Record, g, n, start)
			all, n = append(all, r), n+1
		}
	}
	return all, nil
}

// complete fills what the runner does not know.
func complete(rec *experiment.Record, g *wire.Group, i int, start time.Time) {
	rec.Spec, rec.Fingerprint, rec.Components = g.Specs[i], g.Fingerprint(i), g.Components
	rec.Provenance.Started = start.UTC().Format(time.RFC3339)
	rec.Provenance.Seconds = time.Since(start).Seconds()
	rec.Provenance.Go, rec.Provenance.Workers = runtime.Version(), runtime.GOMAXPROCS(0)
}

// open reads a configuration and adds own to the strategies of every group.
func open(config string, own []evalkit.Strategy) (*wire.Lab, []*wire.Group, error) {
	c, err := wire.ParseConfig("notebook", []byte(config), ".")
	if err != nil {
		return nil, nil, err
	}
	dir, err := cacheDir()
	if err != nil {
		return nil, nil, err
	}
	l := &wire.Lab{CacheDir: dir}
	groups, err := l.Groups(c)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range groups {
		if err := add(g, own); err != nil {
			return nil, nil, err
		}
	}
	return l, groups, nil
}

func add(g *wire.Group, own []evalkit.Strategy) error {
	for _, s := range own {
		if slices.ContainsFunc(g.Setup.Strategies, func(t evalkit.Strategy) bool { return t.String() == s.String() }) {
			return fmt.Errorf("strategy %s: named twice", s)
		}
		g.Setup.Strategies = append(g.Setup.Strategies, s)
		g.Components["strategy "+s.String()] = evalkit.Fingerprint(s)
		for i := range g.Specs {
			g.Specs[i].Strategies = append(slices.Clone(g.Specs[i].Strategies), s.String())
		}
	}
	return nil
}

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	dir := cmp.Or(os.Getenv("EVALKIT_CACHE"), filepath.Join(base, "evalkit"))
	if dir == "evalkit" {
		return "", fmt.Errorf("cache folder: %w; name one in EVALKIT_CACHE", err)
	}
	return dir, nil
}

// bench answers questions over the strategies of a group, each indexed when it is
// first asked for.
type bench struct {
	lab   *wire.Lab
	group *wire.Group
	texts *evalkit.Texts

	mu     sync.Mutex
	askers map[int]*wire.Asker
}

func (b *bench) ask(ctx context.Context, a notebook.Asking) (*expand.Response, []report.Gold, error) {
	i := slices.Index(b.group.Specs[0].Strategies, a.Strategy)
	if i < 0 {
		return nil, nil, fmt.Errorf("no strategy %q; there are %q", a.Strategy, b.group.Specs[0].Strategies)
	}
	asker, err := b.asker(ctx, i)
	if err != nil {
		return nil, nil, err
	}
	q := evalkit.Query{Text: a.Question}
	for _, known := range b.group.Setup.Dataset.Queries {
		if known.Text == a.Question {
			q = known
		}
	}
	r, err := asker.Ask(ctx, q, a.TopK, evalkit.Window{Prev: a.NeighborPrev, Next: a.NeighborNext})
	return r, report.GoldOf(q, b.texts), err
}

func (b *bench) asker(ctx context.Context, i int) (*wire.Asker, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.askers[i]; a != nil {
		return a, nil
	}
	a, err := b.group.Asker(ctx, i)
	if err == nil {
		b.askers[i] = a
	}
	return a, err
}
