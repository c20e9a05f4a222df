package evalkit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Expr is the written form of a component: a name, and settings in
// parentheses. Strategies, embedders, retrievers and tokenizers are all
// written this way, in files, flags, tables and charts:
//
//	name
//	name(key=value,key=value)
//
// A value is a word, a number, a Go-quoted string, a list in brackets, or an Expr.
type Expr struct {
	Name string
	Args []Arg
}

// An Arg is one setting of an Expr, its value as written.
type Arg struct{ Key, Value string }

// String returns the form that ParseExpr reads back.
func (e Expr) String() string {
	if len(e.Args) == 0 {
		return e.Name
	}
	parts := make([]string, len(e.Args))
	for i, a := range e.Args {
		parts[i] = a.Key + "=" + a.Value
	}
	return e.Name + "(" + strings.Join(parts, ",") + ")"
}

// ParseExpr reads an Expr. Blanks around names, keys and values are dropped.
func ParseExpr(s string) (Expr, error) {
	s = strings.TrimSpace(s)
	name, rest, open := strings.Cut(s, "(")
	e := Expr{Name: strings.TrimSpace(name)}
	if !isWord(e.Name) {
		return Expr{}, fmt.Errorf("%q: no name before the settings", s)
	}
	if !open {
		return e, nil
	}
	if !strings.HasSuffix(rest, ")") {
		return Expr{}, fmt.Errorf("%q: missing closing parenthesis", s)
	}
	parts, err := splitTop(rest[:len(rest)-1])
	if err != nil {
		return Expr{}, fmt.Errorf("%q: %w", s, err)
	}
	for _, p := range parts {
		key, value, ok := strings.Cut(p, "=")
		a := Arg{strings.TrimSpace(key), strings.TrimSpace(value)}
		if !ok || !isWord(a.Key) || a.Value == "" {
			return Expr{}, fmt.Errorf("%q: setting %q is not key=value", s, strings.TrimSpace(p))
		}
		if slices.ContainsFunc(e.Args, func(b Arg) bool { return b.Key == a.Key }) {
			return Expr{}, fmt.Errorf("%q: %s: given twice", s, a.Key)
		}
		e.Args = append(e.Args, a)
	}
	return e, nil
}

// splitTop splits at commas outside quotes, parentheses and brackets.
func splitTop(s string) ([]string, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var parts []string
	var nest []byte
	start := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			q, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return nil, fmt.Errorf("unclosed quote at byte %d of %q", i, s)
			}
			i += len(q) - 1
		case '(', '[':
			nest = append(nest, c+1+c%2) // "(" is 40 and ")" 41; "[" is 91 and "]" 93
		case ')', ']':
			if len(nest) == 0 || nest[len(nest)-1] != c {
				return nil, fmt.Errorf("%q does not match at byte %d of %q", c, i, s)
			}
			nest = nest[:len(nest)-1]
		case ',':
			if len(nest) == 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	if len(nest) > 0 {
		return nil, fmt.Errorf("missing %q in %q", nest[len(nest)-1], s)
	}
	return append(parts, s[start:]), nil
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@", r)
	})
}

// Settings reads the settings of an Expr with their defaults, and keeps the
// first error for Err. The order of the calls is the order of Names.
type Settings struct {
	args map[string]string
	keys []string
	err  error
}

// Settings returns a reader of e's settings.
func (e Expr) Settings() *Settings {
	s := &Settings{args: map[string]string{}}
	for _, a := range e.Args {
		s.args[a.Key] = a.Value
	}
	return s
}

func (s *Settings) take(key string) (string, bool) {
	s.keys = append(s.keys, key)
	v, ok := s.args[key]
	delete(s.args, key)
	return v, ok
}

func (s *Settings) fail(key, format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...))
	}
}

// Int reads a whole number.
func (s *Settings) Int(key string, def int) int {
	v, ok := s.take(key)
	if !ok {
		return def
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		s.fail(key, "%q is not an integer", v)
	}
	return n
}

// Float reads a finite number.
func (s *Settings) Float(key string, def float64) float64 {
	v, ok := s.take(key)
	if !ok {
		return def
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || f-f != 0 {
		s.fail(key, "%q is not a finite number", v)
	}
	return f
}

// Bool reads true or false.
func (s *Settings) Bool(key string, def bool) bool {
	switch v, ok := s.take(key); {
	case !ok:
		return def
	case v == "true" || v == "false":
		return v == "true"
	default:
		s.fail(key, "%q is not true or false", v)
		return def
	}
}

// String reads a word, an Expr as written, or a quoted string, unquoted.
func (s *Settings) String(key, def string) string {
	v, ok := s.take(key)
	if !ok {
		return def
	}
	return s.unquote(key, v)
}

func (s *Settings) unquote(key, v string) string {
	if !strings.HasPrefix(v, `"`) {
		return v
	}
	u, err := strconv.Unquote(v)
	if err != nil {
		s.fail(key, "%s is not a quoted string", v)
	}
	return u
}

// Enum reads one of the words that it is given.
func (s *Settings) Enum(key, def string, words ...string) string {
	v := s.String(key, def)
	if !slices.Contains(words, v) {
		s.fail(key, "%q is not one of %s", v, strings.Join(words, ", "))
	}
	return v
}

// Strings reads a list in brackets: ["\n\n","\n"].
func (s *Settings) Strings(key string, def []string) []string {
	v, ok := s.take(key)
	if !ok {
		return def
	}
	if !strings.HasPrefix(v, "[") || !strings.HasSuffix(v, "]") {
		s.fail(key, "%s is not a list in brackets", v)
		return def
	}
	parts, err := splitTop(v[1 : len(v)-1])
	if err != nil {
		s.fail(key, "%v", err)
	}
	out := []string{}
	for _, p := range parts {
		out = append(out, s.unquote(key, strings.TrimSpace(p)))
	}
	return out
}

// Err returns the first error, or names a setting that was given but not
// read, with the nearest one that exists.
func (s *Settings) Err() error {
	if s.err != nil {
		return s.err
	}
	for key := range s.args {
		if len(s.args) > 1 { // name the same one every time
			for other := range s.args {
				key = min(key, other)
			}
		}
		return UnknownKey(key, s.keys)
	}
	return nil
}

// QuoteList returns the form that Settings.Strings reads back.
func QuoteList(list []string) string {
	q := make([]string, len(list))
	for i, v := range list {
		q[i] = strconv.Quote(v)
	}
	return "[" + strings.Join(q, ",") + "]"
}

// An UnknownKeyError is a key that nothing reads.
type UnknownKeyError struct {
	Key   string
	Known []string // in the order of the documentation
}

// UnknownKey returns an *UnknownKeyError.
func UnknownKey(key string, known []string) error { return &UnknownKeyError{key, known} }

// Error names the nearest known key, or all of them if none is near.
func (e *UnknownKeyError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("unknown key %q: no settings are known here", e.Key)
	}
	if best, ok := Nearest(e.Key, e.Known); ok {
		return fmt.Sprintf("unknown key %q: did you mean %q?", e.Key, best)
	}
	return fmt.Sprintf("unknown key %q: known are %s", e.Key, strings.Join(e.Known, ", "))
}

// Nearest returns the word of known that a typing error would turn into word;
// false if none is near.
func Nearest(word string, known []string) (string, bool) {
	if len(known) == 0 {
		return "", false
	}
	best := slices.MinFunc(known, func(a, b string) int { return editDistance(word, a) - editDistance(word, b) })
	return best, editDistance(word, best) <= 1+len(word)/3
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}
