package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/dataset"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/store"
)

// bench is a folder with a generated data set, a configuration and the command
// as a program of its own.
type bench struct {
	t   *testing.T
	dir string
}

func newBench(t *testing.T, o dataset.GenerateOptions) *bench {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs signals")
	}
	b := &bench{t, t.TempDir()}
	ds, err := dataset.Generate(o)
	require.NoError(t, err)
	require.NoError(t, dataset.Write(b.path("set"), ds))
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, b.path("evalkit"))) // under this name TestMain is the command
	b.write("run.yaml", "dataset: set\nstrategies: [fixed_size(size=60), recursive(size=60)]\nsweep:\n  window: [0/0, 1/1]\n")
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, text string) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(b.path(name), []byte(text), 0o644))
}

// start starts the command; its output goes to out.
func (b *bench) start(out *bytes.Buffer, args ...string) *exec.Cmd {
	b.t.Helper()
	c := exec.Command(b.path("evalkit"), args...)
	c.Dir = b.dir
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+b.path("user-cache"))
	c.Stdout, c.Stderr = out, out
	require.NoError(b.t, c.Start())
	return c
}

func (b *bench) run(args ...string) string {
	b.t.Helper()
	var out bytes.Buffer
	require.NoError(b.t, b.start(&out, args...).Wait(), out.String())
	return out.String()
}

// tables returns the digests of all tables below results, by Experiment name.
func (b *bench) tables(results string) map[string]map[string]experiment.File {
	b.t.Helper()
	all, bad := store.List(b.path(results))
	require.Empty(b.t, bad)
	out := map[string]map[string]experiment.File{}
	for _, x := range all {
		out[x.Record.Spec.Name] = x.Record.Files
	}
	return out
}

// journaled reports whether a query was written to the journal below cache.
func (b *bench) journaled(cache string) bool {
	files, _ := filepath.Glob(filepath.Join(b.path(cache), "hits", "*.hits"))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

func (b *bench) wait(what string, done func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); {
		require.True(b.t, time.Now().Before(deadline), "waited too long for %s", what)
		runtime.Gosched()
	}
}

// TestHO_RUN_01_KilledRunGoesOn kills the command with SIGKILL once the first
// query is in the journal, and starts it again.
func TestHO_RUN_01_KilledRunGoesOn(t *testing.T) {
	b := newBench(t, dataset.GenerateOptions{Seed: 3, Documents: 30, Questions: 300, Bytes: 150_000})
	var out bytes.Buffer
	c := b.start(&out, "run", "run.yaml", "--cache", "cache", "--results", "killed", "--workers", "1", "--quiet")
	b.wait("the journal", func() bool { return b.journaled("cache") })
	require.NoError(t, c.Process.Kill())
	_ = c.Wait() // killed
	require.NoError(t, os.MkdirAll(b.path("killed/.writing-123"), 0o755))

	b.run("run", "run.yaml", "--cache", "cache", "--results", "killed", "--quiet")
	all, bad := store.List(b.path("killed"))
	require.Empty(t, bad)
	require.Len(t, all, 2)
	assert.Positive(t, all[0].Record.Provenance.Restored, "what was searched is not searched again")

	b.run("run", "run.yaml", "--no-cache", "--results", "whole", "--quiet", "--workers", "8")
	assert.Equal(t, b.tables("whole"), b.tables("killed"))
	b.run("baseline", "save", "run-window-1-1", "whole.jsonl", "--results", "whole", "--reason", "not killed")
	assert.Contains(t, b.run("gate", "--baseline", "whole.jsonl", "--candidate", "run-window-1-1", "--results", "killed"), "PASS")
	assert.Contains(t, b.run("run", "run.yaml", "--cache", "cache", "--results", "killed", "--quiet"), "0 new, 2 stored before")
}

func TestHO_RUN_04_InterruptedRun(t *testing.T) {
	b := newBench(t, dataset.GenerateOptions{Seed: 4, Documents: 100, Questions: 2000, Bytes: 1_000_000})
	var out bytes.Buffer
	c := b.start(&out, "run", "run.yaml", "--cache", "cache", "--results", "results")
	b.wait("the start", func() bool { return b.journaled("cache") })
	require.NoError(t, c.Process.Signal(os.Interrupt))
	err := c.Wait()
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit), "the run ended before it could be interrupted")
	assert.Equal(t, exitInterrupted, exit.ExitCode(), out.String())
	assert.Regexp(t, `interrupted: \d+ units finished, 0 failed, \d+ not started`, out.String())
	all, bad := store.List(b.path("results"))
	assert.Empty(t, bad)
	assert.Empty(t, all, "no half result")
}

func TestHO_RUN_02_EightRunsAtOnce(t *testing.T) {
	b := newBench(t, dataset.GenerateOptions{Seed: 5, Documents: 4, Questions: 10, Bytes: 8_000})
	var wg sync.WaitGroup
	outs := make([]bytes.Buffer, 8)
	for i := range outs {
		c := b.start(&outs[i], "run", "run.yaml", "--cache", "cache", "--force", "--quiet")
		wg.Go(func() { assert.NoError(t, c.Wait(), outs[i].String()) })
	}
	wg.Wait()
	all, bad := store.List(b.path("results"))
	require.Empty(t, bad)
	require.Len(t, all, 16)
	for _, x := range all {
		for _, y := range all {
			if x.Record.Spec.Name == y.Record.Spec.Name {
				assert.Equal(t, x.Record.Files, y.Record.Files, "nothing is mixed")
			}
		}
	}
}

// TestHO_RUN_03_FullDisk runs on a file system of 2 MB that is nearly full.
func TestHO_RUN_03_FullDisk(t *testing.T) {
	b := newBench(t, dataset.GenerateOptions{Seed: 6, Documents: 20, Questions: 100, Bytes: 200_000})
	require.NoError(t, os.Mkdir(b.path("small"), 0o755))
	if err := mount(b.path("small")); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, unmount(b.path("small"))) })
	b.write("tiny.yaml", "dataset: set\nstrategies: [page]\nretriever: bm25\nqueries: [none]\n")
	var out bytes.Buffer
	_ = b.start(&out, "run", "tiny.yaml", "--no-cache", "--results", "small/results", "--quiet").Wait() // no rows: status 1, stored
	before := b.tables("small/results")
	require.Len(t, before, 1)
	require.NoError(t, os.WriteFile(b.path("small/filler"), make([]byte, 1_880_000), 0o644))

	out.Reset()
	err := b.start(&out, "run", "run.yaml", "--no-cache", "--results", "small/results", "--quiet").Wait()
	require.Error(t, err)
	assert.Contains(t, out.String(), "no space left")
	assert.Contains(t, out.String(), "small/results")
	assert.Equal(t, before, b.tables("small/results"), "earlier runs are unharmed and nothing is under a final name")
	entries, err := os.ReadDir(b.path("small/results"))
	require.NoError(t, err)
	for _, e := range entries {
		assert.False(t, strings.HasPrefix(e.Name(), ".writing-"), "%s is left behind", e.Name())
	}
}

// TestHO_CLI_03_ClosedPipe writes to a pipe that nobody reads.
func TestHO_CLI_03_ClosedPipe(t *testing.T) {
	b := newBench(t, dataset.GenerateOptions{Seed: 7, Documents: 4, Questions: 10, Bytes: 8_000})
	b.run("run", "run.yaml", "--cache", "cache", "--quiet")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	c := exec.Command(b.path("evalkit"), "list")
	c.Dir, c.Stdout = b.dir, w
	err = c.Run()
	require.NoError(t, w.Close())
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit))
	assert.Equal(t, syscall.SIGPIPE, exit.Sys().(syscall.WaitStatus).Signal())
}

func TestRecordIsComplete(t *testing.T) {
	b := newBench(t, dataset.GenerateOptions{Seed: 8, Documents: 4, Questions: 10, Bytes: 8_000})
	b.run("run", "run.yaml", "--cache", "cache", "--quiet")
	all, bad := store.List(b.path("results"))
	require.Empty(t, bad)
	rec := all[1].Record
	assert.Equal(t, experiment.Spec{
		Name: "run window=1/1", Dataset: rec.Dataset.Name, Strategies: []string{"fixed_size(size=60,overlap=0,unit=token)", "recursive(size=60,overlap=0,unit=token)"},
		Tokenizer: "cl100k", Analyzer: "en", Embedder: "lsa(dim=256,seed=1)",
		Retriever: "hybrid(lexical=bm25(k1=1.2,b=0.75,analyzer=en),fusion=rrf(k=60,lexical=1,dense=1),depth=100)",
		TopK:      5, NeighborPrev: 1, NeighborNext: 1, Candidates: 20, Metrics: rec.Spec.Metrics, Seed: 1,
	}, rec.Spec)
	assert.NotEmpty(t, rec.Spec.Metrics)
	assert.NotEmpty(t, rec.Fingerprint)
	for _, role := range []string{"dataset", "embedder", "retriever", "tokenizer"} {
		assert.NotEmpty(t, rec.Components[role], role)
	}
	assert.Len(t, rec.Files, 8)
	raw, err := json.Marshal(rec)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), b.dir, "no path of this machine is recorded")
}
