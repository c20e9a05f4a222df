package openai

import (
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Long says what became of texts beyond the model's window.
type Long struct {
	Cut        int // texts of which the end was left out
	Split      int // texts embedded in parts
	Tokens     int // of all texts, prefixes apart
	LostTokens int // of Tokens: left out
}

func (l *Long) add(m Long) {
	l.Cut += m.Cut
	l.Split += m.Split
	l.Tokens += m.Tokens
	l.LostTokens += m.LostTokens
}

// Lost returns the share of tokens that the model did not read, from 0 to 1.
func (l Long) Lost() float64 {
	if l.Tokens == 0 {
		return 0
	}
	return float64(l.LostTokens) / float64(l.Tokens)
}

// A LongTextError is a text beyond the model's window, under long=error.
type LongTextError struct {
	Position       int // in the texts that were to be embedded, from 0
	Tokens, Window int // Tokens with its prefix
}

func (e *LongTextError) Error() string {
	return fmt.Sprintf("text %d has %d tokens, the window is %d: set long=cut or long=split, or make chunks smaller", e.Position, e.Tokens, e.Window)
}

// A part is what is sent of one text.
type part struct {
	text   int    // position
	body   string // with the prefix
	weight int    // tokens
}

// Reads returns what becomes of passages beyond the model's window, without
// sending them. Under long=error it counts them in Cut, as if they were cut.
func (e *Embedder) Reads(passages []string) Long {
	total := Long{}
	for _, t := range passages {
		if !evalkit.Blank(t) {
			_, l := e.parts(0, e.spec.PassagePrefix, t)
			total.add(l)
		}
	}
	return total
}

// Unread returns a warning if some of passages are beyond the model's window,
// else the empty string. Large chunks are else compared unfairly.
func (e *Embedder) Unread(passages []string) string {
	l := e.Reads(passages)
	switch n := len(passages); {
	case l.Split > 0:
		return fmt.Sprintf("%d of %d passages are beyond the model's window of %d tokens and are embedded in parts", l.Split, n, e.spec.Window)
	case l.Cut > 0 && e.spec.Long == LongError:
		return fmt.Sprintf("%d of %d passages are beyond the model's window of %d tokens: the run will fail; set long=cut or long=split", l.Cut, n, e.spec.Window)
	case l.Cut > 0:
		return fmt.Sprintf("%d of %d passages are cut at the model's window of %d tokens: %.1f %% of all tokens are not read by the embedder", l.Cut, n, e.spec.Window, 100*l.Lost())
	}
	return ""
}

// cut turns texts into what is sent. Blank texts are left out.
func (e *Embedder) cut(kind evalkit.TextKind, texts []string) ([]part, Long, error) {
	prefix := e.spec.PassagePrefix
	if kind == evalkit.Question {
		prefix = e.spec.QueryPrefix
	}
	var all []part
	var total Long
	for i, t := range texts {
		if evalkit.Blank(t) {
			continue
		}
		parts, l := e.parts(i, prefix, t)
		if e.spec.Long == LongError && l.Cut > 0 {
			return nil, total, &LongTextError{i, e.ruler.Count(prefix + t), e.spec.Window}
		}
		all = append(all, parts...)
		total.add(l)
	}
	return all, total, nil
}

// parts cuts one text by the policy. Lengths are those of the text on its own;
// the prefix's tokens are kept free.
func (e *Embedder) parts(position int, prefix, text string) ([]part, Long) {
	if e.spec.Window == 0 {
		return []part{{position, prefix + text, 1}}, Long{}
	}
	starts := e.ruler.Starts(nil, text)
	n, room := len(starts), max(1, e.spec.Window-e.ruler.Count(prefix))
	l := Long{Tokens: n}
	if n <= room {
		return []part{{position, prefix + text, max(1, n)}}, l
	}
	if e.spec.Long == LongSplit {
		l.Split = 1
		var out []part
		for i := 0; i < n; i += room {
			end := len(text)
			if i+room < n {
				end = starts[i+room]
			}
			if body := text[starts[i]:end]; !evalkit.Blank(body) {
				out = append(out, part{position, prefix + body, min(room, n-i)})
			}
		}
		return out, l
	}
	l.Cut, l.LostTokens = 1, n-room
	return []part{{position, prefix + text[:starts[room]], room}}, l
}
