package llm

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/chunkeval/chunkeval/evalkit"
)

// The settings in force where nothing is given.
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	DefaultKeyEnv  = "OPENAI_API_KEY"
	DefaultTimeout = time.Minute
	DefaultTries   = 5
)

// A Config says where a model is and how it is called. Of its fields only
// BaseURL and Model change an answer.
type Config struct {
	BaseURL   string        // http or https; without user, password and query
	Model     string        // as the server names it
	KeyEnv    string        // variable that holds the key; DefaultKeyEnv may be unset, for servers that ask for none
	KeyHeader string        // header that carries the key; empty: "Authorization: Bearer …"
	Timeout   time.Duration // of one try
	Tries     int           // times that one request is sent at most, 1 or more
}

// ReadConfig reads the settings of s that a Config has; timeout is in seconds:
//
//	base_url="https://api.openai.com/v1",model=NAME,key_env=OPENAI_API_KEY,key_header="",timeout=60,tries=5
func ReadConfig(s *evalkit.Settings) (Config, error) {
	c := Config{
		BaseURL: s.String("base_url", DefaultBaseURL), Model: s.String("model", ""),
		KeyEnv: s.String("key_env", DefaultKeyEnv), KeyHeader: s.String("key_header", ""),
	}
	seconds := s.Float("timeout", DefaultTimeout.Seconds())
	c.Timeout = time.Duration(seconds * float64(time.Second))
	c.Tries = s.Int("tries", DefaultTries)
	return c, c.check()
}

func (c Config) check() error {
	if err := checkURL(c.BaseURL); err != nil {
		return fmt.Errorf("base_url: %w", err)
	}
	switch {
	case c.Model == "":
		return errors.New("model: not given; name it as the server does")
	case !isVariable(c.KeyEnv):
		// Note: the value is not repeated; a key put here by mistake is one.
		return errors.New("key_env: not the name of a variable, in capitals; the key itself belongs into the environment only")
	case strings.ContainsFunc(c.KeyHeader, func(r rune) bool { return r != '-' && !isLetterOrDigit(r) }):
		return errors.New("key_header: not the name of a header; the key itself belongs into the environment only")
	case c.Timeout <= 0:
		return fmt.Errorf("timeout: %v is not above 0", c.Timeout.Seconds())
	case c.Tries < 1:
		return fmt.Errorf("tries: %d is below 1", c.Tries)
	}
	return nil
}

// checkURL refuses whatever could hold a secret, without repeating it.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("not a URL") // the cause repeats the URL
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("want http://HOST/… or https://HOST/…")
	case u.User != nil:
		return errors.New("holds a user or password; put the key into a variable of the environment and name it with key_env")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("holds a query; put the key into a variable of the environment and name it with key_env")
	}
	return nil
}

// isVariable wants capitals: many a key is made of letters and digits too.
func isVariable(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && !strings.ContainsFunc(s, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
}

func isLetterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// Identity returns the settings that change an answer, as an Expr has them.
func (c Config) Identity() string { return fmt.Sprintf("base_url=%q,model=%q", c.BaseURL, c.Model) }

// Rest returns the other settings: key_env always, what is not the default of
// the others. Each begins with a comma.
func (c Config) Rest() string {
	s := ",key_env=" + c.KeyEnv
	if c.KeyHeader != "" {
		s += ",key_header=" + c.KeyHeader
	}
	if c.Timeout != DefaultTimeout {
		s += fmt.Sprintf(",timeout=%v", c.Timeout.Seconds())
	}
	if c.Tries != DefaultTries {
		s += fmt.Sprintf(",tries=%d", c.Tries)
	}
	return s
}

// secretSettings match what looks like a key in the written form of a component.
var secretSettings = []struct {
	form *regexp.Regexp
	hint string
}{
	{regexp.MustCompile(`(?i)[(,{]\s*"?(api_?key|key|token|secret|password|authorization|headers?|bearer)"?\s*[=(:{]`), "a setting that would hold a key"},
	{regexp.MustCompile(`://[^/\s"',)]*@`), "a URL with a user or password"},
	{regexp.MustCompile(`base_url\s*=\s*[^,)]*[?#]`), "a URL with a query"},
	{regexp.MustCompile(`key_env\s*=\s*"?[A-Z0-9_]*[^A-Z0-9_",)\s]`), "key_env with something other than the name of a variable, in capitals"},
}

// RefuseSecret returns an error if the written form of a component has a
// setting that looks as if it held a key. The error does not repeat it. Who
// quotes what cannot be parsed calls this first.
func RefuseSecret(text string) error {
	for _, s := range secretSettings {
		if s.form.MatchString(text) {
			return fmt.Errorf("%s: keys come from the environment only; name the variable with key_env", s.hint)
		}
	}
	return nil
}
