// Package browser opens pages in a headless Chromium, for tests only. The
// browser reaches no host but this one.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A Tab is one browser tab.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	requests []string
}

// Open starts a browser with one tab. The test is skipped where there is no
// Chromium, unless EVALKIT_BROWSER is set, which names it or just says that
// there must be one.
func Open(t testing.TB) *Tab {
	t.Helper()
	program := find(t)
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1300, 900),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-dev-shm-usage", true),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	tab := &Tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, tab.listen))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	return tab
}

func find(t testing.TB) string {
	t.Helper()
	wanted := os.Getenv("EVALKIT_BROWSER")
	for _, name := range []string{wanted, "chromium", "chromium-browser", "google-chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if wanted != "" {
		t.Fatal("no Chromium, and EVALKIT_BROWSER asks for one")
	}
	t.Skip("no Chromium on this machine; make setup installs one where it can")
	return ""
}

func (b *Tab) listen(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, ev.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError {
			b.problems = append(b.problems, fmt.Sprint("console.error ", ev.Args))
		}
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError {
			b.problems = append(b.problems, ev.Entry.Text+" "+ev.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, ev.Request.URL)
	}
}

// Problems returns the errors that pages had so far.
func (b *Tab) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.problems...)
}

// Requests returns the addresses that pages asked for so far.
func (b *Tab) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.requests...)
}

// Do runs actions and fails the test if one fails.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 60*time.Second)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, actions...))
}

// Go opens an address.
func (b *Tab) Go(url string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(url))
}

// Wait waits until a JavaScript expression is true.
func (b *Tab) Wait(expr string) {
	b.t.Helper()
	// Asked again and again, for a page may be on its way to the next.
	require.Eventually(b.t, func() bool {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expr+")"))
		return ok && err == nil
	}, time.Minute, 20*time.Millisecond, "waiting for %s", expr)
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](b *Tab, expr string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expr))
	require.NoError(b.t, err, expr)
	return v
}

// Click clicks the first element that a CSS selector finds, once its page is there
// whole: elements of a page that is replaced meanwhile cannot be clicked.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Wait(`document.readyState === 'complete' && document.querySelector(` + strconv.Quote(selector) + `)`)
	b.Do(chromedp.Click(chromedp.CSS(selector)))
}

// ChartsDrawn waits until every chart of the page is drawn, and returns how many
// there are.
func (b *Tab) ChartsDrawn() int {
	b.t.Helper()
	b.Wait(`document.readyState === 'complete' && [...document.querySelectorAll('[data-chart]')].every(f => f.closest('details:not([open])') || f.dataset.chartState === 'drawn' && f.querySelectorAll('svg path').length > 3)`)
	return Eval[int](b, `document.querySelectorAll('[data-chart]').length`)
}

// Look sets the width of the window and the colour scheme.
func (b *Tab) Look(width int64, scheme string) {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(width, 900))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(b.t, err)
}

// Shot keeps a picture of the whole page in the folder that EVALKIT_SHOTS names,
// if it is set, for people to look at.
func (b *Tab) Shot(name string) {
	b.t.Helper()
	dir := os.Getenv("EVALKIT_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(b.t, err)
	require.NoError(b.t, os.MkdirAll(dir, 0o755))
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// Choose sets the value of a select element, as a user would.
func (b *Tab) Choose(selector, value string) chromedp.Action[chromedp.Void] {
	return b.Run(fmt.Sprintf(`{const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event('change'));}`, selector, value))
}

// Type types text into an element.
func (b *Tab) Type(selector, text string) chromedp.Action[chromedp.Void] {
	return chromedp.SendKeys(chromedp.CSS(selector), text)
}

// Run runs JavaScript.
func (b *Tab) Run(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](script)
}
