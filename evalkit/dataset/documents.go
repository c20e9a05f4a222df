package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Documents reads the documents in the folder dir, sorted by id, by the rules of
// Load, and returns what is doubtful as warnings. dir is a data set, whose
// questions are not read, or any folder with .md and .txt files at any depth,
// whose ids are their slash paths below it.
func Documents(dir string) (docs []evalkit.Document, warnings []error, err error) {
	docs, warnings, err = documents(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("documents %q: %w", dir, err)
	}
	return docs, warnings, nil
}

func documents(dir string) ([]evalkit.Document, []error, error) {
	if err := refuseArchive(dir); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, bare(err)
	}
	defer root.Close() // only read from
	f := &folder{root: root, builder: newBuilder(unitByte)}
	_, dirErr := root.Lstat(docsDir)
	_, fileErr := root.Lstat(docsFile)
	if errors.Is(dirErr, fs.ErrNotExist) && errors.Is(fileErr, fs.ErrNotExist) {
		f.base = "."
		f.walk()
	} else {
		f.documents()
	}
	if err := f.probs.err(); err != nil {
		return nil, nil, err
	}
	var docs []evalkit.Document
	blank := &Warning{Text: "documents are blank"}
	for _, id := range slices.Sorted(maps.Keys(f.docs)) {
		docs = append(docs, evalkit.Document{ID: evalkit.DocID(id), Text: f.docs[id].text})
		if evalkit.Blank(f.docs[id].text) {
			blank.note("%q", id)
		}
	}
	if len(docs) == 0 {
		return nil, nil, errors.New("no documents")
	}
	return docs, append(found(f.repeatedDocs, blank), f.notes...), nil
}
