package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// A Site gives the pages of a results folder, each when it is asked for. Links
// between pages are relative: the same files work from a folder and from a
// server. It is safe for concurrent use.
type Site struct {
	Options compare.Options
	Margin  float64
	Live    bool // pages offer what only a server can do
	// Limit cuts the text of a chunk in question details after so many runes;
	// 0 shows all. What is cut is said where it is cut.
	Limit int

	entries  []*Entry
	datasets []reported
	errors   []string

	openMu sync.Mutex
	open   *opened // the strategy read last; pages of one are asked for in a row
}

// NewSite returns the Site of Experiments, in the order of the list. errors
// name what could not be read; the list shows them.
func NewSite(in []compare.Input, errors []string) (*Site, error) {
	s := &Site{Margin: compare.Margin, errors: errors}
	for _, x := range in {
		e, err := newEntry(x.Source)
		if err != nil {
			s.errors = append(s.errors, err.Error())
			continue
		}
		s.entries = append(s.entries, e)
	}
	s.datasets = datasets(s.entries)
	return s, nil
}

// siteBytes is about what the question details of a Site may take together
// before they are compressed; on disk it is a tenth to a third of that.
const siteBytes = 1e9

// FittingLimit returns the Limit with which all question details stay within
// about 1 GB before compression; 0, which cuts nothing, if they do anyway.
func (s *Site) FittingLimit() int {
	shown, runes := 0.0, 0.0 // chunks in trees and flat lists, and their characters
	for _, x := range s.entries {
		for _, e := range x.Effective {
			hits := float64(x.Spec.TopK)
			n := float64(x.Dataset.Queries) * 2 * hits * float64(1+e.NeighborPrev+e.NeighborNext)
			shown += n
			runes += n * 4.5 * e.Chunks.MeanTokens // characters of a token of English, about
		}
	}
	const markup = 300 // characters around a chunk
	if runes+markup*shown <= siteBytes {
		return 0
	}
	return max(80, int((siteBytes-markup*shown)/shown))
}

// Files returns the paths of all pages and data files.
func (s *Site) Files() []string {
	out := []string{"index.html", "assets/evalkit.css", "assets/evalkit.js", "assets/echarts.js"}
	for _, d := range s.datasets {
		out = append(out, "managerial"+d.Suffix+".html", "technical"+d.Suffix+".html")
	}
	for _, x := range s.entries {
		dir := "e/" + x.ID + "/"
		out = append(out, dir+"index.html", dir+"scores.js", "compare/"+x.ID+".html")
		for i := range x.Effective {
			for p := range (x.Dataset.Queries + perPage - 1) / perPage {
				out = append(out, fmt.Sprintf("%sq/%d/%d.js", dir, i, p))
			}
		}
	}
	return out
}

// Write writes one file. An unknown path is fs.ErrNotExist.
func (s *Site) Write(w io.Writer, name string) error {
	switch name {
	case "index.html":
		return s.page("Experiments", "", "list", newList(s.entries, s.errors)).write(w)
	case "assets/evalkit.css":
		return text(w, Style())
	case "assets/evalkit.js":
		return text(w, chart.Script()+"\n"+script)
	case "assets/echarts.js":
		return text(w, chart.Inline())
	}
	parts := strings.Split(name, "/")
	switch {
	case len(parts) == 1:
		return s.report(w, name)
	case len(parts) == 2 && parts[0] == "compare":
		if x := s.entry(strings.TrimSuffix(parts[1], ".html")); x != nil {
			return s.compare(w, x)
		}
	case len(parts) == 3 && parts[0] == "e":
		if x := s.entry(parts[1]); x != nil {
			return s.experiment(w, x, parts[2])
		}
	case len(parts) == 5 && parts[0] == "e" && parts[2] == "q":
		i, err := strconv.Atoi(parts[3])
		p, perr := strconv.Atoi(strings.TrimSuffix(parts[4], ".js"))
		if x := s.entry(parts[1]); x != nil && err == nil && perr == nil && i >= 0 && i < len(x.Effective) && p >= 0 {
			return s.questions(w, x, i, p)
		}
	}
	return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func text(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

func (s *Site) entry(id string) *Entry {
	for _, x := range s.entries {
		if x.ID == id {
			return x
		}
	}
	return nil
}

func (s *Site) page(title, root, name string, body any) page {
	return page{Title: title, Root: root, Live: s.Live, name: name, Body: body}
}

func (s *Site) experiment(w io.Writer, x *Entry, file string) error {
	l, err := x.load(s.Options)
	if err != nil {
		return err
	}
	switch file {
	case "index.html":
		v, err := newExperiment(x, l, s.Options)
		if err != nil {
			return err
		}
		p := s.page(x.Spec.Name, "../../", "experiment", v)
		p.Reports = s.suffix(x)
		return p.write(w)
	case "scores.js":
		return data(w, "scores/"+x.ID, newScores(x, l))
	}
	return fmt.Errorf("%s: %w", path.Join("e", x.ID, file), fs.ErrNotExist)
}

// data writes JSON as a script: a page opened from a folder may not fetch.
func data(w io.Writer, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "evalkit.put(%s,%s);\n", key, b)
	return err
}

func (s *Site) strategy(x *Entry, i int) (*opened, error) {
	s.openMu.Lock()
	defer s.openMu.Unlock()
	if o := s.open; o != nil && o.entry == x && o.strategy == i {
		return o, nil
	}
	o, err := x.open(i)
	if err == nil {
		s.open = o
	}
	return o, err
}

// packed is data, compressed: trees repeat their texts.
func packed(w io.Writer, name string, v any) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := errors.Join(json.NewEncoder(z).Encode(v), z.Close()); err != nil {
		return err
	}
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "evalkit.unpack(%s,%q);\n", key, base64.StdEncoding.EncodeToString(b.Bytes()))
	return err
}

// questions writes the fragments of one page of questions.
func (s *Site) questions(w io.Writer, x *Entry, strategy, page int) error {
	st, err := s.strategy(x, strategy)
	if err != nil {
		return err
	}
	fragments := map[string]string{}
	for i := page * perPage; i < min(len(st.queries), (page+1)*perPage); i++ {
		q := st.question(i)
		q.Limit = s.Limit
		html, err := q.Fragment()
		if err != nil {
			return err
		}
		fragments[string(st.queries[i].ID)] = string(html)
	}
	return packed(w, fmt.Sprintf("q/%s/%d/%d", x.ID, strategy, page), fragments)
}

// compare writes the page that has x as its baseline and all other Experiments
// of its data set as columns; the page's script shows those selected.
func (s *Site) compare(w io.Writer, x *Entry) error {
	entries := []*Entry{x}
	for _, y := range s.entries {
		if y != x && y.Dataset.Name == x.Dataset.Name {
			entries = append(entries, y)
		}
	}
	v, err := s.comparison(entries)
	if err != nil {
		return err
	}
	p := s.page("Compare", "../", "compare", v)
	p.Reports = s.suffix(x)
	b, err := toJSON(v.ids())
	if err != nil {
		return err
	}
	p.Data = []Script{{"columns", b}}
	return p.write(w)
}

func (s *Site) comparison(entries []*Entry) (compareView, error) {
	var all []*compare.Loaded
	for _, y := range entries {
		l, err := y.load(s.Options)
		if err != nil {
			return compareView{}, err
		}
		if len(all) > 0 && !compare.Pairable(all[0], l) {
			continue
		}
		all = append(all, l)
	}
	c, err := compare.New(all, s.Options)
	if err != nil {
		return compareView{}, err
	}
	return newCompare(c, s.entries)
}

// ids are the columns, for the page's script.
func (v compareView) ids() []string {
	out := []string{}
	for _, c := range v.Columns {
		out = append(out, c.ID)
	}
	return out
}
