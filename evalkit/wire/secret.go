package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// refuseSecrets looks for keys in what c names, before any of it is parsed:
// errors quote what they cannot parse, and records hold what was parsed.
func (c *Config) refuseSecrets() error {
	values := slices.Concat([]Value{c.Name, c.Dataset}, c.Strategies, c.Metrics)
	for _, key := range topKeys {
		values = append(values, c.Scalar[key])
	}
	for _, a := range c.Sweep {
		values = append(values, a.Values...)
	}
	for _, v := range values {
		if err := llm.RefuseSecret(v.Text); err != nil {
			return v.At(err)
		}
	}
	return nil
}

// syntaxError names the place of a YAML error without the lines around it, which
// may hold what should not be printed.
func syntaxError(file string, err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		return fmt.Errorf("%s:%d: %s%s", file, ye.GetToken().Position.Line, ye.GetMessage(), quotesHint(ye.GetToken()))
	}
	return fmt.Errorf("%s: not a YAML document", file)
}
