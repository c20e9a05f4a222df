package llm

import (
	"bytes"
	"encoding/json"
	"maps"
)

// addFields returns a JSON object with fields added or replaced.
func addFields(body []byte, fields map[string]any) ([]byte, error) {
	m := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	maps.Copy(m, fields)
	return json.Marshal(m)
}

// numbers returns body with null in the place of NaN and Infinity, which some
// servers write although JSON has no such numbers.
func numbers(body []byte) []byte {
	if !bytes.Contains(body, []byte("NaN")) && !bytes.Contains(body, []byte("Infinity")) {
		return body
	}
	var out []byte
	quoted := false
	for i := 0; i < len(body); i++ {
		c := body[i]
		if quoted {
			out = append(out, c)
			switch {
			case c == '\\' && i+1 < len(body):
				i++
				out = append(out, body[i])
			case c == '"':
				quoted = false
			}
			continue
		}
		if n := notNumber(body[i:]); n > 0 {
			out = append(out, "null"...)
			i += n - 1
			continue
		}
		quoted = c == '"'
		out = append(out, c)
	}
	return out
}

// notNumber returns the length of the NaN or Infinity that b begins with, or 0.
func notNumber(b []byte) int {
	for _, word := range []string{"NaN", "-NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
