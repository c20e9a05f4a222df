package report

import "io"

// A QueryForm is what the query page offers.
type QueryForm struct {
	Datasets []string
	Defaults any // with the fields of the query API
}

// QueryPage writes the page on which a question can be asked; only a server can
// answer it.
func (s *Site) QueryPage(w io.Writer, f QueryForm) error {
	return s.page("Query", "", "query", f).write(w)
}

// RunsPage writes the page on which a run can be started and followed. example
// is a configuration to begin with.
func (s *Site) RunsPage(w io.Writer, example string) error {
	return s.page("Runs", "", "runs", example).write(w)
}
