package metric

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A scorer computes one metric. at is the cutoff, 0 for none.
type scorer func(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error)

// params are the settings of a metric.
type params struct {
	k    int          // cutoff; 0: none
	unit evalkit.Unit // of lengths
	tau  float64      // share of a gold span that has to be covered
	exp  bool         // exponential gain
	minK bool         // chroma: k is the number of chunks that touch the gold
}

// definition is a metric before its settings.
type definition struct {
	name  string
	info  evalkit.Info
	score scorer
	unit  bool    // takes unit
	tau   float64 // takes tau, with this default; 0: does not
	exp   bool    // takes gain
	cut   cut
}

// cut says whether a name takes a cutoff.
type cut int

const (
	noCut   cut = iota // "recall"
	mustCut            // "P@5"
	mayCut             // "RR", "RR@10"
	minCut             // "chroma.recall@5", "chroma.recall@min"
)

// value is a metric with its settings.
type value struct {
	def *definition
	params
}

// Info describes the metric.
func (m value) Info() evalkit.Info { return m.def.info }

// Score returns the value for one query in one view.
func (m value) Score(j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	if m.def.info.HitOnly && v != evalkit.HitOnly {
		return 0, evalkit.Undefined("defined on the ranking of hits only")
	}
	if m.def.info.Recall && len(gold(j).all) == 0 {
		return 0, evalkit.Undefined("no gold")
	}
	return m.def.score(m.params, j, v, got)
}

// String returns the form that Parse reads; settings at their defaults are left out.
func (m value) String() string {
	name := m.def.name
	if m.minK {
		name += "@min"
	} else if m.k > 0 {
		name += "@" + strconv.Itoa(m.k)
	}
	e := evalkit.Expr{Name: name}
	if m.def.unit && m.unit != evalkit.Rune {
		e.Args = append(e.Args, evalkit.Arg{Key: "unit", Value: string(m.unit)})
	}
	if m.def.tau > 0 && m.tau != m.def.tau {
		e.Args = append(e.Args, evalkit.Arg{Key: "tau", Value: strconv.FormatFloat(m.tau, 'g', -1, 64)})
	}
	if m.exp {
		e.Args = append(e.Args, evalkit.Arg{Key: "gain", Value: "exponential"})
	}
	return e.String()
}

// Parse reads a metric, spelled as ir_measures spells them; other families
// stand before a dot:
//
//	recall precision IoU F1 redundancy density    with unit=token: in tokens
//	full_evidence                                 tau=1
//	context_tokens chunks
//	evid.hit@5 evid.recall@5 evid.full@5 evid.RR evid.nDCG@10   tau=0.5
//	P@5 R@5 RR RR@10 AP nDCG@10 Success@5         tau=0.5; nDCG: gain=exponential
//	chroma.recall@5 chroma.precision@5 chroma.IoU@5 chroma.precision_omega   @min
//	attr.hits attr.neighbors attr.prev attr.next attr.distance@1 attr.rescue
func Parse(s string) (evalkit.Metric, error) {
	m, err := parse(s)
	if err != nil {
		return nil, fmt.Errorf("parse metric %q: %w", s, err)
	}
	return m, nil
}

func parse(s string) (evalkit.Metric, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, err
	}
	name, cutoff, hasCut := strings.Cut(e.Name, "@")
	all := definitions()
	i := slices.IndexFunc(all, func(d definition) bool { return d.name == name })
	if i < 0 {
		if best, ok := evalkit.Nearest(name, Names()); ok {
			return nil, fmt.Errorf("unknown metric %q: did you mean %q?", name, best)
		}
		return nil, fmt.Errorf("unknown metric %q: known are %s", name, strings.Join(Names(), ", "))
	}
	m := value{def: &all[i], params: params{unit: evalkit.Rune, tau: all[i].tau}}
	if err := m.cutoff(cutoff, hasCut); err != nil {
		return nil, err
	}
	set := e.Settings()
	if m.def.unit {
		m.unit = evalkit.Unit(set.Enum("unit", "rune", "rune", "token"))
	}
	if m.def.tau > 0 {
		if m.tau = set.Float("tau", m.def.tau); m.tau <= 0 || m.tau > 1 {
			return nil, fmt.Errorf("tau: %v is not above 0 and at most 1", m.tau)
		}
	}
	if m.def.exp {
		m.exp = set.Enum("gain", "linear", "linear", "exponential") == "exponential"
	}
	return m, set.Err()
}

func (m *value) cutoff(text string, given bool) error {
	switch {
	case m.def.cut == noCut && given:
		return fmt.Errorf("%s takes no cutoff", m.def.name)
	case m.def.cut == minCut && text == "min":
		m.minK = true
		return nil
	case (m.def.cut == mustCut || m.def.cut == minCut) && !given:
		return fmt.Errorf("%s needs a cutoff, such as %s@5", m.def.name, m.def.name)
	case given:
		k, err := strconv.Atoi(text)
		if err != nil || k < 1 || text != strconv.Itoa(k) {
			return fmt.Errorf("cutoff %q is not a whole number of at least 1", text)
		}
		m.k = k
	}
	return nil
}

// Names returns the names that Parse knows, without cutoffs.
func Names() []string {
	var out []string
	for _, d := range definitions() {
		out = append(out, d.name)
	}
	return out
}

// Defaults returns the metrics of an Experiment that names none.
func Defaults() []evalkit.Metric {
	var out []evalkit.Metric
	for _, s := range []string{
		"recall", "precision", "IoU", "F1", "full_evidence", "redundancy", "density", "recall(unit=token)", "precision(unit=token)",
		"evid.hit@5", "evid.recall@5", "evid.full@5", "evid.RR", "evid.nDCG@10", "P@5", "R@5", "RR", "AP", "nDCG@10", "Success@5",
		"chroma.recall@5", "chroma.precision@5", "chroma.IoU@5", "chroma.precision_omega",
		"attr.hits", "attr.neighbors", "attr.prev", "attr.next", "attr.distance@1", "attr.distance@2", "attr.rescue", "context_tokens", "chunks",
	} {
		m, err := parse(s)
		if err != nil {
			panic("metric: " + err.Error()) // the list above is ours
		}
		out = append(out, m)
	}
	return out
}

// definitions returns all metrics in the order of the documentation.
func definitions() []definition {
	const (
		ours   = "evalkit/metric"
		trec   = "trec_eval 10.0"
		chroma = "brandonstarxel/chunking_evaluation d451fc4"
	)
	info := func(family, unit, source, doc string) evalkit.Info {
		i := evalkit.Info{Family: family, Unit: unit, Source: source, Doc: doc, Hi: 1, Higher: true}
		if unit != "fraction" {
			i.Hi, i.Higher = math.Inf(1), false
		}
		i.Recall = family != "cost"
		i.HitOnly = family == "evid" || family == "rank" || family == "chroma"
		return i
	}
	span := func(doc string) evalkit.Info { return info("span", "fraction", ours, doc) }
	evid := func(doc string) evalkit.Info { return info("evid", "fraction", ours, doc) }
	rank := func(doc string) evalkit.Info { return info("rank", "fraction", trec, doc) }
	chr := func(doc string) evalkit.Info { return info("chroma", "fraction", chroma, doc) }
	attr := func(doc string) evalkit.Info { return info("attr", "fraction", ours, doc) }
	lower := span("share of the chunks' text that repeats other chunks")
	lower.Higher, lower.Recall = false, false
	return []definition{
		{name: "recall", info: span("share of the gold text that was retrieved: |G∩R|/|G|"), score: recall, unit: true},
		{name: "precision", info: span("share of the retrieved text that is gold: |G∩R|/|R|"), score: precision, unit: true},
		{name: "IoU", info: span("|G∩R|/|G∪R|"), score: iou, unit: true},
		{name: "F1", info: span("harmonic mean of recall and precision"), score: f1, unit: true},
		{name: "full_evidence", info: span("1 if the merged text holds at least tau of every gold span, else 0; white space at a cut is no gap"), score: fullEvidence, tau: 1},
		{name: "redundancy", info: lower, score: redundancy, unit: true},
		{name: "density", info: span("gold tokens per context token"), score: density},
		{name: "context_tokens", info: info("cost", "token", ours, "tokens of the merged text, overlap removed"), score: contextTokens},
		{name: "chunks", info: info("cost", "chunk", ours, "chunks in the context"), score: countChunks},
		{name: "evid.hit", info: evid("1 if a gold span is found by rank k"), score: evidHit, tau: 0.5, cut: mustCut},
		{name: "evid.recall", info: evid("share of the gold spans found by rank k"), score: evidRecall, tau: 0.5, cut: mustCut},
		{name: "evid.full", info: evid("1 if all gold spans are found by rank k"), score: evidFull, tau: 0.5, cut: mustCut},
		{name: "evid.RR", info: evid("1/rank at which the first gold span is found"), score: evidRR, tau: 0.5, cut: mayCut},
		{name: "evid.nDCG", info: evid("newly covered gold, discounted by rank, over that of the greedy ideal order"), score: evidNDCG, cut: mustCut},
		{name: "P", info: rank("relevant chunks by rank k, over k"), score: ranked(rankP), tau: 0.5, cut: mustCut},
		{name: "R", info: rank("relevant chunks by rank k, over all; grows with overlap, not comparable across chunkings"), score: ranked(rankR), tau: 0.5, cut: mustCut},
		{name: "RR", info: rank("1/rank of the first relevant chunk"), score: ranked(rankRR), tau: 0.5, cut: mayCut},
		{name: "AP", info: rank("mean over all relevant chunks of the precision at their rank"), score: ranked(rankAP), tau: 0.5, cut: mayCut},
		{name: "nDCG", info: rank("discounted gain over that of the ideal ranking"), score: ranked(rankNDCG), tau: 0.5, exp: true, cut: mustCut},
		{name: "Success", info: rank("1 if a relevant chunk is ranked by k"), score: ranked(rankSuccess), tau: 0.5, cut: mustCut},
		{name: "chroma.recall", info: chr("union of chunk and gold over the summed gold lengths"), score: chromaRecall, cut: minCut},
		{name: "chroma.precision", info: chr("the same over the summed lengths of all k chunks"), score: chromaPrecision, cut: minCut},
		{name: "chroma.IoU", info: chr("the same over chunks and uncovered gold"), score: chromaIoU, cut: minCut},
		{name: "chroma.precision_omega", info: chr("precision of all chunks that touch gold; needs no retrieval"), score: chromaOmega},
		{name: "attr.hits", info: attr("share of the gold that hits cover"), score: attributed(partHits), unit: true},
		{name: "attr.neighbors", info: attr("share that only neighbors cover"), score: attributed(partNeighbors), unit: true},
		{name: "attr.prev", info: attr("the part of attr.neighbors from previous neighbors"), score: attributed(partPrev), unit: true},
		{name: "attr.next", info: attr("the part of attr.neighbors from next neighbors"), score: attributed(partNext), unit: true},
		{name: "attr.distance", info: attr("the part of attr.neighbors from chunks k away from their hit"), score: attributed(partDistance), unit: true, cut: mustCut},
		{name: "attr.rescue", info: attr("1 if no gold span is found by hits and one is with neighbors"), score: attrRescue, tau: 0.5},
	}
}
