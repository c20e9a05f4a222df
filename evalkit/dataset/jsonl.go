package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/chunkeval/chunkeval/evalkit"
)

// MaxText is the largest document file and the longest line of a JSONL file,
// in bytes. Longer ones are refused, never cut.
const MaxText = 256 << 20

const bom = "\ufeff"

// eachLine calls f with every line of r that is not blank, without its line
// end and without a byte-order mark before the first. Line numbers count from
// 1. The slice is valid until f returns. It stops at the first error.
func eachLine(r io.Reader, limit int, f func(line int, data []byte)) (int, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	var long []byte
	for n := 1; ; n++ {
		data, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], data...)
			for errors.Is(err, bufio.ErrBufferFull) && len(long) <= limit {
				data, err = br.ReadSlice('\n')
				long = append(long, data...)
			}
			data = long
		}
		if len(data) > limit {
			return n, fmt.Errorf("line longer than the limit of %d bytes", limit)
		}
		if n == 1 {
			data = bytes.TrimPrefix(data, []byte(bom))
		}
		if data = bytes.TrimSpace(data); len(data) > 0 {
			f(n, data)
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// A field is a key of a JSON object and the place for its value.
type field struct {
	key  string
	into any
}

// parseObject reads one JSON object. Unlike json.Unmarshal it refuses unknown
// keys, keys in another case, keys given twice, and text that is not valid
// Unicode. A null is as good as an absent key.
func parseObject(data []byte, fields ...field) error {
	if err := checkUnicode(data); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	seen := make([]bool, len(fields))
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return jsonError(err)
		}
		key, _ := tok.(string)
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i < 0 {
			return evalkit.UnknownKey(key, keysOf(fields))
		}
		if seen[i] {
			return fmt.Errorf("%s: given twice", key)
		}
		seen[i] = true
		if err := dec.Decode(fields[i].into); err != nil {
			return fmt.Errorf("%s: %w", key, jsonError(err))
		}
	}
	if _, err := dec.Token(); err != nil {
		return jsonError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text after the JSON object")
	}
	return nil
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// jsonError puts an error of encoding/json into the words of the format.
func jsonError(err error) error {
	var te *json.UnmarshalTypeError
	switch {
	case errors.As(err, &te):
		return fmt.Errorf("JSON %s where %s belongs", te.Value, kindName(te.Type))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON object is cut short")
	}
	return err
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// checkUnicode returns an error if JSON text is not valid UTF-8 or escapes
// half a surrogate pair: encoding/json would put U+FFFD there.
func checkUnicode(data []byte) error {
	if i := invalidUTF8(data); i >= 0 {
		return fmt.Errorf("byte %d: invalid UTF-8", i)
	}
	if !bytes.Contains(data, []byte(`\u`)) {
		return nil
	}
	for i := 0; i+1 < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		switch u := escaped(data[i:]); {
		case u >= 0xDC00 && u < 0xE000:
			return fmt.Errorf("byte %d: half a surrogate pair, %s", i, data[i:i+6])
		case u >= 0xD800 && u < 0xDC00:
			if low := escaped(data[i+6:]); low < 0xDC00 || low >= 0xE000 {
				return fmt.Errorf("byte %d: half a surrogate pair, %s", i, data[i:i+6])
			}
			i += 11
		default:
			i++
		}
	}
	return nil
}

// escaped returns the value of the \uXXXX that data starts with, or -1.
func escaped(data []byte) int {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return -1
	}
	u, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(u)
}

// invalidUTF8 returns the offset of the first invalid byte, or -1.
func invalidUTF8[T string | []byte](data T) int {
	s := []byte(nil)
	switch d := any(data).(type) {
	case []byte:
		if utf8.Valid(d) {
			return -1
		}
		s = d
	case string:
		if utf8.ValidString(d) {
			return -1
		}
		s = []byte(d)
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
