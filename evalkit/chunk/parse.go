package chunk

import (
	"context"
	"fmt"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// An Env holds what the string of a strategy does not say.
type Env struct {
	Tokenizer evalkit.Tokenizer // counts where a strategy names no tokenizer
	// Embedder returns the embedder of a semantic strategy; the empty string
	// asks for the Experiment's. Nil: there are none.
	Embedder func(spec string) (evalkit.Embedder, error)
	// Chat returns the model of a strategy that asks one; the empty string means
	// that the strategy names none. Nil: there are none.
	Chat func(spec string) (Chat, error)
}

// Names returns the strategies that Parse knows.
func Names() []string {
	return []string{
		"fixed_size", "recursive", "sentence", "paragraph", "markdown", "page", "sentence_window", "parent",
		"semantic", "semantic_modified", "cluster_semantic",
		"llm_semantic", "contextual",
	}
}

// Parse reads a strategy; unnamed settings take the values shown:
//
//	fixed_size(size=200,overlap=0,unit=token,trim=true)   unit: token, rune, word
//	recursive(size=200,overlap=0,unit=token,separators=["\n\n","\n",".","?","!"," ",""])
//	sentence(size=200,overlap=0,unit=token)               unit: token, rune, sentence
//	paragraph(size=200,unit=token)
//	markdown(size=200,unit=token)
//	page(size=1000,unit=token)
//	sentence_window(window=2,size=100,unit=token)
//	parent(size=400,child=100,unit=token)
//	semantic(mode=percentile,threshold=95,buffer=1,size=1000,embedder=…)
//	semantic_modified(size=200,embedder=…)
//	cluster_semantic(size=200,embedder=…)
//	llm_semantic(size=400,view=800,llm=…)
//	contextual(strategy=recursive(size=200),view=8000,llm=…)
//
// All but the units rune, word and sentence also take tokenizer=…, for lengths
// in another tokenizer than the Experiment's. String prints every setting in
// force, and Parse reads it back under the same env.
func Parse(s string, env Env) (evalkit.Strategy, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, fmt.Errorf("parse strategy: %w", err)
	}
	p := &parser{set: e.Settings(), env: env}
	build, ok := map[string]func(*parser) evalkit.Strategy{
		"fixed_size": parseFixedSize, "recursive": parseRecursive, "sentence": parseSentence, "paragraph": parseParagraph,
		"markdown": parseMarkdown, "page": parsePage, "sentence_window": parseSentenceWindow, "parent": parseParent,
		"semantic": parseSemantic, "semantic_modified": parseModified, "cluster_semantic": parseCluster,
		"llm_semantic": parseLLMSemantic, "contextual": parseContextual,
	}[e.Name]
	if !ok {
		if best, near := evalkit.Nearest(e.Name, Names()); near {
			return nil, fmt.Errorf("parse strategy %q: unknown strategy %q: did you mean %q?", s, e.Name, best)
		}
		return nil, fmt.Errorf("parse strategy %q: unknown strategy %q: known are %s", s, e.Name, strings.Join(Names(), ", "))
	}
	strategy := build(p)
	if err := p.set.Err(); err != nil { // an unknown or ill-typed setting explains more than what follows from it
		p.err = err
	}
	if p.err != nil {
		return nil, fmt.Errorf("parse strategy %q: %w", s, p.err)
	}
	return strategy, nil
}

// parser reads the settings that strategies share and keeps the first error.
type parser struct {
	set *evalkit.Settings
	env Env
	err error
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// ruler reads unit and tokenizer.
func (p *parser) ruler(units ...string) ruler {
	r := ruler{unit: "token", counter: p.env.Tokenizer}
	if len(units) > 0 {
		r.unit = p.set.Enum("unit", "token", units...)
	}
	if name := p.set.String("tokenizer", ""); name != "" {
		tok, err := token.Parse(name)
		if err != nil {
			p.fail(fmt.Errorf("tokenizer: %w", err))
			return r
		}
		if r.unit != "token" {
			p.fail(fmt.Errorf("tokenizer: has no meaning with unit=%s", r.unit))
		}
		if p.env.Tokenizer == nil || tok.String() != p.env.Tokenizer.String() {
			r.named = tok.String()
		}
		r.counter = tok
	}
	switch r.unit {
	case "rune":
		r.cutter = token.Runes{}
	case "word":
		r.cutter = token.Words{}
	default:
		r.cutter = r.counter
	}
	if r.counter == nil {
		p.fail(fmt.Errorf("tokenizer: none is given"))
	}
	return r
}

// size reads size, and overlap if the strategy has one.
func (p *parser) size(def int, overlaps bool) (size, overlap int) {
	size = p.set.Int("size", def)
	if overlaps {
		overlap = p.set.Int("overlap", 0)
	}
	switch {
	case size < 1:
		p.fail(fmt.Errorf("size: %d is below 1", size))
	case overlap < 0:
		p.fail(fmt.Errorf("overlap: %d is below 0", overlap))
	case overlap >= size:
		p.fail(fmt.Errorf("overlap %d is not smaller than size %d: every chunk must bring something new", overlap, size))
	}
	return size, overlap
}

func (p *parser) atLeast(key string, def, lo int) int {
	n := p.set.Int(key, def)
	if n < lo {
		p.fail(fmt.Errorf("%s: %d is below %d", key, n, lo))
	}
	return n
}

// embedder reads embedder.
func (p *parser) embedder() evalkit.Embedder {
	spec := p.set.String("embedder", "")
	if p.env.Embedder == nil {
		p.fail(fmt.Errorf("embedder: none is given"))
		return nil
	}
	e, err := p.env.Embedder(spec)
	if err != nil {
		p.fail(fmt.Errorf("embedder: %w", err))
	}
	return e
}

// ruler measures: in tokens, code points, words or sentences.
type ruler struct {
	unit    string
	named   string            // tokenizer where it is not the Experiment's
	cutter  evalkit.Tokenizer // of lengths and hard cuts
	counter evalkit.Tokenizer // of Chunk.Tokens
}

// suffix is the ruler's part of a strategy's string.
func (r ruler) suffix(units bool) string {
	s := ""
	if units {
		s = ",unit=" + r.unit
	}
	if r.named != "" {
		s += ",tokenizer=" + r.named
	}
	return s
}

// fingerprint adds what the string does not say.
func (r ruler) fingerprint(s string) string { return s + " " + evalkit.Fingerprint(r.counter) }

// length returns the length of text; a sentence is 1 in sentences.
func (r ruler) length(text string) int {
	if r.unit == "sentence" {
		return 1
	}
	return r.cutter.Count(text)
}

// hardCut cuts s between tokens into pieces of at most size, which need not be
// trimmed.
func (r ruler) hardCut(text string, s evalkit.Span, size int) []evalkit.Span {
	starts := r.cutter.Starts(nil, text[s.Start:s.End])
	var out []evalkit.Span
	at := s.Start
	for i := size; i < len(starts); i += size {
		if end := cutAt(text, s.Start+starts[i]); end > at {
			out = append(out, evalkit.Span{Start: at, End: end})
			at = end
		}
	}
	if at < s.End {
		out = append(out, evalkit.Span{Start: at, End: s.End})
	}
	return out
}

// cutAt moves a cut between CR and LF before both.
func cutAt(text string, i int) int {
	if i > 0 && i < len(text) && text[i-1] == '\r' && text[i] == '\n' {
		return i - 1
	}
	return i
}

// trim leaves out white space at both edges of s.
func trim(text string, s evalkit.Span) evalkit.Span {
	t := text[s.Start:s.End]
	left := strings.TrimLeftFunc(t, evalkit.IsSpace)
	s.Start += len(t) - len(left)
	s.End = s.Start + len(strings.TrimRightFunc(left, evalkit.IsSpace))
	return s
}

// draft is a chunk before it has its place.
type draft struct {
	span   evalkit.Span
	header string
	units  []evalkit.Span
}

// finish makes chunks of drafts in order: trimmed, without blank ones and
// without those that lie within the one before. limit is the size, 0 for none.
func (r ruler) finish(ctx context.Context, doc evalkit.Document, drafts []draft, limit int) ([]evalkit.Chunk, error) {
	return r.place(ctx, placing{doc: doc, limit: limit, trim: true}, drafts)
}

// placing says how drafts become chunks.
type placing struct {
	doc   evalkit.Document
	limit int
	trim  bool                   // else the edges stay as they were cut
	count func(evalkit.Span) int // tokens of a span where they are known; nil: count the text
}

func (r ruler) place(ctx context.Context, p placing, drafts []draft) ([]evalkit.Chunk, error) {
	var out []evalkit.Chunk
	for _, d := range drafts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := d.span
		if inner := trim(p.doc.Text, s); inner.Empty() {
			continue
		} else if p.trim {
			s = inner
		}
		if n := len(out); n > 0 && (out[n-1].Span.Contains(s) || s.Start < out[n-1].Span.Start) {
			continue
		}
		c := evalkit.Chunk{Doc: p.doc.ID, Index: len(out), Span: s, Text: p.doc.Text[s.Start:s.End], Header: d.header, Units: d.units}
		if p.count != nil {
			c.Tokens = p.count(s)
		} else {
			c.Tokens = r.counter.Count(c.Text)
		}
		c.Oversize = p.limit > 0 && r.above(c, p.limit)
		out = append(out, c)
	}
	return out, ctx.Err()
}

// above reports whether c is larger than limit, which has no meaning in sentences.
func (r ruler) above(c evalkit.Chunk, limit int) bool {
	switch r.unit {
	case "sentence":
		return false
	case "token":
		return c.Tokens > limit
	}
	return r.cutter.Count(c.Text) > limit
}

func drafts(spans []evalkit.Span) []draft {
	out := make([]draft, len(spans))
	for i, s := range spans {
		out[i].span = s
	}
	return out
}
