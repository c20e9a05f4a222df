package onnx

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Model embeds texts. It is safe for concurrent use.
type Model struct {
	spec        Spec
	export      export
	window      int // tokens, with [CLS] and [SEP]
	pooling     string
	encoder     *encoder
	library     string
	fingerprint string

	mu      sync.Mutex
	session *session // nil until the first text
}

// graphVersion counts the changes of bertGraph that move a number.
const graphVersion = 1

// Open finds what the settings name and checks it; the model itself is loaded
// when the first text is embedded. It is the Open of a wire.EmbedderKind.
func Open(settings evalkit.Expr) (evalkit.Embedder, error) {
	s, err := specOf(settings)
	if err != nil {
		return nil, err
	}
	m, err := New(s)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// New is Open for a Spec.
func New(s Spec) (*Model, error) {
	if err := runnable(); err != nil {
		return nil, err
	}
	dir, err := modelDir(s.Model)
	if err != nil {
		return nil, err
	}
	m := &Model{spec: s}
	if m.library, err = findLibrary(); err != nil {
		return nil, err
	}
	if m.export, err = readExport(dir); err != nil {
		return nil, err
	}
	m.window, m.pooling = m.export.window, m.export.pooling
	if s.Window > 0 {
		m.window = s.Window
	}
	if s.Pooling != "" {
		m.pooling = s.Pooling
	}
	if limit := m.export.config.MaxPositions; limit > 0 && m.window > limit {
		return nil, fmt.Errorf("window: %d is more than the %d positions of the model", m.window, limit)
	}
	if m.encoder, err = newEncoder(m.export.vocab, m.export.cased); err != nil {
		return nil, err
	}
	m.fingerprint, err = m.digest()
	return m, err
}

// digest covers the weights, the tokenizer and the settings.
func (m *Model) digest() (string, error) {
	h := sha256.New()
	s := m.spec
	fmt.Fprintf(h, "onnx %d %d %s %s %q %q\n%s\n", graphVersion, m.window, m.pooling, s.Long, s.QueryPrefix, s.PassagePrefix, m.encoder.pieces.Fingerprint())
	for _, path := range m.export.weights {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(h, "\n%+v", m.export.config)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// String returns the Spec.
func (m *Model) String() string { return m.spec.String() }

// Fingerprint returns a digest of the weights, the tokenizer and the settings,
// wherever the files lie.
func (m *Model) Fingerprint() string { return m.fingerprint }

// Embed returns one row per text; see the package for what is exact. It uses
// all cores and stops between two batches when ctx does.
func (m *Model) Embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	s, err := m.load()
	if err != nil {
		return evalkit.Vectors{}, fmt.Errorf("embedder %q: %w", m, err)
	}
	all, err := m.plan(ctx, kind, texts)
	if err != nil {
		return evalkit.Vectors{}, fmt.Errorf("embedder %q: %w", m, err)
	}
	pooled, err := m.compute(ctx, s, all)
	if err != nil {
		return evalkit.Vectors{}, fmt.Errorf("embedder %q: %w", m, err)
	}
	v := evalkit.Vectors{Dim: m.export.config.Hidden}
	v.Data = make([]float32, len(texts)*v.Dim)
	if err := join(v, all, pooled); err != nil {
		return evalkit.Vectors{}, fmt.Errorf("embedder %q: %w", m, err)
	}
	return v, nil
}

// load returns the session, made on the first call.
func (m *Model) load() (*session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session != nil {
		return m.session, nil
	}
	file := modelFile{path: m.export.weights[0]}
	if m.export.fromWeights() {
		t, err := readTensors(file.path)
		if err != nil {
			return nil, err
		}
		if file.graph, err = bertGraph(m.export.config, t); err != nil {
			return nil, fmt.Errorf("%s: %w", file.path, err)
		}
	}
	s, err := newSession(m.library, file)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", file.path, err)
	}
	m.session = s
	return s, nil
}

// A modelFile is an export at a path, or a graph in memory.
type modelFile struct {
	path  string
	graph []byte
}

// Close frees the model. The Model must not be used afterwards.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return nil
	}
	s := m.session
	m.session = nil
	return s.close()
}

// plan returns the windows of all texts, in the order of texts.
func (m *Model) plan(ctx context.Context, kind evalkit.TextKind, texts []string) ([]window, error) {
	each := make([][]window, len(texts))
	errs := make([]error, len(texts))
	err := parallel(ctx, len(texts), func(i int) {
		each[i], errs[i] = m.windows(i, m.spec.prefix(kind), texts[i])
	})
	return slices.Concat(each...), first(err, errs)
}

// Limits of a batch; beyond them nothing gets faster.
const (
	batchTexts  = 16
	batchTokens = 512
)

// compute returns one pooled vector per window.
func (m *Model) compute(ctx context.Context, s *session, all []window) ([][]float32, error) {
	batches := batchesOf(all)
	out := make([][]float32, len(all))
	errs := make([]error, len(batches))
	var failed atomic.Bool
	err := parallel(ctx, len(batches), func(i int) {
		if failed.Load() {
			return
		}
		errs[i] = m.batch(s, all, batches[i], out)
		if errs[i] != nil {
			failed.Store(true)
		}
	})
	return out, first(err, errs)
}

// first returns err, or else the first of errs: thousands may say the same.
func first(err error, errs []error) error {
	for i := 0; err == nil && i < len(errs); i++ {
		err = errs[i]
	}
	return err
}

// batchesOf groups windows of equal length, the longest first, so that no core
// is left with a long one at the end.
func batchesOf(all []window) [][]int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(all[b].ids) - len(all[a].ids) })
	var out [][]int
	for len(order) > 0 {
		length := len(all[order[0]].ids)
		n := 1
		for n < len(order) && n < batchTexts && (n+1)*length <= batchTokens && len(all[order[n]].ids) == length {
			n++
		}
		out = append(out, order[:n])
		order = order[n:]
	}
	return out
}

func (m *Model) batch(s *session, all []window, batch []int, out [][]float32) error {
	var ids []int32
	for _, w := range batch {
		ids = append(ids, all[w].ids...)
	}
	hidden, err := s.run(ids, len(batch))
	if err != nil {
		return err
	}
	size := len(hidden) / len(batch)
	if dim := m.export.config.Hidden; size != len(all[batch[0]].ids)*dim {
		return fmt.Errorf("the model gives %d numbers for %d tokens: want %d each", size, len(all[batch[0]].ids), dim)
	}
	for i, w := range batch {
		out[w] = m.pool(hidden[i*size : (i+1)*size])
	}
	return nil
}

// pool turns one vector per token into one.
func (m *Model) pool(hidden []float32) []float32 {
	dim := m.export.config.Hidden
	if m.pooling == poolCLS {
		return slices.Clone(hidden[:dim])
	}
	sum := make([]float64, dim)
	for i, x := range hidden {
		sum[i%dim] += float64(x)
	}
	out := make([]float32, dim)
	for i, x := range sum {
		out[i] = float32(x / float64(len(hidden)/dim))
	}
	return out
}

// join sets the row of each text to the mean of its windows, weighted by
// tokens, with length 1.
func join(v evalkit.Vectors, all []window, pooled [][]float32) error {
	for i := 0; i < len(all); {
		text := all[i].text
		sum := make([]float64, v.Dim)
		for ; i < len(all) && all[i].text == text; i++ {
			for d, x := range pooled[i] {
				sum[d] += float64(x) * float64(len(all[i].ids))
			}
		}
		square := 0.0
		for _, x := range sum {
			square += x * x
		}
		if square == 0 || math.IsInf(square, 0) || math.IsNaN(square) {
			return fmt.Errorf("text %d: the model gives a vector of length %v", text, math.Sqrt(square))
		}
		for d, x := range sum {
			v.Row(text)[d] = float32(x / math.Sqrt(square))
		}
	}
	return nil
}

// parallel calls f once with each of 0 to n-1, on all processors. It stops when
// ctx does.
func parallel(ctx context.Context, n int, f func(i int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
