package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/answer"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// Estimate returns what running groups would send to models behind HTTP, at
// most: nothing is taken from caches. It sends nothing itself; a strategy that
// cuts with such a model is not run, and notes say what was assumed in its place.
func Estimate(ctx context.Context, groups []*Group) (all []llm.Estimate, notes []string, err error) {
	e := &estimating{seen: map[string]bool{}}
	for _, g := range groups {
		if err := e.group(ctx, g); err != nil {
			return nil, nil, err
		}
	}
	return e.all, e.notes, nil
}

// estimating gathers estimates; what is embedded or cut twice counts once.
type estimating struct {
	seen  map[string]bool
	all   []llm.Estimate
	notes []string
}

// estimator knows what embedding takes.
type estimator interface {
	Estimate(passages, questions []string) llm.Estimate
}

// sender is a strategy that asks a chat model; it knows how much.
type sender interface {
	Model() string
	Sends(doc evalkit.Document) (calls, prompt, completion int)
}

func (e *estimating) add(x llm.Estimate) {
	if x.Calls == 0 {
		return
	}
	i := slices.IndexFunc(e.all, func(y llm.Estimate) bool { return y.What == x.What && y.Model == x.Model })
	if i < 0 {
		e.all = append(e.all, x)
		return
	}
	e.all[i] = e.all[i].Add(x)
}

func (e *estimating) note(s string) {
	if !slices.Contains(e.notes, s) {
		e.notes = append(e.notes, s)
	}
}

func (e *estimating) group(ctx context.Context, g *Group) error {
	embedder, _ := plain(g.Embedder).(estimator)
	remote := embedder != nil && g.Specs[0].Embedder != ""
	for _, s := range g.Setup.Strategies {
		passages, lengths, err := e.cut(ctx, g, s)
		if err != nil {
			return err
		}
		if remote && usesEmbedder(g.Specs[0].Retriever) {
			e.add(embedder.Estimate(e.fresh(g, passages), nil))
		}
		if remote && strings.Contains(s.String(), "embedder="+g.Specs[0].Embedder) {
			e.add(embedder.Estimate(e.fresh(g, windows(g.Setup.Dataset.Docs)), nil))
			e.note(fmt.Sprintf("%s embeds while it cuts: taken as a window of three sentences for each sentence", name(s)))
		}
		e.answers(g, s, lengths)
	}
	if remote && usesEmbedder(g.Specs[0].Retriever) {
		var questions []string
		for _, q := range g.Setup.Dataset.Queries {
			questions = append(questions, q.Text)
		}
		e.add(embedder.Estimate(nil, e.fresh(g, questions)))
	}
	return nil
}

// plain returns the embedder behind a cache.
func plain(e evalkit.Embedder) evalkit.Embedder {
	if c, ok := e.(interface{ Inner() evalkit.Embedder }); ok {
		return c.Inner()
	}
	return e
}

func name(s evalkit.Strategy) string {
	n, _, _ := strings.Cut(s.String(), "(")
	return n
}

// fresh returns the texts that were not asked for before.
func (e *estimating) fresh(g *Group, texts []string) []string {
	var out []string
	for _, t := range texts {
		if key := g.Specs[0].Embedder + "\x00" + t; !e.seen[key] {
			e.seen[key] = true
			out = append(out, t)
		}
	}
	return out
}

// cut returns the passages of a strategy and the lengths of its chunks in
// tokens, the longest first. Where cutting would send something it takes the
// sentences as passages, and chunks of the strategy's size.
func (e *estimating) cut(ctx context.Context, g *Group, s evalkit.Strategy) (passages []string, lengths []int, err error) {
	if !strings.Contains(s.String(), "openai(") {
		for _, d := range g.Setup.Dataset.Docs {
			chunks, err := s.Split(ctx, d)
			if err != nil {
				return nil, nil, fmt.Errorf("strategy %s: document %q: %w", s, d.ID, err)
			}
			for _, c := range chunks {
				passages = append(passages, c.Passages()...)
				lengths = append(lengths, g.Setup.Tokenizer.Count(c.Text))
			}
		}
		slices.SortFunc(lengths, func(a, b int) int { return b - a })
		return passages, lengths, nil
	}
	size := 1000
	if expr, err := evalkit.ParseExpr(s.String()); err == nil {
		size = expr.Settings().Int("size", size)
	}
	total := 0
	for _, d := range g.Setup.Dataset.Docs {
		total += g.Setup.Tokenizer.Count(d.Text)
		for _, span := range chunk.Sentences(d.Text) {
			passages = append(passages, d.Text[span.Start:span.End])
		}
		e.strategy(s, d)
	}
	e.note(fmt.Sprintf("%s was not run: its chunks are taken to have %d tokens", name(s), size))
	for range total/size + 1 {
		lengths = append(lengths, min(size, total))
	}
	return passages, lengths, nil
}

// strategy adds what a strategy asks a chat model about one document.
func (e *estimating) strategy(s evalkit.Strategy, d evalkit.Document) {
	if c, ok := s.(chunkCache); ok {
		s = c.Strategy
	}
	x, ok := s.(sender)
	if key := s.String() + "\x00" + d.Text; ok && !e.seen[key] {
		e.seen[key] = true
		calls, prompt, completion := x.Sends(d)
		e.add(llm.Estimate{What: name(s), Model: x.Model(), Calls: calls, Prompt: prompt, Completion: completion})
	}
}

// windows returns each sentence with those beside it.
func windows(docs []evalkit.Document) []string {
	var out []string
	for _, d := range docs {
		all := chunk.Sentences(d.Text)
		for i := range all {
			out = append(out, d.Text[all[max(0, i-1)].Start:all[min(len(all)-1, i+1)].End])
		}
	}
	return out
}

// answers adds what answering and judging take: the context is at most the
// longest chunks that the setting allows.
func (e *estimating) answers(g *Group, s evalkit.Strategy, lengths []int) {
	spec, ok := g.answerSpec.(answer.OpenAI)
	for _, x := range g.Settings {
		n := x.TopK
		if evalkit.Expands(s) {
			n *= 1 + x.Window.Prev + x.Window.Next
		}
		tokens := 0
		for _, l := range lengths[:min(n, len(lengths))] {
			tokens += l
		}
		tokens += 4 * n // marks between the pieces
		length := 200   // of an extractive answer
		if ok {
			e.add(spec.Estimate(g.Setup.Tokenizer, g.Setup.Dataset.Queries, tokens))
			length = spec.MaxTokens
		}
		if g.judgeSpec != nil {
			e.add(g.judgeSpec.Estimate(g.Setup.Tokenizer, g.Setup.Dataset.Queries, tokens, length))
		}
	}
}
