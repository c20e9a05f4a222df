package experiment

import (
	"github.com/chunkeval/chunkeval/evalkit"
)

// SchemaVersion is the version of Record and of the stored tables. It rises
// when a column or key is added or changes its meaning.
const SchemaVersion = 2

// A Record says what was run, with what, and what became of it.
type Record struct {
	SchemaVersion int         `json:"schema_version"`
	ID            string      `json:"id"` // given by the store
	Spec          Spec        `json:"spec"`
	Effective     []Effective `json:"effective"` // one per strategy: the values in force
	Dataset       DatasetInfo `json:"dataset"`
	// Fingerprint is the digest of the Spec, the data set and every component.
	// Experiments with equal fingerprints from the same program are equal.
	Fingerprint string            `json:"fingerprint"`
	Components  map[string]string `json:"components"` // role -> fingerprint
	Counts      Counts            `json:"counts"`
	Warnings    []string          `json:"warnings"`
	Files       map[string]File   `json:"files"` // the tables beside the record, by the store
	Provenance  Provenance        `json:"provenance"`
}

// Effective holds the values in force for one strategy.
type Effective struct {
	Strategy     string     `json:"strategy"`
	NeighborPrev int        `json:"neighbor_prev"`
	NeighborNext int        `json:"neighbor_next"`
	Note         string     `json:"note,omitempty"` // why a knob was ignored
	Chunks       ChunkStats `json:"chunks"`
	// Unanswerable describes the queries marked so; nil if there are none.
	// They are in no mean.
	Unanswerable *Unanswerable `json:"unanswerable,omitempty"`
	// Answers sums up what was answered; nil if nothing was.
	Answers *AnswerSummary `json:"answers,omitempty"`
}

// Unanswerable says what was served for questions that have no answer.
type Unanswerable struct {
	N int `json:"n"`
	// TokensHitOnly and TokensExpanded are mean context tokens; nil without
	// the metric context_tokens.
	TokensHitOnly  *float64 `json:"context_tokens_hit_only"`
	TokensExpanded *float64 `json:"context_tokens_expanded"`
	// AUROC tells how well the top score separates answerable from
	// unanswerable queries: 1 is perfectly, 0.5 is chance; nil if it is not defined.
	AUROC *float64 `json:"auroc"`
}

// ChunkStats describe the chunks of one strategy. Lengths are in runes and tokens.
type ChunkStats struct {
	N          int     `json:"n"`
	MeanTokens float64 `json:"mean_tokens"`
	MinTokens  int     `json:"min_tokens"`
	MaxTokens  int     `json:"max_tokens"`
	Oversize   int     `json:"oversize"`
	// EmptyDocs are the documents that gave no chunk.
	EmptyDocs []evalkit.DocID `json:"empty_docs,omitempty"`
}

// DatasetInfo identifies the data set.
type DatasetInfo struct {
	Name        string `json:"name"`
	Language    string `json:"language"`
	Fingerprint string `json:"fingerprint"`
	Docs        int    `json:"docs"`
	Queries     int    `json:"queries"`
	Gold        int    `json:"gold"` // qrels
}

// Counts are units: strategy × query.
type Counts struct {
	Units        int `json:"units"`
	Failed       int `json:"failed"`
	NoVector     int `json:"no_vector"` // of Failed: the embedder knows nothing of the query
	NoResults    int `json:"no_results"`
	NoGold       int `json:"no_gold"` // answerable by its mark, but without gold
	Unanswerable int `json:"unanswerable"`
	// AnswersFailed counts answers that failed where the retrieval did not.
	AnswersFailed int `json:"answers_failed,omitempty"`
}

// A File is the size in bytes and the SHA-256 of a stored table.
type File struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Provenance is the only place for time and program; it changes no number.
type Provenance struct {
	Started  string  `json:"started"` // RFC 3339, UTC
	Seconds  float64 `json:"seconds"`
	Program  string  `json:"program"` // digest of the program that ran
	Version  string  `json:"version"`
	Go       string  `json:"go"`
	Workers  int     `json:"workers"`
	Restored int     `json:"restored"`        // units taken from the journal
	Usage    []Usage `json:"usage,omitempty"` // of models behind HTTP
}

// A Result is one finished Experiment.
type Result struct {
	Record     Record
	Dataset    *evalkit.Dataset
	Metrics    []evalkit.Metric
	Strategies []StrategyResult // in the Spec's order
}

// A StrategyResult holds what one strategy gave.
type StrategyResult struct {
	Strategy string
	Window   evalkit.Window  // in force
	Chunks   []evalkit.Chunk // documents in data set order, then chunk_index
	Queries  []QueryResult   // in data set order
	Summary  []SummaryRow    // metrics in order, hit_only before expanded
}

// A QueryResult holds what one query retrieved and how it scored.
type QueryResult struct {
	Query  evalkit.QueryID
	Failed string // why the query failed; empty if it did not
	Tree   []evalkit.ExpandedHit
	Flat   []evalkit.RetrievedChunk
	Below  []evalkit.Hit // the candidates after top_k, in rank order; no metric and no LLM sees them
	Scores []Score       // metrics in order, hit_only before expanded
	Answer *Answer       // nil: nothing was answered
}

// A Score is one value. Exactly one of Value and Reason says something.
type Score struct {
	Metric string
	View   evalkit.View
	Value  float64
	Reason string // why there is no value
}
