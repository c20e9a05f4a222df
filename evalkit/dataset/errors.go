package dataset

import (
	"errors"
	"fmt"
	"strings"
)

// MaxErrors is how many faults of a data set are reported together; the rest
// is counted.
const MaxErrors = 20

// A FileError is a fault at one place of an input file.
type FileError struct {
	File string // slash path below the folder that is read, or the base name of an imported file
	Line int    // from 1; 0 where the fault concerns the whole file or its format has no lines
	Err  error
}

// Error returns "file:line: cause".
func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// A Warning is a doubt about a data set that does not stop a run.
type Warning struct {
	Text  string   // what was found, in the plural: "queries have no gold"
	Count int      // how often
	Items []string // where, the first few; may be empty
}

// maxItems is how many places a Warning names.
const maxItems = 3

// Error returns "count text: places"; a Count of 0 leaves the number out.
func (w *Warning) Error() string {
	s := w.Text
	if w.Count > 0 {
		s = fmt.Sprintf("%d %s", w.Count, w.Text)
	}
	if len(w.Items) == 0 {
		return s
	}
	s += ": " + strings.Join(w.Items, ", ")
	if rest := w.Count - len(w.Items); rest > 0 {
		s += fmt.Sprintf(" and %d more", rest)
	}
	return s
}

func (w *Warning) note(format string, args ...any) {
	w.Count++
	if len(w.Items) < maxItems {
		w.Items = append(w.Items, fmt.Sprintf(format, args...))
	}
}

// found returns those of ws that counted something.
func found(ws ...*Warning) []error {
	var out []error
	for _, w := range ws {
		if w.Count > 0 {
			out = append(out, w)
		}
	}
	return out
}

// A place is where a record comes from. item names it in formats without lines.
type place struct {
	file string
	line int
	item string
}

// String returns the short form by which another record's error names p.
func (p place) String() string {
	switch {
	case p.line > 0:
		return fmt.Sprintf("line %d", p.line)
	case p.item != "":
		return p.item
	}
	return p.file
}

// problems collects errors.
type problems struct {
	errs []error
	more int
}

func (p *problems) add(at place, err error) {
	if len(p.errs) == MaxErrors {
		p.more++
		return
	}
	if at.line == 0 && at.item != "" {
		err = fmt.Errorf("%s: %w", at.item, err)
	}
	p.errs = append(p.errs, &FileError{File: at.file, Line: at.line, Err: err})
}

func (p *problems) addf(at place, format string, args ...any) { p.add(at, fmt.Errorf(format, args...)) }

// err returns all errors as one, or nil.
func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.errs[:len(p.errs):len(p.errs)], fmt.Errorf("and %d more errors", p.more))...)
	}
	return errors.Join(p.errs...)
}

// short returns s quoted, cut to some 60 characters.
func short(s string) string {
	const limit = 60
	n := 0
	for i := range s {
		if n == limit {
			return fmt.Sprintf("%q…", s[:i])
		}
		n++
	}
	return fmt.Sprintf("%q", s)
}
