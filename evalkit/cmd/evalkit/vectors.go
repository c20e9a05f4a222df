package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed/vectorfile"
	"github.com/chunkeval/chunkeval/evalkit/store"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

func vectorsCommand() *cobra.Command {
	var embedder, ids string
	var cache cacheFlags
	c := &cobra.Command{
		Use:   "vectors FILE OUT",
		Short: "Write the vectors of a configuration's passages and questions",
		Long: `Embed every passage of every strategy in FILE, and every question, and write the
vectors to OUT: .parquet, .h5, or .npy with its keys in --ids. Each row has the
SHA-256 of its text; see precomputed in the README. With

  embedder: precomputed(file=OUT)

the same configuration then runs where the model is not, with the same numbers.
Semantic strategies name embedders of their own, whose vectors are not written.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := checkVectorFile(args[1], ids); err != nil {
				return usage(err)
			}
			lab, err := cache.lab()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, lab.Close()) }()
			config, err := wire.ReadConfig(args[0])
			if err == nil {
				err = replaceEmbedder(config, embedder)
			}
			if err != nil {
				return usage(err)
			}
			groups, err := lab.Groups(config)
			if err != nil {
				return usage(err)
			}
			t, err := embedAll(cmd.Context(), groups)
			if err != nil {
				return err
			}
			if err := writeVectors(args[1], ids, t.vectors, t.keys); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d vectors of %d numbers, by %s\n", args[1], t.vectors.Len(), t.vectors.Dim, groups[0].Embedder)
			return err
		},
	}
	c.Flags().StringVar(&embedder, "embedder", "", "embedder in place of the file's, such as minilm")
	c.Flags().StringVar(&ids, "ids", "", "file for the keys, which .npy has no place for")
	cache.add(c)
	return c
}

// vectorTable gathers vectors, each text of a kind once.
type vectorTable struct {
	vectors evalkit.Vectors
	keys    []vectorfile.Key
	have    map[vectorfile.Key]bool
}

func embedAll(ctx context.Context, groups []*wire.Group) (*vectorTable, error) {
	t := &vectorTable{have: map[vectorfile.Key]bool{}}
	for _, g := range groups {
		if a, b := groups[0].Embedder, g.Embedder; evalkit.Fingerprint(a) != evalkit.Fingerprint(b) {
			return nil, usage(fmt.Errorf("the configuration has the embedders %s and %s: choose one with --embedder", a, b))
		}
		if _, ok := g.Embedder.(evalkit.ContextEmbedder); ok {
			return nil, usage(fmt.Errorf("embedder %s reads a passage in its document: its vectors do not belong to texts", g.Embedder))
		}
		for _, s := range g.Setup.Strategies {
			for _, d := range g.Setup.Dataset.Docs {
				chunks, err := s.Split(ctx, d)
				if err != nil {
					return nil, fmt.Errorf("strategy %s: document %q: %w", s, d.ID, err)
				}
				var texts []string
				for _, c := range chunks {
					texts = append(texts, c.Passages()...)
				}
				if err := t.add(ctx, g.Embedder, evalkit.Passage, texts); err != nil {
					return nil, err
				}
			}
		}
		var texts []string
		for _, q := range g.Setup.Dataset.Queries {
			texts = append(texts, q.Text)
		}
		if err := t.add(ctx, g.Embedder, evalkit.Question, texts); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *vectorTable) add(ctx context.Context, e evalkit.Embedder, kind evalkit.TextKind, texts []string) error {
	texts = slices.DeleteFunc(texts, func(text string) bool {
		key := vectorfile.KeyOf(kind, text)
		known := t.have[key] || evalkit.Blank(text)
		if !known {
			t.have[key], t.keys = true, append(t.keys, key)
		}
		return known
	})
	if len(texts) == 0 {
		return nil
	}
	v, err := e.Embed(ctx, kind, texts)
	if err != nil {
		return err
	}
	t.vectors.Dim, t.vectors.Data = v.Dim, append(t.vectors.Data, v.Data...)
	return nil
}

// checkVectorFile reports what writeVectors does not write.
func checkVectorFile(path, ids string) error {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".npy":
		if ids == "" {
			return fmt.Errorf("%s: .npy has no place for keys: name a file for them with --ids", path)
		}
	case ".parquet", ".h5", ".hdf5":
		if ids != "" {
			return fmt.Errorf("%s: %s holds its keys: leave out --ids", path, ext)
		}
	default:
		return fmt.Errorf("%s: vectors are written to .parquet, .h5, .hdf5 and .npy", path)
	}
	return nil
}

// writeVectors makes a file of vectors in the format of its ending.
func writeVectors(path, ids string, v evalkit.Vectors, keys []vectorfile.Key) error {
	if isParquet(path) {
		return store.WriteVectors(path, v, keys)
	}
	return vectorfile.Write(path, ids, v, keys)
}
