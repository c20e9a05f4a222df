package metric

import (
	"bufio"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// list judges a ranking written as "X P P" by gold written as "P:1 Q:3".
func list(results, gold string) Ranking {
	grades := map[string]float64{}
	for f := range strings.FieldsSeq(gold) {
		id, grade, ok := strings.Cut(f, ":")
		grades[id] = 1
		if ok {
			grades[id], _ = strconv.ParseFloat(grade, 64)
		}
	}
	return NewRanking(strings.Fields(results), grades)
}

func TestHO_ME_01_DuplicatesNeverLiftAMetric(t *testing.T) {
	r := list("X P P", "P")
	assert.InDelta(t, 1, r.R(3), 0)
	assert.InDelta(t, 0.6309, r.NDCG(3, false), 5e-5)
	assert.InDelta(t, 1.0/3, r.P(3), 1e-12)
	r = list("P P P P", "P Q")
	assert.InDelta(t, 0.5, r.R(4), 0)
	assert.InDelta(t, 0.6131, r.NDCG(4, false), 5e-5)
	assert.InDelta(t, 0.25, r.P(4), 0)
}

func TestHO_ME_04_IdealUsesAllJudged(t *testing.T) {
	r := list("X A", "A B C")
	assert.InDelta(t, 0.2961, r.NDCG(5, false), 5e-5)
	assert.InDelta(t, 1.0/3, r.R(5), 1e-12)
	assert.Zero(t, r.NDCG(1, false))
}

func TestHO_ME_05_APDividesByAllRelevant(t *testing.T) {
	assert.InDelta(t, 0.3889, list("X A B", "A B C").AP(0), 5e-5)
}

func TestHO_ME_06_KAboveTheList(t *testing.T) {
	r := list("A B C", "A B C D")
	assert.InDelta(t, 0.75, r.R(10), 0)
	assert.InDelta(t, 0.3, r.P(10), 1e-12)
	assert.InDelta(t, 0.5, list("X B A", "A B").RR(0), 0)
	eleventh := list("a b c d e f g h i j K", "K")
	assert.Zero(t, eleventh.RR(10))
	assert.InDelta(t, 1.0/11, eleventh.RR(0), 1e-12)
}

func TestHO_ME_07_PerfectIsExactlyOne(t *testing.T) {
	for _, n := range []int{1, 3, 7} {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprintf("d%d", i)
		}
		r := list(strings.Join(ids, " "), strings.Join(ids, " "))
		for name, v := range map[string]float64{"P": r.P(n), "R": r.R(n), "RR": r.RR(0), "AP": r.AP(0), "nDCG": r.NDCG(10, false), "Success": r.Success(1)} {
			assert.True(t, v == 1, "%s of %d is %v", name, n, v)
		}
	}
}

func TestHO_ME_08_OwnRankDecidesNotNames(t *testing.T) {
	for _, name := range []string{"m3", "a0", "z9"} {
		r := list("m1 m2 "+name+" m4", name)
		assert.InDelta(t, 1.0/3, r.AP(0), 1e-12)
		assert.InDelta(t, 0.5, r.NDCG(10, false), 1e-12)
	}
}

func TestHO_ME_11_Grades(t *testing.T) {
	r := list("B A", "A:3 B:1")
	assert.InDelta(t, 0.7967, r.NDCG(10, false), 5e-5)
	assert.InDelta(t, 0.7098, r.NDCG(10, true), 5e-5)
	negative := list("A B", "A:-2 B:0.5")
	assert.Len(t, negative.Relevant, 1, "a grade of 0 or less is not relevant")
	assert.InDelta(t, 0.5, negative.RR(0), 0)
}

// trecFile returns the path of a file of trec_eval's own tests.
func trecFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "trec_eval", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("the trec_eval files are not beside the checkout")
	}
	return path
}

func fields(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var out [][]string
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, strings.Fields(s.Text()))
	}
	return out
}

// rankings reads run and qrels; trec_eval ranks by score, then by name, both falling.
func rankings(t *testing.T, run, qrels string) map[string]Ranking {
	t.Helper()
	grades := map[string]map[string]float64{}
	for _, f := range fields(t, qrels) {
		if grades[f[0]] == nil {
			grades[f[0]] = map[string]float64{}
		}
		g, err := strconv.ParseFloat(f[3], 64)
		require.NoError(t, err)
		grades[f[0]][f[2]] = g
	}
	type item struct {
		id    string
		score float64
	}
	lists := map[string][]item{}
	for _, f := range fields(t, run) {
		score, err := strconv.ParseFloat(f[4], 32)
		require.NoError(t, err)
		lists[f[0]] = append(lists[f[0]], item{f[2], score})
	}
	out := map[string]Ranking{}
	for q, g := range grades {
		slices.SortFunc(lists[q], func(a, b item) int {
			if a.score != b.score {
				return map[bool]int{true: -1, false: 1}[a.score > b.score]
			}
			return strings.Compare(b.id, a.id)
		})
		ids := make([]string, len(lists[q]))
		for i, x := range lists[q] {
			ids[i] = x.id
		}
		out[q] = NewRanking(ids, g)
	}
	return out
}

// TestTrecEval compares every measure that we have with the output files of
// trec_eval 10.0, per query and in the mean, to their four places.
func TestTrecEval(t *testing.T) {
	measures := map[string]func(Ranking) float64{
		"map": func(r Ranking) float64 { return r.AP(0) }, "recip_rank": func(r Ranking) float64 { return r.RR(0) }, "ndcg": func(r Ranking) float64 { return r.NDCG(1000, false) },
	}
	for _, k := range []int{5, 10, 15, 20, 30, 100, 200, 500, 1000} {
		n := strconv.Itoa(k)
		measures["P_"+n] = func(r Ranking) float64 { return r.P(k) }
		measures["recall_"+n] = func(r Ranking) float64 { return r.R(k) }
		measures["ndcg_cut_"+n] = func(r Ranking) float64 { return r.NDCG(k, false) }
		measures["map_cut_"+n] = func(r Ranking) float64 { return r.AP(k) }
	}
	for _, k := range []int{1, 5, 10} {
		measures["success_"+strconv.Itoa(k)] = func(r Ranking) float64 { return r.Success(k) }
	}
	for _, c := range []struct {
		run, out string
		all      bool // -c: queries without results count 0
	}{{"results.test", "out.test", false}, {"results.test", "out.test.a", false}, {"results.test", "out.test.aq", false}, {"results.trunc", "out.test.aqc", true}} {
		t.Run(c.out, func(t *testing.T) {
			rs := rankings(t, trecFile(t, c.run), trecFile(t, "qrels.test"))
			for q, r := range rs {
				if len(r.Relevant) == 0 || len(r.Grades) == 0 && !c.all {
					delete(rs, q)
				}
			}
			compared := 0
			for _, f := range fields(t, trecFile(t, c.out)) {
				measure := measures[f[0]]
				if measure == nil {
					continue
				}
				got := 0.0
				if f[1] == "all" {
					for _, q := range slices.Sorted(maps.Keys(rs)) {
						got += measure(rs[q]) / float64(len(rs))
					}
				} else {
					got = measure(rs[f[1]])
				}
				want, err := strconv.ParseFloat(f[2], 64)
				require.NoError(t, err)
				assert.InDelta(t, want, got, 5.1e-5, "%s %s", f[0], f[1])
				compared++
			}
			assert.Greater(t, compared, 10)
			t.Logf("%d values agree", compared)
		})
	}
}

func FuzzRanking(f *testing.F) {
	f.Add("A B C", "A B:2 X:0.5", uint8(2))
	f.Add("", "A", uint8(1))
	f.Fuzz(func(t *testing.T, results, gold string, k uint8) {
		r := list(results, gold)
		if len(r.Relevant) == 0 || k == 0 || slices.ContainsFunc(r.Relevant, func(g float64) bool { return g-g != 0 || g > 500 }) {
			return
		}
		for _, v := range []float64{r.P(int(k)), r.R(int(k)), r.RR(int(k)), r.AP(int(k)), r.NDCG(int(k), false), r.Success(int(k))} {
			require.False(t, math.IsNaN(v))
			require.GreaterOrEqual(t, v, 0.0)
			require.LessOrEqual(t, v, 1+1e-12)
		}
	})
}
