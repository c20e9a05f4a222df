package vectorfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed/vectorfile"
)

func Example() {
	dir, err := os.MkdirTemp("", "vectors")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "vectors.h5")
	v := evalkit.Vectors{Dim: 2, Data: []float32{1, 0, 3, 4}}
	keys := []vectorfile.Key{vectorfile.KeyOf("", "the ice"), vectorfile.KeyOf("", "the buoy")}
	if err := vectorfile.Write(path, "", v, keys); err != nil {
		panic(err)
	}
	p, err := vectorfile.New(path, "", vectorfile.Read)
	if err != nil {
		panic(err)
	}
	got, err := p.Embed(context.Background(), evalkit.Passage, []string{"the buoy", "the ice"})
	fmt.Println(got.Row(0), got.Row(1), err)
	// Output: [0.6 0.8] [1 0] <nil>
}
