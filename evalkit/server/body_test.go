package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBodyIsOneValueWithEachKeyOnce(t *testing.T) {
	s := newServer(t, nil)
	for path, start := range map[string]string{"/api/query": `"query":"buoy"`, "/api/experiments": `"dataset":"toy","strategies":["page"]`} {
		for _, c := range []struct{ name, body, want string }{
			{"brace", `{` + start + `,"top_k":0}}`, "after the JSON value: invalid character '}'"},
			{"bracket", `{` + start + `,"top_k":0}]`, "after the JSON value: invalid character ']'"},
			{"word", `{` + start + `,"top_k":0} x`, "after the JSON value: invalid character 'x'"},
			{"second value", `{` + start + `,"top_k":0} {}`, "more than one JSON value"},
			{"cut short", `{` + start, "unexpected EOF"},
			{"nothing", ``, "EOF"},
			{"key twice", `{` + start + `,"top_k":1,"top_k":2}`, `key \"top_k\": given twice`},
			{"other case", `{` + start + `,"top_k":1,"Top_K":2}`, `key \"Top_K\": given twice`},
			{"escaped", `{` + start + `,"top_k":1,"top\u005fk":2}`, `key \"top_k\": given twice`},
			{"within", `{` + start + `,"sweep":{"top_k":[1],"top_k":[2]}}`, `key \"top_k\": given twice`},
			{"within a list", `{` + start + `,"x":[1,{"a":{},"b":[],"c":"a","a":1}]}`, `key \"a\": given twice`},
		} {
			status, got := post(t, s, path, c.body)
			assert.Equal(t, 400, status, "%s %s", path, c.body)
			assert.Contains(t, got, `{"error":"body: `)
			assert.Contains(t, got, c.want, "%s %s", path, c.body)
		}
		status, _ := post(t, s, path, strings.Repeat(" ", maxBody+1))
		assert.Equal(t, 413, status)
	}
	status, got := post(t, s, "/api/query", " {\"query\":\"query\"}\r\n\t ")
	assert.Equal(t, 200, status, "a value may be what a key is; blanks may follow: %s", got)
}

// TestErrorsAreJSON holds the errors that no handler of an address writes to the
// form of the others.
func TestErrorsAreJSON(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range []struct {
		method, path, origin, host string
		status                     int
		want                       string
	}{
		{"POST", "/api/query", "http://elsewhere.example", "localhost", 403, "requests of pages of other origins are refused"},
		{"GET", "/api/runs", "", "elsewhere.example", 403, `host \"elsewhere.example\" is not served here`},
		{"PUT", "/api/runs", "", "localhost", 405, "PUT /api/runs: method not allowed; here are GET, HEAD"},
		{"POST", "/nowhere", "", "localhost", 405, "POST /nowhere: method not allowed"},
		{"DELETE", "/api/runs/7", "", "localhost", 404, `no run \"7\"`},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, "http://localhost"+c.path, nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		s.ServeHTTP(w, r)
		assert.Equal(t, c.status, w.Code, c.path)
		assert.Equal(t, "application/json", w.Header().Get("Content-Type"), c.path)
		assert.Contains(t, w.Body.String(), `{"error":"`, c.path)
		assert.Contains(t, w.Body.String(), c.want, c.path)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/api//runs", nil))
	require.Less(t, w.Code, 400, "redirected as before")
}
