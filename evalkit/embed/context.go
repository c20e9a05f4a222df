package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Embedder returns c, as an evalkit.ContextEmbedder where the embedder whose
// vectors it keeps is one.
func (c *Cache) Embedder() evalkit.Embedder {
	if inner, ok := c.inner.(evalkit.ContextEmbedder); ok {
		return contextCache{c, inner}
	}
	return c
}

// A contextCache also keeps the vectors of parts, by their text and place.
type contextCache struct {
	*Cache
	reader evalkit.ContextEmbedder
}

// EmbedParts returns one row per part. The embedder gets the texts of which a
// part is not stored, with those parts alone.
func (c contextCache) EmbedParts(ctx context.Context, texts []evalkit.Parted) (evalkit.Vectors, error) {
	var keys []key
	for _, t := range texts {
		keys = append(keys, partKeys(t)...)
	}
	have, missing, wanted := c.lookupParts(keys, texts)
	if len(missing) > 0 {
		got, err := c.reader.EmbedParts(ctx, missing)
		if err == nil {
			err = c.store(wanted, got, have)
		}
		if err != nil {
			return evalkit.Vectors{}, err
		}
	}
	dim, err := c.size(ctx, evalkit.Passage, len(keys))
	if err != nil {
		return evalkit.Vectors{}, err
	}
	v := evalkit.Vectors{Dim: dim, Data: make([]float32, len(keys)*dim)}
	for i, k := range keys {
		copy(v.Row(i), have[k])
	}
	return v, nil
}

func partKeys(t evalkit.Parted) []key {
	text := sha256.Sum256([]byte(t.Text))
	keys := make([]key, len(t.Parts))
	for i, p := range t.Parts {
		b := append([]byte("part\x00"), text[:]...)
		b = binary.LittleEndian.AppendUint64(b, uint64(p.Start))
		keys[i] = sha256.Sum256(binary.LittleEndian.AppendUint64(b, uint64(p.End)))
	}
	return keys
}

// lookupParts returns the stored rows of keys, and the parts that have none,
// each once, with their keys.
func (c contextCache) lookupParts(keys []key, texts []evalkit.Parted) (have map[key][]float32, missing []evalkit.Parted, wanted []key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	have = make(map[key][]float32, len(keys))
	asked := map[key]bool{}
	for _, t := range texts {
		rest := evalkit.Parted{Text: t.Text}
		for i, k := range keys[:len(t.Parts)] {
			if asked[k] {
				continue
			}
			if have[k] == nil {
				have[k] = c.read(k)
			}
			if have[k] != nil {
				c.stats.Hits++
				continue
			}
			c.stats.Misses++
			asked[k] = true
			rest.Parts, wanted = append(rest.Parts, t.Parts[i]), append(wanted, k)
		}
		if keys = keys[len(t.Parts):]; rest.Parts != nil {
			missing = append(missing, rest)
		}
	}
	return have, missing, wanted
}
