package notebook

import (
	"fmt"
	"html/template"
	"os"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// Headless reports whether the notebook runs without a browser that answers: the
// variable EVALKIT_HEADLESS is set, as "make notebooks" does.
func Headless() bool { return os.Getenv("EVALKIT_HEADLESS") != "" }

// Progress shows a bar that follows a run, in one place, and takes it away when
// done is called. Headless it shows nothing.
func Progress() (report func(experiment.Progress), done func()) {
	if Headless() {
		return func(experiment.Progress) {}, func() {}
	}
	p := &progress{id: "evalkit-progress-" + gonbui.UniqueId()}
	return p.report, p.done
}

type progress struct {
	id    string
	mu    sync.Mutex
	last  time.Time
	stage string
}

// report shows every new stage, and else a few times a second.
func (p *progress) report(x experiment.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.Stage == p.stage && time.Since(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.stage = time.Now(), x.Stage
	gonbui.UpdateHTML(p.id, progressHTML(x))
}

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage != "" {
		gonbui.UpdateHTML(p.id, "")
		gonbui.Sync()
	}
}

func progressHTML(x experiment.Progress) string {
	return fmt.Sprintf(`<div><progress max="%d" value="%d"></progress> %s %d of %d · %s</div>`,
		x.Total, x.Done, template.HTMLEscapeString(x.Stage), x.Done, x.Total, template.HTMLEscapeString(x.What))
}
