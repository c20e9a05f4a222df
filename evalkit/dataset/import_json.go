package dataset

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// squadFile is the SQuAD format, v1.1 and v2.0 (Rajpurkar et al. 2016, 2018).
type squadFile struct {
	Version string `json:"version"`
	Data    []struct {
		Title      string           `json:"title"`
		Paragraphs []squadParagraph `json:"paragraphs"`
	} `json:"data"`
}

type squadParagraph struct {
	Context string    `json:"context"`
	QAs     []squadQA `json:"qas"`
}

type squadQA struct {
	ID         string `json:"id"`
	Question   string `json:"question"`
	Impossible bool   `json:"is_impossible"`
	Answers    []struct {
		Text  string `json:"text"`
		Start *int   `json:"answer_start"` // code points of the paragraph
	} `json:"answers"`
}

const paragraphBreak = "\n\n"

func (im *importer) squad() error {
	var file squadFile
	if err := im.decode(&file); err != nil {
		return err
	}
	others := &Warning{Text: "queries have further answers, which were left out: gold is the first"}
	used := map[string]int{}
	for i, article := range file.Data {
		id := article.Title
		if id == "" {
			id = fmt.Sprintf("article %d", i+1)
		}
		if used[id]++; used[id] > 1 {
			id = fmt.Sprintf("%s#%d", id, used[id])
		}
		var text strings.Builder
		shifts := make([]int, len(article.Paragraphs)) // code points before each paragraph
		runes := 0
		for k, p := range article.Paragraphs {
			if k > 0 {
				text.WriteString(paragraphBreak)
				runes += len(paragraphBreak)
			}
			shifts[k] = runes
			text.WriteString(p.Context)
			runes += utf8.RuneCountInString(p.Context)
		}
		im.document(im.at("article %d", i+1), id, text.String())
		for k, p := range article.Paragraphs {
			for _, qa := range p.QAs {
				im.query(im.at("query %q", qa.ID), qa.raw(id, shifts[k], others))
			}
		}
	}
	im.notes = append(im.notes, found(others)...)
	return nil
}

func (qa squadQA) raw(doc string, shift int, others *Warning) rawQuery {
	q := rawQuery{id: qa.ID, question: qa.Question, unanswerable: qa.Impossible}
	if len(qa.Answers) == 0 {
		return q
	}
	first := qa.Answers[0]
	for _, a := range qa.Answers[1:] {
		if a.Text != first.Text || value0(a.Start) != value0(first.Start) {
			others.note("%q", qa.ID)
			break
		}
	}
	q.answer = first.Text
	g := rawGold{doc: doc, text: &first.Text, grade: 1}
	if first.Start != nil {
		start := *first.Start + shift
		end := start + utf8.RuneCountInString(first.Text)
		g.start, g.end = &start, &end
	}
	q.gold = []rawGold{g}
	return q
}

func value0(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

type spansFile struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Licence  string `json:"licence"`
	Offsets  string `json:"offsets"`
	Docs     []struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	} `json:"docs"`
	Questions []struct {
		ID           string `json:"id"`
		Question     string `json:"question"`
		Answer       string `json:"answer"`
		Unanswerable bool   `json:"unanswerable"`
		Spans        []struct {
			Doc   string   `json:"doc"`
			Start *int     `json:"start"`
			End   *int     `json:"end"`
			Text  *string  `json:"text"`
			Grade *float64 `json:"grade"`
		} `json:"spans"`
	} `json:"questions"`
}

func (im *importer) spansJSON() error {
	var file spansFile
	if err := im.decode(&file); err != nil {
		return err
	}
	switch said := strings.ToLower(file.Offsets); {
	case strings.Contains(said, "code point"), strings.Contains(said, unitRune), said == "":
	case strings.Contains(said, unitByte):
		im.unit = unitByte
	default:
		return fmt.Errorf("offsets: %q names neither bytes nor code points", file.Offsets)
	}
	im.meta.name = cmp.Or(file.Name, im.meta.name)
	im.meta.language = cmp.Or(file.Language, im.meta.language)
	im.meta.licence = file.Licence
	for i, d := range file.Docs {
		im.document(im.at("document %d", i+1), d.ID, d.Text)
	}
	for i, src := range file.Questions {
		q := rawQuery{id: src.ID, question: src.Question, answer: src.Answer, unanswerable: src.Unanswerable}
		for _, s := range src.Spans {
			g := rawGold{doc: s.Doc, start: s.Start, end: s.End, text: s.Text, grade: 1}
			if s.Grade != nil {
				g.grade = *s.Grade
			}
			q.gold = append(q.gold, g)
		}
		im.query(im.at("question %d %q", i+1, src.ID), q)
	}
	return nil
}
