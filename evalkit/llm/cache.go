package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// A Chatter writes texts. A Client is one.
type Chatter interface {
	Chat(ctx context.Context, r ChatRequest) (*ChatAnswer, error)
}

// A Cache keeps the answers of a Chatter by what was asked, so that asking
// again is free and gives the same text: models rarely promise that. Failures
// are not kept. It is safe for concurrent use, also of its folder by several
// processes.
type Cache struct {
	inner    Chatter
	identity string
	dir      string

	mu    sync.Mutex
	kept  map[string]*ChatAnswer
	locks map[string]*sync.Mutex // one per question on its way
}

// NewCache returns a Cache of inner's answers under dir; an empty dir keeps
// them in memory only. identity tells models apart: Config.Identity.
func NewCache(inner Chatter, identity, dir string) *Cache {
	return &Cache{inner: inner, identity: identity, dir: dir, kept: map[string]*ChatAnswer{}, locks: map[string]*sync.Mutex{}}
}

// Chat returns the kept answer to r, or asks and keeps it. Equal questions at
// the same time are asked once.
func (c *Cache) Chat(ctx context.Context, r ChatRequest) (*ChatAnswer, error) {
	key := c.key(r)
	lock := c.lock(key)
	lock.Lock()
	defer lock.Unlock()
	if a, ok := c.find(key); ok {
		return a, nil
	}
	a, err := c.inner.Chat(ctx, r)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.kept[key] = a
	c.mu.Unlock()
	return a, c.write(key, a)
}

func (c *Cache) key(r ChatRequest) string {
	b, err := json.Marshal(r)
	if err != nil {
		panic("llm: " + err.Error()) // only plain values are in it
	}
	sum := sha256.Sum256([]byte(c.identity + "\n" + string(b)))
	return hex.EncodeToString(sum[:])
}

func (c *Cache) lock(key string) *sync.Mutex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locks[key] == nil {
		c.locks[key] = &sync.Mutex{}
	}
	return c.locks[key]
}

// entry is an answer on disk. Its digest tells a damaged file from a whole one.
type entry struct {
	Answer *ChatAnswer
	SHA256 string // of the text
}

func (c *Cache) file(key string) string { return filepath.Join(c.dir, key[:2], key+".json") }

// find returns a kept answer; a damaged file is none.
func (c *Cache) find(key string) (*ChatAnswer, bool) {
	c.mu.Lock()
	a, ok := c.kept[key]
	c.mu.Unlock()
	if ok || c.dir == "" {
		return a, ok
	}
	b, err := os.ReadFile(c.file(key))
	var e entry
	if err != nil || json.Unmarshal(b, &e) != nil || e.Answer == nil || e.SHA256 != digest(e.Answer.Text) {
		return nil, false
	}
	c.mu.Lock()
	c.kept[key] = e.Answer
	c.mu.Unlock()
	return e.Answer, true
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// write keeps an answer under a temporary name first: a reader sees all or nothing.
func (c *Cache) write(key string, a *ChatAnswer) error {
	if c.dir == "" {
		return nil
	}
	b, err := json.MarshalIndent(entry{a, digest(a.Text)}, "", "  ")
	if err == nil {
		err = writeWhole(c.file(key), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("cache of answers: %w", err)
	}
	return nil
}

func writeWhole(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".writing-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
