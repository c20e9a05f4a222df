package evalkit_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/chunkeval/chunkeval/evalkit"
)

func TestRejoin(t *testing.T) {
	text := " \u2003one two\n\nthree fö ur "
	at := func(start, end int, units ...evalkit.Span) evalkit.Chunk {
		return evalkit.Chunk{Span: span(start, end), Text: text[start:end], Header: "a header", Units: units}
	}
	got := evalkit.Rejoin([]evalkit.Chunk{at(4, 11), at(13, 22, span(13, 18), span(19, 22)), at(19, 25)})
	assert.Equal(t, "    one two  three fö ur", got.Text)
	assert.Equal(t, []evalkit.Span{span(4, 11), span(13, 18), span(19, 22), span(19, 25)}, got.Parts)
	assert.Equal(t, evalkit.Parted{}, evalkit.Rejoin(nil))
}

func ExampleRejoin() {
	text := "Ice drifts. \n\nThe buoy listens."
	d := evalkit.Rejoin([]evalkit.Chunk{
		{Span: evalkit.Span{Start: 0, End: 11}, Text: text[:11]},
		{Index: 1, Span: evalkit.Span{Start: 14, End: 31}, Text: text[14:]},
	})
	for _, p := range d.Parts {
		fmt.Printf("%v %q\n", p, d.Text[p.Start:p.End])
	}
	// Output:
	// [0:11) "Ice drifts."
	// [14:31) "The buoy listens."
}
