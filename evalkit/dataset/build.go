package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A builder makes a Dataset of records, from whatever format they come, and
// verifies each. Documents come before the queries that name them.
type builder struct {
	probs problems
	unit  string // of gold offsets: unitByte or unitRune
	// countsBOM says that offsets count a leading byte-order mark, which the
	// stored text does not have: so do formats whose offsets were made by a
	// program that read the file with it.
	countsBOM bool

	docs    map[string]*docEntry
	queries map[string]queryEntry

	repeatedDocs, repeatedQueries, repeatedGold *Warning
	notes                                       []error // further warnings of an importer
}

type docEntry struct {
	at    place
	text  string
	bad   bool // already reported: gold in it is not checked
	bom   bool
	runes *runeIndex // made when first asked for
}

type queryEntry struct {
	at    place
	query evalkit.Query
}

// A rawQuery is a query as read; its gold is not resolved yet.
type rawQuery struct {
	id, question, answer string
	unanswerable         bool
	gold                 []rawGold
}

// A rawGold is one entry of gold as read. Exactly one of the three ways to
// name the passage is used: start and end, quote, or whole.
type rawGold struct {
	doc        string
	start, end *int
	text       *string // if not nil it must equal the passage
	quote      *string
	occurrence *int
	whole      bool // the whole document
	grade      float64
}

func newBuilder(unit string) *builder {
	return &builder{
		unit: unit,
		docs: map[string]*docEntry{}, queries: map[string]queryEntry{},
		repeatedDocs:    &Warning{Text: "exact repeats of a document were dropped"},
		repeatedQueries: &Warning{Text: "exact repeats of a query were dropped"},
		repeatedGold:    &Warning{Text: "exact repeats of a gold passage were dropped"},
	}
}

// document adds a document; a leading byte-order mark is taken off its text.
func (b *builder) document(at place, id, text string) {
	if err := checkID(id); err != nil {
		b.probs.add(at, err)
		return
	}
	d := &docEntry{at: at}
	d.text, d.bom = strings.CutPrefix(text, bom)
	if i := invalidUTF8(text); i >= 0 {
		if at.line == 0 {
			at.line = 1 + strings.Count(text[:i], "\n")
		}
		b.probs.addf(at, "byte %d: invalid UTF-8", i)
		d.bad = true
	}
	old, seen := b.docs[id]
	switch {
	case !seen:
		b.docs[id] = d
	case old.text == d.text:
		b.repeatedDocs.note("%q", id)
	default:
		b.probs.addf(at, "id %q: other text than the document with this id before (%v)", id, old.at)
	}
}

func checkID(id string) error {
	if evalkit.Blank(id) {
		return fmt.Errorf("id: missing or empty")
	}
	if i := invalidUTF8(id); i >= 0 {
		return fmt.Errorf("id %q: byte %d: invalid UTF-8", id, i)
	}
	return nil
}

// query adds a query with its gold in bytes of the stored texts.
func (b *builder) query(at place, raw rawQuery) {
	if err := checkID(raw.id); err != nil {
		b.probs.add(at, err)
		return
	}
	switch {
	case evalkit.Blank(raw.question):
		b.probs.addf(at, "question: missing or empty")
	case raw.unanswerable && len(raw.gold) > 0:
		b.probs.addf(at, "marked unanswerable, but has gold: drop one of the two")
	case invalidUTF8(raw.question) >= 0 || invalidUTF8(raw.answer) >= 0:
		b.probs.addf(at, "question or answer: invalid UTF-8")
	}
	q := evalkit.Query{ID: evalkit.QueryID(raw.id), Text: raw.question, Answer: raw.answer, Unanswerable: raw.unanswerable}
	for i, g := range raw.gold {
		qrel, ok, err := b.resolve(g)
		if err == nil && ok {
			q.Qrels, err = b.addQrel(q, qrel)
		}
		if err != nil {
			b.probs.addf(at, "gold %d: %w", i+1, err)
		}
	}
	slices.SortFunc(q.Qrels, compareQrels)
	old, seen := b.queries[raw.id]
	switch {
	case !seen:
		b.queries[raw.id] = queryEntry{at, q}
	case equalQueries(old.query, q):
		b.repeatedQueries.note("%q", raw.id)
	default:
		b.probs.addf(at, "id %q: other content than the query with this id before (%v)", raw.id, old.at)
	}
}

func (b *builder) addQrel(q evalkit.Query, r evalkit.Qrel) ([]evalkit.Qrel, error) {
	for _, old := range q.Qrels {
		if old.Doc != r.Doc || old.Span != r.Span {
			continue
		}
		if old.Grade != r.Grade {
			return q.Qrels, fmt.Errorf("span %v of document %q: graded %v and %v", r.Span, r.Doc, old.Grade, r.Grade)
		}
		b.repeatedGold.note("query %q", q.ID)
		return q.Qrels, nil
	}
	return append(q.Qrels, r), nil
}

func compareQrels(a, b evalkit.Qrel) int {
	return cmp.Or(strings.Compare(string(a.Doc), string(b.Doc)), evalkit.CompareSpans(a.Span, b.Span))
}

func equalQueries(a, b evalkit.Query) bool {
	return a.Text == b.Text && a.Answer == b.Answer && a.Unanswerable == b.Unanswerable && slices.Equal(a.Qrels, b.Qrels)
}

// finish returns the data set, or everything that was wrong.
func (b *builder) finish(m meta) (*evalkit.Dataset, error) {
	if err := b.probs.err(); err != nil {
		return nil, err
	}
	if len(b.docs) == 0 {
		return nil, fmt.Errorf("no documents")
	}
	if len(b.queries) == 0 {
		return nil, fmt.Errorf("no questions")
	}
	ds := &evalkit.Dataset{Name: m.name, Language: m.language, Licence: m.licence, Analyzer: m.analyzer}
	blank := &Warning{Text: "documents are blank"}
	for _, id := range slices.Sorted(maps.Keys(b.docs)) {
		ds.Docs = append(ds.Docs, evalkit.Document{ID: evalkit.DocID(id), Text: b.docs[id].text})
		if evalkit.Blank(b.docs[id].text) {
			blank.note("%q", id)
		}
	}
	noGold := &Warning{Text: "queries have no gold and are not marked unanswerable: they count in no mean"}
	for _, id := range slices.Sorted(maps.Keys(b.queries)) {
		q := b.queries[id].query
		ds.Queries = append(ds.Queries, q)
		if len(q.Gold()) == 0 && !q.Unanswerable {
			noGold.note("%q", id)
		}
	}
	ds.Warnings = append(found(b.repeatedDocs, b.repeatedQueries, b.repeatedGold, blank, noGold), b.notes...)
	if m.licence == "" {
		ds.Warnings = append(ds.Warnings, &Warning{Text: "no licence is named"})
	}
	ds.Fingerprint = Fingerprint(ds)
	return ds, nil
}
