package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// slow is an embedder that waits before it embeds passages.
type slow struct {
	calls *atomic.Int32
	ended *atomic.Int32 // calls that were cancelled; nil: not counted
	wait  time.Duration
	err   error
}

func (slow) String() string { return "slow" }

func (e slow) Embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	if kind == evalkit.Passage {
		e.calls.Add(1)
		select {
		case <-time.After(e.wait):
		case <-ctx.Done():
			if e.ended != nil {
				e.ended.Add(1)
			}
			return evalkit.Vectors{}, ctx.Err()
		}
	}
	v := evalkit.Vectors{Dim: 1}
	for range texts {
		v.Data = append(v.Data, 1)
	}
	return v, e.err
}

// slowServer retrieves with e, unless a request says otherwise.
func slowServer(t *testing.T, e slow) *Server {
	return newServer(t, func(o *Options) {
		o.Lab.Embedders = []wire.EmbedderKind{{Name: "slow", Open: func(evalkit.Expr) (evalkit.Embedder, error) { return e, nil }}}
		o.Defaults.Retriever, o.Defaults.Embedder = "dense", "slow"
	})
}

// ask sends a question in the background; what it returns holds the answer, once.
func ask(ctx context.Context, s *Server, strategy string) <-chan *httptest.ResponseRecorder {
	answered := make(chan *httptest.ResponseRecorder, 1)
	body := fmt.Sprintf(`{"query":"What drifts?","strategy":%q}`, strategy)
	go func() {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/api/query", strings.NewReader(body)))
		answered <- w
	}()
	synctest.Wait()
	return answered
}

// answered holds the answer to a status and a piece of its body.
func answered(t *testing.T, from <-chan *httptest.ResponseRecorder, status int, part string) {
	t.Helper()
	w := <-from
	assert.Equal(t, status, w.Code, w.Body.String())
	assert.Contains(t, w.Body.String(), part)
}

// TestOneGivesUpOthersDoNot asks twice for one index; the first leaves.
func TestOneGivesUpOthersDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow{calls: new(atomic.Int32), wait: 5 * time.Second}
		s := slowServer(t, e)
		ctx, leave := context.WithCancel(t.Context())
		first := ask(ctx, s, "page")
		second := ask(t.Context(), s, "page")
		leave()
		answered(t, first, 503, "given up")
		assert.Empty(t, second)
		answered(t, second, 200, "buoy drifts")
		answered(t, ask(t.Context(), s, "page"), 200, "buoy drifts")
		assert.EqualValues(t, 1, e.calls.Load(), "built once")
	})
}

// TestSlowIndexIsThereForTheNext takes longer than a request may.
func TestSlowIndexIsThereForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowServer(t, slow{calls: new(atomic.Int32), wait: queryTimeout + time.Second})
		answered(t, ask(t.Context(), s, "page"), 503, "no answer after 1m0s: an index that is not built yet goes on being built; ask again")
		time.Sleep(2 * time.Second)
		answered(t, ask(t.Context(), s, "page"), 200, "buoy drifts")
	})
}

// TestAbandonedIndexesAreBounded leaves many indexes that nobody waits for.
func TestAbandonedIndexesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow{calls: new(atomic.Int32), ended: new(atomic.Int32), wait: time.Hour}
		s := slowServer(t, e)
		waits := ask(t.Context(), s, "page(size=1)")
		for i := range 2 * maxAskers {
			ctx, leave := context.WithCancel(t.Context())
			left := ask(ctx, s, fmt.Sprintf("page(size=%d)", i+2))
			leave()
			answered(t, left, 503, "given up")
		}
		synctest.Wait()
		assert.EqualValues(t, maxAskers, e.ended.Load(), "of those that made way, all but the one that is waited for")
		assert.Empty(t, waits)
		s.Close()
		answered(t, waits, 503, errStopped.Error())
		answered(t, ask(t.Context(), s, "page"), 503, errStopped.Error())
	})
}

// TestFailedIndexIsTriedAgain keeps no failure.
func TestFailedIndexIsTriedAgain(t *testing.T) {
	e := slow{calls: new(atomic.Int32), err: errors.New("no room")}
	s := slowServer(t, e)
	for i := range 2 {
		status, got := post(t, s, "/api/query", `{"query":"a"}`)
		require.Equal(t, 500, status, got)
		assert.Contains(t, got, "no room")
		assert.EqualValues(t, i+1, e.calls.Load())
	}
}
