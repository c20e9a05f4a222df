package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parse returns the body of the only document in data, nil if there is none or
// more than one. A leading byte-order mark is not part of it.
func (c *Config) parse(data []byte) (ast.Node, error) {
	file, err := parser.ParseBytes(bytes.TrimPrefix(data, []byte("\ufeff")), 0)
	if err != nil {
		return nil, syntaxError(c.File, err)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, nil
	}
	f := finder{}
	ast.Walk(&f, file.Docs[0].Body)
	if f.node != nil {
		return nil, c.errorAt(f.node, strings.TrimPrefix(strings.TrimPrefix(f.node.GetPath(), "$"), "."), f.err)
	}
	return file.Docs[0].Body, nil
}

// finder finds the first node of what YAML has and a configuration has not: a
// value stands where it is used, and its kind follows from its key.
type finder struct {
	node ast.Node
	err  error
}

// Visit implements ast.Visitor.
func (f *finder) Visit(n ast.Node) ast.Visitor {
	if f.node != nil {
		return nil
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		f.err = fmt.Errorf("the anchor &%s is not read here: write every value out where it is used, and put one that begins with & in quotes", n.Name)
	case *ast.AliasNode:
		f.err = fmt.Errorf("the alias *%s is not read here: write the value out, and put one that begins with * in quotes", n.Value)
	case *ast.MergeKeyNode:
		f.err = errors.New("the merge key << is not read here: write the keys out")
	case *ast.TagNode:
		f.err = fmt.Errorf("the tag %s is not read here: leave it out, and put a value that begins with ! in quotes", n.GetToken().Value)
	default:
		return f
	}
	f.node = n
	return nil
}

// kindOf names what n is, for an error.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "keys with values"
	case *ast.NullNode:
		return "nothing"
	}
	return "one value"
}

// endsAtComma says whether n is a value without quotes that a comma follows.
func endsAtComma(n ast.Node) bool {
	t := n.GetToken()
	return !quoted(t) && t.Next != nil && t.Next.Type == token.CollectEntryType
}

func quoted(t *token.Token) bool {
	return t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType
}

// quotesHint says what to do if t, or what stands before it on its line, begins
// with a sign that means something else in YAML: "*" alone matches every query.
func quotesHint(t *token.Token) string {
	for line := t.Position.Line; t != nil && t.Position.Line == line; t = t.Prev {
		if !quoted(t) && t.Value != "" && strings.Contains("*&!%@`", t.Value[:1]) {
			return "; put a value that begins with " + t.Value[:1] + " in quotes"
		}
	}
	return ""
}
