package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed/openai"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

func TestHO_EM_06_LongTexts(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("alpha ", 1500) + strings.Repeat("omega ", 1500))
	tok, err := token.Parse("cl100k")
	require.NoError(t, err)
	n := tok.Count(long)
	require.Greater(t, n, 2900)
	all := []string{"short", long}

	t.Run("error, before anything is sent", func(t *testing.T) {
		m := &model{dim: 4}
		e := start(t, m, ",window=512")
		_, err := e.Embed(t.Context(), evalkit.Passage, all)
		var tooLong *openai.LongTextError
		require.ErrorAs(t, err, &tooLong)
		assert.Equal(t, openai.LongTextError{Position: 1, Tokens: n, Window: 512}, *tooLong)
		assert.Empty(t, m.sizes())
		assert.Equal(t, 1, e.Reads(all).Cut)
		assert.Contains(t, e.Unread(all), "1 of 2 passages are beyond the model's window of 512 tokens: the run will fail")
	})
	t.Run("cut", func(t *testing.T) {
		m := &model{dim: 4}
		e := start(t, m, `,window=512,long=cut,passage_prefix="passage: "`)
		_, err := e.Embed(t.Context(), evalkit.Passage, all)
		require.NoError(t, err)
		assert.InDelta(t, 511, tok.Count(m.calls[0][1]), 1, "with the prefix; the blank between may join the next token")
		s := e.Stats()
		assert.Equal(t, 1, s.Cut)
		assert.InDelta(t, float64(n+tok.Count("passage: ")-512)/float64(n+1), s.Lost(), 1e-9)
		assert.Equal(t, s.Long, e.Reads(all), "known without sending")
		assert.Regexp(t, `^1 of 2 passages are cut at the model's window of 512 tokens: 8\d\.\d % of all tokens are not read`, e.Unread(all))
		assert.Empty(t, e.Unread(all[:1]))
	})
	t.Run("split", func(t *testing.T) {
		m := &model{dim: 2, vector: func(s string) string {
			if strings.Contains(s, "omega") {
				return "[0,2]"
			}
			return "[5,0]"
		}}
		e := start(t, m, ",window=1500,long=split")
		v, err := e.Embed(t.Context(), evalkit.Passage, all)
		require.NoError(t, err)
		a, b := 0.0, 0.0
		var whole strings.Builder
		for _, part := range m.calls[0][1:] {
			whole.WriteString(part)
			if strings.Contains(part, "omega") {
				b += float64(tok.Count(part))
			} else {
				a += float64(tok.Count(part))
			}
		}
		assert.Equal(t, long, whole.String())
		assert.InDelta(t, a/b, v.Row(1)[0]/v.Row(1)[1], 1e-3, "weighted by tokens, whatever the length of the parts' vectors")
		assert.Equal(t, openai.Long{Split: 1, Tokens: n + 1}, e.Stats().Long)
		assert.Equal(t, "1 of 2 passages are beyond the model's window of 1500 tokens and are embedded in parts", e.Unread(all))
	})
	t.Run("a server that cuts silently", func(t *testing.T) {
		e := start(t, &model{dim: 4, tokens: 512}, "")
		_, err := e.Embed(t.Context(), evalkit.Passage, all)
		require.NoError(t, err)
		assert.Equal(t, 1, e.Stats().Suspect)
		assert.Equal(t, 512, e.Stats().Prompt)
	})
	t.Run("a server that answers 400", func(t *testing.T) {
		m := &model{dim: 4, refuse: func(s []string) (int, string) {
			for _, x := range s {
				if tok.Count(x) > 512 {
					return http.StatusBadRequest, "maximum context length is 512"
				}
			}
			return 0, ""
		}}
		_, err := start(t, m, "").Embed(t.Context(), evalkit.Passage, all)
		require.ErrorContains(t, err, "text 1: ")
		require.ErrorContains(t, err, "maximum context length is 512")
	})
	t.Run("the policy is in the string and changes the fingerprint", func(t *testing.T) {
		prints := map[string]bool{}
		for _, policy := range []string{"error", "cut", "split"} {
			spec, err := openai.Parse("openai(model=m,window=512,long=" + policy + ")")
			require.NoError(t, err)
			assert.Contains(t, spec.String(), "window=512,long="+policy)
			e, err := openai.New(spec, llm.Options{})
			require.NoError(t, err)
			prints[e.Fingerprint()] = true
		}
		assert.Len(t, prints, 3)
	})
}
