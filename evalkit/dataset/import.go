package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// ImportOptions are what a foreign format does not say. The zero value takes
// the format's defaults.
type ImportOptions struct {
	Name     string // empty: the name in the source, else that of its file or folder
	Language string // BCP 47; empty: "en" for chroma, else "und" (not known), with a warning
	Licence  string // empty: that in the source, "MIT" for chroma, else none, with a warning
	Split    string // beir: the file qrels/Split.tsv alone; empty: all of qrels/*.tsv
}

// Formats returns the names that Import knows, in alphabetical order.
func Formats() []string { return []string{"beir", "chroma", "spans-json", "squad"} }

// Import reads a data set in a foreign format from src, verifies it, and
// writes it to the new folder dst (see Write); an empty dst writes nothing.
// Keys that the format does not need are ignored. The formats:
//
//	chroma      folder with corpora/<id>.md and questions_df.csv, as published with
//	            chunking_evaluation; document id <id>, query ids q001, q002, … in row order
//	squad       a file in SQuAD form, v1.1 or v2.0. A document is a whole article, its paragraphs
//	            joined by an empty line, so that chunking matters. Gold is the first answer's span;
//	            is_impossible becomes unanswerable
//	beir        folder with corpus.jsonl, queries.jsonl and qrels/*.tsv. Gold is the whole document,
//	            its title, an empty line and its text, graded by its score. Queries without a
//	            judgment are left out
//	spans-json  a file {"name","offsets","docs":[{"id","text"}],"questions":[{"id","question",
//	            "spans":[{"doc","start","end"}]}]}; offsets names bytes or code points (default)
//
// Offsets in code points count a leading byte-order mark where the source has
// one; they are converted once. Errors are FileErrors, joined.
func Import(format, src, dst string, opt ImportOptions) (*evalkit.Dataset, error) {
	ds, err := read(format, src, opt)
	if err != nil {
		return nil, fmt.Errorf("import %s from %q: %w", format, src, err)
	}
	if dst != "" {
		if err := Write(dst, ds); err != nil {
			return nil, fmt.Errorf("import %s from %q: %w", format, src, err)
		}
	}
	return ds, nil
}

func read(format, src string, opt ImportOptions) (*evalkit.Dataset, error) {
	if err := refuseArchive(src); err != nil {
		return nil, err
	}
	name := filepath.Base(filepath.Clean(src))
	im := importer{builder: newBuilder(unitRune), opt: opt, src: src, base: name}
	im.countsBOM = true
	im.meta = meta{name: strings.TrimSuffix(name, filepath.Ext(name)), language: "und"}
	var err error
	switch format {
	case "chroma":
		err = im.chroma()
	case "squad":
		err = im.squad()
	case "beir":
		err = im.beir()
	case "spans-json":
		err = im.spansJSON()
	default:
		return nil, fmt.Errorf("unknown format: known are %s", strings.Join(Formats(), ", "))
	}
	if err != nil {
		im.probs.add(place{file: im.base}, bare(err))
	}
	return im.finish()
}

// An importer is a builder that reads a foreign format.
type importer struct {
	*builder
	opt  ImportOptions
	src  string
	base string // base name of src
	meta meta   // the format's defaults
}

func (im *importer) finish() (*evalkit.Dataset, error) {
	m := im.meta
	m.name = cmp.Or(im.opt.Name, m.name)
	m.language = cmp.Or(im.opt.Language, m.language)
	m.licence = cmp.Or(im.opt.Licence, m.licence)
	if !languageTag(m.language) {
		im.probs.addf(place{file: im.base}, "language: %q is not a BCP 47 tag", m.language)
	}
	if m.language == "und" {
		im.notes = append(im.notes, &Warning{Text: "the language is not known: name it, the lexical analyzer depends on it"})
	}
	return im.builder.finish(m)
}

// decode reads the JSON file src into v.
func (im *importer) decode(v any) error {
	data, err := os.ReadFile(im.src)
	if err != nil {
		return err
	}
	data = []byte(strings.TrimPrefix(string(data), bom))
	if err := checkUnicode(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		var se *json.SyntaxError
		if errors.As(err, &se) {
			return fmt.Errorf("byte %d: %w", se.Offset, err)
		}
		return err
	}
	return nil
}

func (im *importer) at(format string, args ...any) place {
	return place{file: im.base, item: fmt.Sprintf(format, args...)}
}
