package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// shardFile is the manifest of a shard's folder, written when it is finished.
const shardFile = "shard.json"

// manifest says what a shard holds.
type manifest struct {
	experiment.Shard
	Program     string   `json:"program"`     // digest; parts of another build are refused
	Experiments []string `json:"experiments"` // fingerprints, in the order of the sweep
	Searched    int      `json:"searched"`    // units whose hits are kept
	Failed      int      `json:"failed"`      // units that are left to the merge
}

// parseShard reads "2/8".
func parseShard(s string) (experiment.Shard, error) {
	i, n, ok := strings.Cut(s, "/")
	x, ierr := strconv.Atoi(i)
	y, nerr := strconv.Atoi(n)
	if !ok || ierr != nil || nerr != nil || y < 1 || x < 1 || x > y {
		return experiment.Shard{}, fmt.Errorf("--shard %q: want i/n with i from 1 to n, such as 2/8", s)
	}
	return experiment.Shard{I: x, N: y}, nil
}

// runShard searches one part of a configuration and keeps its hits in a folder.
func runShard(cmd *cobra.Command, path string, f runFlags) (err error) {
	shard, err := parseShard(f.shard)
	if err != nil {
		return usage(err)
	}
	lab, err := f.cache.lab()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	groups, err := groupsOf(lab, path, f)
	if err != nil {
		return usage(err)
	}
	m := manifest{Shard: shard}
	if m.Program, err = programDigest(); err != nil {
		return err
	}
	dir := filepath.Join(f.shards, fmt.Sprintf("%d-of-%d", shard.I, shard.N))
	p := newProgress(cmd.ErrOrStderr(), f.quiet)
	defer p.end()
	o := experiment.Options{Workers: f.workers, Journal: experiment.NewJournal(filepath.Join(dir, "hits")), Progress: p.report}
	faults := 0
	for _, g := range groups {
		n, err := experiment.Search(cmd.Context(), g.Setup, g.Settings, o, shard)
		if err != nil {
			return err
		}
		m.Searched, m.Failed = m.Searched+n.Units-n.Failed, m.Failed+n.Failed
		faults += n.Failed - n.NoVector
		for i := range g.Specs {
			m.Experiments = append(m.Experiments, g.Fingerprint(i))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := replaceFile(filepath.Join(dir, shardFile), func(w io.Writer) error { return printJSON(w, m) }); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d units searched, %d failed\n", dir, m.Searched, m.Failed)
	if faults > 0 {
		return fmt.Errorf("%d units failed and are not kept; start the part again, or the merge tries them", faults)
	}
	return nil
}

func groupsOf(lab *wire.Lab, path string, f runFlags) ([]*wire.Group, error) {
	config, err := wire.ReadConfig(path)
	if err != nil {
		return nil, err
	}
	if err := replaceEmbedder(config, f.embedder); err != nil {
		return nil, err
	}
	return lab.Groups(config)
}

func mergeCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "merge FILE",
		Short: "Join the parts that run --shard made into Experiments",
		Long: `Join the parts of FILE into its Experiments, row for row as one process would have
written them. Any scheduler can have started the parts:

  evalkit run FILE --shard 1/8 --shards DIR     … 8/8, on any machines
  evalkit merge FILE --shards DIR

Each part cuts and embeds all documents and searches its share of the questions
for every strategy. What failed in a part is tried again here, as one process would
have; scores and answers are made here. A part that is missing is named; parts of
another configuration, data set or program are refused.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return merge(cmd, args[0], f) },
	}
	resultsFlag(c, &f.results)
	shardsFlag(c, &f.shards)
	c.Flags().StringVar(&f.embedder, "embedder", "", "embedder in place of the file's")
	c.Flags().IntVar(&f.workers, "workers", 0, "goroutines (default: one per core)")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "no progress")
	f.cache.add(c)
	return c
}

func merge(cmd *cobra.Command, path string, f runFlags) (err error) {
	lab, err := f.cache.lab()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	groups, err := groupsOf(lab, path, f)
	if err != nil {
		return usage(err)
	}
	program, err := programDigest()
	if err != nil {
		return err
	}
	var wanted []string
	for _, g := range groups {
		for i := range g.Specs {
			wanted = append(wanted, g.Fingerprint(i))
		}
	}
	parts, left, err := readShards(f.shards, program, wanted)
	if err != nil {
		return usage(err)
	}
	tmp, err := os.MkdirTemp("", "evalkit-merge-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := joinJournals(tmp, parts); err != nil {
		return err
	}
	p := newProgress(cmd.ErrOrStderr(), f.quiet)
	defer p.end()
	s := &session{lab: lab, journal: experiment.NewJournal(tmp), flags: f, program: program, profile: &experiment.Profile{}, progress: p.report, out: cmd.ErrOrStderr()}
	known, total := left, 0
	for _, g := range groups {
		k, n, err := experiment.Known(cmd.Context(), g.Setup, g.Settings, experiment.Options{Journal: s.journal})
		if err != nil {
			return err
		}
		known, total = known+k, total+n
	}
	if known < total {
		return fmt.Errorf("%d of %d units are in none of the parts below %s, where they were searched: files are missing or damaged; start the parts again", total-known, total, f.shards)
	}
	all, err := s.all(cmd.Context(), groups)
	if err != nil {
		return err
	}
	if err := printTable(cmd.OutOrStdout(), all); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\n%d Experiments in %s: %d new, %d stored before\n", len(all), f.results, s.new, len(all)-s.new)
	return verdict(all)
}

// readShards returns the folders of all parts and the number of units that they
// left, or says which part is missing or belongs to something else.
func readShards(root, program string, wanted []string) (dirs []string, left int, err error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, 0, fmt.Errorf("merge: %w", err)
	}
	found, of := map[int]string{}, 0
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		b, err := os.ReadFile(filepath.Join(dir, shardFile))
		if errors.Is(err, os.ErrNotExist) {
			continue // not finished, or not a part
		}
		if err != nil {
			return nil, 0, err
		}
		var m manifest
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil {
			return nil, 0, fmt.Errorf("%s: %w; start this part again", filepath.Join(dir, shardFile), err)
		}
		switch {
		case !slices.Equal(m.Experiments, wanted):
			return nil, 0, fmt.Errorf("%s is of another configuration or data set", dir)
		case m.Program != program:
			return nil, 0, fmt.Errorf("%s was made by another build of evalkit (%.12s, this is %.12s)", dir, m.Program, program)
		case of != 0 && m.N != of:
			return nil, 0, fmt.Errorf("%s is one of %d parts, another is one of %d", dir, m.N, of)
		}
		of = m.N
		found[m.I] = dir
		left += m.Failed
	}
	if of == 0 {
		return nil, 0, fmt.Errorf("%s holds no finished part; make them with evalkit run FILE --shard i/n --shards %s", root, root)
	}
	var missing []string
	for i := 1; i <= of; i++ {
		if dir, ok := found[i]; ok {
			dirs = append(dirs, dir)
		} else {
			missing = append(missing, fmt.Sprintf("%d/%d", i, of))
		}
	}
	if len(missing) > 0 {
		return nil, 0, fmt.Errorf("parts are missing or not finished: %s; start each with evalkit run FILE --shard", strings.Join(missing, ", "))
	}
	return dirs, left, nil
}

// joinJournals makes one journal of those of the parts. A journal is lines with
// checksums, so files of one name are joined by appending.
func joinJournals(dst string, parts []string) error {
	for _, dir := range parts {
		files, err := filepath.Glob(filepath.Join(dir, "hits", "*"))
		if err != nil {
			return err
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(filepath.Join(dst, filepath.Base(name)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			_, err = f.Write(b)
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

func shardsFlag(c *cobra.Command, v *string) {
	c.Flags().StringVar(v, "shards", "shards", "folder of the parts")
}
