package dataset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

// bytesOf cuts ASCII text into pieces of so many bytes.
type bytesOf int

func (b bytesOf) String() string { return fmt.Sprintf("bytes(size=%d)", int(b)) }

func (b bytesOf) Split(_ context.Context, d evalkit.Document) ([]evalkit.Chunk, error) {
	if b == 0 {
		return nil, fmt.Errorf("size 0")
	}
	var out []evalkit.Chunk
	for i := 0; i < len(d.Text); i += int(b) {
		s := evalkit.Span{Start: i, End: min(i+int(b), len(d.Text))}
		out = append(out, evalkit.Chunk{Doc: d.ID, Index: len(out), Span: s, Text: d.Text[s.Start:s.End]})
	}
	return out, nil
}

func messages(errs []error) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

func TestNeededQuestions(t *testing.T) {
	// (1.959964 + 0.841621)² = 7.848879; times (0.3/0.05)² = 36 is 282.6
	assert.Equal(t, 283, dataset.NeededQuestions(0.05, 0.3))
	assert.Equal(t, 8, dataset.NeededQuestions(1, 1))
	assert.Equal(t, 8, dataset.NeededQuestions(-1, 1))
	assert.Equal(t, 0, dataset.NeededQuestions(0.05, 0))
}

func TestCheck(t *testing.T) {
	ds := &evalkit.Dataset{
		Docs: []evalkit.Document{{ID: "a", Text: "one two one aXaXa"}, {ID: "b", Text: "tiny"}},
		Queries: []evalkit.Query{
			{ID: "q1", Text: "Q?", Qrels: []evalkit.Qrel{qrel("a", 0, 3, 1)}},                         // "one" stands again after it
			{ID: "q2", Text: "Q?", Qrels: []evalkit.Qrel{qrel("a", 8, 11, 1)}},                        // and before it
			{ID: "q3", Text: "Q?", Qrels: []evalkit.Qrel{qrel("a", 4, 7, 1), qrel("a", 5, 9, 1)}},     // overlap
			{ID: "q4", Text: "Q?", Qrels: []evalkit.Qrel{qrel("a", 4, 7, 1), qrel("a", 5, 9, -1)}},    // not gold
			{ID: "q5", Text: "Q?", Qrels: []evalkit.Qrel{qrel("a", 12, 15, 1)}},                       // "aXa" overlaps itself
			{ID: "q6", Text: "Q?", Qrels: []evalkit.Qrel{qrel("a", 4, 7, 1), qrel("a", 7, 9, 1)}},     // they only touch
			{ID: "q7", Text: "Q?", Qrels: []evalkit.Qrel{qrel("b", 0, 4, 1)}},                         // the whole document
			{ID: "q8", Text: "Q?", Unanswerable: true},                                                // not scored
			{ID: "q9", Text: "Q?", Qrels: []evalkit.Qrel{qrel("a", 0, 3, 0), qrel("a", 8, 11, -0.5)}}, // nor this
		},
		Warnings: []error{fmt.Errorf("from loading")},
	}
	assert.Equal(t, []string{
		`3 gold passages occur more than once in their document, so another place may answer as well: query "q1" [0:3) of "a", query "q2" [8:11) of "a", query "q5" [12:15) of "a"`,
		`1 queries have gold spans that overlap; each byte counts once: "q3"`,
		`1 of 2 documents fit into one chunk of every strategy and cannot tell them apart: "b"`,
		"7 questions with gold are few: to find a difference of 0.05 with a power of 80 % takes 283 (paired, level 0.05, standard deviation of the differences 0.3)",
	}, messages(dataset.Check(t.Context(), ds, bytesOf(100), bytesOf(5))))

	assert.NotContains(t, strings.Join(messages(dataset.Check(t.Context(), ds)), "\n"), "fit into one chunk", "without strategies")
	assert.NotContains(t, strings.Join(messages(dataset.Check(t.Context(), ds, bytesOf(2))), "\n"), "fit into one chunk", "all are cut")
	assert.Contains(t, messages(dataset.Check(t.Context(), ds, bytesOf(0))), `split document "a" by bytes(size=0): size 0`)
	assert.Len(t, ds.Warnings, 1)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Contains(t, dataset.Check(ctx, ds), context.Canceled)
}

func TestCheckIsQuietAboutGoodData(t *testing.T) {
	ds, err := dataset.Generate(dataset.GenerateOptions{Seed: 1, Documents: 20, Questions: 320, Bytes: 400_000})
	require.NoError(t, err)
	assert.Empty(t, messages(dataset.Check(t.Context(), ds, bytesOf(1000))))
}
