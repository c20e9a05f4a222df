package synth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Chat is a model that writes texts. It is safe for concurrent use.
type Chat interface {
	fmt.Stringer
	// Chat returns the model's answer of at most limit tokens.
	Chat(ctx context.Context, prompt string, limit int) (string, error)
}

// The states of a Candidate.
const (
	Accept = "accept"
	Reject = "reject"
)

// A Candidate is a question that was written. Its JSON is a line of the review
// file.
type Candidate struct {
	Status     string          `json:"status"` // Accept or Reject; a person may change it
	Question   string          `json:"question"`
	Answer     string          `json:"answer"`
	Gold       []Evidence      `json:"gold"`   // where the quotes stand; empty if one does not, and then it cannot be accepted
	Reason     string          `json:"reason"` // why it was rejected; empty if it was not
	ID         evalkit.QueryID `json:"id"`     // a digest of question and evidence as they were written
	Quotes     []string        `json:"quotes"` // as the model wrote them
	Provenance Provenance      `json:"provenance"`
}

// Evidence is a span of a document with its text.
type Evidence struct {
	Doc   evalkit.DocID `json:"doc"`
	Start int           `json:"start"` // bytes
	End   int           `json:"end"`
	Text  string        `json:"text"`
}

// Provenance says where a question comes from.
type Provenance struct {
	Model         string        `json:"model"` // settings included; holds no key
	PromptVersion string        `json:"prompt_version"`
	PromptSHA256  string        `json:"prompt_sha256"` // hex
	Doc           evalkit.DocID `json:"doc"`
	Start         int           `json:"start"` // of what the model saw, bytes
	End           int           `json:"end"`
	Round         int           `json:"round"`
	Seed          uint64        `json:"seed"`
	Embedder      string        `json:"embedder"`
	Relevance     *float64      `json:"relevance"` // cosine of question and quotes; null if it is not known
	Nearest       *float64      `json:"nearest"`   // largest cosine with a question accepted before; null if there is none
}

// A Result is what Run made.
type Result struct {
	Candidates []Candidate // in the order in which they were written
	Accepted   int
	Calls      int  // answers that were read
	Unreadable int  // of Calls: no list of questions
	Exhausted  bool // every window was shown in every round before there were enough
}

// parallelCalls are made at a time; they are read in order.
const parallelCalls = 4

// Run has c write questions over docs until there are enough. An error of c or e
// ends it.
func Run(ctx context.Context, docs []evalkit.Document, c Chat, e evalkit.Embedder, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	w := &writer{options: o, chat: c, embedder: e, docs: map[evalkit.DocID]string{}, result: &Result{}, seen: map[evalkit.QueryID]bool{}}
	for _, d := range docs {
		w.docs[d.ID] = d.Text
	}
	plan := Plan(docs, o)
	for len(plan) > 0 && w.result.Accepted < o.Questions {
		n := 1 // a later round says what the one before it asked
		for n < min(parallelCalls, len(plan)) && plan[n].Round == plan[0].Round {
			n++
		}
		if err := w.batch(ctx, plan[:n]); err != nil {
			return nil, fmt.Errorf("synthesize: %w", err)
		}
		plan = plan[n:]
	}
	w.result.Exhausted = w.result.Accepted < o.Questions
	return w.result, nil
}

type writer struct {
	options  Options
	chat     Chat
	embedder evalkit.Embedder
	docs     map[evalkit.DocID]string
	result   *Result
	seen     map[evalkit.QueryID]bool
	accepted []accepted
}

// accepted is a question with its vector.
type accepted struct {
	question string
	window   evalkit.Span
	doc      evalkit.DocID
	vector   []float32
}

// batch asks about some windows of one round at once and reads the answers in
// order.
func (w *writer) batch(ctx context.Context, tasks []Task) error {
	prompts, answers, errs := make([]string, len(tasks)), make([]string, len(tasks)), make([]error, len(tasks))
	var wg sync.WaitGroup
	for i, t := range tasks {
		prompts[i] = w.options.Prompt(w.docs[t.Doc][t.Span.Start:t.Span.End], w.before(t))
		wg.Go(func() { answers[i], errs[i] = w.chat.Chat(ctx, prompts[i], w.options.AnswerTokens()) })
	}
	wg.Wait()
	for i, t := range tasks {
		if errs[i] != nil {
			return fmt.Errorf("document %q %v: %w", t.Doc, t.Span, errs[i])
		}
		if w.result.Accepted >= w.options.Questions {
			return nil
		}
		if err := w.read(ctx, t, prompts[i], answers[i]); err != nil {
			return err
		}
	}
	return nil
}

// before returns the questions accepted about the window of t.
func (w *writer) before(t Task) []string {
	var out []string
	for _, a := range w.accepted {
		if a.doc == t.Doc && a.window == t.Span {
			out = append(out, a.question)
		}
	}
	return out
}

// written is a question as the model writes it.
type written struct {
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Quotes   []string `json:"quotes"`
}

// readList reads the JSON list in an answer, whatever stands around it.
func readList(answer string) ([]written, bool) {
	from, to := strings.Index(answer, "["), strings.LastIndex(answer, "]")
	if from < 0 || to < from {
		return nil, false
	}
	var out []written
	err := json.Unmarshal([]byte(answer[from:to+1]), &out)
	return out, err == nil && len(out) > 0
}

func (w *writer) read(ctx context.Context, t Task, prompt, answer string) error {
	w.result.Calls++
	list, ok := readList(answer)
	if !ok {
		w.result.Unreadable++
		return nil
	}
	for _, q := range list {
		if w.result.Accepted >= w.options.Questions {
			return nil
		}
		c := w.candidate(t, prompt, q)
		if w.seen[c.ID] {
			continue
		}
		w.seen[c.ID] = true
		if c.Reason == "" {
			if err := w.judge(ctx, t, &c); err != nil {
				return err
			}
		}
		c.Status = Accept
		if c.Reason != "" {
			c.Status = Reject
		} else {
			w.result.Accepted++
		}
		w.result.Candidates = append(w.result.Candidates, c)
	}
	return nil
}

// candidate finds the quotes of q.
func (w *writer) candidate(t Task, prompt string, q written) Candidate {
	c := Candidate{
		Question: strings.TrimFunc(q.Question, evalkit.IsSpace), Answer: strings.TrimFunc(q.Answer, evalkit.IsSpace), Gold: []Evidence{}, Quotes: q.Quotes,
		Provenance: Provenance{
			Model: w.chat.String(), PromptVersion: PromptVersion, PromptSHA256: digest(prompt), Doc: t.Doc, Start: t.Span.Start, End: t.Span.End,
			Round: t.Round, Seed: w.options.Seed, Embedder: w.embedder.String(),
		},
	}
	if c.Quotes == nil {
		c.Quotes = []string{}
	}
	c.ID = evalkit.QueryID("s-" + digest(fmt.Sprintf("%q %q %q", t.Doc, c.Question, c.Quotes))[:16])
	text := w.docs[t.Doc]
	var spans []evalkit.Span
	for _, quote := range c.Quotes {
		at, n := locate(text[t.Span.Start:t.Span.End], quote)
		if n == 0 {
			c.Reason = fmt.Sprintf("quote does not occur: %.60q", quote)
			return c
		}
		at = evalkit.Span{Start: at.Start + t.Span.Start, End: at.End + t.Span.Start}
		if n = strings.Count(text, text[at.Start:at.End]); n > 1 && c.Reason == "" {
			c.Reason = fmt.Sprintf("quote occurs %d times in the document: %.60q", n, quote)
		}
		spans = append(spans, at)
	}
	for _, s := range evalkit.Union(spans) {
		c.Gold = append(c.Gold, Evidence{t.Doc, s.Start, s.End, text[s.Start:s.End]})
	}
	switch {
	case c.Question == "":
		c.Reason = "no question"
	case len(c.Gold) == 0:
		c.Reason = "no quotes"
	}
	return c
}

// judge compares vectors.
func (w *writer) judge(ctx context.Context, t Task, c *Candidate) error {
	var quotes []string
	for _, g := range c.Gold {
		quotes = append(quotes, g.Text)
	}
	q, err := w.vector(ctx, evalkit.Question, c.Question)
	if err != nil {
		return err
	}
	p, err := w.vector(ctx, evalkit.Passage, strings.Join(quotes, "\n"))
	if err != nil {
		return err
	}
	if q == nil || p == nil {
		c.Reason = "off topic: the embedder has no vector for the question or its quotes"
		return nil
	}
	relevance := dot(q, p)
	c.Provenance.Relevance = &relevance
	nearest := ""
	for _, a := range w.accepted {
		if x := dot(q, a.vector); c.Provenance.Nearest == nil || x > *c.Provenance.Nearest {
			c.Provenance.Nearest, nearest = &x, a.question
		}
	}
	switch {
	case relevance < w.options.Relevance:
		c.Reason = fmt.Sprintf("off topic: cosine %.3f with its quotes is below %v", relevance, w.options.Relevance)
	case nearest != "" && *c.Provenance.Nearest >= w.options.Duplicate:
		c.Reason = fmt.Sprintf("near duplicate: cosine %.3f with %.80q", *c.Provenance.Nearest, nearest)
	default:
		w.accepted = append(w.accepted, accepted{c.Question, t.Span, t.Doc, q})
	}
	return nil
}

// vector returns nil where the embedder has none.
func (w *writer) vector(ctx context.Context, kind evalkit.TextKind, text string) ([]float32, error) {
	v, err := w.embedder.Embed(ctx, kind, []string{text})
	if err != nil {
		return nil, fmt.Errorf("embedder %s: %w", w.embedder, err)
	}
	for _, x := range v.Row(0) {
		if x != 0 {
			return v.Row(0), nil
		}
	}
	return nil, nil
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
