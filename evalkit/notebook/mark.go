package notebook

import (
	_ "embed" // the script
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/chunkeval/chunkeval/evalkit"
)

//go:embed mark.js
var markScript string

var markTemplate = template.Must(template.New("mark").Parse(`<div class="mark"><p class="muted">{{.ID}}: select a passage, and copy the entry of gold for queries.jsonl.</p>
<div class="chunks" data-doc="{{.ID}}">{{.Text}}</div><textarea readonly rows="3" aria-label="entry of gold"></textarea></div>`))

// Mark shows a document in which a passage can be selected. The entry of gold that
// quotes it, as a data set's queries.jsonl wants it, stands below. It needs no
// kernel: it works in an exported page too.
func Mark(doc evalkit.Document) { HTML(Must(markHTML(doc))) }

func markHTML(doc evalkit.Document) (template.HTML, error) {
	html, err := render(markTemplate, doc)
	return html + template.HTML("<script>"+markScript+"</script>"), err
}

// Quote returns the entry of gold that quotes a passage of doc, as a line for
// queries.jsonl, and where the passage is. occurrence, from 1, says which one is
// meant where the quote occurs more than once; 0 means that it occurs once.
func Quote(doc evalkit.Document, quote string, occurrence int) (line string, span evalkit.Span, err error) {
	var at []int
	for i := 0; i+len(quote) <= len(doc.Text) && quote != ""; i++ {
		if strings.HasPrefix(doc.Text[i:], quote) {
			at = append(at, i)
		}
	}
	switch {
	case len(at) == 0:
		return "", span, fmt.Errorf("%q does not occur in %q; white space and case count", quote, doc.ID)
	case len(at) > 1 && occurrence == 0:
		return "", span, fmt.Errorf("%q occurs %d times in %q: say which occurrence, or quote more", quote, len(at), doc.ID)
	case occurrence < 0 || occurrence > len(at):
		return "", span, fmt.Errorf("%q occurs %d times in %q, and occurrence is %d", quote, len(at), doc.ID, occurrence)
	}
	entry := struct {
		Doc        evalkit.DocID `json:"doc"`
		Quote      string        `json:"quote"`
		Occurrence int           `json:"occurrence,omitempty"`
	}{doc.ID, quote, occurrence}
	start := at[max(occurrence, 1)-1]
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err = enc.Encode(entry)
	return strings.TrimSpace(b.String()), evalkit.Span{Start: start, End: start + len(quote)}, err
}

// Markdown shows what write writes as Markdown.
func Markdown(write func(io.Writer) error) {
	var b strings.Builder
	Check(write(&b))
	gonbui.DisplayMarkdown(b.String())
	gonbui.Sync()
}
