package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/server"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	results  string
	addr     string
	config   string
	datasets []string
	hosts    []string
	cache    cacheFlags
}

func serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the dashboard and the query API",
		Long: `Serve the pages of "evalkit site" live, and an API: POST /api/query,
POST /api/experiments, GET /api/experiments; /openapi.json describes it.

It listens on the loopback interface unless --addr says otherwise; then name the
hosts that it is reached by with --host. Anyone who reaches it can start runs.
Only data sets given by --dataset, or by the configuration, are served. What a
request leaves out is taken from --config: its first strategy, retriever,
embedder, top_k, neighbor_prev and neighbor_next.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, f) },
	}
	resultsFlag(c, &f.results)
	c.Flags().StringVar(&f.addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 takes any")
	c.Flags().StringVar(&f.config, "config", "", "configuration file for what a request leaves out")
	c.Flags().StringArrayVar(&f.datasets, "dataset", nil, "folder of a data set to serve; repeatable")
	c.Flags().StringArrayVar(&f.hosts, "host", nil, "host name that requests may be addressed to; repeatable")
	f.cache.add(c)
	return c
}

func serve(cmd *cobra.Command, f serveFlags) (err error) {
	lab, err := f.cache.lab()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	o, err := f.options(lab)
	if err != nil {
		return usage(err)
	}
	if o.Run, err = f.runner(lab); err != nil {
		return err
	}
	o.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	var lc net.ListenConfig
	listener, err := lc.Listen(cmd.Context(), "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("serve: %w; choose another with --addr", err)
	}
	s := server.New(o)
	defer s.Close()
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	fmt.Fprintf(cmd.OutOrStdout(), "http://%s/\n", listener.Addr())
	done := make(chan error, 1)
	go func() { done <- h.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-cmd.Context().Done():
	}
	s.Close() // ends the event streams
	stop, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), 5*time.Second)
	defer cancel()
	if err := h.Shutdown(stop); err != nil {
		return errors.Join(err, h.Close())
	}
	return nil
}

// options gathers what is served.
func (f *serveFlags) options(lab *wire.Lab) (server.Options, error) {
	o := server.Options{
		Lab: lab, Datasets: map[string]string{}, Hosts: f.hosts,
		Defaults: server.Defaults{Strategy: "fixed_size(size=200)", Retriever: wire.DefaultRetriever, TopK: wire.DefaultTopK},
		Sources:  func() ([]compare.Input, []string) { return sources(f.results, false) },
	}
	folders := f.datasets
	if f.config != "" {
		c, err := wire.ReadConfig(f.config)
		if err != nil {
			return o, err
		}
		if _, err := lab.Groups(c); err != nil { // everything in it is valid, or nothing is served
			return o, err
		}
		folders = append([]string{c.Dataset.Text}, folders...)
		take(&o.Defaults, c)
		o.Config = c
		if e := c.Scalar["embedder"].Text; e != "" {
			o.Embedders = append(o.Embedders, e)
		}
	}
	for _, dir := range folders {
		ds, err := lab.Dataset(dir)
		if err != nil {
			return o, err
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return o, err
		}
		if other, ok := o.Datasets[ds.Name]; ok && other != abs {
			return o, fmt.Errorf("data set %q: both %s and %s have this name", ds.Name, other, abs)
		}
		o.Datasets[ds.Name] = abs
		if o.Defaults.Dataset == "" {
			o.Defaults.Dataset = ds.Name
		}
	}
	return o, nil
}

// take sets the defaults that c names.
func take(d *server.Defaults, c *wire.Config) {
	d.Strategy = c.Strategies[0].Text
	for key, v := range map[string]*string{"retriever": &d.Retriever, "embedder": &d.Embedder} {
		if text := c.Scalar[key].Text; text != "" {
			*v = text
		}
	}
	for key, v := range map[string]*int{"top_k": &d.TopK, "neighbor_prev": &d.NeighborPrev, "neighbor_next": &d.NeighborNext} {
		if n, err := strconv.Atoi(c.Scalar[key].Text); err == nil { // checked by Groups
			*v = n
		}
	}
}

// runner returns what runs and stores a configuration.
func (f *serveFlags) runner(lab *wire.Lab) (func(context.Context, *wire.Config, func(experiment.Progress)) ([]string, error), error) {
	program, err := programDigest()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, c *wire.Config, progress func(experiment.Progress)) ([]string, error) {
		groups, err := lab.Groups(c)
		if err != nil {
			return nil, err
		}
		s := &session{lab: lab, flags: runFlags{results: f.results}, program: program, profile: &experiment.Profile{}, progress: progress, out: io.Discard}
		all, err := s.all(ctx, groups)
		ids := []string{}
		for _, x := range all {
			ids = append(ids, x.Record.ID)
		}
		if err != nil {
			return ids, err
		}
		return ids, verdict(all)
	}, nil
}
