package wire

import (
	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

// Embedder returns the embedder that s names, for the documents of ds; the
// empty string means the default.
func (l *Lab) Embedder(ds *evalkit.Dataset, s string) (evalkit.Embedder, error) {
	if err := llm.RefuseSecret(s); err != nil {
		return nil, err
	}
	a, err := retrieve.NewAnalyzer(analyzerOf(ds))
	if err != nil {
		return nil, err
	}
	return l.embedderFor(ds, a, DefaultSeed)(s)
}

// Model returns the model that s names. Its answers are kept under CacheDir; role
// is that of TakeUsage.
func (l *Lab) Model(role, s string) (*llm.Model, error) { return llm.ParseModel(s, l.chat(role)) }
