package wire

import (
	"slices"

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
