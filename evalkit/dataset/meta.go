package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/chunkeval/chunkeval/evalkit"
)

const metaFile = "dataset.yaml"

// meta is what dataset.yaml holds. description is for readers of the file only.
type meta struct {
	name, language, licence, analyzer, description, offsets string
}

type metaField struct {
	key  string
	into *string
}

func (m *meta) fields() []metaField {
	return []metaField{
		{"name", &m.name},
		{"language", &m.language},
		{"licence", &m.licence},
		{"analyzer", &m.analyzer},
		{"description", &m.description},
		{"offsets", &m.offsets},
	}
}

// parseMeta reads dataset.yaml and reports each fault with its line.
func parseMeta(data []byte, probs *problems) meta {
	m := meta{offsets: unitByte}
	at := place{file: metaFile}
	if i := invalidUTF8(data); i >= 0 {
		at.line = 1 + strings.Count(string(data[:i]), "\n")
		probs.addf(at, "byte %d: invalid UTF-8", i)
		return m
	}
	file, err := parser.ParseBytes([]byte(strings.TrimPrefix(string(data), bom)), 0)
	if err != nil {
		probs.add(yamlPlace(at, err))
		return m
	}
	if len(file.Docs) > 1 {
		at.line = file.Docs[1].GetToken().Position.Line
		probs.addf(at, "more than one YAML document")
		return m
	}
	if len(file.Docs) == 1 && file.Docs[0].Body != nil {
		m.read(file.Docs[0].Body, probs)
	}
	m.check(probs)
	return m
}

// yamlPlace returns where err stands, and its message without the quoted source.
func yamlPlace(at place, err error) (place, error) {
	var ye yaml.Error
	if errors.As(err, &ye) {
		if tok := ye.GetToken(); tok != nil {
			at.line = tok.Position.Line
		}
		return at, errors.New(ye.GetMessage())
	}
	return at, err
}

func (m *meta) read(body ast.Node, probs *problems) {
	at := place{file: metaFile, line: body.GetToken().Position.Line}
	mapping, ok := body.(ast.MapNode)
	if !ok {
		probs.addf(at, "not a list of key: value lines")
		return
	}
	fields := m.fields()
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.key
	}
	for it := mapping.MapRange(); it.Next(); {
		key := it.Key().GetToken().Value
		at.line = it.Key().GetToken().Position.Line
		into := (*string)(nil)
		for _, f := range fields {
			if f.key == key {
				into = f.into
			}
		}
		if into == nil {
			probs.add(at, evalkit.UnknownKey(key, known))
			continue
		}
		if err := readText(it.Value(), into); err != nil {
			_, err = yamlPlace(at, err)
			probs.addf(at, "%s: %w", key, err)
		}
	}
}

// readText reads a scalar. What YAML takes for a number or a truth value stays
// as it is written: a name may be 1.10.
func readText(node ast.Node, into *string) error {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		*into = node.GetToken().Value
		return nil
	}
	if _, ok := node.(ast.ScalarNode); !ok {
		return errors.New("not a text")
	}
	return yaml.NodeToValue(node, into)
}

// check verifies the values.
func (m *meta) check(probs *problems) {
	at := place{file: metaFile}
	if evalkit.Blank(m.name) {
		probs.addf(at, "name: missing or empty")
	}
	if m.language == "" {
		probs.addf(at, `language: missing or empty; give a BCP 47 tag such as "en", or "und" if it is not known`)
	} else if !languageTag(m.language) {
		probs.addf(at, "language: %q is not a BCP 47 tag", m.language)
	}
	if m.offsets != unitByte && m.offsets != unitRune {
		probs.addf(at, "offsets: %q is not byte or rune", m.offsets)
	}
}

// languageTag reports whether s has the form of a BCP 47 tag. Whether the
// language exists is not checked.
func languageTag(s string) bool {
	return regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`).MatchString(s)
}

// yaml returns the form that parseMeta reads back. JSON strings are YAML strings.
func (m *meta) yaml() ([]byte, error) {
	var b strings.Builder
	for _, f := range m.fields() {
		if *f.into == "" {
			continue
		}
		q, err := json.Marshal(*f.into)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s: %s\n", f.key, q)
	}
	return []byte(b.String()), nil
}
