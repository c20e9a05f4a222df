package vectorfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Key says which text a vector stands for: the SHA-256 of the text in
// lower-case hex, after "query:" or "passage:" where the vector is for that kind
// of text alone.
type Key string

// KeyOf returns the key of a text of one kind, or with an empty kind of both.
func KeyOf(kind evalkit.TextKind, text string) Key {
	sum := sha256.Sum256([]byte(text))
	if kind == "" {
		return Key(hex.EncodeToString(sum[:]))
	}
	return Key(string(kind) + ":" + hex.EncodeToString(sum[:]))
}

// ParseKey returns the Key that s is.
func ParseKey(s string) (Key, error) { return Key(s), Key(s).check() }

func (k Key) check() error {
	digest := string(k)
	for _, kind := range []evalkit.TextKind{evalkit.Question, evalkit.Passage} {
		digest = strings.TrimPrefix(digest, string(kind)+":")
	}
	if b, err := hex.DecodeString(digest); err != nil || len(b) != sha256.Size || digest != strings.ToLower(digest) {
		return fmt.Errorf("key %q: want the SHA-256 of a text in lower-case hex, after query: or passage: if it is for one kind alone", k)
	}
	return nil
}

// CheckKind reports a kind that KeyOf does not take.
func CheckKind(kind evalkit.TextKind) error {
	if kind != "" && kind != evalkit.Question && kind != evalkit.Passage {
		return fmt.Errorf("kind %q: want %s, %s or nothing", kind, evalkit.Question, evalkit.Passage)
	}
	return nil
}

// ReadKeys reads a file with one line per vector, in their order: a Key, or the
// text itself as a JSON string, or {"text": …, "kind": "query"}.
func ReadKeys(path string) ([]Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var keys []Key
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		k, err := parseKey(bytes.TrimSpace(s.Bytes()))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		keys = append(keys, k)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

func parseKey(line []byte) (Key, error) {
	switch {
	case bytes.HasPrefix(line, []byte{'"'}):
		var text string
		err := json.Unmarshal(line, &text)
		return KeyOf("", text), err
	case bytes.HasPrefix(line, []byte{'{'}):
		var entry struct {
			Text *string
			Kind evalkit.TextKind
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&entry); err != nil {
			return "", err
		}
		if entry.Text == nil {
			return "", errors.New("no text")
		}
		if err := CheckKind(entry.Kind); err != nil {
			return "", err
		}
		return KeyOf(entry.Kind, *entry.Text), nil
	}
	return ParseKey(string(line))
}
