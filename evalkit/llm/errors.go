package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// A StatusError is an answer of the server that is not 200.
type StatusError struct {
	Host    string
	Status  int    // of HTTP
	Message string // the server's, shortened, without the key
	Tries   int    // times that the request was sent
	Hint    string // what to do; may be empty
}

func (e *StatusError) Error() string {
	s := fmt.Sprintf("%s: status %d", e.Host, e.Status)
	if name := http.StatusText(e.Status); name != "" {
		s += " " + name
	}
	if e.Tries > 1 {
		s += fmt.Sprintf(" after %d tries", e.Tries)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Refused reports whether the server refused what was sent, so that sending
// less may help: 400, 413 or 422.
func (e *StatusError) Refused() bool {
	return e.Status == http.StatusBadRequest || e.Status == http.StatusRequestEntityTooLarge || e.Status == http.StatusUnprocessableEntity
}

// A CountError is an answer with another number of vectors than texts.
type CountError struct{ Vectors, Texts int }

func (e *CountError) Error() string {
	return fmt.Sprintf("%d vectors for %d texts", e.Vectors, e.Texts)
}

// maxMessage bounds what is kept of a server's message, in bytes.
const maxMessage = 300

// keyLike matches what servers repeat of a key, also in part.
var keyLike = regexp.MustCompile(`\b(sk|pk|hf|gsk)[-_][A-Za-z0-9_*.-]{4,}`)

// message returns the server's words in one line.
func (t *transport) message(body []byte) string {
	return t.hide(serverMessage(body))
}

// hide takes the key out of a message, and shortens it.
func (t *transport) hide(s string) string {
	if key := t.key(); key != "" {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	s = keyLike.ReplaceAllString(s, "[key]")
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}

// serverMessage reads the forms in which servers say what went wrong.
func serverMessage(body []byte) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		return string(body)
	}
	for _, key := range []string{"error", "message", "detail"} {
		raw, ok := m[key]
		if !ok {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return text
		}
		var inner struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(raw, &inner) == nil && inner.Message != "" {
			return inner.Message
		}
		return string(raw)
	}
	return string(body)
}

// outOfQuota reports whether a 429 will not pass by waiting.
func outOfQuota(body []byte) bool {
	var m struct {
		Error struct {
			Code any    `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	const quota = "insufficient_quota"
	return json.Unmarshal(body, &m) == nil && (m.Error.Code == quota || m.Error.Type == quota)
}
