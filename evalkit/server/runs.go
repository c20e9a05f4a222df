package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// maxRuns is the number of runs at work at one time; each uses every core.
const maxRuns = 2

// keptRuns is the number of runs that are remembered.
const keptRuns = 100

// A runState is what is known of a run.
type runState struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	State       string   `json:"state"` // running, done, failed or cancelled
	Stage       string   `json:"stage,omitempty"`
	What        string   `json:"what,omitempty"`
	Done        int      `json:"done"`
	Total       int      `json:"total"`
	Experiments []string `json:"experiments"`
	Error       string   `json:"error,omitempty"`
}

// runs are those since the server started.
type runs struct {
	mu     sync.Mutex
	all    []*run
	next   int
	wg     sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

type run struct {
	state   runState
	cancel  context.CancelFunc
	changed chan struct{} // closed and replaced at every change
}

func (r *runs) init() { r.ctx, r.cancel = context.WithCancel(context.Background()) }

func (r *runs) close() {
	r.cancel()
	r.wg.Wait()
}

var errBusy = fmt.Errorf("%d runs are at work already; wait, or cancel one", maxRuns)

// start begins f in the background.
func (r *runs) start(name string, f func(ctx context.Context, progress func(experiment.Progress)) ([]string, error)) (runState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	working := 0
	for _, x := range r.all {
		if x.state.State == "running" {
			working++
		}
	}
	if working >= maxRuns {
		return runState{}, errBusy
	}
	r.next++
	ctx, cancel := context.WithCancel(r.ctx)
	x := &run{state: runState{ID: strconv.Itoa(r.next), Name: name, State: "running", Experiments: []string{}}, cancel: cancel, changed: make(chan struct{})}
	r.all = append(r.all, x)
	if len(r.all) > keptRuns && r.all[0].state.State != "running" {
		r.all = r.all[1:]
	}
	r.wg.Go(func() {
		defer cancel()
		ids, err := f(ctx, func(p experiment.Progress) {
			r.change(x, func(s *runState) { s.Stage, s.What, s.Done, s.Total = p.Stage, p.What, p.Done, p.Total })
		})
		r.change(x, func(s *runState) { s.finish(ids, err, ctx.Err()) })
	})
	return x.state, nil
}

func (s *runState) finish(ids []string, err, stopped error) {
	if ids != nil {
		s.Experiments = ids
	}
	switch {
	case err == nil:
		s.State = "done"
	case stopped != nil:
		s.State, s.Error = "cancelled", err.Error()
	default:
		s.State, s.Error = "failed", err.Error()
	}
}

func (r *runs) change(x *run, f func(*runState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&x.state)
	close(x.changed)
	x.changed = make(chan struct{})
}

func (r *runs) list() []runState {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []runState{}
	for _, x := range r.all {
		out = append(out, x.state)
	}
	return out
}

// get returns a run's state and what is closed when it changes.
func (r *runs) get(id string) (*run, runState, <-chan struct{}, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.all {
		if x.state.ID == id {
			return x, x.state, x.changed, true
		}
	}
	return nil, runState{}, nil, false
}

// start answers POST /api/experiments, whose body is a configuration as JSON; its
// dataset is a name that the server knows.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	c, err := s.readConfig(r)
	if err != nil {
		failBody(w, err)
		return
	}
	if _, err := s.o.Lab.Groups(c); err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	state, err := s.runs.start(c.Name.Text, func(ctx context.Context, progress func(experiment.Progress)) ([]string, error) {
		return s.o.Run(ctx, c, progress)
	})
	if err != nil {
		fail(w, http.StatusTooManyRequests, err)
		return
	}
	w.Header().Set("Location", "/api/runs/"+state.ID+"/events")
	reply(w, http.StatusAccepted, state)
}

// readConfig reads a configuration and holds it to what requests may name.
func (s *Server) readConfig(r *http.Request) (*wire.Config, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	c, err := wire.ParseConfig("request.json", body, "/")
	if err != nil {
		return nil, err
	}
	// A relative name was put below "/".
	if c.Dataset.Text, err = s.folder(c.Dataset.Text[1:]); err != nil {
		return nil, err
	}
	return c, s.allowed(c)
}

// example is a configuration to begin with.
func (s *Server) example() string {
	b, err := json.MarshalIndent(map[string]any{
		"name": "from the dashboard", "dataset": s.o.Defaults.Dataset, "strategies": []string{s.o.Defaults.Strategy},
		"retriever": s.o.Defaults.Retriever, "top_k": s.o.Defaults.TopK,
		"neighbor_prev": s.o.Defaults.NeighborPrev, "neighbor_next": s.o.Defaults.NeighborNext,
	}, "", "  ")
	if err != nil {
		return "{}"
	}
	return string(b)
}

func (s *Server) listRuns(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.runs.list())
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	x, _, _, ok := s.runs.get(r.PathValue("id"))
	if !ok {
		fail(w, http.StatusNotFound, fmt.Errorf("no run %q", r.PathValue("id")))
		return
	}
	x.cancel()
	w.WriteHeader(http.StatusNoContent)
}

// keepAlive is how often a comment is sent, so that a broken connection is noticed.
const keepAlive = 15 * time.Second

// events sends the state of a run at every change, until it has ended.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	_, state, changed, ok := s.runs.get(r.PathValue("id"))
	if !ok {
		fail(w, http.StatusNotFound, fmt.Errorf("no run %q", r.PathValue("id")))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	_ = flush.SetWriteDeadline(time.Time{}) // a run takes as long as it takes
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		b, err := json.Marshal(state)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", b); err != nil || flush.Flush() != nil || state.State != "running" {
			return
		}
	wait:
		for {
			select {
			case <-r.Context().Done():
				return
			case <-alive.C:
				if _, err := io.WriteString(w, ": still here\n\n"); err != nil || flush.Flush() != nil {
					return
				}
			case <-changed:
				break wait
			}
		}
		_, state, changed, _ = s.runs.get(state.ID)
	}
}
