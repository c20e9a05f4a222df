package wire

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

const head = "dataset: data\nstrategies:\n"

func TestReadConfig(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "try.yaml"), `# a sweep
dataset: data
strategies:
  - fixed_size(size=200,overlap=40)
  - recursive: {size: 200, separators: ["\n\n", "\n"]}
  - semantic: {embedder: "lsa(dim=64,seed=2)"}
metrics: [recall, nDCG@10]
top_k: 5
sweep:
  top_k: [5, 10]
  window: [0/0, 1/1]
`)
	c, err := ReadConfig(file)
	require.NoError(t, err)
	assert.Equal(t, "try", c.Name.Text)
	var got []string
	for _, s := range c.Strategies {
		got = append(got, s.Text)
	}
	assert.Equal(t, []string{"fixed_size(size=200,overlap=40)", `recursive(size=200,separators=["\n\n","\n"])`, "semantic(embedder=lsa(dim=64,seed=2))"}, got)
	assert.Equal(t, "5", c.Scalar["top_k"].Text)
	assert.Equal(t, "10", c.Sweep[0].Values[1].Text)
	assert.Equal(t, "1/1", c.Sweep[1].Values[1].Text)
	assert.Equal(t, 5, c.Strategies[1].Line)
	assert.Equal(t, "strategies[1].recursive", c.Strategies[1].Path)
}

func TestConfigErrorsNamePlaceAndRemedy(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"top key", "datset: data\n", `:1: datset: unknown key "datset": did you mean "dataset"?`},
		{"sweep key", head + "  - a\nsweep:\n  topk: [1]\n", `:5: sweep.topk: unknown key "topk": did you mean "top_k"?`},
		{"no dataset", "strategies: [a]\n", "dataset: not given"},
		{"no strategies", "dataset: d\n", "strategies: not given"},
		{"list for one", "dataset: [a, b]\n", ":1: dataset: want one value"},
		{"no value", "dataset:\n", ":1: dataset: no value"},
		{"empty", "", "want one YAML document"},
		{"two names", head + "  - {a: {}, b: {}}\n", `strategies[0]: want a name and its settings`},
		{"comma in brackets", "dataset: d\nstrategies: [page, fixed_size(size=3,overlap=2)]\n", `:2: strategies[1]: "fixed_size(size=3" ends at a comma: put a value`},
		{"empty sweep", head + "  - a\nsweep: {top_k: []}\n", ":4: sweep.top_k: the list is empty"},
		{"empty list", "dataset: d\nstrategies: []\n", ":2: strategies: the list is empty"},
		{"a scalar", "just text", ":1: want key: value lines, not one value; the keys are name, dataset"},
		{"a list", "- dataset: d\n", ":1: want key: value lines, not a list; the keys are name, dataset"},
		{"a list below a key", head + "  - a\nsweep: [top_k]\n", ":4: sweep: want key: value lines, not a list; the keys are retriever"},
		{"an alias", head + "  - page\nqueries: [*1]\n", ":4: queries[0]: the alias *1 is not read here: write the value out, and put one that begins with * in quotes"},
		{"a star", head + "  - page\nqueries: [*]\n", "put a value that begins with * in quotes"},
		{"an anchor", head + "  - &a page\n  - *a\n", ":3: strategies[0]: the anchor &a is not read here: write every value out"},
		{"a merge key", head + "  - fixed_size: {<<: {size: 3}}\n", ":3: strategies[0].fixed_size.<<: the merge key << is not read here"},
		{"a tag", head + "  - page: {size: !!int 5}\n", ":3: strategies[0].page.size: the tag !!int is not read here: leave it out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := write(t, filepath.Join(t.TempDir(), "c.yaml"), c.text)
			_, err := ReadConfig(file)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			assert.Contains(t, err.Error(), file)
		})
	}
}

// TestByteOrderMark is what some editors put before a file.
func TestByteOrderMark(t *testing.T) {
	c, err := ParseConfig("c.yaml", []byte("\ufeffdataset: d\nstrategies: [page]\n"), "/")
	require.NoError(t, err)
	assert.Equal(t, "/d", c.Dataset.Text)
	p, err := ReadPrices(write(t, filepath.Join(t.TempDir(), "p.yaml"), "\ufeffcurrency: USD\nmodels: {m: {prompt: 1}}\n"))
	require.NoError(t, err)
	assert.Equal(t, "USD", p.Currency)
}

// TestHO_CLI_02_PathsAreRelativeToTheConfig reads one file from three working
// directories and through a symbolic link.
func TestHO_CLI_02_PathsAreRelativeToTheConfig(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	write(t, filepath.Join(root, "sub", "cfg.yaml"), "dataset: data/set\nstrategies: [page]\n")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "elsewhere"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(root, "sub", "cfg.yaml"), filepath.Join(root, "elsewhere", "link.yaml")))
	want := filepath.Join(root, "sub", "data", "set")
	for wd, name := range map[string]string{
		root: "sub/cfg.yaml", filepath.Join(root, "sub"): "cfg.yaml", filepath.Join(root, "elsewhere"): "../sub/cfg.yaml", "/": filepath.Join(root, "elsewhere", "link.yaml"),
	} {
		t.Chdir(wd)
		c, err := ReadConfig(name)
		require.NoError(t, err)
		assert.Equal(t, want, c.Dataset.Text)
	}
	t.Chdir("/")
	_, err = ReadConfig("nowhere.yaml")
	assert.ErrorContains(t, err, "(tried /nowhere.yaml)")
}

func TestParseWindow(t *testing.T) {
	w, err := ParseWindow("2/1")
	require.NoError(t, err)
	assert.Equal(t, "±2/1", w.String())
	back, err := ParseWindow(w.String())
	require.NoError(t, err)
	assert.Equal(t, w, back)
	for _, bad := range []string{"", "1", "1/", "-1/1", "a/b", "1/1/1"} {
		_, err := ParseWindow(bad)
		assert.Error(t, err, "%q", bad)
	}
}

func TestUnfold(t *testing.T) {
	axes := []Axis{
		{"retriever", []Value{{Text: "bm25"}, {Text: "hybrid"}}}, {"top_k", []Value{{Text: "5"}, {Text: "10"}}}, {"window", []Value{{Text: "0/0"}, {Text: "1/1"}}},
	}
	assert.Len(t, unfold(axes, false), 2)
	settings := unfold(axes, true)
	require.Len(t, settings, 4)
	assert.Equal(t, []string{"top_k=5", "window=1/1"}, describe(settings[1]), "the last axis varies fastest")
	assert.Len(t, unfold(nil, true), 1)
}

func TestParseConfigReadsJSON(t *testing.T) {
	c, err := ParseConfig("request.json", []byte(`{"name":"n","dataset":"d","strategies":["page",{"fixed_size":{"size":60}}],"top_k":3,"sweep":{"window":["0/0","1/1"]}}`), "/data")
	require.NoError(t, err)
	assert.Equal(t, "/data/d", c.Dataset.Text)
	assert.Equal(t, []string{"page", "fixed_size(size=60)"}, []string{c.Strategies[0].Text, c.Strategies[1].Text})
	assert.Equal(t, "3", c.Scalar["top_k"].Text)
	assert.Equal(t, "window", c.Sweep[0].Key)
	_, err = ParseConfig("request.json", []byte(`{"dataset":"d","strategies":["page"],"topk":3}`), "/")
	require.ErrorContains(t, err, `unknown key "topk": did you mean "top_k"?`)
}
