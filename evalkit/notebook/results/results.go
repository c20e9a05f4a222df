// Package results keeps Experiments of a notebook on disk and brings them back. It
// stands apart from package notebook because a cell that imports it links Arrow,
// which takes seconds; it computes and draws nothing.
//
// The folder is results beside the notebook's folder, where the command keeps
// them too, or what the variable EVALKIT_RESULTS names. An error ends the cell.
package results

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/notebook"
	"github.com/chunkeval/chunkeval/evalkit/store"
)

// Dir returns the results folder.
func Dir() string { return cmp.Or(os.Getenv("EVALKIT_RESULTS"), filepath.Join("..", "results")) }

// Save stores an Experiment and returns its id. One that is stored already, with
// the same setting, data and numbers, keeps its id.
func Save(r *experiment.Result) string { return notebook.Must(save(Dir(), r)) }

// Open returns a stored Experiment, by its id or the beginning of it.
func Open(id string) *store.Experiment { return notebook.Must(store.Open(Dir(), id)) }

// Report shows the managerial and the technical report over stored Experiments of
// one data set; the first is the baseline.
func Report(ids ...string) {
	var all []any
	for _, id := range ids {
		all = append(all, Open(id))
	}
	notebook.Report(all...)
}

func save(root string, r *experiment.Result) (string, error) {
	stored, _ := store.List(root) // what cannot be read is not equal
	for _, x := range stored {
		if x.Record.Fingerprint != r.Record.Fingerprint || x.Record.Spec.Name != r.Record.Spec.Name {
			continue
		}
		old, err := x.Overview()
		if err == nil && sameNumbers(old, r) {
			return x.Record.ID, nil
		}
	}
	id, err := store.NewWriter(root).Write(r)
	if err != nil {
		return "", fmt.Errorf("save %q: %w", r.Record.Spec.Name, err)
	}
	return id, nil
}

func sameNumbers(a, b *experiment.Result) bool {
	if len(a.Strategies) != len(b.Strategies) {
		return false
	}
	for i := range a.Strategies {
		if !reflect.DeepEqual(a.Strategies[i].Summary, b.Strategies[i].Summary) {
			return false
		}
	}
	return true
}
