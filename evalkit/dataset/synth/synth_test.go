package synth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/dataset/synth"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

var docs = []evalkit.Document{
	{ID: "ice.md", Text: "# Ice\n\nThe buoy drifts with\nthe ice. Größe: 5 m². The node listens on the seabed. The same line stands twice. The same line stands twice.\n"},
	{ID: "leave.md", Text: "Staff have 27 days of leave. Ask three weeks ahead.\n"},
	{ID: "blank.md", Text: " \n"},
}

// script answers by what is asked about, and keeps the prompts.
type script struct {
	replies map[string][]string // by a word of the prompt; the last one stays
	mu      sync.Mutex
	asked   []string
}

func (*script) String() string { return "openai(model=m)" }

func (s *script) Chat(_ context.Context, prompt string, _ int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, prompt)
	for word, replies := range s.replies {
		if strings.Contains(prompt, word) {
			if len(replies) > 1 {
				s.replies[word] = replies[1:]
			}
			if replies[0] == "down" {
				return "", errors.New("down")
			}
			return replies[0], nil
		}
	}
	return "I cannot.", nil
}

// list is a reply with questions of one quote each: question, quote, question, …
func list(pairs ...string) string {
	var out []map[string]any
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, map[string]any{"question": pairs[i], "answer": "yes", "quotes": []string{pairs[i+1]}})
	}
	b, _ := json.Marshal(out)
	return "Here you are:\n```json\n" + string(b) + "\n```"
}

func options(n int) synth.Options {
	o := synth.DefaultOptions()
	o.Questions, o.Rounds = n, 1
	return o
}

var embedder = embed.Hash{Dim: 512}

// reasons returns question -> reason of all candidates.
func reasons(r *synth.Result) map[string]string {
	out := map[string]string{}
	for _, c := range r.Candidates {
		out[c.Question] = c.Reason
	}
	return out
}

func TestQuotesAreVerifiedAndQuestionsFiltered(t *testing.T) {
	c := &script{replies: map[string][]string{
		"buoy": {list(
			"What drifts with the ice?", "The buoy drifts with the ice.",
			"What does the buoy weigh?", "The buoy weighs a ton.",
			"Which line stands twice?", "The same line stands twice.",
			"With the ice drifts what?", "The buoy drifts",
			"Zebra quagga?", "The node listens on the seabed.",
			"Wie groß ist die Größe: 5 m²?", "Größe: 5 m².",
			"", "The node",
		)},
		"Staff": {list("How many days of leave do staff have?", "Staff have 27 days of leave.")},
	}}
	r, err := synth.Run(t.Context(), docs, c, embedder, options(10))
	require.NoError(t, err)
	got := reasons(r)
	assert.Empty(t, got["What drifts with the ice?"])
	assert.Contains(t, got["What does the buoy weigh?"], "quote does not occur")
	assert.Contains(t, got["Which line stands twice?"], "quote occurs 2 times in the document")
	assert.Contains(t, got["With the ice drifts what?"], `near duplicate: cosine 1.000 with "What drifts with the ice?"`)
	assert.Contains(t, got["Zebra quagga?"], "off topic: cosine")
	assert.Empty(t, got["Wie groß ist die Größe: 5 m²?"])
	assert.Equal(t, "no question", got[""])
	assert.Equal(t, 3, r.Accepted)
	assert.Equal(t, 2, r.Calls, "nothing is asked about the blank document")
	assert.True(t, r.Exhausted)
	for _, x := range r.Candidates {
		assert.Equal(t, x.Reason == "", x.Status == synth.Accept)
		for _, g := range x.Gold {
			for _, d := range docs {
				if d.ID == g.Doc {
					assert.Equal(t, d.Text[g.Start:g.End], g.Text)
				}
			}
		}
		p := x.Provenance
		assert.Equal(t, []any{"openai(model=m)", "synth-v1", 64, uint64(1), 1}, []any{p.Model, p.PromptVersion, len(p.PromptSHA256), p.Seed, p.Round})
	}
	first := r.Candidates[0]
	for _, x := range r.Candidates {
		if x.Question == "What drifts with the ice?" {
			first = x
		}
	}
	assert.Equal(t, "The buoy drifts with\nthe ice.", first.Gold[0].Text, "a quote may differ in white space; the gold is the document's text")
	assert.InDelta(t, 0.5, *first.Provenance.Relevance, 0.5)
}

func TestRunStopsWhenThereAreEnough(t *testing.T) {
	many := make([]evalkit.Document, 40)
	for i := range many {
		many[i] = evalkit.Document{ID: evalkit.DocID(fmt.Sprintf("d%02d", i)), Text: fmt.Sprintf("Fact number%d stands here.", i)}
	}
	c := answering(func(prompt string) string {
		_, fact, _ := strings.Cut(prompt, "<part>\n")
		fact, _, _ = strings.Cut(fact, "\n</part>")
		return list("Where does "+strings.Fields(fact)[1]+" stand?", fact)
	})
	r, err := synth.Run(t.Context(), many, c, embed.Hash{Dim: 4096}, options(6))
	require.NoError(t, err)
	assert.Equal(t, 6, r.Accepted)
	assert.Equal(t, 6, r.Calls)
	assert.False(t, r.Exhausted)
	again, err := synth.Run(t.Context(), many, c, embed.Hash{Dim: 4096}, options(6))
	require.NoError(t, err)
	assert.Equal(t, r, again, "equal seeds give equal questions")
	o := options(6)
	o.Seed = 2
	other, err := synth.Run(t.Context(), many, c, embed.Hash{Dim: 4096}, o)
	require.NoError(t, err)
	assert.NotEqual(t, reasons(r), reasons(other))
	more, err := synth.Run(t.Context(), many, c, embed.Hash{Dim: 4096}, options(9))
	require.NoError(t, err)
	for i, x := range r.Candidates {
		assert.Equal(t, x, more.Candidates[i], "asking for more goes on behind what was there")
	}
}

type answering func(prompt string) string

func (answering) String() string { return "fake" }
func (a answering) Chat(_ context.Context, prompt string, _ int) (string, error) {
	return a(prompt), nil
}

func TestLaterRoundsSayWhatWasAsked(t *testing.T) {
	c := &script{replies: map[string][]string{"Staff": {list("How many days of leave do staff have?", "Staff have 27 days of leave.")}}}
	o := options(2)
	o.Rounds = 2
	one := docs[1:2]
	first, err := synth.Run(t.Context(), one, c, embedder, o)
	require.NoError(t, err)
	require.Len(t, c.asked, 2)
	assert.NotContains(t, c.asked[0], "How many days")
	assert.Contains(t, c.asked[1], "These were asked already; ask for other things:\n- How many days of leave do staff have?")
	assert.Len(t, first.Candidates, 1, "the same question again is no new candidate")
	assert.True(t, first.Exhausted)
}

func TestUnreadableAnswersAndErrors(t *testing.T) {
	for _, reply := range []string{"", "no list", "[", "] [", "[]", `[{"question": 3}]`, `{"question":"x"}`} {
		r, err := synth.Run(t.Context(), docs[1:2], answering(func(string) string { return reply }), embedder, options(1))
		require.NoError(t, err)
		assert.Equal(t, 1, r.Unreadable, reply)
	}
	_, err := synth.Run(t.Context(), docs[1:2], &script{replies: map[string][]string{"Staff": {"down"}}}, embedder, options(1))
	require.ErrorContains(t, err, `synthesize: document "leave.md" [0:`)
	require.ErrorContains(t, err, "down")
	for _, change := range []func(*synth.Options){
		func(o *synth.Options) { o.Questions = 0 }, func(o *synth.Options) { o.PerCall = 0 }, func(o *synth.Options) { o.Window = 0 },
		func(o *synth.Options) { o.Rounds = 0 }, func(o *synth.Options) { o.Duplicate = 3 }, func(o *synth.Options) { o.Relevance = -3 },
	} {
		o := synth.DefaultOptions()
		change(&o)
		_, err := synth.Run(t.Context(), docs, answering(nil), embedder, o)
		require.ErrorContains(t, err, "want")
	}
}

func TestPlanShowsEveryWindowOnceARound(t *testing.T) {
	long := []evalkit.Document{{ID: "l", Text: strings.Repeat("One sentence of words. ", 100)}, docs[0]}
	o := synth.DefaultOptions()
	o.Window, o.Rounds = 300, 2
	plan := synth.Plan(long, o)
	seen := map[synth.Task]int{}
	bytes := 0
	for _, task := range plan {
		seen[task]++
		assert.LessOrEqual(t, task.Span.Len(), 300)
		bytes += task.Span.Len()
	}
	assert.Len(t, seen, len(plan))
	assert.Equal(t, 2*(len(long[0].Text)+len(docs[0].Text)), bytes)
	assert.Equal(t, plan, synth.Plan(long, o))
}

func TestReview(t *testing.T) {
	c := &script{replies: map[string][]string{
		"buoy":  {list("What drifts with the ice?", "The buoy drifts with the ice.", "Which line stands twice?", "The same line stands twice.", "What weighs?", "nowhere")},
		"Staff": {list("How many days of leave do staff have?", "Staff have 27 days of leave.")},
	}}
	r, err := synth.Run(t.Context(), docs, c, embedder, options(10))
	require.NoError(t, err)
	var file strings.Builder
	require.NoError(t, synth.WriteReview(&file, r.Candidates))
	assert.True(t, strings.HasPrefix(file.String(), `{"status":"`), "the status stands first")
	read := func(text string) ([]synth.Candidate, error) {
		return synth.ReadReview("review.jsonl", strings.NewReader(text))
	}
	back, err := read(file.String() + "\n\n")
	require.NoError(t, err)
	assert.Equal(t, r.Candidates, back)

	// A person overrules one, rejects one, and mends a question.
	edited := file.String()
	for from, to := range map[string]string{
		`{"status":"accept","question":"How many`: `{"status":"reject","question":"How many`, `{"status":"reject","question":"Which line`: `{"status":"accept","question":"Which single line`,
	} {
		require.Contains(t, edited, from)
		edited = strings.Replace(edited, from, to, 1)
	}
	reviewed, err := read(edited)
	require.NoError(t, err)
	merged := synth.Merge(r.Candidates, reviewed)
	ds, err := synth.Dataset(docs, merged)
	require.NoError(t, err)
	require.Len(t, ds.Queries, 2)
	all := ds.Queries[0].Text + ds.Queries[1].Text
	assert.Contains(t, all, "What drifts with the ice?")
	assert.Contains(t, all, "Which single line stands twice?")
	assert.Equal(t, merged, synth.Merge(nil, merged), "what was reviewed is never lost")

	for text, want := range map[string]string{
		`{"status":"maybe"}`: `review.jsonl:1: status: "maybe" is not accept or reject`, "\n{": "review.jsonl:2: not a line of a review", `{"status":"accept","id":"x","question":"q"}`: "gold: empty",
		`{"status":"accept","id":"x","gold":[]}`: "question: empty", `{"status":"reject","id":" "}`: "id: missing", `{"stat":"x"}`: "unknown field",
		`{"status":"reject","id":"x"}` + "\n" + `{"status":"reject","id":"x"}`: `review.jsonl:2: id "x": given before, in line 1`,
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want)
	}
	for _, broken := range []synth.Evidence{{Doc: "none", End: 1}, {Doc: "ice.md", Start: 2, End: 1}, {Doc: "ice.md", Start: 0, End: 3, Text: "xyz"}} {
		_, err := synth.Dataset(docs, []synth.Candidate{{Status: synth.Accept, ID: "x", Question: "q", Gold: []synth.Evidence{broken}}})
		require.ErrorContains(t, err, `question "x"`)
	}
	_, err = synth.Dataset(docs, nil)
	require.ErrorContains(t, err, "no question is accepted")
}

func FuzzQuotes(f *testing.F) {
	f.Add("The buoy drifts with\nthe ice.", "buoy  drifts")
	f.Add("aaa", "aa")
	f.Add("ä ö", "ä\tö")
	f.Fuzz(func(t *testing.T, text, quote string) {
		text, quote = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(quote, "?")
		doc := evalkit.Document{ID: "d", Text: text}
		r, err := synth.Run(t.Context(), []evalkit.Document{doc}, answering(func(string) string { return list("what", quote) }), embedder, options(1))
		require.NoError(t, err)
		for _, c := range r.Candidates {
			for _, g := range c.Gold {
				require.NoError(t, evalkit.Span{Start: g.Start, End: g.End}.Check(text))
				require.Equal(t, strings.Fields(strings.TrimFunc(quote, evalkit.IsSpace)), strings.Fields(g.Text))
			}
		}
	})
}
