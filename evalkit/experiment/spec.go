package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Spec is what one Experiment was asked to do: everything that changes its
// numbers and nothing else. Components are written as their packages' Parse
// reads them; after wire resolved them, every setting in force is spelled out.
type Spec struct {
	Name         string   `json:"name"`
	Dataset      string   `json:"dataset"` // name of the data set
	Strategies   []string `json:"strategies"`
	Tokenizer    string   `json:"tokenizer"` // counts context tokens and the token twins
	Analyzer     string   `json:"analyzer"`
	Embedder     string   `json:"embedder"` // empty: the retriever uses none
	Retriever    string   `json:"retriever"`
	TopK         int      `json:"top_k"`
	NeighborPrev int      `json:"neighbor_prev"`
	NeighborNext int      `json:"neighbor_next"`
	Candidates   int      `json:"candidates"` // ranks kept for analysis; those after top_k reach no metric
	Metrics      []string `json:"metrics"`
	Seed         uint64   `json:"seed"`               // of components and resampling that name none
	Answerer     string   `json:"answerer,omitempty"` // empty: nothing is answered
	Judge        string   `json:"judge,omitempty"`    // of answers; empty: there is none
}

// Window returns the window asked for.
func (s Spec) Window() evalkit.Window {
	return evalkit.Window{Prev: s.NeighborPrev, Next: s.NeighborNext}
}

// A Setting is what may differ between the Experiments of one group.
type Setting struct {
	TopK       int
	Candidates int // ranks to keep; at least TopK is kept
	Window     evalkit.Window
}

// digest returns the SHA-256 of v's JSON in hex.
func digest(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("experiment: " + err.Error()) // only plain values are passed
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
