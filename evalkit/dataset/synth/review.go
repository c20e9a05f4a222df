package synth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// WriteReview writes a line of JSON per candidate, the status first. A person
// changes accept to reject, or the other way, and may mend questions and answers.
func WriteReview(w io.Writer, candidates []Candidate) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for _, c := range candidates {
		if err := e.Encode(c); err != nil {
			return err
		}
	}
	return b.Flush()
}

// maxLine bounds a line of a review file, in bytes.
const maxLine = 16 << 20

// ReadReview reads what WriteReview wrote and a person changed. Blank lines are
// left out. A line that was deleted is no question of the data set, but comes
// back when Run writes it again: reject it instead. Errors name the line; name is
// that of the file.
func ReadReview(name string, r io.Reader) ([]Candidate, error) {
	var out []Candidate
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	seen := map[evalkit.QueryID]int{}
	line := 0
	for s.Scan() {
		line++
		if evalkit.Blank(s.Text()) {
			continue
		}
		c, err := readCandidate(s.Bytes())
		if err == nil && seen[c.ID] > 0 {
			err = fmt.Errorf("id %q: given before, in line %d", c.ID, seen[c.ID])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		seen[c.ID] = line
		out = append(out, *c)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	return out, nil
}

func readCandidate(line []byte) (*Candidate, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var c Candidate
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("not a line of a review: %w", err)
	}
	switch {
	case c.Status != Accept && c.Status != Reject:
		return nil, fmt.Errorf("status: %q is not %s or %s", c.Status, Accept, Reject)
	case evalkit.Blank(string(c.ID)):
		return nil, errors.New("id: missing")
	case c.Status == Accept && evalkit.Blank(c.Question):
		return nil, errors.New("question: empty, and cannot be accepted")
	case c.Status == Accept && len(c.Gold) == 0:
		return nil, errors.New("gold: empty; a question whose quotes were not found cannot be accepted")
	}
	return &c, nil
}

// Merge returns made with what a person changed in reviewed before: status,
// question and answer. Reviewed candidates that were not made again follow.
func Merge(made, reviewed []Candidate) []Candidate {
	before := map[evalkit.QueryID]Candidate{}
	for _, c := range reviewed {
		before[c.ID] = c
	}
	out := slices.Clone(made)
	for i, c := range out {
		if old, ok := before[c.ID]; ok {
			out[i].Status, out[i].Question, out[i].Answer = old.Status, old.Question, old.Answer
			delete(before, c.ID)
		}
	}
	for _, c := range reviewed {
		if _, ok := before[c.ID]; ok {
			out = append(out, c)
		}
	}
	return out
}

// Dataset makes a data set of what was accepted. It verifies that the evidence
// still stands in docs.
func Dataset(docs []evalkit.Document, candidates []Candidate) (*evalkit.Dataset, error) {
	ds := &evalkit.Dataset{Docs: docs}
	texts := map[evalkit.DocID]string{}
	for _, d := range docs {
		texts[d.ID] = d.Text
	}
	for _, c := range candidates {
		if c.Status != Accept {
			continue
		}
		q := evalkit.Query{ID: c.ID, Text: c.Question, Answer: c.Answer}
		for _, g := range c.Gold {
			text, ok := texts[g.Doc]
			s := evalkit.Span{Start: g.Start, End: g.End}
			switch {
			case !ok:
				return nil, fmt.Errorf("question %q: no document %q", c.ID, g.Doc)
			case s.Check(text) != nil:
				return nil, fmt.Errorf("question %q: document %q: %w", c.ID, g.Doc, s.Check(text))
			case text[s.Start:s.End] != g.Text:
				return nil, fmt.Errorf("question %q: document %q %v holds %.60q, not %.60q", c.ID, g.Doc, s, text[s.Start:s.End], g.Text)
			}
			q.Qrels = append(q.Qrels, evalkit.Qrel{Doc: g.Doc, Span: s, Grade: 1})
		}
		ds.Queries = append(ds.Queries, q)
	}
	if len(ds.Queries) == 0 {
		return nil, errors.New("no question is accepted")
	}
	return ds, nil
}
