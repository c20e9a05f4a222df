package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// listed is an Experiment of GET /api/experiments.
type listed struct {
	ID          string                 `json:"id"`
	Spec        experiment.Spec        `json:"spec"`
	Dataset     string                 `json:"dataset"`
	Fingerprint string                 `json:"fingerprint"`
	Started     string                 `json:"started"`
	Effective   []experiment.Effective `json:"effective"`
	Counts      experiment.Counts      `json:"counts"`
	Warnings    []string               `json:"warnings"`
	Means       []mean                 `json:"means"`
}

type mean struct {
	Strategy string       `json:"strategy"`
	Metric   string       `json:"metric"`
	View     evalkit.View `json:"view"`
	Mean     *float64     `json:"mean"` // null: no query has a value
	N        int          `json:"n"`
	Failed   int          `json:"failed"`
}

// experiments answers with every stored Experiment and its headline.
func (s *Server) experiments(w http.ResponseWriter, _ *http.Request) {
	in, problems := s.o.Sources()
	out := struct {
		Experiments []listed `json:"experiments"`
		Problems    []string `json:"problems"` // what could not be read
	}{[]listed{}, append([]string{}, problems...)}
	for _, x := range in {
		overview, err := x.Source.Overview()
		if err != nil {
			out.Problems = append(out.Problems, err.Error())
			continue
		}
		rec := overview.Record
		l := listed{
			ID: rec.ID, Spec: rec.Spec, Dataset: rec.Dataset.Name, Fingerprint: rec.Fingerprint, Started: rec.Provenance.Started,
			Effective: rec.Effective, Counts: rec.Counts, Warnings: rec.Warnings, Means: []mean{},
		}
		for _, st := range overview.Strategies {
			for _, row := range st.Summary {
				l.Means = append(l.Means, mean{st.Strategy, row.Metric, row.View, row.Mean, row.N, row.Failed})
			}
		}
		out.Experiments = append(out.Experiments, l)
	}
	reply(w, http.StatusOK, out)
}

// compare answers GET /api/compare?ids=a,b with a Comparison. An id that is not
// stored gives an empty column with the reason.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	ids := strings.FieldsFunc(r.URL.Query().Get("ids"), func(c rune) bool { return c == ',' })
	if len(ids) == 0 || len(ids) > compare.MaxColumns {
		fail(w, http.StatusBadRequest, fmt.Errorf("ids: %d given: want 1 to %d, separated by commas", len(ids), compare.MaxColumns))
		return
	}
	in, _ := s.o.Sources()
	var all []*compare.Loaded
	for _, id := range ids {
		input := compare.Input{ID: id, Gap: "not stored here"}
		for _, x := range in {
			if x.ID == id {
				input = x
			}
		}
		l, err := compare.Load(input, compare.Options{})
		if err != nil {
			s.internal(w, err)
			return
		}
		all = append(all, l)
	}
	c, err := compare.New(all, compare.Options{})
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, err)
		return
	}
	reply(w, http.StatusOK, c)
}
