package report

import (
	"cmp"
	"fmt"
)

// setup is how Experiments were run: what they have in common, and a row of each
// for what differs.
type setup struct {
	Common []fact // without neighbors, which a Badge shows
	Heads  []string
	Rows   []setupRow
}

type fact struct{ Name, Value string }

type setupRow struct {
	*Entry
	Values []string
}

// facts are the settings and the provenance of x; all Entries have the same names.
func (x *Entry) facts() []fact {
	s, p, d := x.Spec, x.Provenance, x.Dataset
	return []fact{
		{"data set", fmt.Sprintf("%s, %d documents, %d questions, %d gold spans, fingerprint %.12s", s.Dataset, d.Docs, d.Queries, d.Gold, d.Fingerprint)},
		{"retriever", s.Retriever},
		{"Embedding Model", cmp.Or(s.Embedder, "none")},
		{"tokenizer", s.Tokenizer},
		{"analyzer", s.Analyzer},
		{"top_k", fmt.Sprint(s.TopK)},
		{"candidates kept", fmt.Sprint(s.Candidates)},
		{"started", p.Started},
		{"seconds", fmt.Sprintf("%.1f", p.Seconds)},
		{"workers", fmt.Sprint(p.Workers)},
		{"Go", p.Go},
		{"program", fmt.Sprintf("%.12s", p.Program)},
	}
}

func newSetup(all []*Entry) setup {
	var s setup
	facts := make([][]fact, len(all))
	for i, x := range all {
		facts[i] = x.facts()
		s.Rows = append(s.Rows, setupRow{Entry: x})
	}
	for j, f := range facts[0] {
		same := true
		for i := range all {
			same = same && facts[i][j] == f
		}
		if same {
			s.Common = append(s.Common, f)
			continue
		}
		s.Heads = append(s.Heads, f.Name)
		for i := range all {
			s.Rows[i].Values = append(s.Rows[i].Values, facts[i][j].Value)
		}
	}
	return s
}
