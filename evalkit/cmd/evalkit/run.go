package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/store"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// runFlags are the flags of run; none but embedder changes a number.
type runFlags struct {
	embedder string
	results  string
	cache    cacheFlags
	workers  int
	force    bool
	profile  bool
	quiet    bool
	dryRun   bool
	shard    string
	shards   string
	ids      string
	prices   string
}

// cacheFlags choose the cache folder.
type cacheFlags struct {
	dir string
	off bool
}

func (f *cacheFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.dir, "cache", "", "folder for vectors, chunks and hits (default: evalkit in the user's cache folder)")
	c.Flags().BoolVar(&f.off, "no-cache", false, "keep nothing between runs; such a run cannot be resumed")
}

func (f *cacheFlags) lab() (*wire.Lab, error) {
	lab := &wire.Lab{Embedders: embedders(), CacheDir: f.dir}
	switch {
	case f.off:
		lab.CacheDir = ""
		return lab, nil
	case f.dir != "":
		return lab, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w; name one with --cache, or use --no-cache", err)
	}
	lab.CacheDir = filepath.Join(base, "evalkit")
	return lab, nil
}

func runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Run an Experiment or a sweep, store it, print the table",
		Long: `Run the Experiment or sweep in FILE, store each Experiment below the results
folder and print one table over all of them.

FILE is YAML; only dataset and strategies are needed:

  dataset: ../datasets/handbook  # folder
  strategies:                    # one or more, written either way; see go doc ./evalkit/chunk
    - fixed_size(size=200,overlap=40)
    - recursive: {size: 200}
  retriever: hybrid              # or bm25, bleve, dense, oracle
  embedder: lsa(dim=256,seed=1)  # or minilm, onnx(…), openai(…), precomputed(…), hash(…)
  fusion: rrf(k=60)              # of hybrid; or weighted(scale=minmax,dense=0.5)
  tokenizer: cl100k              # or wordpiece(…), word, rune
  analyzer: en                   # default: the data set's
  top_k: 5
  neighbor_prev: 0               # Neighbor Expansion, of fixed_size only
  neighbor_next: 0
  candidates: 20                 # ranks kept for analysis; top_k of them are sent
  metrics: [recall, IoU]         # default: all
  queries: ["a*"]                # only the questions whose id matches a pattern
  answerer: none                 # or extractive, openai(…)
  judge: none                    # or openai(…)
  seed: 1
  name: windows                  # default: the file's name
  sweep:                         # in place of the keys: each list unfolds into Experiments
    window: [0/0, 1/1]           # neighbor_prev/neighbor_next
    retriever: [bm25, hybrid]    # also: top_k, embedder, fusion, analyzer, tokenizer, answerer, seed

Paths in FILE are relative to its folder; paths in flags to the working
directory. An Experiment that this program already stored, with equal settings
and data, is not run again (see --force). A run that was interrupted or killed
goes on where it stopped when it is started again.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.shard == "" && cmd.Flags().Changed("shards") {
				return usage(errors.New("run: --shards names where --shard i/n puts its part, which is not given"))
			}
			if f.shard != "" {
				return runShard(cmd, args[0], f)
			}
			return runFile(cmd, args[0], f)
		},
	}
	c.Flags().StringVar(&f.results, "results", "results", "folder of the stored Experiments")
	c.Flags().StringVar(&f.embedder, "embedder", "", "embedder in place of the file's, such as minilm")
	c.Flags().IntVar(&f.workers, "workers", 0, "goroutines (default: one per core)")
	c.Flags().BoolVar(&f.force, "force", false, "run again what is stored already")
	c.Flags().BoolVar(&f.profile, "profile", false, "print wall time, peak memory and the share of each stage")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "no progress")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be sent to models behind HTTP, at most; send and store nothing")
	c.Flags().StringVar(&f.prices, "prices", "", "YAML file with prices by model, for --dry-run and the record")
	c.Flags().StringVar(&f.shard, "shard", "", "do only part i/n of the searching, for evalkit merge")
	shardsFlag(c, &f.shards)
	c.Flags().StringVar(&f.ids, "ids", "", "write the ids of the Experiments to this file, one a line, in the order of the sweep")
	f.cache.add(c)
	return c
}

func runFile(cmd *cobra.Command, path string, f runFlags) (err error) {
	start := time.Now()
	lab, err := f.cache.lab()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	config, err := wire.ReadConfig(path)
	if err == nil {
		err = replaceEmbedder(config, f.embedder)
	}
	if err != nil {
		return usage(err)
	}
	profile := &experiment.Profile{}
	stop := profile.Track("load")
	groups, err := lab.Groups(config)
	if err != nil {
		return usage(err)
	}
	program, err := programDigest()
	if err != nil {
		return err
	}
	stop()
	prices, err := readPrices(f.prices)
	if err != nil {
		return usage(err)
	}
	if f.dryRun {
		return dryRun(cmd, groups, prices)
	}
	p := newProgress(cmd.ErrOrStderr(), f.quiet)
	s := &session{lab: lab, flags: f, program: program, profile: profile, progress: p.report, prices: prices, out: cmd.ErrOrStderr()}
	all, err := s.all(cmd.Context(), groups)
	p.end()
	if err != nil {
		return err
	}
	if err := printTable(cmd.OutOrStdout(), all); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\n%d Experiments in %s: %d new, %d stored before\n", len(all), f.results, s.new, len(all)-s.new)
	if f.ids != "" {
		if _, err := replaceFile(f.ids, func(w io.Writer) error { return printIDs(w, all) }); err != nil {
			return err
		}
	}
	if f.profile {
		printProfile(cmd.OutOrStdout(), profile, time.Since(start))
	}
	return verdict(all)
}

func printIDs(w io.Writer, all []*store.Experiment) error {
	for _, x := range all {
		if _, err := fmt.Fprintln(w, x.Record.ID); err != nil {
			return err
		}
	}
	return nil
}

// replaceEmbedder sets the embedder of c, unless that is empty.
func replaceEmbedder(c *wire.Config, embedder string) error {
	if embedder == "" {
		return nil
	}
	if slices.ContainsFunc(c.Sweep, func(a wire.Axis) bool { return a.Key == "embedder" }) {
		return fmt.Errorf("%s sweeps embedder: --embedder %s cannot replace it", c.File, embedder)
	}
	c.Scalar["embedder"] = wire.Value{Text: embedder}
	return nil
}

// session is one call of run.
type session struct {
	lab      *wire.Lab
	journal  *experiment.Journal // nil: the lab's
	flags    runFlags
	program  string
	profile  *experiment.Profile
	progress func(experiment.Progress)
	prices   llm.Prices
	out      io.Writer
	new      int
}

// all runs what is not stored yet and returns all Experiments, in order.
func (s *session) all(ctx context.Context, groups []*wire.Group) ([]*store.Experiment, error) {
	var all []*store.Experiment
	for _, g := range groups {
		done, err := s.group(ctx, g)
		if err != nil {
			return all, err
		}
		all = append(all, done...)
	}
	return all, nil
}

// group runs what is not stored yet and returns all Experiments of g in order.
func (s *session) group(ctx context.Context, g *wire.Group) ([]*store.Experiment, error) {
	done := make([]*store.Experiment, len(g.Specs))
	if !s.flags.force {
		stored, bad := store.List(s.flags.results)
		for _, err := range bad {
			fmt.Fprintln(s.out, "warning:", err)
		}
		for i := range g.Specs {
			if j := slices.IndexFunc(stored, func(x *store.Experiment) bool { return s.same(x, g, i) && s.intact(x) }); j >= 0 {
				done[i] = stored[j]
			}
		}
	}
	var todo []int
	var settings []experiment.Setting
	for i, x := range done {
		if x == nil {
			todo, settings = append(todo, i), append(settings, g.Settings[i])
		}
	}
	w := store.NewWriter(s.flags.results)
	start := time.Now()
	n := 0
	opt := experiment.Options{Workers: s.flags.workers, Journal: cmp.Or(s.journal, s.lab.Journal()), Progress: s.progress, Profile: s.profile}
	for r, err := range experiment.Run(ctx, g.Setup, settings, opt) {
		if err != nil {
			return nil, err
		}
		i := todo[n]
		n++
		s.complete(&r.Record, g, i, start)
		stop := s.profile.Track("store")
		id, err := w.Write(r)
		stop()
		if err != nil {
			return nil, err
		}
		if done[i], err = store.Open(s.flags.results, id); err != nil {
			return nil, err
		}
		s.new++
	}
	return done, nil
}

// intact reports whether the tables of x are as they were written; if not, x is
// run again.
func (s *session) intact(x *store.Experiment) bool {
	err := x.Verify()
	if err != nil {
		fmt.Fprintln(s.out, "warning:", err)
	}
	return err == nil
}

// same reports whether x is Experiment i of g, run by this program without failures.
func (s *session) same(x *store.Experiment, g *wire.Group, i int) bool {
	r := x.Record
	return r.Fingerprint == g.Fingerprint(i) && r.Spec.Name == g.Specs[i].Name && r.Provenance.Program == s.program && r.Counts.Failed == r.Counts.NoVector && r.Counts.AnswersFailed == 0
}

// complete fills what the runner does not know.
func (s *session) complete(rec *experiment.Record, g *wire.Group, i int, start time.Time) {
	rec.Spec, rec.Fingerprint, rec.Components = g.Specs[i], g.Fingerprint(i), g.Components
	p := &rec.Provenance
	p.Started = start.UTC().Format(time.RFC3339)
	p.Seconds = time.Since(start).Seconds()
	p.Usage = s.lab.TakeUsage(s.prices)
	p.Program, p.Version, p.Go = s.program, version(), runtime.Version()
	if p.Workers = s.flags.workers; p.Workers <= 0 {
		p.Workers = runtime.GOMAXPROCS(0)
	}
}

// verdict is an error if queries failed or nothing was found at all. A query of
// which the embedder knows no word counts 0 and is shown, but is no fault of the run.
func verdict(all []*store.Experiment) error {
	failed, units, answered, unanswered := 0, 0, 0, 0
	for _, x := range all {
		c := x.Record.Counts
		failed += c.Failed - c.NoVector
		units += c.Units
		answered += c.Units - c.Failed - c.NoResults
		unanswered += c.AnswersFailed
	}
	switch {
	case units == 0:
		return errors.New("no rows: no query was run")
	case failed > 0:
		return fmt.Errorf("%d of %d units failed and count 0; the warnings of evalkit show say why", failed, units)
	case unanswered > 0:
		return fmt.Errorf("%d of %d answers failed and count 0; the warnings of evalkit show say why", unanswered, units)
	case answered == 0:
		return fmt.Errorf("none of %d units found anything", units)
	}
	for _, x := range all {
		if x.Record.Counts.NoGold+x.Record.Counts.Unanswerable >= x.Record.Counts.Units {
			return errors.New("no query has gold: nothing could be scored")
		}
	}
	return nil
}

// programDigest identifies the running program, so that results of another
// build are not taken for its own.
func programDigest() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func printProfile(w io.Writer, p *experiment.Profile, wall time.Duration) {
	stages := p.Seconds()
	fmt.Fprintf(w, "\nwall time %.2f s", wall.Seconds())
	if peak, ok := peakMemory(); ok {
		fmt.Fprintf(w, ", peak memory %.0f MiB", float64(peak)/(1<<20))
	}
	fmt.Fprintln(w)
	for _, stage := range []string{"load", "chunk", "index", "retrieve", "score", "store"} {
		if s, ok := stages[stage]; ok {
			fmt.Fprintf(w, "  %-9s %8.2f s  %5.1f %%\n", stage, s, 100*s/wall.Seconds())
		}
	}
}

// peakMemory returns the largest resident size of the process in bytes, where
// the system tells it.
func peakMemory() (int64, bool) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
			return kb << 10, true
		}
	}
	return 0, false
}
