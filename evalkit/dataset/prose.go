package dataset

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A docGenerator writes one generated document.
type docGenerator struct {
	id    string
	rand  *rand.Rand
	text  strings.Builder
	early []func() // blocks that hold gold, in order
	late  []func() // second parts of gold, after all early ones
	paras int      // filler paragraphs so far
}

func newDocGenerator(seed uint64, i int) *docGenerator {
	g := &docGenerator{id: fmt.Sprintf("doc-%05d.md", i+1), rand: rand.New(rand.NewPCG(seed, uint64(i)))}
	fmt.Fprintf(&g.text, "# %s %s, volume %d\n\n", pick(g.rand, places), pick(g.rand, topics), i+1)
	return g
}

// plant puts f on the list of what write will write, and makes q the query
// about it; q's gold is filled in by write.
func (g *docGenerator) plant(f fact, k kind, q *rawQuery) {
	q.question, q.answer = f.question(), f.value
	gold := func(from int) { q.gold = append(q.gold, g.since(from)) }
	switch k {
	case inParagraph:
		g.early = append(g.early, func() { g.paragraphWith(f.sentence(), gold) })
	case straddling:
		q.question, q.answer = f.why(), f.value+", "+f.cause
		g.early = append(g.early, func() { g.straddle(f, gold) })
	case severalSpans:
		q.question, q.answer = f.why(), f.value+", "+f.cause
		g.early = append(g.early, func() { g.paragraphWith(f.sentence(), gold) })
		g.late = append(g.late, func() { g.paragraphWith(f.reason(), gold) })
	case inList:
		g.early = append(g.early, func() { g.list(f, gold) })
	case inTable:
		g.early = append(g.early, func() { g.table(f, gold) })
	}
}

// since returns gold from the byte offset from to the end of the text so far.
func (g *docGenerator) since(from int) rawGold {
	end := g.text.Len()
	return rawGold{doc: g.id, start: &from, end: &end, grade: 1}
}

// write writes the planted blocks, spread over filler up to size bytes.
func (g *docGenerator) write(size int) {
	blocks := append(g.early, g.late...)
	for i, block := range blocks {
		g.fill(size * (2*i + 1) / (2 * len(blocks)))
		block()
	}
	g.fill(size)
}

// fill adds paragraphs, with a heading before every sixth, until the text has
// size bytes.
func (g *docGenerator) fill(size int) {
	for g.text.Len() < size {
		if g.paras%6 == 0 {
			fmt.Fprintf(&g.text, "## %s in %s\n\n", pick(g.rand, topics), pick(g.rand, places))
		}
		g.paras++
		g.sentences(3 + g.rand.IntN(4))
		g.text.WriteString("\n\n")
	}
}

func (g *docGenerator) sentences(n int) {
	for i := range n {
		if i > 0 {
			g.text.WriteByte(' ')
		}
		g.sentence()
	}
}

func (g *docGenerator) sentence() {
	r := g.rand
	who, place, topic, act := pick(r, people), pick(r, places), pick(r, topics), pick(r, acts)
	switch r.IntN(5) {
	case 0:
		fmt.Fprintf(&g.text, "In %d the %s in %s %s, %s.", 1900+r.IntN(120), who, place, act, pick(r, causes))
	case 1:
		fmt.Fprintf(&g.text, "%s from %s %s and wrote about the %s.", capital(who), place, act, lower(topic))
	case 2:
		fmt.Fprintf(&g.text, "Notes on the %s fill %d pages – the %s kept them.", lower(topic), 2+r.IntN(400), who)
	case 3:
		fmt.Fprintf(&g.text, "At %d °C the %s %s.", r.IntN(40), who, act)
	default:
		fmt.Fprintf(&g.text, "The %s of %s is older than the %s, which %s knew.", lower(topic), place, lower(pick(r, topics)), who)
	}
}

// paragraphWith writes a paragraph with s in its middle.
func (g *docGenerator) paragraphWith(s string, gold func(from int)) {
	g.sentences(1 + g.rand.IntN(3))
	g.text.WriteByte(' ')
	from := g.text.Len()
	g.text.WriteString(s)
	gold(from)
	g.text.WriteByte(' ')
	g.sentences(1 + g.rand.IntN(3))
	g.text.WriteString("\n\n")
}

// straddle ends a paragraph with the fact and begins the next with its reason.
func (g *docGenerator) straddle(f fact, gold func(from int)) {
	g.sentences(1 + g.rand.IntN(3))
	g.text.WriteByte(' ')
	from := g.text.Len()
	g.text.WriteString(f.sentence() + paragraphBreak + f.reason())
	gold(from)
	g.text.WriteByte(' ')
	g.sentences(1 + g.rand.IntN(3))
	g.text.WriteString("\n\n")
}

// list writes a list of five items, one of them the fact.
func (g *docGenerator) list(f fact, gold func(from int)) {
	at := g.rand.IntN(5)
	for i := range 5 {
		g.text.WriteString("- ")
		if i == at {
			from := g.text.Len()
			g.text.WriteString(f.sentence())
			gold(from)
		} else {
			g.sentence()
		}
		g.text.WriteByte('\n')
	}
	g.text.WriteByte('\n')
}

// table writes a table of six rows, one of them the fact.
func (g *docGenerator) table(f fact, gold func(from int)) {
	g.text.WriteString("| what | property | value |\n| --- | --- | --- |\n")
	at := g.rand.IntN(6)
	for i := range 6 {
		from := g.text.Len()
		if i == at {
			fmt.Fprintf(&g.text, "| %s | %s | %s |", f.entity, f.attribute, f.value)
			gold(from)
		} else {
			t := pick(g.rand, things)
			fmt.Fprintf(&g.text, "| spare %s | %s | %d %s |", t.noun, t.attribute, 10+g.rand.IntN(9990), t.unit)
		}
		g.text.WriteByte('\n')
	}
	g.text.WriteByte('\n')
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }
