package notebook

import (
	"bytes"
	"fmt"
	"html/template"
	"io"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

// details is the number of questions per strategy that the technical report of a
// notebook opens in full.
const details = 3

// Report shows the managerial and the technical report over Experiments of one
// data set, the first of which is the baseline. Each is a page of its own in a
// frame.
func Report(experiments ...any) { HTML(Must(reportHTML(experiments))) }

// Managerial writes the managerial report as a page that stands alone.
func Managerial(w io.Writer, experiments ...any) error {
	study, err := studyOf(experiments)
	if err != nil {
		return err
	}
	return study.Managerial(w)
}

// Technical writes the technical report as a page that stands alone.
func Technical(w io.Writer, experiments ...any) error {
	study, err := studyOf(experiments)
	if err != nil {
		return err
	}
	return study.Technical(w, details)
}

func studyOf(xs []any) (*report.Study, error) {
	in, err := inputs(xs)
	if err != nil {
		return nil, err
	}
	return report.NewStudy(in, compare.Margin, compare.Options{})
}

func reportHTML(xs []any) (template.HTML, error) {
	study, err := studyOf(xs)
	if err != nil {
		return "", err
	}
	var managerial, technical bytes.Buffer
	if err := study.Managerial(&managerial); err != nil {
		return "", err
	}
	if err := study.Technical(&technical, details); err != nil {
		return "", err
	}
	return template.HTML(frame("Managerial report", managerial.String(), true) + frame("Technical report", technical.String(), false)), nil
}

// frame returns a page that stands alone as a part of another one.
func frame(title, page string, open bool) string {
	attr := ""
	if open {
		attr = " open"
	}
	return fmt.Sprintf(`<details%s><summary>%s</summary><iframe title="%s" loading="lazy" srcdoc="%s"></iframe></details>`,
		attr, title, title, template.HTMLEscapeString(page))
}
