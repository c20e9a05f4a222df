package onnx

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// MiniLM is the model that "minilm" stands for.
const MiniLM = "all-MiniLM-L6-v2"

// What is done with a text that is longer than the model reads.
const (
	Cut   = "cut"   // its beginning is read, the rest is lost; see Model.Reach
	Error = "error" // it is refused
	Split = "split" // it is read in consecutive windows; their mean, weighted by tokens, is its vector
)

// A Spec is the written form of an embedder. Empty and zero settings are the
// model's own.
type Spec struct {
	// Model is the name of a folder below the folder of models (see Folder), or
	// the path of a folder, relative to the working directory, where it holds a
	// slash or begins with a dot.
	Model         string
	Window        int    // tokens that the model reads, [CLS] and [SEP] included; 3 or more
	Pooling       string // "mean" or "cls"
	Long          string // Cut, Error or Split
	QueryPrefix   string // put before every query, as it stands
	PassagePrefix string // put before every passage, as it stands
	// Late embeds a passage as a part of its document; see Late.
	Late bool
}

// ParseSpec reads an embedder; ParseSpec(s.String()) is s:
//
//	onnx(model=all-MiniLM-L6-v2)
//	onnx(model="./exports/e5-small",window=512,pooling=mean,long=cut,query_prefix="query: ",passage_prefix="passage: ")
//	onnx(model=all-MiniLM-L6-v2,late=true)
//	minilm                          onnx(model=all-MiniLM-L6-v2)
func ParseSpec(s string) (Spec, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return Spec{}, fmt.Errorf("parse embedder %q: %w", s, err)
	}
	spec, err := specOf(e)
	if err != nil {
		return Spec{}, fmt.Errorf("parse embedder %q: %w", s, err)
	}
	return spec, nil
}

func specOf(e evalkit.Expr) (Spec, error) {
	known := map[string]string{"onnx": "", "minilm": MiniLM}
	model, ok := known[e.Name]
	if !ok {
		return Spec{}, fmt.Errorf("unknown embedder %q: known are onnx, minilm", e.Name)
	}
	set := e.Settings()
	s := Spec{
		Model:         set.String("model", model),
		Window:        set.Int("window", 0),
		Pooling:       set.String("pooling", ""),
		Long:          set.Enum("long", Cut, Cut, Error, Split),
		QueryPrefix:   set.String("query_prefix", ""),
		PassagePrefix: set.String("passage_prefix", ""),
		Late:          set.Bool("late", false),
	}
	switch err := set.Err(); {
	case err != nil:
		return Spec{}, err
	case s.Model == "":
		return Spec{}, fmt.Errorf("model: not given; name one, such as %s, or the folder of an export", MiniLM)
	case s.Window < 0 || s.Window == 1 || s.Window == 2:
		return Spec{}, fmt.Errorf("window: %d leaves no room between [CLS] and [SEP]", s.Window)
	case s.Pooling != "" && s.Pooling != poolMean && s.Pooling != poolCLS:
		return Spec{}, fmt.Errorf("pooling: %q is not one of %s, %s", s.Pooling, poolMean, poolCLS)
	}
	return s, nil
}

// String returns the form that ParseSpec reads, with the settings that are not
// the defaults.
func (s Spec) String() string {
	e := evalkit.Expr{Name: "onnx", Args: []evalkit.Arg{{Key: "model", Value: quoted(s.Model)}}}
	add := func(key, value string) { e.Args = append(e.Args, evalkit.Arg{Key: key, Value: value}) }
	if s.Window != 0 {
		add("window", strconv.Itoa(s.Window))
	}
	if s.Pooling != "" {
		add("pooling", s.Pooling)
	}
	if s.Long != Cut && s.Long != "" {
		add("long", s.Long)
	}
	if s.QueryPrefix != "" {
		add("query_prefix", strconv.Quote(s.QueryPrefix))
	}
	if s.PassagePrefix != "" {
		add("passage_prefix", strconv.Quote(s.PassagePrefix))
	}
	if s.Late {
		add("late", "true")
	}
	return e.String()
}

// quoted returns a value as it may stand in an Expr.
func quoted(v string) string {
	if v == "" || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`,()[]"`, r) }) {
		return strconv.Quote(v)
	}
	return v
}
