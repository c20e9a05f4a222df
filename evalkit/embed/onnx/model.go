package onnx

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

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
	switch {
	case err != nil:
		return nil, err
	case s.Late:
		return Late{m}, nil
	}
	return m, nil
}

// New is Open for a Spec; what Late adds is the type of that name.
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
	if s.Late && m.pooling != poolMean {
		return nil, fmt.Errorf("late: pools the tokens of a chunk by mean, and the model's pooling is %s", m.pooling)
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
	if s.Late {
		fmt.Fprintln(h, "late")
	}
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
	pooled := make([][]float32, len(all))
	err = m.compute(ctx, s, all, func(i int, hidden []float32) { pooled[i] = m.pool(hidden) })
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
