package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// telling is the number of questions that the managerial report opens.
const telling = 3

// managerialView is the one-page report.
type managerialView struct {
	Title     string
	Dataset   experiment.DatasetInfo
	Answered  int // questions in the means
	R         *compare.Recommendation
	Pick      *optionView // nil: nothing is recommended
	Deeper    *depth      // cheaper than the pick by the kept candidates; nil: none
	Best      *optionView
	Cheapest  *optionView
	NotShown  []optionView // cheaper ones that were not shown to differ from the best
	Tests     int          // differences to the best, for which their p is corrected
	Alpha     float64      // below which a corrected p shows a difference
	Charts    []*chart.Chart
	Questions []Question
	Next      []string
	Warnings  []string
	Several   bool // Experiments
	Failed    int
}

// optionView is a setting in words.
type optionView struct {
	compare.Option
	Badge   Badge
	Name    string // of the Experiment
	Setting string // retriever and model
	Percent float64
}

// Managerial writes the one-page report as a page that stands alone.
func (s *Study) Managerial(w io.Writer) error {
	p, err := s.managerial()
	if err != nil {
		return err
	}
	p.Alone = true
	return p.write(w)
}

// Recommended returns the recommendation and its chart as a piece of a page.
func (s *Study) Recommended() (template.HTML, error) {
	p, err := s.managerial()
	if err != nil {
		return "", err
	}
	v := p.Body.(managerialView)
	v.Questions = nil
	return render("managerial", v)
}

func (s *Study) managerial() (page, error) {
	r := s.Recommendation
	v := managerialView{Title: s.title(), Dataset: s.Experiments[0].Dataset, R: r, Several: len(s.Experiments) > 1}
	for _, w := range s.Comparison.Warnings {
		if w.Axis == "gold" || w.Axis == "data set fingerprint" {
			v.Warnings = append(v.Warnings, w.Text)
		}
	}
	for _, x := range s.Experiments {
		v.Failed += x.Counts.Failed
	}
	if r.Best >= 0 {
		v.Best = s.option(r.Best)
		v.Cheapest = s.option(0)
		v.Answered = s.answered()
	}
	if r.Pick >= 0 {
		v.Pick, v.Deeper = s.option(r.Pick), s.deeper()
		v.Tests, v.Alpha = len(r.Options)-1, 1-s.Comparison.Family.Level
		for _, i := range r.Undecided {
			v.NotShown = append(v.NotShown, *s.option(i))
		}
	}
	c, err := s.paretoChart()
	if err != nil {
		return page{}, err
	}
	if c != nil {
		v.Charts = append(v.Charts, c)
	}
	if v.Questions, err = s.telling(); err != nil {
		return page{}, err
	}
	v.Next = s.next(v)
	return page{Title: v.Title, name: "managerial", Body: v}, nil
}

func (s *Study) title() string {
	first := s.Experiments[0]
	name, _, _ := strings.Cut(first.Spec.Name, " ")
	return cmp.Or(name, first.Dataset.Name)
}

// answered returns the number of questions in the mean of the best setting.
func (s *Study) answered() int {
	best := s.Recommendation.Options[s.Recommendation.Best]
	for _, a := range s.Comparison.Arms {
		if a.Experiment == best.Experiment && a.Strategy == best.Strategy {
			n := 0
			for i := range a.Queries {
				if _, ok := a.Value(compare.Measure{Metric: "recall", View: evalkit.Expanded}, i); ok {
					n++
				}
			}
			return n
		}
	}
	return 0
}

func (s *Study) entry(id string) *Entry {
	for _, x := range s.Experiments {
		if x.ID == id {
			return x
		}
	}
	return nil
}

func (s *Study) option(i int) *optionView {
	o := s.Recommendation.Options[i]
	x := s.entry(o.Experiment)
	setting := x.Retriever()
	if ks := s.topKs(); len(ks) > 1 {
		setting += fmt.Sprintf(", top_k %d", x.Spec.TopK)
	}
	return &optionView{Option: o, Badge: strategyBadge(o.Strategy, o.Window), Name: x.Spec.Name, Setting: setting, Percent: 100 * o.Recall}
}

// topKs returns the values of top_k that occur.
func (s *Study) topKs() map[int]bool {
	out := map[int]bool{}
	for _, x := range s.Experiments {
		out[x.Spec.TopK] = true
	}
	return out
}

// paretoChart draws every setting by cost and recall.
func (s *Study) paretoChart() (*chart.Chart, error) {
	t := chart.ParetoTable{
		Title: "What is found, and what it costs", XAxis: "tokens sent per question", YAxis: "share of the evidence found",
		Note: "Up is better, left is cheaper. A numbered point is on the front: nothing that was run finds as much for fewer tokens.",
	}
	for i, o := range s.Recommendation.Options {
		key := fmt.Sprintf("%s: %s for %s tokens", s.optionLabel(i), percent(o.Recall), number(o.Tokens))
		if i == s.Recommendation.Pick {
			key += ", recommended"
		}
		t.Points = append(t.Points, chart.ParetoPoint{X: o.Tokens, Y: o.Recall, Label: s.optionLabel(i), Front: o.Front, Key: key})
	}
	if len(t.Points) == 0 {
		return nil, nil
	}
	return chart.Pareto(t)
}

func (s *Study) optionLabel(i int) string {
	o := s.option(i)
	return label(o.Strategy, o.Window) + " · " + o.Setting
}

// telling returns questions that show what the recommended setting does: where
// neighbors helped most, where hits sufficed, and where it failed.
func (s *Study) telling() ([]Question, error) {
	r := s.Recommendation
	if r.Best < 0 {
		return nil, nil
	}
	o := r.Options[max(r.Pick, 0)]
	if r.Pick < 0 {
		o = r.Options[r.Best]
	}
	x := s.entry(o.Experiment)
	i := slices.IndexFunc(x.Effective, func(e experiment.Effective) bool { return e.Strategy == o.Strategy })
	st, err := x.open(i)
	if err != nil {
		return nil, err
	}
	var out []Question
	for _, j := range pickTelling(st.result, st.queries, telling) {
		q := st.question(j)
		q.Brief, q.Scores = true, nil
		out = append(out, q)
	}
	return out, nil
}

// pickTelling chooses up to n queries: the one that neighbors helped most, the
// first found whole by its first hits, and the first that was missed; then
// those in between.
func pickTelling(s *experiment.StrategyResult, queries []evalkit.Query, n int) []int {
	type entry struct{ i, class int }
	var all []entry
	for i, q := range queries {
		r := &s.Queries[i]
		if q.Unanswerable || len(q.Gold()) == 0 {
			continue
		}
		hit, expanded := scoreOf(r, "recall", evalkit.HitOnly), scoreOf(r, "recall", evalkit.Expanded)
		switch {
		case expanded > hit && expanded == 1:
			all = append(all, entry{i, 0})
		case expanded == 1:
			all = append(all, entry{i, 1})
		case expanded == 0:
			all = append(all, entry{i, 2})
		default:
			all = append(all, entry{i, 3})
		}
	}
	var out []int
	for round := 0; len(out) < n && round < len(all); round++ {
		for class := range 4 {
			k := 0
			for _, e := range all {
				if e.class != class {
					continue
				}
				if k == round && len(out) < n {
					out = append(out, e.i)
				}
				k++
			}
		}
	}
	slices.Sort(out)
	return out
}

// scoreOf returns a score, or NaN.
func scoreOf(r *experiment.QueryResult, metric string, v evalkit.View) float64 {
	for _, s := range r.Scores {
		if s.Metric == metric && s.View == v && s.Reason == "" {
			return s.Value
		}
	}
	return math.NaN()
}

// next says what to do with the report.
func (s *Study) next(v managerialView) []string {
	r := s.Recommendation
	var out []string
	if d := v.Deeper; d != nil {
		out = append(out, fmt.Sprintf("Run %s with %s and top_k: %d: by the ranking that was kept it finds as much as the recommendation for about %s tokens a question.", label(d.Strategy, d.Window), d.Retriever, d.Depth, d.About()))
	}
	switch r.Confidence {
	case compare.None:
		out = append(out, fmt.Sprintf("Write more questions: at least %d with evidence.", max(r.Needed, 20)))
	case compare.Open:
		if r.Needed > 0 {
			out = append(out, fmt.Sprintf("To decide between the recommendation and the cheaper settings, about %d questions would be needed; there are %d.", r.Needed, v.Answered))
		}
		if len(r.Options) == 1 {
			out = append(out, "Run a second setting to compare with: another size, another strategy, or a window of neighbors.")
		}
	case compare.Clear:
		if v.Deeper != nil {
			break // not before that was run
		}
		out = append(out, "Ship the recommended setting, and keep this report as the state that later changes are measured against.")
	}
	if v.Failed > 0 {
		out = append(out, fmt.Sprintf("%d queries failed and count as not found: mend them and run again.", v.Failed))
	}
	if r.Pick >= 0 {
		if loss, what := s.largestLoss(); loss > 0.05 {
			out = append(out, what)
		}
	}
	return out
}

// largestLoss says where the recommended setting loses most.
func (s *Study) largestLoss() (float64, string) {
	o := s.Recommendation.Options[s.Recommendation.Pick]
	for _, l := range s.entry(o.Experiment).Looks {
		if l.Strategy != o.Strategy || l.Err != nil {
			continue
		}
		w := l.Waterfall
		losses := []struct {
			loss float64
			what string
		}{
			{1 - w.Segmentation, "Most of what is missed is lost when documents are cut: try larger chunks, or an overlap."},
			{w.Segmentation - w.Candidates, "Most of what is missed was never found by the search: a better embedding model or retriever would help more than other chunks."},
			{w.Candidates - w.Oracle, "Most of what is missed was found but did not fit: send more hits, if the tokens allow."},
			{w.Oracle - w.Actual, "Most of what is missed was found but ranked too low: a reranker would help more than other chunks."},
		}
		best := losses[0]
		for _, x := range losses[1:] {
			if x.loss > best.loss {
				best = x
			}
		}
		return best.loss, best.what
	}
	return 0, ""
}
