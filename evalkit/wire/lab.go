package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/answer"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
	"github.com/chunkeval/chunkeval/evalkit/embed"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/metric"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// The settings in force where nothing is given.
const (
	DefaultTokenizer  = "cl100k"
	DefaultRetriever  = "hybrid"
	DefaultTopK       = 5
	DefaultCandidates = 20
	DefaultSeed       = 1
)

// A Lab builds components. Those that it built for one data set are shared:
// an embedder is fitted once. It is safe for concurrent use.
type Lab struct {
	// CacheDir holds vectors, chunks of costly strategies, and hits, all named
	// by their content. Empty: nothing is kept.
	CacheDir string
	// Embedders are known beside those of package embed.
	Embedders []EmbedderKind

	mu        sync.Mutex
	datasets  map[string]*evalkit.Dataset
	caches    []*embed.Cache
	opened    []io.Closer
	embedders map[string]evalkit.Embedder
	chats     map[string]llm.Chatter
	spent     []*account
}

// A Group is the Experiments of a Config that share all components.
type Group struct {
	Setup    experiment.Setup
	Specs    []experiment.Spec // one per Experiment
	Settings []experiment.Setting
	Embedder evalkit.Embedder // the experiment's, whether or not it is used
	// Components are the fingerprints by role.
	Components map[string]string

	answerSpec answer.Spec       // nil: nothing is answered
	judgeSpec  *answer.JudgeSpec // nil: there is no judge
}

// Fingerprint identifies Experiment i of the group: its Spec without the name,
// the data set and every component.
func (g *Group) Fingerprint(i int) string {
	s := g.Specs[i]
	s.Name = ""
	h := sha256.New()
	fmt.Fprintf(h, "%+v\n%s\n", s, g.Setup.Dataset.Fingerprint)
	for _, role := range sortedKeys(g.Components) {
		fmt.Fprintf(h, "%s=%s\n", role, g.Components[role])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Journal returns the journal of searched queries; nil without a CacheDir.
func (l *Lab) Journal() *experiment.Journal {
	if l.CacheDir == "" {
		return nil
	}
	return experiment.NewJournal(filepath.Join(l.CacheDir, "hits"))
}

// Close writes what the caches of vectors still hold and closes embedders.
func (l *Lab) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, c := range l.caches {
		errs = append(errs, c.Close())
	}
	for _, c := range l.opened {
		errs = append(errs, c.Close())
	}
	l.caches, l.opened, l.embedders = nil, nil, nil
	return errors.Join(errs...)
}

// Groups builds everything that c names and unfolds its sweep. Nothing is
// computed yet: a bad setting is found before any work starts.
func (l *Lab) Groups(c *Config) ([]*Group, error) {
	if err := c.refuseSecrets(); err != nil {
		return nil, err
	}
	if err := c.refuseBeside(); err != nil {
		return nil, err
	}
	ds, err := l.dataset(c.Dataset)
	if err != nil {
		return nil, err
	}
	if ds, err = selectQueries(ds, c.Queries); err != nil {
		return nil, err
	}
	var groups []*Group
	known := seen[string]{}
	for _, outer := range unfold(c.Sweep, false) {
		d := draft{config: c, values: override(c.Scalar, outer), varied: describe(outer)}
		g, err := l.group(ds, d)
		if err != nil {
			return nil, err
		}
		if err := known.add(g.identity(), outer); err != nil {
			return nil, err
		}
		settings := seen[experiment.Setting]{}
		for i, inner := range unfold(c.Sweep, true) {
			if err := g.addSetting(draft{config: c, values: override(d.values, inner), varied: append(slices.Clone(d.varied), describe(inner)...)}); err != nil {
				return nil, err
			}
			if err := settings.add(g.Settings[i], inner); err != nil {
				return nil, err
			}
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func (l *Lab) dataset(v Value) (*evalkit.Dataset, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ds, ok := l.datasets[v.Text]; ok {
		return ds, nil
	}
	ds, err := dataset.Load(v.Text)
	if err != nil {
		return nil, v.At(err)
	}
	if l.datasets == nil {
		l.datasets = map[string]*evalkit.Dataset{}
	}
	l.datasets[v.Text] = ds
	return ds, nil
}

// Dataset loads the data set in dir, once.
func (l *Lab) Dataset(dir string) (*evalkit.Dataset, error) { return l.dataset(Value{Text: dir}) }

// group builds the components of d.
func (l *Lab) group(ds *evalkit.Dataset, d draft) (*Group, error) {
	g := &Group{Components: map[string]string{"dataset": ds.Fingerprint}}
	spec := experiment.Spec{Dataset: ds.Name}
	set := experiment.Setup{Dataset: ds, Expander: expand.Neighbors{}}
	seed, err := d.number("seed", DefaultSeed, 0)
	if err != nil {
		return nil, err
	}
	spec.Seed = uint64(seed)

	if set.Tokenizer, err = token.Parse(d.text("tokenizer", DefaultTokenizer)); err != nil {
		return nil, d.values["tokenizer"].At(err)
	}
	spec.Tokenizer = set.Tokenizer.String()
	analyzer, err := retrieve.NewAnalyzer(d.text("analyzer", analyzerOf(ds)))
	if err != nil {
		return nil, d.values["analyzer"].At(err)
	}
	spec.Analyzer = analyzer.String()
	embedder := l.embedderFor(ds, analyzer, seed)
	main, err := embedder(d.text("embedder", ""))
	if err != nil {
		return nil, d.values["embedder"].At(err)
	}
	retriever, err := retrieverExpr(d)
	if err != nil {
		return nil, err
	}
	if set.Indexer, err = retrieve.Parse(retriever, retrieve.Env{Analyzer: analyzer, Embedder: main}); err != nil {
		return nil, d.values["retriever"].At(err)
	}
	spec.Retriever = set.Indexer.String()
	used := usesEmbedder(spec.Retriever)

	env := chunk.Env{Tokenizer: set.Tokenizer, Embedder: func(s string) (evalkit.Embedder, error) {
		used = used || s == ""
		if s == "" {
			return main, nil
		}
		return embedder(s)
	}, Chat: func(s string) (chunk.Chat, error) { return llm.ParseModel(s, l.chat("chunker")) }}
	for _, v := range d.config.Strategies {
		s, err := chunk.Parse(v.Text, env)
		if err != nil {
			return nil, v.At(err)
		}
		if slices.ContainsFunc(set.Strategies, func(t evalkit.Strategy) bool { return t.String() == s.String() }) {
			return nil, v.At(fmt.Errorf("strategy %s: listed twice", s))
		}
		set.Strategies = append(set.Strategies, l.cached(s))
		spec.Strategies = append(spec.Strategies, s.String())
		g.Components["strategy "+s.String()] = evalkit.Fingerprint(s)
	}
	if used {
		set.Inspect = unread(main)
		spec.Embedder = main.String()
		g.Components["embedder"] = evalkit.Fingerprint(main)
	}
	if set.Metrics, err = metrics(d.config.Metrics); err != nil {
		return nil, err
	}
	for _, m := range set.Metrics {
		spec.Metrics = append(spec.Metrics, m.String())
	}
	if err := l.answering(g, d, &spec, &set); err != nil {
		return nil, err
	}
	g.Components["tokenizer"] = evalkit.Fingerprint(set.Tokenizer)
	g.Components["retriever"] = evalkit.Fingerprint(set.Indexer)
	g.Setup, g.Specs, g.Embedder = set, []experiment.Spec{spec}, main
	return g, nil
}

func analyzerOf(ds *evalkit.Dataset) string {
	if ds.Analyzer != "" {
		return ds.Analyzer
	}
	return retrieve.AnalyzerFor(ds.Language)
}

// retrieverExpr joins the keys retriever and fusion.
func retrieverExpr(d draft) (string, error) {
	text := d.text("retriever", DefaultRetriever)
	fusion, ok := d.values["fusion"]
	if !ok {
		return text, nil
	}
	e, err := evalkit.ParseExpr(text)
	if err != nil {
		return "", d.values["retriever"].At(err)
	}
	if e.Name != "hybrid" {
		return "", fusion.At(fmt.Errorf("retriever %s does not fuse; only hybrid does", e.Name))
	}
	if slices.ContainsFunc(e.Args, func(a evalkit.Arg) bool { return a.Key == "fusion" }) {
		return "", fusion.At(errors.New("given here and in retriever"))
	}
	e.Args = append(e.Args, evalkit.Arg{Key: "fusion", Value: fusion.Text})
	return e.String(), nil
}

func usesEmbedder(retriever string) bool {
	name, _, _ := strings.Cut(retriever, "(")
	return name == "dense" || name == "hybrid"
}

func metrics(values []Value) ([]evalkit.Metric, error) {
	if len(values) == 0 {
		return metric.Defaults(), nil
	}
	var out []evalkit.Metric
	for _, v := range values {
		m, err := metric.Parse(v.Text)
		if err != nil {
			return nil, v.At(err)
		}
		if slices.ContainsFunc(out, func(o evalkit.Metric) bool { return o.String() == m.String() }) {
			return nil, v.At(fmt.Errorf("metric %s: listed twice", m))
		}
		out = append(out, m)
	}
	return out, nil
}

// embedderFor returns what parses embedders for a data set; the empty string
// means the default. An embedder is made once and fitted when it is first used.
func (l *Lab) embedderFor(ds *evalkit.Dataset, a evalkit.Analyzer, seed int) func(string) (evalkit.Embedder, error) {
	return func(s string) (evalkit.Embedder, error) {
		if s == "" {
			s = fmt.Sprintf("lsa(dim=256,seed=%d)", seed)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		key := ds.Fingerprint + " " + a.String() + " " + s
		if e, ok := l.embedders[key]; ok {
			return e, nil
		}
		e, err := l.openEmbedder(s, ds, a)
		if err != nil {
			return nil, err
		}
		if l.CacheDir != "" {
			cache, err := embed.NewCache(e, filepath.Join(l.CacheDir, "vectors"))
			if err != nil {
				return nil, err
			}
			l.caches = append(l.caches, cache)
			e = cache.Embedder()
		}
		if l.embedders == nil {
			l.embedders = map[string]evalkit.Embedder{}
		}
		l.embedders[key] = e
		return e, nil
	}
}

// cached returns s with its chunks kept on disk where cutting is costly.
func (l *Lab) cached(s evalkit.Strategy) evalkit.Strategy {
	if name, _, _ := strings.Cut(s.String(), "("); l.CacheDir == "" || !strings.Contains(name, "semantic") && name != "contextual" {
		return s
	}
	return chunkCache{s, filepath.Join(l.CacheDir, "chunks")}
}
