package report

import (
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// A Gold is a judged span with its text.
type Gold struct {
	Doc   evalkit.DocID
	Span  evalkit.Span
	Grade float64
	Text  string
}

// GoldOf returns the judged spans of q, with a grade above 0.
func GoldOf(q evalkit.Query, texts *evalkit.Texts) []Gold {
	var out []Gold
	for _, r := range q.Qrels {
		if r.Grade > 0 {
			out = append(out, Gold{r.Doc, r.Span, r.Grade, texts.Text(r.Doc, r.Span)})
		}
	}
	return out
}

// markUp returns the text of a chunk with its gold marked, cut after limit runes;
// 0 means no limit. more is the number of runes left out.
//
// Note: it escapes by itself, in one piece: a page of questions holds thousands
// of chunks, and an action of a template for each stretch is ten times as slow.
func markUp(c expand.ChunkEntry, gold []Gold, limit int) (html template.HTML, more int) {
	text := c.Text
	if n := utf8.RuneCountInString(text); limit > 0 && n > limit {
		more = n - limit
		text = string([]rune(text)[:limit])
	}
	var spans []evalkit.Span
	for _, g := range gold {
		if g.Doc == c.Doc {
			spans = append(spans, g.Span)
		}
	}
	var b strings.Builder
	shown := evalkit.Span{Start: c.Start, End: c.Start + len(text)}
	at := shown.Start
	for _, s := range evalkit.IntersectAll(evalkit.Union(spans), []evalkit.Span{shown}) {
		b.WriteString(template.HTMLEscapeString(text[at-c.Start : s.Start-c.Start]))
		b.WriteString("<mark>" + template.HTMLEscapeString(text[s.Start-c.Start:s.End-c.Start]) + "</mark>")
		at = s.End
	}
	b.WriteString(template.HTMLEscapeString(text[at-c.Start:]))
	return template.HTML(b.String()), more
}

// briefRunes is about the length of a line.
const briefRunes = 110

// brief returns one line of a chunk: its start, or, where it holds gold, the
// first of that.
func brief(c expand.ChunkEntry, gold []Gold) template.HTML {
	shown := evalkit.Span{Start: c.Start, End: c.End}
	mark := evalkit.Span{}
	for _, g := range gold {
		if x := g.Span.Intersect(shown); g.Doc == c.Doc && !x.Empty() && (mark.Empty() || x.Start < mark.Start) {
			mark = x
		}
	}
	line := func(s evalkit.Span, limit int) string {
		r := []rune(strings.Join(strings.Fields(c.Text[s.Start-c.Start:s.End-c.Start]), " "))
		if len(r) > limit {
			return template.HTMLEscapeString(string(r[:limit])) + "…"
		}
		return template.HTMLEscapeString(string(r))
	}
	if mark.Empty() {
		return template.HTML(line(shown, briefRunes))
	}
	before := ""
	if mark.Start > c.Start {
		before = "… "
	}
	return template.HTML(before + "<mark>" + line(mark, briefRunes) + "</mark> " + line(evalkit.Span{Start: mark.End, End: c.End}, briefRunes/3))
}

// A Question is a query with what one strategy retrieved for it.
type Question struct {
	ID       evalkit.QueryID
	Response *expand.Response
	Gold     []Gold
	// Reference is the reference answer; it may be empty.
	Reference string
	// Answer is what was answered from the context; nil if nothing was.
	Answer       *experiment.Answer
	Unanswerable bool
	Failed       string
	Scores       []experiment.Score
	// Limit cuts the text of each chunk after so many runes; 0 shows all.
	Limit int
	// Brief shows one line of each chunk, from its gold if it holds any.
	Brief bool
}

// NewQuestion gathers what r stored for q.
func NewQuestion(rec experiment.Record, s *experiment.StrategyResult, q evalkit.Query, r *experiment.QueryResult, texts *evalkit.Texts) Question {
	req := expand.Request{Query: q.Text, Strategy: s.Strategy, TopK: rec.Spec.TopK, Window: s.Window}
	x := Question{
		ID: q.ID, Response: expand.NewResponse(req, r.Tree, r.Flat, texts), Gold: GoldOf(q, texts), Reference: q.Answer, Answer: r.Answer,
		Unanswerable: q.Unanswerable, Failed: r.Failed, Scores: r.Scores,
	}
	if s.Window != rec.Spec.Window() {
		x.Response.Warnings = append(x.Response.Warnings, "neighbor_prev and neighbor_next apply to fixed_size only")
	}
	return x
}

// Fragment returns a question's section as HTML: question, answer area, gold,
// expansion tree and flat list.
func (q Question) Fragment() (template.HTML, error) {
	return render("question", q.view())
}

// A Badge is a window as ±P/N; Muted where neighbors do not apply, which Why says.
type Badge struct {
	evalkit.Window
	Muted bool
	Why   string
}

// badgeOf returns the badge of an Experiment: the window asked for.
func badgeOf(rec experiment.Record) Badge {
	return Badge{rec.Spec.Window(), !compare.HasFixedSize(rec), "fixed_size was not in the run, so nothing was expanded"}
}

// strategyBadge returns the badge of one strategy: the window in force.
func strategyBadge(strategy string, w evalkit.Window) Badge {
	return Badge{w, nameOf(strategy) != "fixed_size", "neighbors do not apply to this strategy"}
}

// questionView is what the template shows.
type questionView struct {
	Question
	Badge  Badge
	Tree   []hitView
	Flat   []chunkView
	Tokens int
	Found  []goldView
}

type hitView struct {
	chunkView
	Legs       string
	PrevChunks []chunkView
	NextChunks []chunkView
}

type chunkView struct {
	Doc         evalkit.DocID
	ChunkIndex  int
	Place       string // "#3 [10:20)"
	Start, End  int
	Header      string
	Label       evalkit.Role
	Rank        int
	Score       float64
	Distance    int
	Shared      bool
	HasGold     bool
	Text        template.HTML
	More        int // runes left out
	NewDocument bool
}

// leg prints the place of a hit in one leg of the retriever.
func leg(c *evalkit.Component) string {
	if c == nil {
		return "–"
	}
	return fmt.Sprintf("#%d %s", c.Rank, score(c.Score))
}

type goldView struct {
	Gold
	Hits, All float64 // share covered by hits, and by the whole context
}

func (q Question) view() questionView {
	r := q.Response
	v := questionView{
		Question: q, Badge: strategyBadge(r.Strategy, evalkit.Window{Prev: r.NeighborPrev, Next: r.NeighborNext}), Tokens: r.Context.Tokens,
	}
	for _, e := range r.ExpansionTree {
		h := hitView{chunkView: q.chunk(e.Hit.ChunkEntry), Legs: "lexical " + leg(e.Hit.Lexical) + " · dense " + leg(e.Hit.Dense)}
		h.Rank, h.Score, h.Label = e.Hit.Rank, e.Hit.Score, evalkit.RoleHit
		h.PrevChunks, h.NextChunks = q.neighbors(e.NeighborsPrev), q.neighbors(e.NeighborsNext)
		v.Tree = append(v.Tree, h)
	}
	last := evalkit.DocID("")
	for i, e := range r.RetrievedChunks {
		c := q.chunk(e.ChunkEntry)
		c.Label, c.Rank, c.Score, c.Distance = e.Label, e.Rank, e.Score, e.Distance
		c.NewDocument = i == 0 || e.Doc != last
		last = e.Doc
		v.Flat = append(v.Flat, c)
	}
	for _, g := range q.Gold {
		v.Found = append(v.Found, q.found(g))
	}
	return v
}

func (q Question) chunk(c expand.ChunkEntry) chunkView {
	v := chunkView{Doc: c.Doc, ChunkIndex: c.ChunkIndex, Start: c.Start, End: c.End, Header: c.Header}
	v.Place = fmt.Sprintf("#%d [%d:%d)", c.ChunkIndex, c.Start, c.End)
	if q.Brief {
		v.Text = brief(c, q.Gold)
	} else {
		v.Text, v.More = markUp(c, q.Gold, q.Limit)
	}
	for _, g := range q.Gold {
		v.HasGold = v.HasGold || g.Doc == c.Doc && g.Span.Overlaps(evalkit.Span{Start: c.Start, End: c.End})
	}
	return v
}

func (q Question) neighbors(entries []expand.NeighborEntry) []chunkView {
	var out []chunkView
	for _, n := range entries {
		c := q.chunk(n.ChunkEntry)
		c.Label, c.Shared = evalkit.RoleNeighbor, n.Shared
		out = append(out, c)
	}
	return out
}

// found returns how much of a gold span the flat list covers, in bytes.
func (q Question) found(g Gold) goldView {
	var hits, all []evalkit.Span
	for _, c := range q.Response.RetrievedChunks {
		if c.Doc != g.Doc {
			continue
		}
		s := evalkit.Span{Start: c.Start, End: c.End}
		all = append(all, s)
		if c.Label == evalkit.RoleHit {
			hits = append(hits, s)
		}
	}
	share := func(spans []evalkit.Span) float64 {
		n := 0
		for _, s := range evalkit.IntersectAll([]evalkit.Span{g.Span}, evalkit.Union(spans)) {
			n += s.Len()
		}
		return float64(n) / float64(g.Span.Len())
	}
	return goldView{g, share(hits), share(all)}
}
