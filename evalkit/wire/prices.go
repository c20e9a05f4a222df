package wire

import (
	"fmt"
	"os"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// ReadPrices reads a price table; prices are for a million tokens:
//
//	currency: USD
//	models:
//	  some-model: {prompt: 0.15, completion: 0.6}
//	  some-embedder: {prompt: 0.02}
func ReadPrices(path string) (llm.Prices, error) {
	p := llm.Prices{Models: map[string]llm.Price{}}
	data, err := os.ReadFile(path)
	if err != nil {
		return p, fmt.Errorf("prices: %w", err)
	}
	c := &Config{File: path}
	body, err := c.parse(data)
	if err != nil {
		return p, err
	}
	if body == nil {
		return p, fmt.Errorf("prices %s: want the keys currency and models", path)
	}
	err = c.each(body, "", []string{"currency", "models"}, func(key string, n ast.Node) error {
		if key == "currency" {
			v, err := c.scalar(n, key)
			p.Currency = v.Text
			return err
		}
		m, ok := n.(ast.MapNode)
		if !ok {
			return c.errorAt(n, key, fmt.Errorf("want a model and its prices: \"name: {prompt: 0.15, completion: 0.6}\""))
		}
		for it := m.MapRange(); it.Next(); {
			model := it.Key().GetToken().Value
			price, err := c.price(it.Value(), "models."+model+".")
			if err != nil {
				return err
			}
			p.Models[model] = price
		}
		return nil
	})
	if err != nil {
		return p, err
	}
	return p, p.Check()
}

func (c *Config) price(n ast.Node, prefix string) (llm.Price, error) {
	var p llm.Price
	err := c.each(n, prefix, []string{"prompt", "completion"}, func(key string, n ast.Node) error {
		v, err := c.scalar(n, prefix+key)
		if err != nil {
			return err
		}
		x, err := strconv.ParseFloat(v.Text, 64)
		if err != nil {
			return v.At(fmt.Errorf("%q is not a number", v.Text))
		}
		if key == "prompt" {
			p.Prompt = x
		} else {
			p.Completion = x
		}
		return nil
	})
	return p, err
}
