package server

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/report"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

//go:embed openapi.json
var openAPI []byte

// Limits of a request.
const (
	maxBody      = 1 << 20          // bytes
	queryTimeout = 60 * time.Second // the first question over a data set builds its index
	maxTopK      = 1000
	maxNeighbors = 100
	maxPages     = 64 // kept in memory
)

// Options say what a Server serves.
type Options struct {
	// Sources returns the stored Experiments in the order of the list, and what
	// could not be read.
	Sources func() ([]compare.Input, []string)
	// Run runs a configuration, stores its Experiments and returns their ids.
	Run func(ctx context.Context, c *wire.Config, progress func(experiment.Progress)) ([]string, error)
	Lab *wire.Lab
	// Datasets are the folders that requests may use, by name.
	Datasets map[string]string
	// Defaults hold what a request leaves out: top_k, neighbor_prev,
	// neighbor_next, retriever, strategy, dataset.
	Defaults Defaults
	// Embedders that requests may name beside lsa and hash.
	Embedders []string
	// Config names further components that requests may name; nil: none. So do
	// Defaults. All other components that read files or call hosts are refused.
	Config *wire.Config
	// Hosts are the host names that requests may be addressed to; empty allows
	// loopback names only.
	Hosts []string
	Log   *slog.Logger // nil: silent
}

// Defaults are used where a request names nothing.
type Defaults struct {
	Dataset      string `json:"dataset"`
	Strategy     string `json:"strategy"`
	Retriever    string `json:"retriever"`
	Embedder     string `json:"embedder,omitempty"`
	TopK         int    `json:"top_k"`
	NeighborPrev int    `json:"neighbor_prev"`
	NeighborNext int    `json:"neighbor_next"`
}

// A Server is an http.Handler. Close it to stop its runs.
type Server struct {
	o      Options
	mux    http.Handler
	named  named
	askers askers
	runs   runs

	mu    sync.Mutex
	site  *report.Site
	state string            // of the Experiments that site was made of
	pages map[string][]byte // of site, those that take long to make
}

// New returns a Server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, named: ownerNamed(o), askers: askers{known: map[string]*asking{}}}
	s.runs.init()
	s.askers.ctx = s.runs.ctx
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/query", s.query)
	mux.HandleFunc("GET /api/experiments", s.experiments)
	mux.HandleFunc("POST /api/experiments", s.start)
	mux.HandleFunc("GET /api/runs", s.listRuns)
	mux.HandleFunc("GET /api/runs/{id}/events", s.events)
	mux.HandleFunc("DELETE /api/runs/{id}", s.cancel)
	mux.HandleFunc("GET /api/compare", s.compare)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI)
	})
	mux.HandleFunc("GET /", s.page)
	csrf := http.NewCrossOriginProtection()
	csrf.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusForbidden, errors.New("requests of pages of other origins are refused; send it from this server's pages, or from a program"))
	}))
	s.mux = csrf.Handler(unmatched(mux))
	return s
}

// Close cancels all runs and the building of indexes, and waits for them.
func (s *Server) Close() {
	s.runs.close()
	s.askers.close()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	// Charts set styles on their elements; scripts come from files only.
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if !s.hostAllowed(r.Host) {
		fail(w, http.StatusForbidden, fmt.Errorf("host %q is not served here; if it is this server's, start it with --host NAME", r.Host))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.mux.ServeHTTP(w, r)
}

// hostAllowed keeps out names that someone else pointed at this address.
func (s *Server) hostAllowed(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.Trim(name, "[]")
	for _, h := range s.o.Hosts {
		if strings.EqualFold(h, name) {
			return true
		}
	}
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && (ip.IsLoopback() || len(s.o.Hosts) > 0)
}

// current returns the Site of what is stored now; it is made anew when that changes.
func (s *Server) current() (*report.Site, error) {
	in, problems := s.o.Sources()
	var state strings.Builder
	for _, x := range in {
		fmt.Fprintln(&state, x.ID)
	}
	fmt.Fprintln(&state, problems)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.site != nil && s.state == state.String() {
		return s.site, nil
	}
	site, err := report.NewSite(in, problems)
	if err != nil {
		return nil, err
	}
	site.Live = true
	s.site, s.state, s.pages = site, state.String(), map[string][]byte{}
	return site, nil
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	site, err := s.current()
	if err != nil {
		s.internal(w, err)
		return
	}
	var b bytes.Buffer // an error must not follow half a page
	switch name {
	case "query.html":
		err = site.QueryPage(&b, report.QueryForm{Datasets: names(s.o.Datasets), Defaults: s.o.Defaults})
	case "runs.html":
		err = site.RunsPage(&b, s.example())
	default:
		err = s.write(&b, site, name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fail(w, http.StatusNotFound, err)
	case err != nil:
		s.internal(w, err)
	default:
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(b.Bytes())
	}
}

// write writes a page of site; reports and comparisons are kept until the
// Experiments change.
func (s *Server) write(b *bytes.Buffer, site *report.Site, name string) error {
	s.mu.Lock()
	kept := s.pages[name]
	s.mu.Unlock()
	if kept != nil {
		b.Write(kept)
		return nil
	}
	err := site.Write(b, name)
	if err == nil && strings.HasSuffix(name, ".html") && name != "index.html" {
		s.mu.Lock()
		if s.site == site && len(s.pages) < maxPages {
			s.pages[name] = bytes.Clone(b.Bytes())
		}
		s.mu.Unlock()
	}
	return err
}

func (s *Server) internal(w http.ResponseWriter, err error) {
	s.o.Log.Error("request failed", "error", err)
	fail(w, http.StatusInternalServerError, err)
}

// unmatched is mux, whose own errors become JSON as all others.
func unmatched(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		x := &statusOnly{w, http.StatusNotFound}
		h.ServeHTTP(x, r)
		hint := ""
		if allow := w.Header().Get("Allow"); allow != "" {
			hint = "; here are " + allow
		}
		fail(w, x.status, fmt.Errorf("%s %s: %s%s", r.Method, r.URL.Path, strings.ToLower(http.StatusText(x.status)), hint))
	})
}

// statusOnly keeps the status and drops the body.
type statusOnly struct {
	http.ResponseWriter
	status int
}

func (x *statusOnly) WriteHeader(status int) { x.status = status }

func (x *statusOnly) Write(b []byte) (int, error) { return len(b), nil }

// problem is the body of every error.
type problem struct {
	Error string `json:"error"`
}

func fail(w http.ResponseWriter, status int, err error) {
	reply(w, status, problem{err.Error()})
}

func reply(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}
