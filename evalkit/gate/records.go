package gate

import (
	"fmt"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// records compares what the two records say beside the values of questions.
func (v *Verdict) records(baseline, candidate compare.Input, p Policy) error {
	before, err := baseline.Source.Overview()
	if err != nil {
		return err
	}
	after, err := candidate.Source.Overview()
	if err != nil {
		return err
	}
	v.documents(before.Record, after.Record)
	if p.Seconds > 0 {
		v.Checks = append(v.Checks, secondsOf(before.Record.Provenance, after.Record.Provenance, p.Seconds))
	}
	return nil
}

// documents fails a strategy that no longer makes a chunk of a document that it
// cut before. Where the data changed, documents may come and go, which is told.
func (v *Verdict) documents(before, after experiment.Record) {
	same := before.Dataset.Fingerprint == after.Dataset.Fingerprint
	if n := before.Dataset.Docs - after.Dataset.Docs; n > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%d documents, %d fewer than in the baseline", after.Dataset.Docs, n))
	}
	for _, a := range after.Effective {
		at := slices.IndexFunc(before.Effective, func(b experiment.Effective) bool { return b.Strategy == a.Strategy })
		if at < 0 {
			continue
		}
		lost := slices.DeleteFunc(slices.Clone(a.Chunks.EmptyDocs), func(d evalkit.DocID) bool {
			return slices.Contains(before.Effective[at].Chunks.EmptyDocs, d)
		})
		switch {
		case len(lost) == 0:
		case same:
			v.Checks = append(v.Checks, Check{Strategy: a.Strategy, Metric: "documents", State: Fail, Text: fmt.Sprintf("documents that gave chunks in the baseline give none: %v", lost[:min(5, len(lost))])})
		default:
			v.Warnings = append(v.Warnings, fmt.Sprintf("%s: no chunk of %v", a.Strategy, lost[:min(5, len(lost))]))
		}
	}
}

// secondsOf compares the time of the two runs, if both are the time of a run.
func secondsOf(before, after experiment.Provenance, share float64) Check {
	k := Check{Strategy: "all", Metric: "seconds of the run", State: Pass, Baseline: &before.Seconds, Value: &after.Seconds, Margin: share * before.Seconds, Text: "one measurement each, and no test"}
	switch {
	case before.Restored+after.Restored > 0:
		k.State, k.Text = Inconclusive, "not the time of a run: hits were taken from the cache; use run --no-cache for both"
	case before.Workers != after.Workers:
		k.State, k.Text = Inconclusive, fmt.Sprintf("%d goroutines against %d: run both with equal --workers", after.Workers, before.Workers)
	case after.Seconds > before.Seconds*(1+share):
		k.State = Fail
	}
	return k
}
