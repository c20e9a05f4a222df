package report

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// reported is a data set that a Site has reports of.
type reported struct {
	Name   string
	Suffix string // of the names of its reports; "" for the first
	Here   bool   // the page that shows it is about it
	n      int
}

// datasets returns the data sets of the Experiments: the one that most are of
// first, then the first of equals in the list.
func datasets(all []*Entry) []reported {
	var out []reported
	for _, x := range all {
		i := slices.IndexFunc(out, func(d reported) bool { return d.Name == x.Dataset.Name })
		if i < 0 {
			i = len(out)
			out = append(out, reported{Name: x.Dataset.Name})
		}
		out[i].n++
	}
	slices.SortStableFunc(out, func(a, b reported) int { return b.n - a.n })
	taken := map[string]bool{}
	for i := range out[min(1, len(out)):] {
		d := &out[i+1]
		base := "-" + slug(d.Name)
		d.Suffix = base
		for n := 2; taken[d.Suffix]; n++ {
			d.Suffix = fmt.Sprintf("%s-%d", base, n)
		}
		taken[d.Suffix] = true
	}
	return out
}

// slug is a text as it may stand in the name of a file.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	out := strings.Join(words, "-")
	if out == "" {
		return "dataset"
	}
	return strings.Trim(out[:min(len(out), 60)], "-")
}

// suffix returns that of the reports that x is in.
func (s *Site) suffix(x *Entry) string {
	for _, d := range s.datasets {
		if d.Name == x.Dataset.Name {
			return d.Suffix
		}
	}
	return ""
}

// report writes one of the reports over all Experiments of one data set.
func (s *Site) report(w io.Writer, name string) error {
	base, ok := strings.CutSuffix(name, ".html")
	kind := "managerial"
	if strings.HasPrefix(base, "technical") {
		kind = "technical"
	}
	suffix, known := strings.CutPrefix(base, kind)
	at := slices.IndexFunc(s.datasets, func(d reported) bool { return d.Suffix == suffix })
	if !ok || !known || at < 0 {
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	study, err := s.study(s.datasets[at].Name)
	if err != nil {
		return err
	}
	p := page{}
	if kind == "managerial" {
		p, err = study.managerial()
	} else {
		p, err = study.technical(2)
	}
	if err != nil {
		return err
	}
	p.Live, p.Reports, p.report = s.Live, suffix, kind
	if len(s.datasets) > 1 {
		p.Datasets = slices.Clone(s.datasets)
		p.Datasets[at].Here = true
	}
	return p.write(w)
}

// study gathers the Experiments of a data set that can be paired.
func (s *Site) study(dataset string) (*Study, error) {
	var all []*compare.Loaded
	st := &Study{options: s.Options}
	for _, x := range s.entries {
		if x.Dataset.Name != dataset {
			continue
		}
		l, err := x.load(s.Options)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 || compare.Pairable(all[0], l) {
			all = append(all, l)
			st.Experiments = append(st.Experiments, x)
		}
	}
	return st, st.complete(all, s.Margin)
}
