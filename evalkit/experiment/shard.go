package experiment

import (
	"context"
	"errors"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Shard is one of N disjoint parts of the units of a run: every N-th query of
// every strategy, from query I. The zero value is all of them.
type Shard struct {
	I int `json:"shard"` // from 1
	N int `json:"of"`
}

func (s Shard) has(query int) bool { return s.N == 0 || query%s.N == s.I-1 }

// Search does the part of a group's work that can be split: it searches the
// queries of a shard and keeps their hits in o.Journal. A Run whose journal holds
// what all shards found searches nothing more, and gives what it would have
// given alone. Of the Counts it fills Units, Failed and NoVector; units that
// failed are not kept, so that Run tries them again.
func Search(ctx context.Context, s Setup, settings []Setting, o Options, shard Shard) (Counts, error) {
	g := newGroup(s, settings, o)
	g.shard = shard
	n := 0
	for i := range s.Dataset.Queries {
		if shard.has(i) {
			n++
		}
	}
	g.total = n * len(s.Strategies)
	err := g.search(ctx)
	c := Counts{Units: g.total, Failed: g.total - int(g.finished.Load())}
	for _, st := range g.searched {
		for i, u := range st.units {
			if shard.has(i) && errors.Is(u.err, evalkit.ErrNoVector) {
				c.NoVector++
			}
		}
	}
	return c, err
}

// Known counts the units whose hits are all in o.Journal already.
func Known(ctx context.Context, s Setup, settings []Setting, o Options) (known, total int, err error) {
	g := newGroup(s, settings, o)
	for _, strategy := range s.Strategies {
		st := &searched{strategy: strategy, units: make([]unit, len(s.Dataset.Queries))}
		if err := g.cut(ctx, st); err != nil {
			return 0, g.total, err
		}
		for i, q := range s.Dataset.Queries {
			st.units[i].judged.Query = q
		}
		p, err := g.opt.Journal.open(g.pageKey(st))
		if err != nil {
			return 0, g.total, err
		}
		for i := range st.units {
			if _, ok := p.hits(st.units[i].judged.Query.ID, g.depth, st.byDoc); ok {
				known++
			}
		}
		if err := p.close(); err != nil {
			return 0, g.total, err
		}
	}
	return known, g.total, nil
}
