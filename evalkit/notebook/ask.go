package notebook

import (
	"context"
	_ "embed" // the form
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"os/signal"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/dom"

	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

// An Asking is a question with the settings to retrieve by.
type Asking struct {
	Question     string   `json:"question"`
	Strategy     string   `json:"strategy"` // one of Strategies
	TopK         int      `json:"top_k"`
	NeighborPrev int      `json:"neighbor_prev"`
	NeighborNext int      `json:"neighbor_next"`
	Strategies   []string `json:"-"` // to choose from
}

// An Answer retrieves for an Asking. Gold may be nil.
type Answer func(ctx context.Context, a Asking) (r *expand.Response, gold []report.Gold, err error)

// The browser has some time to say that the form is there, and some tries: GoNB
// gives a link half a second, which a page that is busy drawing may miss.
const (
	patience = 4 * time.Second
	tries    = 4
)

// Ask shows a form with a's settings and below it what answer retrieves; each
// change retrieves again and draws the tree anew, until the button Done is pressed
// or the cell is interrupted. Then what was last asked remains.
//
// Headless, and where the page has no way to the kernel, it retrieves once, by a,
// and returns: GoNB's messages need a page that Jupyter serves, which excludes
// Visual Studio Code.
func Ask(a Asking, answer Answer) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if Headless() {
		HTML(Must(askedHTML(ctx, a, answer)))
		return
	}
	f := newForm(gonbui.UniqueId())
	defer f.close()
	gonbui.UpdateHTML(f.id, Must(formHTML(a, f.id)))
	f.show(ctx, a, answer)
	if f.connect(ctx) {
		a = f.serve(ctx, a, answer)
	}
	f.end(a)
}

// message is what the form sends: Ready once, Done once, and else an Asking.
type message struct {
	Asking
	Ready bool `json:"ready"`
	Done  bool `json:"done"`
}

// form is a form in the page that sends messages. Of those that are not read in
// time only the last is kept.
type form struct {
	id       string
	messages chan message
	sub      comms.SubscriptionId
}

func newForm(id string) *form {
	f := &form{id: "evalkit-ask-" + id, messages: make(chan message, 1)}
	f.sub = comms.Subscribe(f.address(), func(_, text string) { f.receive(text) })
	return f
}

func (f *form) receive(text string) {
	var m message
	if json.Unmarshal([]byte(text), &m) != nil {
		return // not of our form
	}
	f.put(m)
}

// put keeps m, and drops what nobody read.
func (f *form) put(m message) {
	for {
		select {
		case f.messages <- m:
			return
		case <-f.messages:
		}
	}
}

// connect links the form to this program and reports whether it answered.
func (f *form) connect(ctx context.Context) bool {
	for range tries {
		comms.Start()
		dom.TransientJavascript(f.script())
		select {
		case m := <-f.messages:
			f.put(m) // Ready, or what was asked meanwhile
			return true
		case <-time.After(patience):
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// serve answers messages and returns what was last asked.
func (f *form) serve(ctx context.Context, a Asking, answer Answer) Asking {
	for {
		select {
		case m := <-f.messages:
			switch {
			case m.Done:
				return a
			case !m.Ready:
				m.Strategies = a.Strategies
				a = m.Asking
				f.show(ctx, a, answer)
			}
		case <-ctx.Done():
			return a
		}
	}
}

func (f *form) address() string { return "/evalkit/" + f.id }

func (f *form) close() {
	comms.Unsubscribe(f.sub)
	gonbui.Sync()
}

// show draws what a retrieves, or says why nothing was.
func (f *form) show(ctx context.Context, a Asking, answer Answer) {
	html, err := askedHTML(ctx, a, answer)
	if err != nil {
		html = template.HTML(`<p class="warning">` + template.HTMLEscapeString(err.Error()) + `</p>`)
	}
	gonbui.UpdateHTML(f.id+"-result", piece(html))
	gonbui.Sync()
}

// end puts what was asked in the place of the form, which answers no more.
func (f *form) end(a Asking) {
	gonbui.UpdateHTML(f.id, piece(template.HTML(`<p class="muted">Asked: `+template.HTMLEscapeString(a.Question)+`. Run the cell again to ask more.</p>`)))
	gonbui.Sync()
}

func askedHTML(ctx context.Context, a Asking, answer Answer) (template.HTML, error) {
	r, gold, err := answer(ctx, a)
	if err != nil {
		return "", err
	}
	return queryHTML(r, gold)
}

//go:embed ask.html
var askText string

//go:embed ask.js
var askScript string

var askTemplate = template.Must(template.New("form").Parse(askText))

func formHTML(a Asking, id string) (string, error) {
	body, err := render(askTemplate, struct {
		Asking
		ID string
	}{a, id})
	return piece(body), err
}

// script connects the form; it is sent by itself, for it runs once only.
func (f *form) script() string {
	return fmt.Sprintf("(%s)(%q, %q);", askScript, f.id, f.address())
}
