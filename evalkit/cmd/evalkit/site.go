package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/report"
	"github.com/chunkeval/chunkeval/evalkit/store"
)

func siteCommand() *cobra.Command {
	var results string
	var limit int
	c := &cobra.Command{
		Use:   "site OUT",
		Short: "Write the dashboard as files that open without a server",
		Long: `Write the dashboard into the folder OUT: the Experiments list, each Experiment
with its questions and expansion trees, Compare of any selection, and both
reports. Open OUT/index.html in a browser; no server and no network is needed.

Pages that are there already are replaced; other files in OUT are left alone.
In a large result set the texts of chunks are cut, and the pages say where and
by how much; --chunk-text sets the limit.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			site, err := openSite(results)
			if err != nil {
				return err
			}
			if site.Limit = limit; limit < 0 {
				site.Limit = site.FittingLimit()
			}
			n, bytes, err := writeSite(site, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d files, %.1f MB\n", filepath.Join(args[0], "index.html"), n, float64(bytes)/1e6)
			if site.Limit > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "texts of chunks are cut after %d characters; --chunk-text 0 writes them whole\n", site.Limit)
			}
			return nil
		},
	}
	resultsFlag(c, &results)
	c.Flags().IntVar(&limit, "chunk-text", -1, "characters of a chunk's text in question details; 0: all, -1: all that fits into 1 GB before compression")
	return c
}

// openSite opens the Experiments below results.
func openSite(results string) (*report.Site, error) {
	return report.NewSite(sources(results, true))
}

// sources returns the Experiments below results, and what to say of those that
// cannot be read in full.
// With verify, tables that were damaged later are among them.
func sources(results string, verify bool) (in []compare.Input, notes []string) {
	all, bad := store.List(results)
	for _, x := range all {
		if verify {
			if err := x.Verify(); err != nil {
				bad = append(bad, err)
				continue
			}
		}
		in = append(in, compare.Input{ID: x.Record.ID, Source: x})
	}
	for _, err := range bad {
		notes = append(notes, err.Error())
	}
	for _, x := range all {
		for _, n := range x.Notices {
			notes = append(notes, n.Error())
		}
	}
	return in, notes
}

func writeSite(site *report.Site, out string) (files int, bytes int64, err error) {
	names := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for name := range names {
				mu.Lock()
				stop := err != nil // the first error is enough
				mu.Unlock()
				if stop {
					continue
				}
				n, werr := writePage(site, out, name)
				mu.Lock()
				if files, bytes = files+1, bytes+n; err == nil {
					err = werr
				}
				mu.Unlock()
			}
		})
	}
	for _, name := range site.Files() {
		names <- name
	}
	close(names)
	wg.Wait()
	return files, bytes, err
}

func writePage(site *report.Site, out, name string) (int64, error) {
	path := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, err
	}
	return replaceFile(path, func(w io.Writer) error { return site.Write(w, name) })
}

// replaceFile writes path anew; if that fails, the old file stays. A link keeps
// pointing where it does, and what is no file, such as a pipe, is written to.
func replaceFile(path string, write func(io.Writer) error) (n int64, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInto(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".writing-")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	b := bufio.NewWriter(f)
	err = errors.Join(write(b), b.Flush(), f.Chmod(0o644))
	if info, serr := f.Stat(); serr == nil {
		n = info.Size()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return n, os.Rename(f.Name(), path)
}

func writeInto(path string, write func(io.Writer) error) (n int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	b := bufio.NewWriter(f)
	return 0, errors.Join(write(b), b.Flush(), f.Close())
}
