package embed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

// counted is an embedder that keeps what it was asked for, and may answer wrongly.
type counted struct {
	name string
	dim  int
	wrap func(evalkit.Vectors) evalkit.Vectors

	mu    sync.Mutex
	asked []string
}

func (c *counted) String() string { return c.name }

func (c *counted) Embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range texts {
		c.asked = append(c.asked, string(kind)+":"+t)
	}
	v, err := embed.Hash{Dim: c.dim, Seed: uint64(len(kind))}.Embed(ctx, kind, texts)
	if c.wrap != nil {
		v = c.wrap(v)
	}
	return v, err
}

func (c *counted) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

func open(t testing.TB, dir string, inner evalkit.Embedder) *embed.Cache {
	t.Helper()
	c, err := embed.NewCache(inner, dir)
	require.NoError(t, err)
	return c
}

func TestCacheAsksOnlyForWhatIsMissing(t *testing.T) {
	dir, inner := t.TempDir(), &counted{name: "m", dim: 8}
	c := open(t, dir, inner)
	assert.Equal(t, "m", c.String())
	assert.Equal(t, "m", c.Fingerprint())
	texts := []string{"b", "a", "", "b", " \n\ufeff", "c"}
	got := rows(t, c, texts...)
	assert.Equal(t, []string{"passage:b", "passage:a", "passage:c"}, inner.take())
	assert.Equal(t, embed.CacheStats{Misses: 3, Blank: 2}, c.Stats())
	want := rows(t, &counted{dim: 8}, texts...)
	for i := range texts {
		if evalkit.Blank(texts[i]) {
			assert.Equal(t, make([]float32, 8), got.Row(i))
		} else {
			assert.Equal(t, want.Row(i), got.Row(i))
		}
	}
	assert.Equal(t, got, rows(t, c, texts...))
	assert.Empty(t, inner.take(), "from memory")
	require.NoError(t, c.Close())

	c = open(t, dir, inner)
	assert.Equal(t, got, rows(t, c, texts...))
	assert.Empty(t, inner.take(), "from disk")
	assert.Equal(t, embed.CacheStats{Hits: 4, Blank: 2}, c.Stats())
	_, err := c.Embed(t.Context(), evalkit.Question, []string{"a"})
	require.NoError(t, err)
	assert.Equal(t, []string{"query:a"}, inner.take(), "the kind is part of the key")
	require.NoError(t, c.Close())
}

// fitted is an embedder whose string does not say everything.
type fitted struct {
	*counted
	digest string
}

func (f fitted) Fingerprint() string { return f.digest }

func TestHO_EM_05_AnotherModelsVectorsAreNotUsed(t *testing.T) {
	dir := t.TempDir()
	first := &counted{name: "small", dim: 4}
	c := open(t, dir, first)
	rows(t, c, "x")
	require.NoError(t, c.Close())

	second := &counted{name: "large", dim: 8}
	c = open(t, dir, second)
	assert.Equal(t, 8, rows(t, c, "x").Dim)
	assert.Equal(t, []string{"passage:x"}, second.take())
	require.NoError(t, c.Close())

	refitted := fitted{&counted{name: "small", dim: 4}, "other data"}
	c = open(t, dir, refitted)
	rows(t, c, "x")
	assert.Equal(t, []string{"passage:x"}, refitted.take())
	require.NoError(t, c.Close())

	c = open(t, dir, &counted{name: "small", dim: 16})
	_, err := c.Embed(t.Context(), evalkit.Passage, []string{"x", "y"})
	assert.EqualError(t, err, `embedder "small": vectors of 16 dimensions, stored ones have 4`)
	require.NoError(t, c.Close())
}

func TestHO_EM_04_BrokenAnswersAreNamedAndNotStored(t *testing.T) {
	dir := t.TempDir()
	for want, wrap := range map[string]func(v evalkit.Vectors) evalkit.Vectors{
		`embedder "m": 1 vectors for 2 texts`: func(v evalkit.Vectors) evalkit.Vectors { v.Data = v.Data[:8]; return v },
		`embedder "m": 3 vectors for 2 texts`: func(v evalkit.Vectors) evalkit.Vectors {
			v.Data = append(v.Data, make([]float32, 8)...)
			return v
		},
		`embedder "m": 15 numbers in rows of 8 dimensions`: func(v evalkit.Vectors) evalkit.Vectors { v.Data = v.Data[:15]; return v },
		`embedder "m": 0 numbers in rows of 0 dimensions`:  func(v evalkit.Vectors) evalkit.Vectors { return evalkit.Vectors{} },
		`embedder "m": vector of text 1 holds NaN`:         func(v evalkit.Vectors) evalkit.Vectors { v.Data[9] = float32(math.NaN()); return v },
		`embedder "m": vector of text 0 holds -Inf`:        func(v evalkit.Vectors) evalkit.Vectors { v.Data[7] = float32(math.Inf(-1)); return v },
	} {
		c := open(t, dir, &counted{name: "m", dim: 8, wrap: wrap})
		_, err := c.Embed(t.Context(), evalkit.Passage, []string{"x", "y"})
		assert.EqualError(t, err, want)
		require.NoError(t, c.Close())
	}
	inner := &counted{name: "m", dim: 8}
	c := open(t, dir, inner)
	rows(t, c, "x", "y")
	assert.Len(t, inner.take(), 2)
	require.NoError(t, c.Close())
}

// A large answer is on disk at once; queries gather until Flush.
func TestCacheWritesBatches(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, &counted{name: "m", dim: 8})
	rows(t, c, numbered(70)...)
	require.Len(t, files(t, dir), 1)
	for i := range 10 {
		rows(t, c, fmt.Sprint("query ", i))
	}
	require.Len(t, files(t, dir), 1)
	require.NoError(t, c.Flush())
	require.Len(t, files(t, dir), 2)
	inner := &counted{name: "m", dim: 8}
	other := open(t, dir, inner)
	rows(t, other, append(numbered(70), "query 9")...)
	assert.Empty(t, inner.take())
	require.NoError(t, other.Close())
	require.NoError(t, c.Close())
}

func TestCacheOfBlankTexts(t *testing.T) {
	c := open(t, t.TempDir(), &counted{name: "m", dim: 8})
	assert.Equal(t, evalkit.Vectors{Dim: 8, Data: make([]float32, 16)}, rows(t, c, "", " "))
	rows(t, c)
	require.NoError(t, c.Close())
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	require.NoError(t, err)
	return names
}

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("text number %d of many", i)
	}
	return texts
}

// Every byte of a file may be damaged: what comes back is right all the same,
// and the damage is counted.
func TestCacheSurvivesDamage(t *testing.T) {
	texts := numbered(5)
	inner := &counted{name: "m", dim: 8}
	want := rows(t, inner, texts...)
	dir := t.TempDir()
	c := open(t, dir, inner)
	rows(t, c, texts...)
	require.NoError(t, c.Close())
	names := files(t, dir)
	require.Len(t, names, 1)
	good, err := os.ReadFile(names[0])
	require.NoError(t, err)

	check := func(damaged []byte, what string) {
		require.NoError(t, os.WriteFile(names[0], damaged, 0o666))
		c := open(t, dir, inner)
		require.Equal(t, want, rows(t, c, texts...), what)
		require.NotZero(t, c.Stats().Damaged, what)
		require.NotZero(t, c.Stats().Misses, what)
		require.NoError(t, c.Close())
		for _, n := range files(t, dir) {
			if n != names[0] {
				require.NoError(t, os.Remove(n))
			}
		}
	}
	for i := range good {
		damaged := append([]byte(nil), good...)
		damaged[i] ^= 0x40
		check(damaged, fmt.Sprintf("byte %d", i))
	}
	for n := 0; n < len(good); n += 7 {
		check(good[:n], fmt.Sprintf("cut to %d", n))
	}
}

// What replaced a damaged vector is found by the next process.
func TestCacheRepairs(t *testing.T) {
	dir, inner := t.TempDir(), &counted{name: "m", dim: 8}
	c := open(t, dir, inner)
	rows(t, c, numbered(3)...)
	require.NoError(t, c.Close())
	name := files(t, dir)[0]
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	b[len(b)-6] ^= 1
	require.NoError(t, os.WriteFile(name, b, 0o666))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.NoError(t, os.Chtimes(name, info.ModTime().Add(-1e9), info.ModTime().Add(-1e9)))
	for run, want := range []embed.CacheStats{{Hits: 2, Misses: 1, Damaged: 1}, {Hits: 3}} {
		c := open(t, dir, inner)
		rows(t, c, numbered(3)...)
		assert.Equal(t, want, c.Stats(), "run %d", run)
		require.NoError(t, c.Close())
	}
}

// Several Caches on one folder, as of several processes, each with several
// goroutines: no answer is wrong, and few files are left.
func TestCacheIsShared(t *testing.T) {
	dir, texts := t.TempDir(), numbered(3000)
	want := rows(t, &counted{dim: 16}, texts...)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for p := range errs {
		wg.Go(func() {
			c, err := embed.NewCache(&counted{name: "m", dim: 16}, dir)
			if err != nil {
				errs[p] = err
				return
			}
			var inner sync.WaitGroup
			for g := range 3 {
				inner.Go(func() {
					for from := g * 100; from+500 <= len(texts); from += 500 {
						got, err := c.Embed(t.Context(), evalkit.Passage, texts[from:from+500])
						if err == nil && !assert.ObjectsAreEqual(want.Data[from*16:(from+500)*16], got.Data) {
							err = errors.New("wrong vectors")
						}
						if err != nil {
							errs[p] = err
						}
					}
				})
			}
			inner.Wait()
			errs[p] = errors.Join(errs[p], c.Close())
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	assert.LessOrEqual(t, len(files(t, dir)), 4*3*6, "at most one for each call")
	inner := &counted{name: "m", dim: 16}
	c := open(t, dir, inner)
	assert.Equal(t, want, rows(t, c, texts...))
	assert.Empty(t, inner.take())
	require.NoError(t, c.Close())
}

func TestNewCacheErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err := embed.NewCache(embed.Hash{Dim: 8}, file)
	assert.ErrorContains(t, err, "vector cache: ")
}

func ExampleNewCache() {
	dir, err := os.MkdirTemp("", "vectors")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for range 2 { // the second time everything is on disk
		c, err := embed.NewCache(embed.Hash{Dim: 64}, dir)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := c.Embed(context.Background(), evalkit.Passage, []string{"one", "two", "one", ""}); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%+v\n", c.Stats())
		if err := c.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {Hits:0 Misses:2 Blank:1 Damaged:0}
	// {Hits:3 Misses:0 Blank:1 Damaged:0}
}

// 100,000 vectors of 384: written once, then read through a new Cache.
func BenchmarkCache(b *testing.B) {
	texts := numbered(100_000)
	dir := b.TempDir()
	c := open(b, dir, &counted{name: "m", dim: 384})
	for from := 0; from < len(texts); from += 1000 {
		rows(b, c, texts[from:from+1000]...)
	}
	require.NoError(b, c.Close())
	for b.Loop() {
		inner := &counted{name: "m", dim: 384}
		c := open(b, dir, inner)
		rows(b, c, texts...)
		require.Empty(b, inner.take())
		require.NoError(b, c.Close())
	}
	b.ReportMetric(float64(len(files(b, dir))), "files")
}
