package token

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reference is what another encoder gives, made by scripts/token_reference.py.
type reference struct {
	Reference string // its name and version
	Cases     []struct {
		Text         string
		IDs, Starts  []int
		N            int
		IDsSHA256    string `json:"ids_sha256"`
		StartsSHA256 string `json:"starts_sha256"`
	}
}

func readReference(t *testing.T, path string) reference {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var r reference
	require.NoError(t, json.Unmarshal(b, &r))
	require.GreaterOrEqual(t, len(r.Cases), 200)
	return r
}

func digest(list []int) string {
	s := make([]string, len(list))
	for i, v := range list {
		s[i] = strconv.Itoa(v)
	}
	sum := sha256.Sum256([]byte(strings.Join(s, ",")))
	return hex.EncodeToString(sum[:])
}

// encoder is what both encoders can do.
type encoder interface {
	Encode(text string) []int
	Starts(dst []int, text string) []int
	Count(text string) int
}

func compare(t *testing.T, e encoder, path string) {
	t.Helper()
	r := readReference(t, path)
	for _, c := range r.Cases {
		ids, starts := e.Encode(c.Text), e.Starts(nil, c.Text)
		if c.IDsSHA256 != "" {
			assert.Len(t, ids, c.N, "%s: %.60q", r.Reference, c.Text)
			assert.Equal(t, c.IDsSHA256, digest(ids), "%s: %.60q", r.Reference, c.Text)
			assert.Equal(t, c.StartsSHA256, digest(starts), "%s: %.60q", r.Reference, c.Text)
		} else {
			assert.Equal(t, c.IDs, append([]int{}, ids...), "%s: %q", r.Reference, c.Text)
			assert.Equal(t, c.Starts, append([]int{}, starts...), "%s: %q", r.Reference, c.Text)
		}
		assert.Equal(t, len(ids), e.Count(c.Text), "%q", c.Text)
	}
}

func TestCL100KEqualsTiktoken(t *testing.T) {
	tok, err := NewCL100K()
	require.NoError(t, err)
	compare(t, tok, filepath.Join("testdata", "cl100k.json"))
}

// TestWordPieceEqualsHuggingFace uses the small vocabulary of testdata, and a
// model's own where the folder named by EVALKIT_BERT holds vocab.txt and the
// references for it.
func TestWordPieceEqualsHuggingFace(t *testing.T) {
	for _, dir := range []string{"testdata", os.Getenv("EVALKIT_BERT")} {
		if dir == "" {
			continue
		}
		for _, cased := range []bool{false, true} {
			tok, err := NewWordPiece(WordPieceOptions{Vocab: filepath.Join(dir, "vocab.txt"), Cased: cased})
			require.NoError(t, err)
			name := map[bool]string{false: "wordpiece_uncased.json", true: "wordpiece_cased.json"}[cased]
			compare(t, tok, filepath.Join(dir, name))
		}
	}
}
