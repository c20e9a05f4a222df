package server

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/answer"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/report"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// queryRequest is the body of POST /api/query. What is null or left out takes
// the server's default.
type queryRequest struct {
	Query        string  `json:"query"`
	Dataset      string  `json:"dataset"`
	Strategy     string  `json:"strategy"`
	Retriever    string  `json:"retriever"`
	Embedder     *string `json:"embedder"`
	TopK         *int    `json:"top_k"`
	NeighborPrev *int    `json:"neighbor_prev"`
	NeighborNext *int    `json:"neighbor_next"`
}

func (q *queryRequest) complete(d Defaults) {
	or := func(v **int, def int) {
		if *v == nil {
			*v = &def
		}
	}
	or(&q.TopK, d.TopK)
	or(&q.NeighborPrev, d.NeighborPrev)
	or(&q.NeighborNext, d.NeighborNext)
	for _, p := range []struct {
		v   *string
		def string
	}{{&q.Dataset, d.Dataset}, {&q.Strategy, d.Strategy}, {&q.Retriever, d.Retriever}} {
		if *p.v == "" {
			*p.v = p.def
		}
	}
	if q.Embedder == nil {
		q.Embedder = &d.Embedder
	}
}

func (q *queryRequest) check() error {
	switch {
	case strings.TrimSpace(q.Query) == "":
		return errors.New("query: empty")
	case *q.TopK < 1 || *q.TopK > maxTopK:
		return fmt.Errorf("top_k: %d: want 1 to %d", *q.TopK, maxTopK)
	case *q.NeighborPrev < 0 || *q.NeighborPrev > maxNeighbors:
		return fmt.Errorf("neighbor_prev: %d: want 0 to %d", *q.NeighborPrev, maxNeighbors)
	case *q.NeighborNext < 0 || *q.NeighborNext > maxNeighbors:
		return fmt.Errorf("neighbor_next: %d: want 0 to %d", *q.NeighborNext, maxNeighbors)
	}
	return nil
}

// query answers POST /api/query with an expand.Response, or, where HTML is
// asked for, with the same as a piece of a page.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	var q queryRequest
	if !read(w, r, &q) {
		return
	}
	q.complete(s.o.Defaults)
	if err := q.check(); err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	a, err := s.asker(ctx, q)
	var bad *badRequest
	switch {
	case errors.As(err, &bad):
		fail(w, http.StatusBadRequest, err)
		return
	case err != nil:
		s.unanswered(ctx, w, err)
		return
	}
	response, err := a.Ask(ctx, evalkit.Query{ID: "query", Text: q.Query}, *q.TopK, evalkit.Window{Prev: *q.NeighborPrev, Next: *q.NeighborNext})
	switch {
	case errors.Is(err, evalkit.ErrNoVector):
		fail(w, http.StatusUnprocessableEntity, err)
	case err != nil:
		s.unanswered(ctx, w, err)
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		html, err := fragment(ctx, response)
		if err != nil {
			s.internal(w, err)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(html))
	default:
		reply(w, http.StatusOK, response)
	}
}

// unanswered says why a question, asked with ctx, has no answer.
func (s *Server) unanswered(ctx context.Context, w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errStopped):
		fail(w, http.StatusServiceUnavailable, err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		fail(w, http.StatusServiceUnavailable, fmt.Errorf("no answer after %v: an index that is not built yet goes on being built; ask again", queryTimeout))
	case ctx.Err() != nil:
		fail(w, http.StatusServiceUnavailable, errors.New("given up by who asked")) // who is not there to read it
	default:
		s.internal(w, err)
	}
}

// fragment is a response as a piece of a page, with what a rule that needs no
// model answers from it.
func fragment(ctx context.Context, r *expand.Response) (template.HTML, error) {
	q := report.Question{Response: r}
	a, err := (answer.Extractive{Sentences: 1, MinMatch: 0.25}).Answer(ctx, answer.Prompt{Question: r.Query, Context: r.Context.Text})
	if err != nil {
		return "", err
	}
	q.Answer = &experiment.Answer{Text: a.Text, Abstained: a.Abstained}
	return q.Fragment()
}

// badRequest is an error that the caller can mend.
type badRequest struct{ error }

func (e *badRequest) Unwrap() error { return e.error }

// config makes a configuration of one strategy.
func (s *Server) config(q queryRequest) (*wire.Config, error) {
	dir, err := s.folder(q.Dataset)
	if err != nil {
		return nil, err
	}
	c := &wire.Config{Dataset: wire.Value{Text: dir}, Strategies: []wire.Value{{Text: q.Strategy}}, Scalar: map[string]wire.Value{"retriever": {Text: q.Retriever}}}
	if *q.Embedder != "" {
		c.Scalar["embedder"] = wire.Value{Text: *q.Embedder}
	}
	return c, s.allowed(c)
}

// folder returns the folder of a data set that the owner listed.
func (s *Server) folder(name string) (string, error) {
	dir, ok := s.o.Datasets[name]
	if !ok {
		return "", &badRequest{fmt.Errorf("dataset %q: not served; there are %s; serve it with evalkit serve --dataset DIR, or as the dataset of --config FILE", name, evalkit.QuoteList(names(s.o.Datasets)))}
	}
	return dir, nil
}

func names(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// asker returns the index that q asks.
func (s *Server) asker(ctx context.Context, q queryRequest) (*wire.Asker, error) {
	c, err := s.config(q)
	if err != nil {
		return nil, err
	}
	groups, err := s.o.Lab.Groups(c)
	if err != nil {
		return nil, &badRequest{err}
	}
	return s.askers.get(ctx, groups[0].Fingerprint(0), func(ctx context.Context) (*wire.Asker, error) { return groups[0].Asker(ctx, 0) })
}
