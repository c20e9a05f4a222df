package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// An Embedder embeds with a model behind HTTP. It is safe for concurrent use.
type Embedder struct {
	spec   Spec
	client *llm.Client
	ruler  evalkit.Tokenizer
	slots  chan struct{} // one per call at a time

	mu    sync.Mutex
	dim   int    // 0 while unknown
	model string // that gave dim
	stats Stats
}

// New returns the embedder of spec. It sends nothing.
func New(spec Spec, o llm.Options) (*Embedder, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("embedder openai: %w", err)
	}
	client, err := llm.New(spec.Config, o)
	if err != nil {
		return nil, fmt.Errorf("embedder openai: %w", err)
	}
	ruler, err := token.Parse(spec.Tokenizer)
	if err != nil {
		return nil, fmt.Errorf("embedder openai: tokenizer: %w", err)
	}
	return &Embedder{spec: spec, client: client, ruler: ruler, slots: make(chan struct{}, spec.Parallel)}, nil
}

// String returns the Spec's.
func (e *Embedder) String() string { return e.spec.String() }

// Fingerprint covers all settings that change vectors, and no others: not the
// key's variable, the batch or the limits.
func (e *Embedder) Fingerprint() string {
	sum := sha256.Sum256([]byte("openai " + e.spec.identity()))
	return hex.EncodeToString(sum[:])
}

// Embed returns one row per text. A blank text is not sent. A vector of zeros
// or with a number that is none counts as invalid; its row is all zero, as that
// of a blank text is: the model has no vector for it. Errors name the texts by
// their positions: a *LongTextError under long=error, a *TextError for what the
// server refused. If all texts are blank, and nothing was embedded before, the
// number of dimensions is that of the Spec, or 1.
func (e *Embedder) Embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v, err := e.embed(ctx, kind, texts)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("embedder openai, model %q: %w", e.spec.Model, err)
	}
	return v, err
}

func (e *Embedder) embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	parts, long, err := e.cut(kind, texts)
	if err != nil {
		return evalkit.Vectors{}, err
	}
	rows, err := e.rows(ctx, parts)
	if err != nil {
		return evalkit.Vectors{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	dim := max(e.dim, e.spec.Dimensions)
	if dim == 0 && len(parts) > 0 {
		return evalkit.Vectors{}, fmt.Errorf("no vector for any of %d texts", len(texts))
	}
	dim = max(dim, 1)
	v := evalkit.Vectors{Dim: dim, Data: make([]float32, len(texts)*dim)}
	sums := mean(parts, rows, len(texts), dim)
	sent := make([]bool, len(texts))
	for _, p := range parts {
		sent[p.text] = true
	}
	e.stats.Texts += len(texts)
	e.stats.Long.add(long)
	for i, sum := range sums {
		switch {
		case !sent[i]:
			e.stats.Blank++
		case !unit(v.Row(i), sum):
			e.stats.Invalid++
		}
	}
	return v, nil
}

// mean returns the weighted sum of each text's parts, nil if one has no vector.
func mean(parts []part, rows [][]float64, n, dim int) [][]float64 {
	sums := make([][]float64, n)
	broken := make([]bool, n)
	for i, p := range parts {
		if rows[i] == nil {
			broken[p.text] = true
			continue
		}
		if sums[p.text] == nil {
			sums[p.text] = make([]float64, dim)
		}
		length := norm(rows[i])
		if length == 0 {
			continue
		}
		for d, x := range rows[i] {
			sums[p.text][d] += float64(p.weight) * x / length
		}
	}
	for i := range sums {
		if broken[i] {
			sums[i] = nil
		}
	}
	return sums
}

// unit sets row to v divided by its length; false, and zeros, if it has none.
func unit(row []float32, v []float64) bool {
	length := norm(v)
	if length == 0 || math.IsInf(length, 0) || math.IsNaN(length) {
		return false
	}
	for i, x := range v {
		row[i] = float32(x / length)
	}
	return true
}

// norm is the length of v, without overflow on the way.
func norm(v []float64) float64 {
	top := 0.0
	for _, x := range v {
		top = max(top, math.Abs(x))
	}
	if top == 0 || math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for _, x := range v {
		sum += (x / top) * (x / top)
	}
	return top * math.Sqrt(sum)
}

// rows embeds all parts, in batches, several at a time.
func (e *Embedder) rows(ctx context.Context, parts []part) ([][]float64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rows := make([][]float64, len(parts))
	n := (len(parts) + e.spec.Batch - 1) / e.spec.Batch
	errs := make([]error, n)
	var wg sync.WaitGroup
	for b := range n {
		if !e.slot(ctx) {
			break
		}
		wg.Go(func() {
			defer func() { <-e.slots }()
			from, to := b*e.spec.Batch, min(len(parts), (b+1)*e.spec.Batch)
			if errs[b] = e.batch(ctx, parts[from:to], rows[from:to]); errs[b] != nil {
				cancel(errs[b])
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // the first batch that failed, or the caller's
	}
	return rows, nil
}

// slot waits until a call may be made; false if ctx ended before.
func (e *Embedder) slot(ctx context.Context) bool {
	select {
	case e.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// A TextError is a text that the server refused, or a batch whose answer is wrong.
type TextError struct {
	Positions []int // in the texts that were to be embedded, from 0
	Err       error
}

func (e *TextError) Error() string {
	if len(e.Positions) == 1 {
		return fmt.Sprintf("text %d: %v", e.Positions[0], e.Err)
	}
	return fmt.Sprintf("%d texts, %d to %d: %v", len(e.Positions), e.Positions[0], e.Positions[len(e.Positions)-1], e.Err)
}

// Unwrap returns the cause.
func (e *TextError) Unwrap() error { return e.Err }

// batch embeds parts in one call; a batch that the server refuses is halved
// until it is taken, or a single text is refused.
func (e *Embedder) batch(ctx context.Context, parts []part, rows [][]float64) error {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.body
	}
	got, err := e.client.Embed(ctx, texts, e.spec.Dimensions)
	var status *llm.StatusError
	if errors.As(err, &status) && status.Refused() && len(parts) > 1 {
		half := len(parts) / 2
		if err := e.batch(ctx, parts[:half], rows[:half]); err != nil {
			return err
		}
		return e.batch(ctx, parts[half:], rows[half:])
	}
	if err == nil {
		err = e.checkSize(got)
	}
	if err != nil {
		return &TextError{positions(parts), err}
	}
	e.suspect(texts, got.Tokens)
	copy(rows, got.Rows)
	return nil
}

func positions(parts []part) []int {
	var out []int
	for _, p := range parts {
		if len(out) == 0 || out[len(out)-1] != p.text {
			out = append(out, p.text)
		}
	}
	return out
}

// checkSize holds all answers to the size that was asked for, or came first.
func (e *Embedder) checkSize(got *llm.Embeddings) error {
	if got.Dim == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch want := e.spec.Dimensions; {
	case want != 0 && got.Dim != want:
		return fmt.Errorf("vectors of %d dimensions from model %q: asked for %d", got.Dim, got.Model, want)
	case e.dim != 0 && got.Dim != e.dim:
		return fmt.Errorf("vectors of %d dimensions from model %q: those before have %d, from model %q", got.Dim, got.Model, e.dim, e.model)
	}
	if e.dim == 0 {
		e.dim, e.model = got.Dim, got.Model
	}
	return nil
}
