package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// maxBody bounds an answer, in bytes.
const maxBody = 256 << 20

// transport sends a request until it is answered; it is the client library's
// way to the network.
type transport struct {
	config Config
	key    func() string // a function does not print, whatever prints what holds it
	http   *http.Client
	pace   pace
	usage  counters
}

type counters struct{ calls, retries, prompt, completion atomic.Int64 }

// exchange carries what a request's body must have in addition, and what was
// answered, around the client library.
type exchange struct {
	extra map[string]any
	body  []byte
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// Do sends r, again after failures that may pass: 408, 425, 429, 5xx, broken
// connections and answers, and the time limit of a try. The body of the
// answer is read whole.
func (t *transport) Do(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	body, err := t.payload(r, x)
	if err != nil {
		return nil, err
	}
	limit, err := t.pace.tries(t.config.Tries)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		if err := t.pace.wait(ctx); err != nil {
			return nil, err
		}
		a := t.once(r, body)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if a.err == nil {
			t.pace.succeeded()
			if x != nil {
				x.body = a.body
			}
			return a.response(), nil
		}
		if !a.again {
			return nil, a.failure(try)
		}
		t.pace.failed(a.sent, a.told)
		if try >= limit || a.told > maxTold {
			err := a.failure(try)
			t.pace.giveUp(err)
			return nil, err
		}
		t.usage.retries.Add(1)
	}
}

// payload returns the body to send.
func (t *transport) payload(r *http.Request, x *exchange) ([]byte, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	if x == nil || len(x.extra) == 0 {
		return body, nil
	}
	return addFields(body, x.extra)
}

// attempt is what one try gave.
type attempt struct {
	sent   time.Time
	status int
	header http.Header
	body   []byte
	told   time.Duration // to wait, by the server
	again  bool          // a failure that may pass
	err    error
}

func (a *attempt) response() *http.Response {
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body))}
}

// failure returns the error after the given number of tries.
func (a *attempt) failure(tries int) error {
	var s *StatusError
	if errors.As(a.err, &s) {
		s.Tries = tries
		if a.told > maxTold {
			s.Hint = fmt.Sprintf("it asks to wait %s, more than the %s that are waited", a.told, maxTold)
		}
		return s
	}
	if tries > 1 {
		return fmt.Errorf("%w (after %d tries)", a.err, tries)
	}
	return a.err
}

func (t *transport) once(r *http.Request, body []byte) *attempt {
	ctx, cancel := context.WithTimeout(r.Context(), t.config.Timeout)
	defer cancel()
	a := &attempt{sent: t.pace.Now(), again: true}
	r = r.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if key := t.key(); key != "" && t.config.KeyHeader == "" {
		r.Header.Set("Authorization", "Bearer "+key)
	} else if key != "" {
		r.Header.Set(t.config.KeyHeader, key)
	}
	t.usage.calls.Add(1)
	resp, err := t.http.Do(r)
	if err != nil {
		a.err = t.broken(ctx, r.URL.Host, err)
		return a
	}
	defer resp.Body.Close()
	a.status, a.header = resp.StatusCode, resp.Header
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		a.err = t.broken(ctx, r.URL.Host, err)
	case len(a.body) > maxBody:
		a.err, a.again = fmt.Errorf("%s: the answer is larger than %d MiB", r.URL.Host, maxBody>>20), false
	case a.status != http.StatusOK:
		a.refused(t, r.URL.Host)
	default:
		a.body = numbers(a.body)
	}
	return a
}

// broken names the server and the cause, and nothing that holds a secret.
func (t *transport) broken(ctx context.Context, host string, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: no answer within %s", host, t.config.Timeout)
	}
	return fmt.Errorf("%s: %s", host, t.hide(err.Error()))
}

// refused reads an answer that is not 200.
func (a *attempt) refused(t *transport, host string) {
	s := &StatusError{Host: host, Status: a.status, Message: t.message(a.body)}
	a.err = s
	switch {
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		s.Hint = fmt.Sprintf("the key is that of the variable %s", t.config.KeyEnv)
		if t.key() == "" {
			s.Hint = fmt.Sprintf("no key was sent: set the variable %s, or name another with key_env", t.config.KeyEnv)
		}
		a.again = false
	case a.status >= 300 && a.status < 400:
		s.Hint = "redirects are not followed: give the server's own address in base_url"
		a.again = false
	case a.status == http.StatusTooManyRequests && outOfQuota(a.body):
		s.Hint = "waiting does not help"
		a.again = false
	case a.status == http.StatusTooManyRequests, a.status == http.StatusRequestTimeout, a.status == http.StatusTooEarly:
	default:
		a.again = a.status >= 500 && a.status != http.StatusNotImplemented
	}
	a.told = toldWait(a.header, t.pace.Now())
}

// toldWait reads how long the server asks to wait: milliseconds, seconds, or a date.
func toldWait(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// seconds converts; what would not fit is a day.
func seconds(s float64) time.Duration {
	const day = 24 * 60 * 60
	if !(s < day) {
		s = day
	}
	return time.Duration(s * float64(time.Second))
}
