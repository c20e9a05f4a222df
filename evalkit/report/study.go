package report

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// A Study is Experiments of one data set, looked at together: what a report is
// made of.
type Study struct {
	Experiments    []*Entry // without gaps
	Comparison     *compare.Comparison
	Recommendation *compare.Recommendation
	Dataset        *evalkit.Dataset // of the first Experiment
	options        compare.Options
}

// An Entry is one Experiment of a Study.
type Entry struct {
	experiment.Record
	Badge    Badge
	Overview *experiment.Result
	Source   experiment.Source
	Looks    []*Look // per strategy; nil until they are computed

	once   sync.Once
	err    error
	ds     *evalkit.Dataset
	loaded *compare.Loaded
}

// newEntry opens an Experiment.
func newEntry(src experiment.Source) (*Entry, error) {
	overview, err := src.Overview()
	if err != nil {
		return nil, err
	}
	return &Entry{Record: overview.Record, Badge: badgeOf(overview.Record), Overview: overview, Source: src}, nil
}

// load reads every strategy of x, once: its values and its decision aids.
func (x *Entry) load(o compare.Options) (*compare.Loaded, error) {
	x.once.Do(func() { x.err = x.read(o) })
	return x.loaded, x.err
}

func (x *Entry) read(o compare.Options) error {
	ds, err := x.Source.Dataset()
	if err != nil {
		return err
	}
	x.ds, x.loaded = ds, compare.NewLoaded(x.Record)
	for i, e := range x.Effective {
		st, err := x.Source.Strategy(i)
		if err != nil {
			return err
		}
		x.loaded.Add(st, ds.Queries, o)
		x.Looks = append(x.Looks, x.look(e, st, o))
	}
	return nil
}

// look computes the decision aids of one strategy.
func (x *Entry) look(e experiment.Effective, st *experiment.StrategyResult, o compare.Options) *Look {
	look := &Look{Strategy: e.Strategy, Window: st.Window, Chunks: e.Chunks}
	if len(x.ds.Docs) == 0 {
		look.Err = errors.New("a baseline file holds no documents")
		return look
	}
	l, err := compare.NewLook(x.Record, st, x.ds)
	if err != nil {
		look.Err = err
		return look
	}
	if l.N() == 0 {
		look.Err = errors.New("no question with gold was answered")
		return look
	}
	look.Curves = []*compare.Curve{l.Curve(evalkit.Window{}, o)}
	if st.Window != (evalkit.Window{}) {
		look.Curves = append(look.Curves, l.Curve(st.Window, o))
	}
	for _, c := range look.Curves {
		look.Budgets = append(look.Budgets, newBudgetRow(c, o))
	}
	look.Attribution, look.Placebo = l.Attribution(), l.Placebo(o)
	look.Waterfall, look.Boundary = l.Waterfall(), l.Boundary()
	return look
}

// A Look holds the decision aids of one strategy.
type Look struct {
	Strategy    string
	Window      evalkit.Window
	Chunks      experiment.ChunkStats
	Curves      []*compare.Curve // ±0/0, and the window in force if it is another
	Budgets     []budgetRow      // recall at equal tokens, a row per curve
	Attribution []compare.Share
	Placebo     *compare.Placebo // nil without neighbors
	Waterfall   compare.Waterfall
	Boundary    compare.Boundary
	Err         error // why there are no aids: a tokenizer of a notebook
}

// NewStudy loads and compares Experiments; the first is the baseline.
func NewStudy(in []compare.Input, margin float64, o compare.Options) (*Study, error) {
	s := &Study{options: o}
	var all []*compare.Loaded
	for _, in := range in {
		if in.Gap != "" {
			l, err := compare.Load(in, o)
			if err != nil {
				return nil, err
			}
			all = append(all, l)
			continue
		}
		x, err := newEntry(in.Source)
		if err != nil {
			return nil, err
		}
		l, err := x.load(o)
		if err != nil {
			return nil, err
		}
		all, s.Experiments = append(all, l), append(s.Experiments, x)
	}
	return s, s.complete(all, margin)
}

// complete compares what was loaded.
func (s *Study) complete(all []*compare.Loaded, margin float64) (err error) {
	if s.Comparison, err = compare.New(all, s.options); err != nil {
		return err
	}
	s.Dataset = s.Experiments[0].ds
	s.Recommendation = compare.Recommend(s.different(), margin, s.options)
	return nil
}

// different returns the arms that are not the same setting again: a strategy
// that does not expand is equal in Experiments that differ in the window alone.
func (s *Study) different() []*compare.Arm {
	seen := map[string]bool{}
	var out []*compare.Arm
	for _, a := range s.Comparison.Arms {
		for _, c := range s.Comparison.Columns {
			if c.ID != a.Experiment {
				continue
			}
			parts := []string{a.Strategy, a.Window.String()}
			for _, x := range c.Axes {
				if x.Name != compare.AxisNeighbors {
					parts = append(parts, x.Value)
				}
			}
			if key := strings.Join(parts, "\n"); !seen[key] {
				seen[key] = true
				out = append(out, a)
			}
		}
	}
	return out
}

// opened is one strategy with all that its questions need.
type opened struct {
	entry    *Entry
	strategy int
	result   *experiment.StrategyResult
	queries  []evalkit.Query
	texts    *evalkit.Texts
}

// dataset returns the documents and questions, from memory if they were read.
func (x *Entry) dataset() (*evalkit.Dataset, error) {
	if x.ds != nil {
		return x.ds, nil
	}
	return x.Source.Dataset()
}

// open reads strategy i of x.
func (x *Entry) open(i int) (*opened, error) {
	ds, err := x.dataset()
	if err != nil {
		return nil, err
	}
	tok, err := token.Parse(x.Spec.Tokenizer)
	if err != nil {
		return nil, fmt.Errorf("experiment %q: %w", x.ID, err)
	}
	st, err := x.Source.Strategy(i)
	if err != nil {
		return nil, err
	}
	return &opened{x, i, st, ds.Queries, evalkit.NewTexts(ds.Docs, tok)}, nil
}

// question returns what was stored for query i.
func (o *opened) question(i int) Question {
	return NewQuestion(o.entry.Record, o.result, o.queries[i], &o.result.Queries[i], o.texts)
}

// Question returns what strategy i of x stored for a query.
func (x *Entry) Question(i int, id evalkit.QueryID) (Question, error) {
	o, err := x.open(i)
	if err != nil {
		return Question{}, err
	}
	for j, q := range o.queries {
		if q.ID == id {
			return o.question(j), nil
		}
	}
	return Question{}, fmt.Errorf("experiment %q has no query %q", x.ID, id)
}

// Curves returns the curves of recall against tokens of all strategies, each
// once, with the retriever of each.
func (s *Study) Curves() (curves []*compare.Curve, retrievers []string) {
	for _, c := range curvesOf(s.Experiments) {
		curves, retrievers = append(curves, c.Curve), append(retrievers, c.Retriever)
	}
	return curves, retrievers
}
