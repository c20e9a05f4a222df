package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
)

// outputs returns the verdict in every form.
func outputs(t *testing.T, v *Verdict) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return v.Text(b) },
		"Markdown": func(b *bytes.Buffer) error { return v.Markdown(b) },
		"JUnit":    func(b *bytes.Buffer) error { return v.JUnit(b) },
		"JSON":     func(b *bytes.Buffer) error { return json.NewEncoder(b).Encode(v) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		out[name] = b.String()
	}
	return out
}

// throughFile returns an Experiment as the baseline file that is made of it.
func throughFile(t *testing.T, r *experiment.Result, p Policy) compare.Input {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Save(&b, r.Source(), "a reason", p.Measures()))
	path := filepath.Join(t.TempDir(), "base.jsonl")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	base, err := ReadBaseline(path)
	require.NoError(t, err)
	return compare.Input{ID: base.ID, Source: base}
}

func TestHO_ST_01_GateOnIdenticalRuns(t *testing.T) {
	p := policyOf(0, SignificantBeyond)
	r := scored("x", []float64{0, 1, 0.5, 0, 1, 0, 1, 0.5, 0, 1, 0, 1, 0.5, 0, 1, 0, 1, 0.5, 0, 1})
	v, err := Decide(throughFile(t, r, p), input(r), p, Options{})
	require.NoError(t, err)
	assert.Equal(t, Pass, v.State)
	assert.Zero(t, v.Checks[0].Delta.Mean)
	assert.InDelta(t, 1, *v.Checks[0].Delta.Holm, 0)
	assert.Equal(t, compare.NoDifference, v.Checks[0].Delta.Verdict)
	assert.Empty(t, v.Regressed)

	one, err := Decide(input(scored("x", []float64{1})), input(scored("y", []float64{0})), p, Options{})
	require.NoError(t, err)
	assert.Equal(t, Inconclusive, one.State)
	assert.Equal(t, "questions: 1; too few to tell, at least 20 are needed", one.Checks[0].Text)
	for _, v := range []*Verdict{v, one} {
		for name, text := range outputs(t, v) {
			assert.NotContains(t, text, "NaN", name)
			assert.NotContains(t, text, "significant", name)
		}
	}
}

// TestHO_ST_02_GateCorrectsTheFamily: a loss that is significant alone is not
// in a family of ten, and one test is shown as such.
func TestHO_ST_02_GateCorrectsTheFamily(t *testing.T) {
	const n = 40
	loss := make([]float64, n)
	for i := range 8 { // 7 lose, 1 gains very little
		loss[i] = -0.2
	}
	loss[7] = 0.01
	p := policyOf(0, SignificantBeyond)
	alone, err := Decide(input(scored("x", make([]float64, n))), input(scored("y", loss)), p, Options{})
	require.NoError(t, err)
	d := alone.Checks[0].Delta
	assert.InDelta(t, 4./256, *d.P, 1e-12, "the seven as one, the small one either way, on both sides")
	assert.InDelta(t, *d.P, *d.Holm, 0, "of one test the corrected p is the raw one")
	assert.Equal(t, Fail, alone.State)
	assert.Contains(t, outputs(t, alone)["text"], "one test: the corrected p is the raw p")

	base, cand := many("x", 10, n, make([]float64, n)), many("y", 10, n, make([]float64, n))
	for i, q := range cand.Strategies[3].Queries {
		q.Scores[0].Value = loss[i]
	}
	family, err := Decide(input(base), input(cand), p, Options{})
	require.NoError(t, err)
	assert.NotEqual(t, Fail, family.State)
	assert.InDelta(t, 10**d.P, *family.Checks[3].Delta.Holm, 1e-12)
	for name, text := range outputs(t, family) {
		if name != "JSON" {
			assert.Contains(t, text, "corrected by Holm over all 10 tests", name)
		}
	}
}

// TestHO_ME_09_GateCountsFailedQueries: 1, 1, 0 and one that failed, ten times.
func TestHO_ME_09_GateCountsFailedQueries(t *testing.T) {
	values := func(last float64) []float64 {
		var out []float64
		for range 10 {
			out = append(out, 1, 1, 0, last)
		}
		return out
	}
	good, bad := scored("good", values(1)), scored("bad", values(0))
	s := &bad.Strategies[0]
	half := 0.5
	s.Summary[0].Mean = &half
	for i := 3; i < len(s.Queries); i += 4 {
		s.Queries[i].Failed = "embed: no answer"
		s.Queries[i].Scores[0].Reason = "failed"
		bad.Record.Counts.Failed++
	}
	p := policyOf(0.02, SignificantBeyond)
	v, err := Decide(input(good), input(bad), p, Options{})
	require.NoError(t, err)
	assert.Equal(t, Fail, v.State)
	assert.InDelta(t, 0.5, *v.Checks[0].Value, 0, "20 of 40")
	assert.Equal(t, 40, v.Checks[0].Delta.N)
	for name, text := range outputs(t, v) {
		assert.Contains(t, text, "10 units failed and count 0", name)
		assert.NotContains(t, text, "NaN", name)
	}

	// As a baseline, from memory and from its file, they count 0 as well.
	for _, in := range []compare.Input{input(bad), throughFile(t, bad, p)} {
		v, err := Decide(in, input(bad), p, Options{})
		require.NoError(t, err)
		assert.Equal(t, Pass, v.State)
		assert.Equal(t, 40, v.Checks[0].Delta.N)
		assert.InDelta(t, 0.5, *v.Checks[0].Baseline, 0)
	}
}

// losing makes no chunks of one document, as a broken reader would.
type losing struct {
	evalkit.Strategy
	doc evalkit.DocID
}

func (l losing) Split(ctx context.Context, d evalkit.Document) ([]evalkit.Chunk, error) {
	if d.ID == l.doc {
		return nil, nil
	}
	return l.Strategy.Split(ctx, d)
}

func TestLostDocumentFails(t *testing.T) {
	g := trial.Group(t, "../../datasets/handbook", plain)
	base := trial.Run(t, g, 0)[0]
	g.Setup.Strategies[0] = losing{g.Setup.Strategies[0], "leave-policy.md"}
	v := decide(t, base, trial.Run(t, g, 0)[0])
	assert.Equal(t, Fail, v.State)
	last := v.Checks[len(v.Checks)-1]
	assert.Equal(t, "documents", last.Metric)
	assert.Equal(t, "documents that gave chunks in the baseline give none: [leave-policy.md]", last.Text)
	v, err := Decide(throughFile(t, base, DefaultPolicy()), input(trial.Run(t, g, 0)[0]), DefaultPolicy(), Options{})
	require.NoError(t, err)
	assert.Equal(t, last.Text, v.Checks[len(v.Checks)-1].Text, "the file knows it too")
}

func TestPolicyNamesStrategies(t *testing.T) {
	base := many("x", 3, 40, make([]float64, 40))
	p := policyOf(0.02, SignificantBeyond)
	p.Strategies = []string{"page(n=1)"}
	v, err := Decide(input(base), input(base), p, Options{})
	require.NoError(t, err)
	require.Len(t, v.Checks, 1)
	assert.Equal(t, "page(n=1)", v.Checks[0].Strategy)
	p.Strategies = []string{"page"}
	v, err = Decide(input(base), input(base), p, Options{})
	require.NoError(t, err)
	assert.Len(t, v.Checks, 3, "without settings it names all of them")
	p.Strategies = []string{"page(n=1)", "page(n=7)"}
	_, err = Decide(input(base), input(base), p, Options{})
	require.EqualError(t, err, "strategies: page(n=7) is not in baseline x, which has page(n=0), page(n=1), page(n=2)")

	cand := many("y", 1, 40, make([]float64, 40))
	p.Strategies = []string{"page(n=0)", "page(n=1)"}
	v, err = Decide(input(base), input(cand), p, Options{})
	require.NoError(t, err)
	assert.Equal(t, Fail, v.State, "a strategy that the candidate lost")
}

func TestWhatWasNotMeasuredIsRefused(t *testing.T) {
	p := policyOf(0, SignificantBeyond)
	p.Rules[0].Measure.Metric = "IoU"
	r := scored("x", make([]float64, 30))
	_, err := Decide(input(r), input(r), p, Options{})
	require.ErrorContains(t, err, "IoU+ was not measured in x")
}

func TestSecondsAreComparedIfTheyAreOfRuns(t *testing.T) {
	for _, c := range []struct {
		before, after experiment.Provenance
		want          State
	}{
		{experiment.Provenance{Seconds: 10, Workers: 2}, experiment.Provenance{Seconds: 14, Workers: 2}, Pass},
		{experiment.Provenance{Seconds: 10, Workers: 2}, experiment.Provenance{Seconds: 16, Workers: 2}, Fail},
		{experiment.Provenance{Seconds: 10, Workers: 2}, experiment.Provenance{Seconds: 1, Workers: 2, Restored: 5}, Inconclusive},
		{experiment.Provenance{Seconds: 10, Workers: 2}, experiment.Provenance{Seconds: 16, Workers: 1}, Inconclusive},
	} {
		a, b := scored("x", make([]float64, 30)), scored("y", make([]float64, 30))
		a.Record.Provenance, b.Record.Provenance = c.before, c.after
		p := policyOf(0, SignificantBeyond)
		p.Seconds = 0.5
		v, err := Decide(throughFile(t, a, p), input(b), p, Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, v.State, "%+v", c)
	}
}

// TestHO_PQ_02_DamagedBaseline: a file that lost its end, or any byte, is refused
// with its name, or says what it said before.
func TestHO_PQ_02_DamagedBaseline(t *testing.T) {
	p := policyOf(0, SignificantBeyond)
	var b bytes.Buffer
	require.NoError(t, Save(&b, scored("x", []float64{1, 0, 0.5}).Source(), "a reason", p.Measures()))
	path := filepath.Join(t.TempDir(), "base.jsonl")
	read := func(data []byte) (*Baseline, error) {
		require.NoError(t, os.WriteFile(path, data, 0o644))
		return ReadBaseline(path)
	}
	for _, n := range []int{0, 4, b.Len() / 2, b.Len() - 8} {
		_, err := read(b.Bytes()[:n])
		require.ErrorContains(t, err, "base.jsonl", "%d bytes", n)
	}
	_, err := read(bytes.Repeat([]byte{0xfe, 0}, 1000))
	require.ErrorContains(t, err, "base.jsonl:1")
}

// TestHO_PQ_03_BaselineOfAnotherVersion: what a newer program added to the record
// is left out; another version of the format is named.
func TestHO_PQ_03_BaselineOfAnotherVersion(t *testing.T) {
	p := policyOf(0, SignificantBeyond)
	var b bytes.Buffer
	require.NoError(t, Save(&b, scored("x", []float64{1, 0, 0.5}).Source(), "a reason", p.Measures()))
	path := filepath.Join(t.TempDir(), "base.jsonl")
	head, rest, _ := strings.Cut(b.String(), "\n")
	newer := head + "\n" + `{"record":"colour","value":"red"}` + "\n" + strings.ReplaceAll(rest, `{"strategy":`, `{"shade":1,"strategy":`)
	require.NoError(t, os.WriteFile(path, []byte(newer), 0o644))
	got, err := ReadBaseline(path)
	require.NoError(t, err)
	assert.Equal(t, "x", got.ID)
	require.NoError(t, os.WriteFile(path, []byte(`{"baseline":1,"id":"x"}`+"\n"), 0o644))
	_, err = ReadBaseline(path)
	require.ErrorContains(t, err, "version 1 of the format, and this program reads 2: save the baseline again")
}

func TestNothingIsLostInAFile(t *testing.T) {
	r := scored("x", []float64{1, 0, 1. / 3, math.Nextafter(0.1, 1)})
	r.Strategies[0].Queries[1].Failed = "timeout"
	r.Strategies[0].Queries[2].Scores[0].Reason = "undefined"
	p := policyOf(0, SignificantBeyond)
	in := throughFile(t, r, p)
	got, err := compare.Load(in, compare.Options{Measures: p.Measures()})
	require.NoError(t, err)
	want, err := compare.Load(input(r), compare.Options{Measures: p.Measures()})
	require.NoError(t, err)
	assert.Equal(t, want.Column, got.Column)
	a, b := want.Arms[0], got.Arms[0]
	assert.Equal(t, a.Queries, b.Queries)
	assert.Equal(t, a.Failed, b.Failed)
	var values []float64
	for i := range a.Queries {
		x, okx := a.Value(p.Rules[0].Measure, i)
		y, oky := b.Value(p.Rules[0].Measure, i)
		assert.Equal(t, okx, oky)
		assert.InDelta(t, x, y, 0)
		if okx {
			values = append(values, x)
		}
	}
	assert.Equal(t, []float64{1, 0, math.Nextafter(0.1, 1)}, values, "one failed and counts 0, one is undefined")
}
