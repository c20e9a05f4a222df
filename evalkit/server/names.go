package server

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// A form is a component and the settings that it takes, separated by blanks.
type form struct {
	name  string
	plain string // numbers, words and lists
	parts string // components, whose role roleOf tells
}

// harmless are the components that read no file and call no host, by role: the
// key that names them in a configuration, or strategy.
//
// Note: what is not listed here is refused, so that a component made later is
// not open to everyone because it was forgotten.
var harmless = map[string][]form{
	"tokenizer": {{name: "cl100k"}, {name: "rune"}, {name: "word"}},
	"embedder":  {{name: "lsa", plain: "dim seed"}, {name: "hash", plain: "dim seed"}},
	"retriever": {
		{name: "bm25", plain: "k1 b analyzer"},
		{name: "bleve", plain: "analyzer"},
		{name: "dense"},
		{name: "hybrid", plain: "depth", parts: "lexical fusion"},
		{name: "oracle"},
	},
	"fusion": {{name: "rrf", plain: "k lexical dense"}, {name: "weighted", plain: "scale dense"}},
	"strategy": {
		{name: "fixed_size", plain: "size overlap unit trim", parts: "tokenizer"},
		{name: "recursive", plain: "size overlap unit separators", parts: "tokenizer"},
		{name: "sentence", plain: "size overlap unit", parts: "tokenizer"},
		{name: "paragraph", plain: "size unit", parts: "tokenizer"},
		{name: "markdown", plain: "size unit", parts: "tokenizer"},
		{name: "page", plain: "size unit", parts: "tokenizer"},
		{name: "sentence_window", plain: "window size unit", parts: "tokenizer"},
		{name: "parent", plain: "size child unit", parts: "tokenizer"},
		{name: "semantic", plain: "mode threshold buffer size", parts: "tokenizer embedder"},
		{name: "semantic_modified", plain: "size", parts: "tokenizer embedder"},
		{name: "cluster_semantic", plain: "size", parts: "tokenizer embedder"},
	},
	"answerer": {{name: "none"}, {name: "extractive", plain: "sentences min_match"}},
	"judge":    {{name: "none"}},
}

// plainKeys are the keys of a configuration that name no component, or, as
// analyzer, only what is built in.
var plainKeys = []string{"analyzer", "top_k", "window", "neighbor_prev", "neighbor_next", "candidates", "seed"}

// roleOf is the role of a component that the setting key names.
func roleOf(key string) string {
	if key == "lexical" {
		return "retriever"
	}
	return key
}

// named are the components that the owner of a server named, by role and text.
type named map[[2]string]bool

// ownerNamed gathers the components that o names, at any depth.
func ownerNamed(o Options) named {
	n := named{}
	for _, e := range o.Embedders {
		n.add("embedder", e)
	}
	n.add("strategy", o.Defaults.Strategy)
	n.add("retriever", o.Defaults.Retriever)
	n.add("embedder", o.Defaults.Embedder)
	if o.Config != nil {
		for role, values := range written(o.Config) {
			for _, v := range values {
				n.add(role, v.Text)
			}
		}
	}
	return n
}

func (n named) add(role, text string) {
	e, err := evalkit.ParseExpr(text)
	if err != nil {
		return
	}
	n[[2]string{role, e.String()}] = true
	for _, a := range e.Args {
		n.add(roleOf(a.Key), unquoted(a.Value))
	}
}

// written returns all that c names, by role.
func written(c *wire.Config) map[string][]wire.Value {
	out := map[string][]wire.Value{"strategy": c.Strategies}
	for key, v := range c.Scalar {
		out[key] = append(out[key], v)
	}
	for _, a := range c.Sweep {
		out[a.Key] = append(out[a.Key], a.Values...)
	}
	return out
}

// allowed returns an error at the first component of c that could reach outside
// the server and that its owner did not name.
func (s *Server) allowed(c *wire.Config) error {
	all := written(c)
	for _, role := range slices.Sorted(maps.Keys(all)) {
		for _, v := range all[role] {
			if err := s.named.allow(role, v.Text); err != nil {
				return &badRequest{v.At(err)}
			}
		}
	}
	return nil
}

// allow returns an error if the component text, or one within it, is neither
// harmless nor in n.
func (n named) allow(role, text string) error {
	if text == "" || slices.Contains(plainKeys, role) {
		return nil
	}
	e, err := evalkit.ParseExpr(text)
	if err != nil {
		return fmt.Errorf("%s %w", role, err)
	}
	if n[[2]string{role, e.String()}] {
		return nil
	}
	at := slices.IndexFunc(harmless[role], func(f form) bool { return f.name == e.Name })
	if at < 0 {
		return refusal(role, text, e.Name)
	}
	plain, parts := strings.Fields(harmless[role][at].plain), strings.Fields(harmless[role][at].parts)
	for _, a := range e.Args {
		switch {
		case slices.Contains(plain, a.Key):
		case slices.Contains(parts, a.Key):
			err = n.allow(roleOf(a.Key), unquoted(a.Value))
		default:
			err = evalkit.UnknownKey(a.Key, slices.Concat(plain, parts))
		}
		if err != nil {
			return fmt.Errorf("%s %q: %w", role, text, err)
		}
	}
	return nil
}

func refusal(role, text, name string) error {
	var known []string
	for _, f := range harmless[role] {
		known = append(known, f.name)
	}
	hint := ""
	if best, ok := evalkit.Nearest(name, known); ok {
		hint = fmt.Sprintf("; did you mean %q?", best)
	}
	return fmt.Errorf("%s %q: over HTTP only %s and what the server was started with: others could read files or call hosts%s", role, text, strings.Join(known, ", "), hint)
}

// unquoted is the value of a setting as evalkit.Settings reads it.
func unquoted(value string) string {
	if u, err := strconv.Unquote(value); err == nil && strings.HasPrefix(value, `"`) {
		return u
	}
	return value
}
