package onnx

import (
	"context"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A window is what the model reads of a text at once.
type window struct {
	text int // its place in the call
	ids  []int32
}

func (s Spec) prefix(kind evalkit.TextKind) string {
	if kind == evalkit.Question {
		return s.QueryPrefix
	}
	return s.PassagePrefix
}

// windows returns what the model reads of text i: nothing, if it has no token.
func (m *Model) windows(i int, prefix, text string) ([]window, error) {
	if evalkit.Blank(text) {
		return nil, nil
	}
	room := m.window - 2
	ids := m.encoder.encode(prefix + text)
	switch {
	case len(ids) == 0:
		return nil, nil
	case len(ids) <= room || m.spec.Long == Cut:
		return []window{{i, m.encoder.framed(ids[:min(room, len(ids))])}}, nil
	case m.spec.Long == Error:
		return nil, fmt.Errorf("text %d, %.40q: %d tokens, and the model reads %d: make chunks smaller, or set long=cut or long=split", i, text, len(ids), room)
	}
	return m.split(i, prefix, text)
}

// split returns consecutive windows over text, each behind the prefix.
func (m *Model) split(i int, prefix, text string) ([]window, error) {
	before, ids := m.encoder.encode(prefix), m.encoder.encode(text)
	room := m.window - 2 - len(before)
	if room < 1 {
		return nil, fmt.Errorf("the prefix %q has %d tokens: it leaves no room in a window of %d", prefix, len(before), m.window)
	}
	var out []window
	for ; len(ids) > 0; ids = ids[min(room, len(ids)):] {
		out = append(out, window{i, m.encoder.framed(before, ids[:min(room, len(ids))])})
	}
	return out, nil
}

// A Reach says how much of some texts a model reads. Tokens are those of the
// texts with their prefix, without [CLS] and [SEP].
type Reach struct {
	Texts  int
	Long   int // texts with more tokens than the model reads at once
	Tokens int // of all texts
	Lost   int // of Tokens: not read; 0 under long=split
}

// LostShare returns the share of the tokens that is not read, from 0 to 1.
func (r Reach) LostShare() float64 {
	if r.Tokens == 0 {
		return 0
	}
	return float64(r.Lost) / float64(r.Tokens)
}

// Reach counts what the model reads of texts, without embedding them. Under
// long=error, what is refused counts as lost.
func (m *Model) Reach(ctx context.Context, kind evalkit.TextKind, texts []string) (Reach, error) {
	counts := make([]int, len(texts))
	err := parallel(ctx, len(texts), func(i int) {
		counts[i] = len(m.encoder.encode(m.spec.prefix(kind) + texts[i]))
	})
	r := Reach{Texts: len(texts)}
	for _, n := range counts {
		r.Tokens += n
		if over := n - (m.window - 2); over > 0 {
			r.Long++
			if m.spec.Long != Split {
				r.Lost += over
			}
		}
	}
	return r, err
}

// Unread returns a warning if the model does not read some of passages whole,
// else the empty string: large chunks are at a disadvantage then.
func (m *Model) Unread(passages []string) string {
	r, err := m.Reach(context.Background(), evalkit.Passage, passages)
	switch {
	case err != nil || r.Long == 0:
		return ""
	case m.spec.Long == Split:
		return fmt.Sprintf("%d of %d passages are beyond the model's window of %d tokens and are embedded in parts", r.Long, r.Texts, m.window)
	case m.spec.Long == Error:
		return fmt.Sprintf("%d of %d passages are beyond the model's window of %d tokens: the run will fail; set long=cut or long=split", r.Long, r.Texts, m.window)
	}
	return fmt.Sprintf("%d of %d passages are cut at the model's window of %d tokens: %.1f %% of all tokens are not read by the embedder", r.Long, r.Texts, m.window, 100*r.LostShare())
}
