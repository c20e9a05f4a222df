package llm

import (
	"fmt"
	"net/http"
	"os"

	openai "github.com/sashabaranov/go-openai"
)

// A Client calls one model. It is safe for concurrent use, and all its calls
// share the waits that the server asks for.
type Client struct {
	config Config
	api    *openai.Client
	t      *transport
}

// Usage counts what was sent and answered.
type Usage struct {
	Calls      int // requests sent, tries included
	Retries    int // of Calls: after one that failed
	Prompt     int // tokens read, by the servers' count
	Completion int // tokens written, by the servers' count
}

// Options hold what a test may replace. The zero value is the real thing.
type Options struct {
	Getenv    func(string) string // nil: the environment
	Transport http.RoundTripper   // nil: the network
	Clock     *Clock              // nil: SystemClock
}

// New returns a Client. A variable that c names, other than the default one,
// must be set.
func New(c Config, o Options) (*Client, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	key := o.Getenv(c.KeyEnv)
	if key == "" && c.KeyEnv != DefaultKeyEnv {
		return nil, fmt.Errorf("key_env: the variable %s is not set", c.KeyEnv)
	}
	if o.Clock == nil {
		o.Clock = SystemClock()
	}
	t := &transport{config: c, key: func() string { return key }, pace: pace{Clock: o.Clock}}
	t.http = &http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	config := openai.DefaultConfig("") // the transport sets the key
	config.BaseURL, config.HTTPClient = c.BaseURL, t
	return &Client{config: c, api: openai.NewClientWithConfig(config), t: t}, nil
}

// Model returns the model asked for.
func (c *Client) Model() string { return c.config.Model }

// Usage returns what was used since New.
func (c *Client) Usage() Usage {
	u := &c.t.usage
	return Usage{Calls: int(u.calls.Load()), Retries: int(u.retries.Load()), Prompt: int(u.prompt.Load()), Completion: int(u.completion.Load())}
}

func (c *Client) count(u openai.Usage) {
	c.t.usage.prompt.Add(int64(max(0, u.PromptTokens)))
	c.t.usage.completion.Add(int64(max(0, u.CompletionTokens)))
}
