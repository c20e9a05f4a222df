package server_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
	"github.com/chunkeval/chunkeval/evalkit/server"
)

func TestReportsOfEveryDataset(t *testing.T) {
	all := trial.Handbook(t, "name: a\nstrategies: [markdown]\nretriever: bm25\nqueries: ['h00*']\nsweep: {top_k: [3, 5]}\n")
	ds := *all[1].Dataset
	ds.Name = "mydata"
	all[1].Dataset = &ds
	all[1].Record.Spec.Dataset, all[1].Record.Dataset.Name = ds.Name, ds.Name
	s := server.New(server.Options{Sources: func() ([]compare.Input, []string) { return trial.Inputs(all...), nil }})
	defer s.Close()
	for path, want := range map[string]int{
		"/managerial.html": 200, "/managerial-mydata.html": 200, "/technical-mydata.html": 200, "/managerial-other.html": 404,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		s.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, path)
		if want == 200 {
			assert.Contains(t, w.Body.String(), "Data set: ", path)
		}
	}
}
