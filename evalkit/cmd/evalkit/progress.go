package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// progress shows how far a run is: a bar on a terminal, a line per stage and
// strategy elsewhere.
type progress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil elsewhere
	last string
	off  bool
}

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{w: w, off: quiet}
	if f, ok := w.(*os.File); ok && !quiet {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.bar = progressbar.NewOptions(1, progressbar.OptionSetWriter(w), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
		}
	}
	return p
}

func (p *progress) report(x experiment.Progress) {
	if p.off {
		return
	}
	if p.bar != nil {
		p.bar.Describe(x.Stage + " " + x.What)
		p.bar.ChangeMax(x.Total)
		_ = p.bar.Set(x.Done) // the bar is not a result
		return
	}
	if step := x.Stage + " " + x.What; step != p.last {
		p.last = step
		fmt.Fprintf(p.w, "%-8s %s\n", x.Stage, x.What)
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
