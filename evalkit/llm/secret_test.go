package llm_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

const key = "sk-very-secret-0123456789"

func TestHO_SEC_02_KeyStaysOut(t *testing.T) {
	var header http.Header
	reply := http.StatusOK
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		if reply != http.StatusOK {
			http.Error(w, `{"error":{"message":"Incorrect API key provided: `+key+`, also sk-very***6789"}}`, reply)
			return
		}
		good(w, r)
	})
	env := func(name string) string { return map[string]string{"MY_KEY": key}[name] }
	cfg := config(url)
	cfg.KeyEnv = "MY_KEY"
	c, err := llm.New(cfg, llm.Options{Getenv: env})
	require.NoError(t, err)
	_, err = c.Embed(t.Context(), []string{"a"}, 0)
	require.NoError(t, err)
	assert.Equal(t, "Bearer "+key, header.Get("Authorization"))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		assert.NotContains(t, fmt.Sprintf(verb, c), key)
	}
	reply = http.StatusUnauthorized
	_, err = c.Embed(t.Context(), []string{"a"}, 0)
	require.ErrorContains(t, err, "Incorrect API key provided: [key], also [key]")
	require.ErrorContains(t, err, "the key is that of the variable MY_KEY")
	assert.NotContains(t, err.Error(), "very")

	cfg.KeyHeader = "api-key"
	c, err = llm.New(cfg, llm.Options{Getenv: env})
	require.NoError(t, err)
	_, err = c.Embed(t.Context(), []string{"a"}, 0)
	require.Error(t, err)
	assert.Equal(t, key, header.Get("Api-Key"))
	assert.Empty(t, header.Get("Authorization"))

	_, err = llm.New(cfg, llm.Options{Getenv: noEnv})
	require.ErrorContains(t, err, "the variable MY_KEY is not set")
}

func TestHO_SEC_02_NoRedirect(t *testing.T) {
	other, calls := server(t, good)
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	_, err := client(t, config(url), nil).Embed(t.Context(), []string{"a"}, 0)
	require.ErrorContains(t, err, "redirects are not followed")
	assert.Zero(t, calls.Load(), "the key would have gone there")
}

func TestHO_SEC_02_RefusedSettings(t *testing.T) {
	for _, s := range []string{
		`x(model=m,base_url="https://user:hunter2@host/v1")`, `x(model=m,base_url="https://hunter2@host/v1")`,
		`x(model=m,base_url="https://host/v1?key=hunter2")`, `x(model=m,base_url="https://host/v1#hunter2")`,
		`x(model=m,base_url="ftp://hunter2")`, `x(model=m,base_url="https://hunter2 x:%zz")`,
		`x(model=m,key_env="sk-hunter2")`, `x(model=m,key_env=gsk_hunter2)`, `x(model=m,key_header="a: hunter2")`,
	} {
		e, err := evalkit.ParseExpr(s)
		require.NoError(t, err)
		_, err = llm.ReadConfig(e.Settings())
		require.Error(t, err, s)
		assert.NotContains(t, err.Error(), "hunter2")
	}
	for _, s := range []string{
		`x(api_key=hunter2)`, `x(a=y(API_KEY=hunter2))`, `x(headers=h(Authorization="Bearer hunter2"))`, `x(b="https://u:hunter2@host/")`, `x(password="hunter2"`,
		`x( b=1, Token = hunter2)`, `x(base_url="http://h/v1?key=hunter2")`, `x(key_env="sk-hunter2")`, `x(key_env=gsk_hunter2)`, `x(apikey=hunter2`, `x(headers={Authorization: hunter2})`,
	} {
		err := llm.RefuseSecret(s)
		require.Error(t, err, s)
		assert.NotContains(t, err.Error(), "hunter2")
	}
	for _, s := range []string{`x(base_url="http://h:1/v1",tokenizer=cl100k,key_env=K_1,inner=y(size=1,unit=token),key_header=api-key)`, "token", "fixed_size(unit=token)", "x(key_env=K)"} {
		require.NoError(t, llm.RefuseSecret(s))
	}
}
