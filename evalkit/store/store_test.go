package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

//go:fix inline

// result is an Experiment of two strategies over one document.
func result(name string) *experiment.Result {
	text := "alpha beta gamma delta"
	chunk := func(i, start, end int) evalkit.Chunk {
		return evalkit.Chunk{Doc: "d", Index: i, Span: evalkit.Span{Start: start, End: end}, Text: text[start:end], Tokens: 1}
	}
	chunks := []evalkit.Chunk{chunk(0, 0, 5), chunk(1, 6, 10), chunk(2, 11, 16), chunk(3, 17, 22)}
	ds := &evalkit.Dataset{Name: "toy", Docs: []evalkit.Document{{ID: "d", Text: text}}, Queries: []evalkit.Query{
		{ID: "q1", Text: "beta?", Answer: "yes", Qrels: []evalkit.Qrel{{Doc: "d", Span: evalkit.Span{Start: 6, End: 10}, Grade: 1}}},
		{ID: "q2", Text: "none?", Unanswerable: true},
	}}
	hit := evalkit.Hit{Chunk: chunks[1], Rank: 1, Score: 0.1 + 0.2, Lexical: evalkit.Component{Rank: 1, Score: 7}}
	q := experiment.QueryResult{
		Query: "q1",
		Tree:  []evalkit.ExpandedHit{{Hit: hit, NeighborsPrev: []evalkit.Chunk{chunks[0]}, NeighborsNext: []evalkit.Chunk{}}},
		Flat: []evalkit.RetrievedChunk{
			{Chunk: chunks[0], Role: evalkit.RoleNeighbor, Rank: 1, Score: hit.Score, Distance: -1},
			{Chunk: chunks[1], Role: evalkit.RoleHit, Rank: 1, Score: hit.Score},
		},
		Below:  []evalkit.Hit{{Chunk: chunks[3], Rank: 2, Score: 0.25, Dense: evalkit.Component{Rank: 4, Score: -1}}},
		Scores: []experiment.Score{{Metric: "recall", View: evalkit.HitOnly, Value: 1}, {Metric: "recall", View: evalkit.Expanded, Reason: "no gold"}},
	}
	s := experiment.StrategyResult{
		Strategy: "fixed_size(size=1)", Window: evalkit.Window{Prev: 1}, Chunks: chunks, Queries: []experiment.QueryResult{q, {Query: "q2"}},
		Summary: []experiment.SummaryRow{{Metric: "recall", View: evalkit.HitOnly, Mean: new(1.0), N: 1, DDOF: 1}, {Metric: "recall", View: evalkit.Expanded, Undefined: 1}},
	}
	return &experiment.Result{
		Dataset: ds, Strategies: []experiment.StrategyResult{s},
		Record: experiment.Record{
			SchemaVersion: experiment.SchemaVersion, Spec: experiment.Spec{Name: name}, Fingerprint: "0123456789abcdef", Effective: []experiment.Effective{{Strategy: s.Strategy, NeighborPrev: 1}},
			Dataset: experiment.DatasetInfo{Name: "toy"},
		},
	}
}

func all[T any](t *testing.T, rows func(func(T, error) bool)) []T {
	t.Helper()
	got, err := collect[T](rows)
	require.NoError(t, err)
	return got
}

func TestRoundTrip(t *testing.T) {
	root := t.TempDir()
	r := result("Round Trip")
	id, err := NewWriter(root).Write(r)
	require.NoError(t, err)
	assert.Equal(t, "round-trip-01234567", id)

	x, err := Open(root, "round")
	require.NoError(t, err)
	assert.Empty(t, x.Notices)
	s := &r.Strategies[0]
	assert.Equal(t, treeRows(s), all(t, x.Tree()))
	assert.Equal(t, retrievedRows(s), all(t, x.Retrieved()))
	assert.Equal(t, chunkRows(s), all(t, x.Chunks()))
	assert.Equal(t, scoreRows(s), all(t, x.Scores()))
	assert.Equal(t, candidateRows(s), all(t, x.Candidates()))

	got, err := x.Strategy(0)
	require.NoError(t, err)
	assert.Equal(t, s, got)
	ds, err := x.Dataset()
	require.NoError(t, err)
	assert.Equal(t, r.Dataset, ds)
	overview, err := x.Overview()
	require.NoError(t, err)
	assert.Equal(t, s.Summary, overview.Strategies[0].Summary)
	summary, err := x.Summary()
	require.NoError(t, err)
	assert.Equal(t, summaryRows(s), summary)
	queries, err := x.Queries()
	require.NoError(t, err)
	assert.Equal(t, queryRows(r.Dataset), queries)
	documents, err := x.Documents()
	require.NoError(t, err)
	assert.Equal(t, documentRows(r.Dataset), documents)
	assert.NotNil(t, all(t, x.Tree())[0].NeighborsNext, "no neighbors is an empty list, not null")
}

func TestHO_OF_04_OffsetsAreNeverMissingOrNegative(t *testing.T) {
	root := t.TempDir()
	r := result("offsets")
	id, err := NewWriter(root).Write(r)
	require.NoError(t, err)
	x, err := Open(root, id)
	require.NoError(t, err)
	last := int64(-1)
	for _, c := range all(t, x.Chunks()) {
		assert.GreaterOrEqual(t, c.Start, int64(0))
		assert.Less(t, c.Start, c.End)
		assert.LessOrEqual(t, c.End, int64(len(r.Dataset.Docs[0].Text)))
		assert.GreaterOrEqual(t, c.Start, last)
		last = c.Start
		assert.Equal(t, r.Dataset.Docs[0].Text[c.Start:c.End], c.Text)
	}
	for _, name := range []string{"start", "end"} {
		schema, err := schemaOf[ChunkRow]()
		require.NoError(t, err)
		f, ok := schema.FieldsByName(name)
		require.True(t, ok)
		assert.False(t, f[0].Nullable, "an offset cannot be null")
	}
}

// nulls is a row with columns that can be null.
type nulls struct {
	Int    *int64     `arrow:"int"`
	Text   *string    `arrow:"text"`
	List   *[]SpanRow `arrow:"list"`
	Empty  *float64   `arrow:"empty"`
	Vector *[]float32 `arrow:"vector"`
}

func writeRows[T any](t *testing.T, rows []T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "t.parquet")
	f, err := os.Create(name)
	require.NoError(t, err)
	require.NoError(t, writeTable(onlyWriter{f}, slices.Values([][]T{rows})))
	require.NoError(t, f.Close())
	return name
}

func readRows[T any](t *testing.T, name string) []T {
	t.Helper()
	var out []T
	for rows, err := range readTable[T](name, "") {
		require.NoError(t, err)
		out = append(out, rows...)
	}
	return out
}

func TestHO_PQ_01_NullsKeepTheirPlaces(t *testing.T) {
	rows := []nulls{{}, {}, {Int: new(int64(41))}, {}, {Int: new(int64(42))}, {}, {}}
	assert.Equal(t, rows, readRows[nulls](t, writeRows(t, rows)))

	rows = make([]nulls, 5000)
	for i := range rows {
		if i%3 != 0 {
			rows[i] = nulls{Int: new(int64(i)), Text: new(fmt.Sprint(i)), List: &[]SpanRow{{int64(i), int64(i + 1)}}}
		}
	}
	assert.Equal(t, rows, readRows[nulls](t, writeRows(t, rows)))
}

func TestHO_PQ_05_VectorsComeBackUnchanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v := make([]float32, 8)
	for i := range v {
		v[i] = rng.Float32() - 0.5
	}
	rows := []nulls{{Vector: &v}, {}, {Vector: &[]float32{}}}
	got := readRows[nulls](t, writeRows(t, rows))
	assert.Equal(t, rows, got)
	assert.Nil(t, got[1].Vector)
	assert.NotNil(t, got[2].Vector)
}

func TestHO_PQ_04_ZeroRows(t *testing.T) {
	assert.Empty(t, readRows[TreeRow](t, writeRows(t, []TreeRow{})))
	root := t.TempDir()
	r := result("empty")
	r.Dataset.Queries, r.Strategies[0].Queries, r.Strategies[0].Summary = nil, nil, nil
	id, err := NewWriter(root).Write(r)
	require.NoError(t, err)
	x, err := Open(root, id)
	require.NoError(t, err)
	assert.Empty(t, all(t, x.Tree()))
}

func TestHO_PQ_02_DamagedFile(t *testing.T) {
	good, err := os.ReadFile(writeRows(t, scoreRows(&result("x").Strategies[0])))
	require.NoError(t, err)
	random := make([]byte, 4096)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	huge := append(slices.Clone(random), 0xff, 0xff, 0xff, 0x7f, 'P', 'A', 'R', '1')
	flipped := slices.Clone(good)
	for i := len(good) / 3; i < len(good)*2/3; i++ {
		flipped[i] ^= 0x55
	}
	for name, data := range map[string][]byte{
		"without its last 8 bytes": good[:len(good)-8], "four bytes": good[:4], "killed writer": good[:len(good)/2],
		"random": random, "huge footer": huge, "empty": {}, "flipped bits": flipped,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scores.parquet")
			require.NoError(t, os.WriteFile(path, data, 0o644))
			var failed error
			for _, err := range readTable[ScoreRow](path, "") {
				failed = err
			}
			var te *TableError
			require.ErrorAs(t, failed, &te)
			assert.Contains(t, failed.Error(), path)
			assert.Contains(t, failed.Error(), "incomplete")
		})
	}
}

func TestHO_PQ_02_ListGoesOnWithTheOthers(t *testing.T) {
	root := t.TempDir()
	w := NewWriter(root)
	bad, err := w.Write(result("bad"))
	require.NoError(t, err)
	good, err := w.Write(result("good"))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(filepath.Join(root, bad, scoresFile), 100))
	require.NoError(t, os.Mkdir(filepath.Join(root, ".writing-1"), 0o755))
	xs, problems := List(root)
	require.Len(t, xs, 1)
	assert.Equal(t, good, xs[0].Record.ID)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Error(), "incomplete")
	assert.Contains(t, problems[0].Error(), bad)
}

// older stands for the row type of an earlier version.
type older struct {
	Strategy string   `arrow:"strategy"`
	Metric   string   `arrow:"metric"`
	View     string   `arrow:"view"`
	Mean     *float64 `arrow:"mean"`
}

func TestHO_PQ_03_OlderAndNewerRowsLoad(t *testing.T) {
	got := readRows[SummaryRow](t, writeRows(t, []older{{"s", "recall", "hit_only", new(0.5)}}))
	require.Len(t, got, 1)
	assert.Nil(t, got[0].NeighborPrev, "missing is empty, not 0")
	assert.InDelta(t, 0.5, *got[0].Mean, 0)

	type future struct {
		Strategy string   `arrow:"strategy"`
		Metric   string   `arrow:"metric"`
		View     string   `arrow:"view"`
		Mean     *float64 `arrow:"mean"`
		Colour   string   `arrow:"colour"`
	}
	name := writeRows(t, []future{{"s", "recall", "hit_only", new(0.25), "red"}})
	got = readRows[SummaryRow](t, name)
	require.Len(t, got, 1)
	assert.InDelta(t, 0.25, *got[0].Mean, 0)
	unknown, err := unknownColumns[SummaryRow](name)
	require.NoError(t, err)
	assert.Equal(t, []string{"colour"}, unknown)
}

func TestHO_PQ_06_ParallelReading(t *testing.T) {
	root := t.TempDir()
	id, err := NewWriter(root).Write(result("parallel"))
	require.NoError(t, err)
	x, err := Open(root, id)
	require.NoError(t, err)
	want := all(t, x.Tree())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := collect(x.Tree())
			assert.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	wg.Wait()
}

func TestHO_RUN_02_EightWritersAtOnce(t *testing.T) {
	root := t.TempDir()
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			var err error
			ids[i], err = NewWriter(root).Write(result("same"))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	slices.Sort(ids)
	assert.Len(t, slices.Compact(slices.Clone(ids)), 8)
	xs, problems := List(root)
	assert.Empty(t, problems)
	assert.Len(t, xs, 8)
	for _, x := range xs {
		assert.Len(t, all(t, x.Tree()), 1)
	}
}

func TestSameResultSameBytes(t *testing.T) {
	root := t.TempDir()
	a, b := result("a"), result("b")
	_, err := NewWriter(root).Write(a)
	require.NoError(t, err)
	_, err = NewWriter(root).Write(b)
	require.NoError(t, err)
	assert.Equal(t, a.Record.Files, b.Record.Files)
}

func TestChunksOfOneRunAreStoredOnce(t *testing.T) {
	root := t.TempDir()
	w := NewWriter(root)
	a := result("a")
	b := *a
	b.Record.Spec.Name = "b"
	ida, err := w.Write(a)
	require.NoError(t, err)
	idb, err := w.Write(&b)
	require.NoError(t, err)
	x, err := os.Stat(filepath.Join(root, ida, chunksFile))
	require.NoError(t, err)
	y, err := os.Stat(filepath.Join(root, idb, chunksFile))
	require.NoError(t, err)
	assert.True(t, os.SameFile(x, y))
}

func TestHO_SEC_01_NamesStayInside(t *testing.T) {
	root := filepath.Join(t.TempDir(), "results")
	w := NewWriter(root)
	for _, name := range []string{
		"../outside", "/abs", "a/../../b", `C:\x`, "..", "con", "nul\x00", strings.Repeat("n", 300), "\u00c4", "A\u0308",
	} {
		r := result(name)
		id, err := w.Write(r)
		require.NoError(t, err, "%q", name)
		assert.Regexp(t, `^[a-z0-9][a-z0-9.-]*$`, id)
		x, err := Open(root, id)
		require.NoError(t, err)
		want, err := json.Marshal(name)
		require.NoError(t, err)
		got, err := json.Marshal(x.Record.Spec.Name)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "the name is kept as data")
	}
	xs, problems := List(root)
	assert.Empty(t, problems)
	assert.Len(t, xs, 10)
	outside, err := os.ReadDir(filepath.Dir(root))
	require.NoError(t, err)
	assert.Len(t, outside, 1)
	for _, id := range []string{"../x", "", ".", "..", "a/b", `a\b`, ".writing-1"} {
		_, err := Open(root, id)
		assert.Error(t, err, "%q", id)
	}
}

func TestHO_RUN_03_DiskFull(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system")
	}
	defer f.Close()
	err = writeTable(onlyWriter{f}, slices.Values([][]TreeRow{treeRows(&result("x").Strategies[0])}))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "no space left")
}

func TestAbandonedFoldersAreRemoved(t *testing.T) {
	root := t.TempDir()
	old, young := filepath.Join(root, writing+"1"), filepath.Join(root, writing+"2")
	for _, dir := range []string{old, young} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "x"), 0o755))
	}
	long := time.Now().Add(-2 * abandoned)
	require.NoError(t, os.Chtimes(old, long, long))
	require.NoError(t, NewWriter(root).sweep())
	assert.NoDirExists(t, old)
	assert.DirExists(t, young, "another process may be writing it")
}

func TestNewestRun(t *testing.T) {
	for want, names := range map[string][]string{
		"x-1.11": {"x-1", "x-1.11", "x-1.2"},
		"x-1.2":  {"x-1.2"},
		"":       {"x-1", "x-2"},
	} {
		got, ok := newestOf(names)
		assert.Equal(t, want != "", ok)
		if ok {
			assert.Equal(t, want, got)
		}
	}
}
