package llm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// counting gives another answer each time.
type counting struct {
	mu  sync.Mutex
	n   int
	err error
}

func (c *counting) Chat(context.Context, llm.ChatRequest) (*llm.ChatAnswer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return &llm.ChatAnswer{Text: strconv.Itoa(c.n), Prompt: 3}, c.err
}

func TestCacheGivesTheSameAnswer(t *testing.T) {
	dir, inner := t.TempDir(), &counting{}
	ask := func(c *llm.Cache, user string) string {
		a, err := c.Chat(t.Context(), llm.ChatRequest{User: user})
		require.NoError(t, err)
		assert.Equal(t, 3, a.Prompt)
		return a.Text
	}
	c := llm.NewCache(inner, "m", dir)
	assert.Equal(t, []string{"1", "1", "2"}, []string{ask(c, "a"), ask(c, "a"), ask(c, "b")})
	assert.Equal(t, "1", ask(llm.NewCache(inner, "m", dir), "a"), "from disk")
	assert.Equal(t, "3", ask(llm.NewCache(inner, "other", dir), "a"), "another model")
	assert.Equal(t, "4", ask(llm.NewCache(inner, "m", ""), "a"), "in memory only")

	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, f := range files {
		require.NoError(t, os.WriteFile(f, []byte(`{"Answer":{"Text":"damaged"},"SHA256":""}`), 0o644))
	}
	assert.Equal(t, "5", ask(llm.NewCache(inner, "m", dir), "a"), "a damaged file is asked for again")

	inner.err = errors.New("down")
	_, err = c.Chat(t.Context(), llm.ChatRequest{User: "c"})
	require.ErrorContains(t, err, "down")
	inner.err = nil
	assert.Equal(t, "7", ask(c, "c"), "failures are not kept")
}

func TestCacheAsksOnceAtATime(t *testing.T) {
	inner := &counting{}
	c := llm.NewCache(inner, "m", t.TempDir())
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			a, err := c.Chat(t.Context(), llm.ChatRequest{User: "a"})
			assert.NoError(t, err)
			assert.Equal(t, "1", a.Text)
		})
	}
	wg.Wait()
	assert.Equal(t, 1, inner.n)
}
