package onnx_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
	"github.com/chunkeval/chunkeval/evalkit/embed"
	"github.com/chunkeval/chunkeval/evalkit/embed/onnx"
	"github.com/chunkeval/chunkeval/evalkit/metric"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// paperRow is one line of the report's table for all-MiniLM-L6-v2 at k = 5:
// recall, precision and IoU in percent (A. Smith, A. Troynikov, "Evaluating
// chunking strategies", 2024).
type paperRow struct {
	name, strategy string
	want           [3]float64
}

func paperRows() []paperRow {
	const wordpiece = ",tokenizer=wordpiece(vocab=%[1]q,extra=2)"
	return []paperRow{
		{"TokenText 278/139", "fixed_size(size=278,overlap=139,trim=false)", [3]float64{82.4, 3.6, 3.5}},
		{"TokenText 278/0", "fixed_size(size=278,trim=false)", [3]float64{77.1, 3.3, 3.3}},
		{"TokenText 222/0", "fixed_size(size=222,trim=false)", [3]float64{76.6, 4.1, 4.1}},
		{"Recursive 250/125", "recursive(size=250,overlap=125" + wordpiece + ")", [3]float64{78.7, 4.9, 4.9}},
		{"Recursive 250/0", "recursive(size=250" + wordpiece + ")", [3]float64{78.5, 5.4, 5.4}},
		{"Recursive 200/0", "recursive(size=200" + wordpiece + ")", [3]float64{75.7, 6.5, 6.5}},
		{"ClusterSemantic 250", "cluster_semantic(size=250,tokenizer=wordpiece(vocab=%[1]q))", [3]float64{77.3, 6.1, 6.0}},
		{"ClusterSemantic 200", "cluster_semantic(size=200,tokenizer=wordpiece(vocab=%[1]q))", [3]float64{75.2, 7.2, 7.2}},
	}
}

var paperMetrics = [3]string{"chroma.recall@5", "chroma.precision@5", "chroma.IoU@5"}

// TestPaperTable recomputes the table: the report's retrieval, L2 distance over
// vectors of length 1, ranks as the inner product does, and its placement of
// chunks is chunk.Published. Its model reads 256 tokens, as ours does: of the
// larger chunks the end is not embedded.
func TestPaperTable(t *testing.T) {
	p := newPaper(t)
	for _, row := range paperRows() {
		published, truly := p.scores(t, row.strategy)
		var got [3]float64
		for i := range got {
			got[i] = 100 * mean(published[i])
		}
		lo, hi := bootstrap(published[0])
		r := p.reach(t, row.strategy)
		t.Logf("%-20s published %4.1f %3.1f %3.1f, ours %4.1f [%4.1f, %4.1f] %3.1f %3.1f, at true places %4.1f %3.1f %3.1f; %d of %d chunks cut, %.1f %% of tokens not read", row.name,
			row.want[0], row.want[1], row.want[2], got[0], 100*lo, 100*hi, got[1], got[2], 100*mean(truly[0]), 100*mean(truly[1]), 100*mean(truly[2]), r.Long, r.Texts, 100*r.LostShare())
		assert.InDelta(t, row.want[0], got[0], 1.5, "%s recall", row.name)
		assert.InDelta(t, row.want[1], got[1], 0.2, "%s precision", row.name)
		assert.InDelta(t, row.want[2], got[2], 0.2, "%s IoU", row.name)
	}
}

// paper holds what all rows share.
type paper struct {
	ds      *evalkit.Dataset
	env     chunk.Env
	model   *onnx.Model
	vectors *embed.Cache
	vocab   string
	cut     map[string]map[evalkit.DocID][]evalkit.Chunk
}

func newPaper(t *testing.T) *paper {
	t.Helper()
	if os.Getenv("EVALKIT_PAPER") == "" {
		t.Skip("it embeds some 20,000 chunks; EVALKIT_PAPER is not set")
	}
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "chroma")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the Chroma corpora are not beside the checkout")
	}
	ds, err := dataset.Import("chroma", dir, "", dataset.ImportOptions{})
	require.NoError(t, err)
	spec, err := onnx.ParseSpec("minilm")
	require.NoError(t, err)
	m, err := onnx.New(spec)
	if err != nil {
		t.Skip(err)
	}
	base, err := os.UserCacheDir()
	require.NoError(t, err)
	cache, err := embed.NewCache(m, filepath.Join(base, "evalkit", "vectors"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cache.Close()); assert.NoError(t, m.Close()) })
	tok, err := token.NewCL100K()
	require.NoError(t, err)
	models, err := onnx.Folder()
	require.NoError(t, err)
	return &paper{
		ds,
		chunk.Env{Tokenizer: tok, Embedder: func(string) (evalkit.Embedder, error) { return cache, nil }},
		m, cache,
		filepath.Join(models, onnx.MiniLM, "vocab.txt"),
		map[string]map[evalkit.DocID][]evalkit.Chunk{},
	}
}

// chunks cuts all documents, once per strategy.
func (p *paper) chunks(t *testing.T, strategy string) map[evalkit.DocID][]evalkit.Chunk {
	t.Helper()
	if done, ok := p.cut[strategy]; ok {
		return done
	}
	text := strategy
	if strings.Contains(text, "%") {
		text = fmt.Sprintf(strategy, p.vocab)
	}
	s, err := chunk.Parse(text, p.env)
	require.NoError(t, err)
	out := map[evalkit.DocID][]evalkit.Chunk{}
	for _, d := range p.ds.Docs {
		out[d.ID], err = s.Split(t.Context(), d)
		require.NoError(t, err)
	}
	p.cut[strategy] = out
	return out
}

// reach returns how much of the chunks the model reads.
func (p *paper) reach(t *testing.T, strategy string) onnx.Reach {
	t.Helper()
	var texts []string
	for _, d := range p.ds.Docs {
		for _, c := range p.chunks(t, strategy)[d.ID] {
			texts = append(texts, c.Text)
		}
	}
	r, err := p.model.Reach(t.Context(), evalkit.Passage, texts)
	require.NoError(t, err)
	return r
}

// scores returns the values of every question, per metric, with chunks where the
// report places them and where they are.
func (p *paper) scores(t *testing.T, strategy string) (published, truly [3][]float64) {
	t.Helper()
	chunks := p.chunks(t, strategy)
	var all []evalkit.Chunk
	moved := map[evalkit.DocID][]evalkit.Chunk{}
	for _, d := range p.ds.Docs {
		all = append(all, chunks[d.ID]...)
		for i, s := range chunk.Published(d, chunks[d.ID]) {
			c := chunks[d.ID][i]
			c.Span, c.Text = s, d.Text[s.Start:s.End]
			moved[d.ID] = append(moved[d.ID], c)
		}
	}
	index, err := retrieve.Dense{Embedder: p.vectors}.Index(t.Context(), all)
	require.NoError(t, err)
	texts := evalkit.NewTexts(p.ds.Docs, nil)
	for _, q := range p.ds.Queries {
		hits, err := index.Retrieve(t.Context(), q, 5)
		require.NoError(t, err)
		require.Len(t, hits, 5)
		at := func(chunks map[evalkit.DocID][]evalkit.Chunk, values *[3][]float64) {
			got := make([]evalkit.RetrievedChunk, len(hits))
			for i, h := range hits {
				got[i] = evalkit.RetrievedChunk{Chunk: chunks[h.Chunk.Doc][h.Chunk.Index], Role: evalkit.RoleHit, Rank: h.Rank, Score: h.Score}
			}
			for i, name := range paperMetrics {
				m, err := metric.Parse(name)
				require.NoError(t, err)
				v, err := m.Score(&evalkit.Judgments{Query: q, Texts: texts, Chunks: chunks}, evalkit.HitOnly, got)
				require.NoError(t, err)
				values[i] = append(values[i], v)
			}
		}
		at(moved, &published)
		at(chunks, &truly)
	}
	return published, truly
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// bootstrap returns the 95 % percentile interval of the mean over questions.
func bootstrap(values []float64) (lo, hi float64) {
	rng := rand.New(rand.NewPCG(1, 0))
	means := make([]float64, 10000)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[rng.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	at := func(q float64) float64 { return means[int(math.Round(q*float64(len(means)-1)))] }
	return at(0.025), at(0.975)
}
