package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

func ExampleLoad() {
	ds, err := dataset.Load("testdata/small")
	if err != nil {
		fmt.Println(err)
		return
	}
	text := ds.DocMap()
	for _, q := range ds.Queries {
		fmt.Println(q.ID, q.Text)
		for _, r := range q.Qrels {
			fmt.Printf("  %s %v %q\n", r.Doc, r.Span, text[r.Doc].Text[r.Span.Start:r.Span.End])
		}
	}
	// Output:
	// q1 How hot may the kiln get?
	//   manual/kiln.md [8:37) "The kiln may reach 1,280 °C."
	// q2 Who paid for the roof?
}

func ExampleLoad_errors() {
	_, err := dataset.Load("testdata/broken")
	fmt.Println(err)
	// Output:
	// load "testdata/broken": dataset.yaml:2: unknown key "lang": known are name, language, licence, analyzer, description, offsets
	// dataset.yaml: language: missing or empty; give a BCP 47 tag such as "en", or "und" if it is not known
	// queries.jsonl:1: gold 1: span [90:80): end before start (document "a.md")
	// queries.jsonl:3: gold 1: document "b.md": not in the data set
}

func ExampleCheck() {
	ds, err := dataset.Load("testdata/small")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range dataset.Check(context.Background(), ds) {
		fmt.Println(w)
	}
	// Output:
	// 1 questions with gold are few: to find a difference of 0.05 with a power of 80 % takes 283 (paired, level 0.05, standard deviation of the differences 0.3)
}

func ExampleGenerate() {
	ds, err := dataset.Generate(dataset.GenerateOptions{Seed: 1, Documents: 2, Questions: 10, Bytes: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	q := ds.Queries[0]
	r := q.Qrels[0]
	fmt.Println(q.Text)
	fmt.Println(ds.DocMap()[r.Doc].Text[r.Span.Start:r.Span.End])
	// Output:
	// What is the greatest load of the Pellworth crane CR-00001?
	// The greatest load of the Pellworth crane CR-00001 is 635 kg.
}

func ExampleWrite() {
	ds, err := dataset.Generate(dataset.GenerateOptions{Seed: 1, Documents: 2, Questions: 10, Bytes: 10_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	parent, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "made-up")
	fmt.Println(dataset.Write(dir, ds))
	back, err := dataset.Load(dir)
	fmt.Println(back.Fingerprint == ds.Fingerprint, err)
	// Output:
	// <nil>
	// true <nil>
}
