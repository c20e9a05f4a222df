// Command evalkit measures how to cut documents into chunks and how to
// retrieve them for question answering.
//
//	evalkit run FILE            run an Experiment or a sweep, store it, print the table
//	evalkit merge FILE          join the parts that run --shard made
//	evalkit query QUESTION      retrieve for one question and draw the expansion tree
//	evalkit list                the stored Experiments
//	evalkit show ID             one Experiment, or with --query one of its questions
//	evalkit compare ID ID…      differences, paired by question
//	evalkit gate                pass, fail or inconclusive against a baseline
//	evalkit reproduce FILE…     hold numbers to what is expected
//	evalkit trend OUT           one metric over the last runs
//	evalkit baseline …          save, show and update baselines
//	evalkit report ID…          the managerial and the technical report
//	evalkit site OUT            the dashboard as files
//	evalkit serve               the dashboard and the query API over HTTP
//	evalkit export ID --trec    run and qrels files for trec_eval
//	evalkit dataset …           check, import and generate data sets
//	evalkit model pull NAME     get an embedding model that runs on this machine
//	evalkit version             what this program is
//
// Exit status: 0 done; 1 failed (some queries failed, nothing was found, or
// an error of the run); 2 usage or bad input; 3 inconclusive; 130 interrupted.
// A closed pipe ends the program with SIGPIPE.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// The exit statuses.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitInconclusive = 3
	exitInterrupted  = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "evalkit:", err)
	}
	os.Exit(status(err))
}

// run is the whole command: it reads and writes nothing but its arguments and files.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root := &cobra.Command{
		Use:           "evalkit",
		Short:         "Decide, with evidence, how to cut documents and how to retrieve them",
		SilenceErrors: true,
		SilenceUsage:  true,
		Long: `Decide, with evidence, how to cut documents into chunks and how to retrieve them.

Exit status:
  0    done
  1    failed: queries failed, nothing was found, or the run had an error
  2    usage or bad input
  3    inconclusive
  130  interrupted; what is finished is kept, run again to go on`,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
	})
	root.AddCommand(runCommand(), mergeCommand(), reproduceCommand(), trendCommand(), queryCommand(), listCommand(), showCommand(), compareCommand(), gateCommand(), baselineCommand(), reportCommand(), siteCommand(), serveCommand(), exportCommand(), vectorsCommand(), datasetCommand(), modelCommand(), versionCommand())
	for _, c := range root.Commands() {
		usageArgs(c)
	}
	err := root.ExecuteContext(ctx)
	if err != nil && isUnknownCommand(root, args) {
		return usage(err)
	}
	return err
}

// usageArgs makes a wrong number of arguments an error of usage.
func usageArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usage(fmt.Errorf("%s: %w; usage: %s", cmd.CommandPath(), err, cmd.UseLine()))
			}
			return nil
		}
	}
}

func isUnknownCommand(root *cobra.Command, args []string) bool {
	_, _, err := root.Find(args)
	return err != nil
}

// statusError carries an exit status.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// usage marks err as bad input.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{exitUsage, err}
}

// status returns the exit status for err.
func status(err error) int {
	var s *statusError
	var stopped *experiment.InterruptedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &stopped), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &s):
		return s.status
	}
	return exitFailed
}
