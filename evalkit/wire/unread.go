package wire

import (
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

// reader is an embedder that knows which passages its model reads in part only.
type reader interface {
	Unread(passages []string) string // a warning, or nothing
}

// contextReader is one that reads documents.
type contextReader interface {
	UnreadParts(texts []evalkit.Parted) string // a warning, or nothing
}

// unread returns what warns of chunks that e's model does not read whole; nil
// if e does not know.
func unread(e evalkit.Embedder) func([]evalkit.Chunk) []string {
	switch e := plain(e).(type) {
	case contextReader:
		return func(chunks []evalkit.Chunk) []string { return unreadParts(e, chunks) }
	case reader:
		return func(chunks []evalkit.Chunk) []string {
			var passages []string
			for _, c := range chunks {
				passages = append(passages, c.Passages()...)
			}
			return given(e.Unread(passages))
		}
	}
	return nil
}

// unreadParts takes the chunks of one document after the other.
func unreadParts(e contextReader, chunks []evalkit.Chunk) []string {
	var texts []evalkit.Parted
	headers, all := 0, len(chunks)
	for len(chunks) > 0 {
		n := 0
		for n < len(chunks) && chunks[n].Doc == chunks[0].Doc {
			if chunks[n].Header != "" {
				headers++
			}
			n++
		}
		texts, chunks = append(texts, evalkit.Rejoin(chunks[:n])), chunks[n:]
	}
	warnings := given(e.UnreadParts(texts))
	if headers > 0 {
		warnings = append(warnings, fmt.Sprintf("the headers of %d of %d chunks are not embedded: under late chunking the document is the context", headers, all))
	}
	return warnings
}

func given(warning string) []string {
	if warning == "" {
		return nil
	}
	return []string{warning}
}
