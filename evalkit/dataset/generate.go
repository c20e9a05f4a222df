package dataset

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// GenerateOptions say what Generate makes.
type GenerateOptions struct {
	Name      string // empty: "generated"
	Seed      uint64 // equal options give equal data sets
	Documents int    // at least 1
	Questions int    // at least 1
	// Bytes is the wanted size of all documents together. They come out at
	// most a few kB per document larger, and larger where the planted facts
	// alone need more.
	Bytes int
}

// Generate returns a made-up English corpus of any size with planted gold.
// Documents are template prose under headings, with lists and tables. Each
// question asks for one fact about an entity whose name occurs nowhere else,
// so that gold is unambiguous. In turn, the gold is a sentence inside a
// paragraph, a passage from the end of one paragraph into the next, two
// sentences far apart, a list item and a table row; every tenth question is
// unanswerable. It is for tests of scale and for trying things out: numbers
// measured on it say nothing about real text.
//
// Every document depends on the seed and its own number only.
func Generate(opt GenerateOptions) (*evalkit.Dataset, error) {
	if opt.Documents < 1 || opt.Questions < 1 || opt.Bytes < 0 {
		return nil, fmt.Errorf("generate: %d documents, %d questions, %d bytes: want at least 1, 1 and 0", opt.Documents, opt.Questions, opt.Bytes)
	}
	b := newBuilder(unitByte)
	perDoc := make([][]int, opt.Documents) // numbers of the questions that each document answers
	for n := range opt.Questions {
		if !unanswerable(n) {
			d := (n + n/opt.Documents) % opt.Documents // so that a document gets all kinds in turn
			perDoc[d] = append(perDoc[d], n)
		}
	}
	queries := make([]rawQuery, opt.Questions)
	for i := range opt.Documents {
		g := newDocGenerator(opt.Seed, i)
		for _, n := range perDoc[i] {
			g.plant(newFact(opt.Seed, n), kinds[n%10], &queries[n])
		}
		g.write(opt.Bytes / opt.Documents)
		b.document(place{file: docsFile, line: i + 1}, g.id, g.text.String())
	}
	for n := range opt.Questions {
		if unanswerable(n) {
			queries[n] = rawQuery{question: newFact(opt.Seed, n).question(), unanswerable: true}
		}
		queries[n].id = fmt.Sprintf("q%06d", n+1)
		b.query(place{file: queriesFile, line: n + 1}, queries[n])
	}
	m := meta{name: opt.Name, language: "en", licence: "CC0-1.0", offsets: unitByte}
	if m.name == "" {
		m.name = "generated"
	}
	return b.finish(m)
}

// A kind says where a fact is planted.
type kind int

const (
	inParagraph  kind = iota // one sentence among others
	straddling               // from the end of a paragraph into the next
	severalSpans             // two sentences far apart
	inList
	inTable
	nowhere // unanswerable
)

// kinds are the kinds of ten questions in turn.
var kinds = [10]kind{inParagraph, straddling, severalSpans, inList, inTable, inParagraph, straddling, severalSpans, inTable, nowhere}

func unanswerable(n int) bool { return kinds[n%10] == nowhere }

// A fact is one value of one entity. Its name holds its number, so no two
// facts share one.
type fact struct {
	entity, attribute, value, cause string
}

func newFact(seed uint64, n int) fact {
	r := rand.New(rand.NewPCG(seed, 1<<63|uint64(n)))
	thing := pick(r, things)
	return fact{
		entity:    fmt.Sprintf("%s %s %s-%05d", pick(r, places), thing.noun, strings.ToUpper(thing.noun[:2]), n+1),
		attribute: thing.attribute,
		value:     fmt.Sprintf("%d %s", 10+r.IntN(9990), thing.unit),
		cause:     pick(r, causes),
	}
}

func (f fact) question() string {
	return fmt.Sprintf("What is the %s of the %s?", f.attribute, f.entity)
}

func (f fact) why() string {
	return fmt.Sprintf("What is the %s of the %s, and how did it come to that?", f.attribute, f.entity)
}

func (f fact) sentence() string {
	return fmt.Sprintf("The %s of the %s is %s.", f.attribute, f.entity, f.value)
}

func (f fact) reason() string {
	return fmt.Sprintf("For the %s it was set %s.", f.entity, f.cause)
}
