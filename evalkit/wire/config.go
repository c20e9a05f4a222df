package wire

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Config is an Experiment or sweep file. Paths in it are relative to the
// folder of the file, after symbolic links are followed.
//
//	name: windows                  # names the Experiments; default: the file's name
//	dataset: ../datasets/handbook  # folder
//	strategies:                    # one or more, written either way
//	  - fixed_size(size=200,overlap=40)
//	  - recursive: {size: 200, separators: ["\n\n", "\n"]}
//	tokenizer: cl100k
//	analyzer: en                   # default: the data set's
//	embedder: lsa(dim=256,seed=1)
//	retriever: hybrid
//	fusion: rrf(k=60)              # of a hybrid retriever
//	top_k: 5
//	neighbor_prev: 0
//	neighbor_next: 0
//	candidates: 20                 # ranks kept for analysis, beyond what the LLM is sent
//	metrics: [recall, IoU, nDCG@10]
//	answerer: extractive           # default none: nothing is answered; see answer.Parse
//	judge: none                    # of the answers; see answer.ParseJudge
//	queries: ["a*"]                # only the queries whose id matches a pattern
//	seed: 1
//	sweep:                         # each list unfolds into Experiments; in place of the keys above
//	  top_k: [5, 10]
//	  window: [0/0, 1/1]           # neighbor_prev/neighbor_next
//	  retriever: [bm25, hybrid]    # also: embedder, fusion, analyzer, tokenizer, answerer, seed
type Config struct {
	File       string
	Name       Value
	Dataset    Value
	Strategies []Value
	Metrics    []Value
	Queries    []Value
	// Scalar holds tokenizer, analyzer, embedder, retriever, fusion, top_k,
	// neighbor_prev, neighbor_next, candidates, answerer, judge and seed, where given.
	Scalar map[string]Value
	Sweep  []Axis // in the order of the file
}

// A Value is a written value with its place.
type Value struct {
	Text string
	Line int
	Path string         // "strategies[1].fixed_size"
	Keys map[string]int // line of each setting, where the value was written as a mapping
	file string
}

// An Axis is one list of a sweep.
type Axis struct {
	Key    string
	Values []Value
}

// A ConfigError is an error at a place of a configuration file.
type ConfigError struct {
	File string
	Line int
	Path string // of the key; empty: the file
	Err  error
}

func (e *ConfigError) Error() string {
	if e.Path == "" { // the whole file
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// At returns err as an error at v's place. An unknown setting is placed at its
// own line.
func (v Value) At(err error) error {
	if v.file == "" {
		return err // given by a flag
	}
	line, path := v.Line, v.Path
	if unknown := (*evalkit.UnknownKeyError)(nil); errors.As(err, &unknown) {
		path += "." + unknown.Key
		if l, ok := v.Keys[unknown.Key]; ok {
			line = l
		}
	}
	return &ConfigError{v.file, line, path, err}
}

var (
	topKeys = []string{
		"name", "dataset", "strategies", "tokenizer", "analyzer", "embedder", "retriever", "fusion",
		"top_k", "neighbor_prev", "neighbor_next", "candidates", "metrics", "answerer", "judge", "queries", "seed", "sweep",
	}
	sweepKeys = []string{"retriever", "fusion", "embedder", "analyzer", "tokenizer", "answerer", "top_k", "window", "seed"}
)

// ReadConfig reads the file at path, which is relative to the working directory.
func ReadConfig(path string) (*Config, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, configFileError(path, err)
	}
	data, err := os.ReadFile(real)
	if err != nil {
		return nil, configFileError(path, err)
	}
	abs, err := filepath.Abs(real)
	if err != nil {
		return nil, err
	}
	return ParseConfig(path, data, filepath.Dir(abs))
}

// ParseConfig reads a configuration from data. name stands in errors, and names
// the Experiments if the configuration does not; a relative dataset is below dir.
func ParseConfig(name string, data []byte, dir string) (*Config, error) {
	c := &Config{File: name, Scalar: map[string]Value{}}
	body, err := c.parse(data)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, fmt.Errorf("%s: want one YAML document with the keys %s", name, strings.Join(topKeys, ", "))
	}
	if err := c.read(body); err != nil {
		return nil, err
	}
	if c.Dataset.Text == "" {
		return nil, fmt.Errorf("%s: dataset: not given; name the folder of a data set", name)
	}
	if len(c.Strategies) == 0 {
		return nil, fmt.Errorf("%s: strategies: not given; list at least one", name)
	}
	if !filepath.IsAbs(c.Dataset.Text) {
		c.Dataset.Text = filepath.Join(dir, filepath.FromSlash(c.Dataset.Text))
	}
	if c.Name.Text == "" {
		c.Name.Text = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	return c, nil
}

func configFileError(path string, err error) error {
	abs, aerr := filepath.Abs(path)
	if aerr != nil {
		abs = path
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("configuration %q: %w (tried %s)", path, err, abs)
}

func (c *Config) read(body ast.Node) error {
	return c.each(body, "", topKeys, func(key string, v ast.Node) (err error) {
		switch key {
		case "name":
			c.Name, err = c.scalar(v, key)
		case "dataset":
			c.Dataset, err = c.scalar(v, key)
		case "strategies":
			c.Strategies, err = c.list(v, key)
		case "metrics":
			c.Metrics, err = c.list(v, key)
		case "queries":
			c.Queries, err = c.list(v, key)
		case "sweep":
			err = c.each(v, "sweep.", sweepKeys, func(key string, v ast.Node) error {
				values, err := c.list(v, "sweep."+key)
				c.Sweep = append(c.Sweep, Axis{key, values})
				return err
			})
		default:
			c.Scalar[key], err = c.component(v, key)
		}
		return err
	})
}

// keyOf returns a key without its quotes.
func keyOf(n ast.MapKeyNode) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return n.String()
}

// each calls f for every key of a mapping, in the order of the file.
func (c *Config) each(n ast.Node, prefix string, known []string, f func(string, ast.Node) error) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return c.errorAt(n, strings.TrimSuffix(prefix, "."), fmt.Errorf("want key: value lines, not %s; the keys are %s", kindOf(n), strings.Join(known, ", ")))
	}
	for it := m.MapRange(); it.Next(); {
		key := keyOf(it.Key())
		found := false
		for _, k := range known {
			found = found || k == key
		}
		if !found {
			return c.errorAt(it.KeyValue().Key, prefix+key, evalkit.UnknownKey(key, known))
		}
		if err := f(key, it.Value()); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) errorAt(n ast.Node, path string, err error) error {
	return &ConfigError{c.File, n.GetToken().Position.Line, path, err}
}

func (c *Config) scalar(n ast.Node, path string) (Value, error) {
	v := Value{Line: n.GetToken().Position.Line, Path: path, file: c.File}
	switch n := n.(type) {
	case *ast.StringNode:
		v.Text = n.Value
	case *ast.LiteralNode:
		v.Text = n.Value.Value
	case *ast.NullNode:
		return v, c.errorAt(n, path, errors.New("no value"))
	case ast.ScalarNode:
		v.Text = n.GetToken().Value
	default:
		return v, c.errorAt(n, path, errors.New("want one value"))
	}
	return v, nil
}

func (c *Config) list(n ast.Node, path string) ([]Value, error) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		v, err := c.component(n, path) // one value may stand without its dash
		return []Value{v}, err
	}
	if len(seq.Values) == 0 {
		return nil, c.errorAt(n, path, errors.New("the list is empty"))
	}
	values := []Value{}
	for i, item := range seq.Values {
		path := path + "[" + strconv.Itoa(i) + "]"
		v, err := c.component(item, path)
		if err != nil {
			return nil, err
		}
		if seq.IsFlowStyle && endsAtComma(item) && strings.Count(v.Text, "(") > strings.Count(v.Text, ")") {
			return nil, c.errorAt(item, path, fmt.Errorf("%q ends at a comma: put a value with settings in quotes, or on a line of its own after a dash", v.Text))
		}
		values = append(values, v)
	}
	return values, nil
}

// component reads a scalar, or "name: {key: value}", which it turns into the
// form name(key=value).
func (c *Config) component(n ast.Node, path string) (Value, error) {
	m, ok := n.(ast.MapNode)
	if !ok {
		return c.scalar(n, path)
	}
	it := m.MapRange()
	if !it.Next() {
		return Value{}, c.errorAt(n, path, errors.New("no value"))
	}
	name := keyOf(it.Key())
	v := Value{Line: it.KeyValue().Key.GetToken().Position.Line, Path: path + "." + name, Keys: map[string]int{}, file: c.File}
	e := evalkit.Expr{Name: name}
	settings, ok := it.Value().(ast.MapNode)
	if !ok || it.Next() {
		return v, c.errorAt(n, path, errors.New("want a name and its settings: \"name: {key: value}\""))
	}
	for s := settings.MapRange(); s.Next(); {
		key := keyOf(s.Key())
		text, err := c.setting(s.Value(), v.Path+"."+key)
		if err != nil {
			return v, err
		}
		v.Keys[key] = s.KeyValue().Key.GetToken().Position.Line
		e.Args = append(e.Args, evalkit.Arg{Key: key, Value: text})
	}
	v.Text = e.String()
	return v, nil
}

// setting writes the value of a setting the way an Expr does.
func (c *Config) setting(n ast.Node, path string) (string, error) {
	if seq, ok := n.(*ast.SequenceNode); ok {
		var list []string
		for _, item := range seq.Values {
			v, err := c.scalar(item, path)
			if err != nil {
				return "", err
			}
			list = append(list, v.Text)
		}
		return evalkit.QuoteList(list), nil
	}
	v, err := c.component(n, path)
	if err != nil {
		return "", err
	}
	if _, err := evalkit.ParseExpr(v.Text); err != nil {
		return strconv.Quote(v.Text), nil // neither word nor number nor component
	}
	return v.Text, nil
}
