package gate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// FuzzBaseline: whatever a file holds, it is read or refused with its name; what
// is read can be held against itself.
func FuzzBaseline(f *testing.F) {
	measures := DefaultPolicy().Measures()[:1]
	var b bytes.Buffer
	require.NoError(f, Save(&b, scored("x", []float64{1, 0, 0.5}).Source(), "seed", measures))
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()/2])
	f.Add([]byte("{}\n"))
	path := filepath.Join(f.TempDir(), "base.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o644))
		got, err := ReadBaseline(path)
		if err != nil {
			require.Contains(t, err.Error(), "base.jsonl")
			return
		}
		in := compare.Input{ID: got.ID, Source: got}
		if v, err := Decide(in, in, DefaultPolicy(), Options{}); err == nil {
			require.NotEqual(t, "", v.State)
		}
	})
}

func ExampleDecide() {
	before := scored("before", make([]float64, 40))
	after := scored("after", make([]float64, 40))
	p := DefaultPolicy()
	p.Rules = p.Rules[:1]
	v, err := Decide(compare.Input{ID: "before", Source: before.Source()}, compare.Input{ID: "after", Source: after.Source()}, p, Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(v.State, v.Checks[0].Text)
	// Output: pass shown not to be worse by more than the margin
}
