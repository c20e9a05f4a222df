package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
	"github.com/chunkeval/chunkeval/evalkit/dataset/synth"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/token"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// The files of a folder in which questions are written.
const (
	synthDocuments  = "documents.jsonl"
	synthReview     = "review.jsonl"
	synthRecord     = "synthesis.json"
	synthCache      = "cache"
	synthProvenance = "provenance.jsonl" // in the data set
)

// synthesis is what synthesize was asked to do and what became of it.
type synthesis struct {
	Name       string        `json:"name"`
	Language   string        `json:"language"`
	Licence    string        `json:"licence"`
	Model      string        `json:"model"`
	Embedder   string        `json:"embedder"`
	Prompt     string        `json:"prompt_version"`
	Options    synth.Options `json:"options"`
	Accepted   int           `json:"accepted"` // by the filters, before a person looked
	Rejected   int           `json:"rejected"`
	Calls      int           `json:"calls"`
	Unreadable int           `json:"unreadable"` // of calls: no list of questions
	Exhausted  bool          `json:"exhausted"`  // all of the documents were asked about, and there were not enough
}

type synthFlags struct {
	model, embedder, prices string
	about                   synthesis
	dryRun                  bool
}

func synthesizeCommand() *cobra.Command {
	f := synthFlags{}
	opt := synth.DefaultOptions()
	c := &cobra.Command{
		Use:   "synthesize DOCUMENTS WORK",
		Short: "Have a model write questions with quoted evidence, for a person to review",
		Long: `Have a model write questions with quoted evidence over DOCUMENTS, a folder with
.md and .txt files or a data set. The folder WORK gets review.jsonl, a question
a line: read it, change "accept" to "reject" or the other way, mend questions
and answers; then make a data set of it with "evalkit dataset review". Answers
of the model are kept in WORK: a run that was stopped goes on where it was, and
one that asks for more questions keeps those that it has, with your changes.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.about.Options = opt
			return synthesize(cmd, args[0], args[1], f)
		},
	}
	c.Flags().StringVar(&f.model, "llm", "", `model, such as 'openai(base_url="http://localhost:11434/v1",model=NAME)' (needed); the key comes from the environment`)
	c.Flags().StringVar(&f.embedder, "embedder", "", "embedder that finds near duplicates (default lsa)")
	c.Flags().IntVar(&opt.Questions, "questions", opt.Questions, "questions wanted")
	c.Flags().Uint64Var(&opt.Seed, "seed", opt.Seed, "seed of the order in which the documents are asked about")
	c.Flags().IntVar(&opt.PerCall, "per-call", opt.PerCall, "questions asked for in one call")
	c.Flags().IntVar(&opt.Window, "window", opt.Window, "most bytes of a document shown in one call")
	c.Flags().IntVar(&opt.Rounds, "rounds", opt.Rounds, "times that each part is shown at most")
	c.Flags().Float64Var(&opt.Duplicate, "duplicate", opt.Duplicate, "cosine of two questions from which the later one is rejected")
	c.Flags().Float64Var(&opt.Relevance, "relevance", opt.Relevance, "cosine of a question and its quotes below which it is rejected")
	c.Flags().StringVar(&f.about.Name, "name", "", "name of the data set (default: that of the folder DOCUMENTS)")
	c.Flags().StringVar(&f.about.Language, "language", "und", "BCP 47 code, such as de")
	c.Flags().StringVar(&f.about.Licence, "licence", "", "licence of the texts")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be sent, at most; send and write nothing")
	c.Flags().StringVar(&f.prices, "prices", "", "YAML file with prices by model, for --dry-run")
	return c
}

func synthesize(cmd *cobra.Command, source, work string, f synthFlags) (err error) {
	docs, warnings, err := dataset.Documents(source)
	if err != nil {
		return usage(err)
	}
	for _, w := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", w)
	}
	lab := &wire.Lab{Embedders: embedders(), CacheDir: filepath.Join(work, synthCache)}
	if f.dryRun {
		lab.CacheDir = ""
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	model, err := lab.Model("synthesizer", f.model)
	if err != nil {
		return usage(fmt.Errorf("--llm: %w", err))
	}
	if f.dryRun {
		return estimateSynthesis(cmd, docs, model, f)
	}
	reviewed, err := openWork(work, docs)
	if err != nil {
		return usage(err)
	}
	if f.about.Name == "" {
		f.about.Name = folderName(source)
	}
	e, err := lab.Embedder(&evalkit.Dataset{Name: f.about.Name, Language: f.about.Language, Docs: docs}, f.embedder)
	if err != nil {
		return usage(fmt.Errorf("--embedder: %w", err))
	}
	r, err := synth.Run(cmd.Context(), docs, model, e, f.about.Options)
	if err != nil {
		return err
	}
	return finishWork(cmd.OutOrStdout(), work, f.about.of(model, e, r), synth.Merge(r.Candidates, reviewed))
}

func folderName(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "synthesized"
	}
	return filepath.Base(abs)
}

// of returns s with what was made.
func (s synthesis) of(model *llm.Model, e evalkit.Embedder, r *synth.Result) synthesis {
	s.Model, s.Embedder, s.Prompt = model.String(), e.String(), synth.PromptVersion
	s.Accepted, s.Rejected = r.Accepted, len(r.Candidates)-r.Accepted
	s.Calls, s.Unreadable, s.Exhausted = r.Calls, r.Unreadable, r.Exhausted
	return s
}

// estimateSynthesis takes every call of the plan that the wanted questions could
// need, as if each gave one.
func estimateSynthesis(cmd *cobra.Command, docs []evalkit.Document, model *llm.Model, f synthFlags) error {
	prices, err := readPrices(f.prices)
	if err != nil {
		return usage(err)
	}
	tok, err := token.Parse(wire.DefaultTokenizer)
	if err != nil {
		return err
	}
	texts := map[evalkit.DocID]string{}
	for _, d := range docs {
		texts[d.ID] = d.Text
	}
	o := f.about.Options
	plan := synth.Plan(docs, o)
	e := llm.Estimate{What: "synthesizer", Model: model.Model()}
	for _, t := range plan[:min(len(plan), o.Questions)] {
		e = e.Add(llm.Estimate{Calls: 1, Prompt: tok.Count(o.Prompt(texts[t.Doc][t.Span.Start:t.Span.End], nil)) + 16, Completion: o.AnswerTokens()})
	}
	return printEstimates(cmd.OutOrStdout(), []llm.Estimate{e}, nil, prices)
}

// openWork makes the folder work, or checks that it holds the same documents, and
// returns what was reviewed in it.
func openWork(work string, docs []evalkit.Document) ([]synth.Candidate, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(work, synthDocuments)); errors.Is(err, fs.ErrNotExist) {
		return nil, writeLines(filepath.Join(work, synthDocuments), docs)
	}
	before, _, err := dataset.Documents(work)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(before, docs) {
		return nil, fmt.Errorf("%s: holds questions over other documents: name a new folder", work)
	}
	return readReview(work)
}

func readReview(work string) (out []synth.Candidate, err error) {
	name := filepath.Join(work, synthReview)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return synth.ReadReview(name, f)
}

func writeLines(name string, docs []evalkit.Document) error {
	return replace(name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, d := range docs {
			if err := e.Encode(map[string]string{"id": string(d.ID), "text": d.Text}); err != nil {
				return err
			}
		}
		return nil
	})
}

// replace writes a file under a temporary name first: it is old or new, never half.
func replace(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".writing-")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

func finishWork(w io.Writer, work string, s synthesis, all []synth.Candidate) error {
	name := filepath.Join(work, synthReview)
	if err := replace(name, func(w io.Writer) error { return synth.WriteReview(w, all) }); err != nil {
		return err
	}
	record, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	err = replace(filepath.Join(work, synthRecord), func(w io.Writer) error {
		_, err := w.Write(append(record, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d questions accepted, %d rejected; %d answers of the model, %d of them unreadable\n", s.Accepted, s.Rejected, s.Calls, s.Unreadable)
	if s.Exhausted {
		fmt.Fprintf(w, "warning: all of the documents were asked about %d times, and there are not the %d questions wanted\n", s.Options.Rounds, s.Options.Questions)
	}
	fmt.Fprintf(w, "read %s, change accept and reject, then: evalkit dataset review %s NEW\n", name, work)
	if s.Accepted == 0 {
		return errors.New("no question was accepted")
	}
	return nil
}

func reviewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "review WORK DST",
		Short: "Make a data set of the questions that were accepted in WORK/review.jsonl",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ds, accepted, err := readWork(args[0])
			if err != nil {
				return usage(err)
			}
			if err := dataset.Write(args[1], ds); err != nil {
				return err
			}
			name := filepath.Join(args[1], synthProvenance)
			if err := replace(name, func(w io.Writer) error { return synth.WriteReview(w, accepted) }); err != nil {
				return err
			}
			describe(cmd.OutOrStdout(), ds)
			return nil
		},
	}
}

// readWork returns the data set that was accepted, and its candidates.
func readWork(work string) (*evalkit.Dataset, []synth.Candidate, error) {
	var s synthesis
	b, err := os.ReadFile(filepath.Join(work, synthRecord))
	if err != nil {
		return nil, nil, fmt.Errorf("%w; run evalkit dataset synthesize first", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", filepath.Join(work, synthRecord), err)
	}
	docs, _, err := dataset.Documents(work)
	if err != nil {
		return nil, nil, err
	}
	all, err := readReview(work)
	if err != nil {
		return nil, nil, err
	}
	accepted := slices.DeleteFunc(all, func(c synth.Candidate) bool { return c.Status != synth.Accept })
	ds, err := synth.Dataset(docs, accepted)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", filepath.Join(work, synthReview), err)
	}
	ds.Name, ds.Language, ds.Licence = s.Name, s.Language, s.Licence
	ds.Fingerprint = dataset.Fingerprint(ds)
	return ds, accepted, nil
}
