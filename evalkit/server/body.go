package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// read decodes a JSON body; what is wrong with it is the caller's to mend.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	body, err := readBody(r)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		err = d.Decode(v)
	}
	if err != nil {
		failBody(w, fmt.Errorf("body: %w", err))
	}
	return err == nil
}

// failBody answers a body that cannot be read.
func failBody(w http.ResponseWriter, err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		fail(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is larger than %d bytes", large.Limit))
		return
	}
	fail(w, http.StatusBadRequest, err)
}

// readBody returns the one JSON value of a body, no object of which has a key twice.
func readBody(r *http.Request) (json.RawMessage, error) {
	d := json.NewDecoder(r.Body)
	var body json.RawMessage
	if err := d.Decode(&body); err != nil {
		return nil, err
	}
	switch err := d.Decode(new(json.RawMessage)); {
	case err == nil:
		return nil, errors.New("more than one JSON value")
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("after the JSON value: %w", err)
	}
	return body, refuseTwice(body)
}

// refuseTwice returns an error if an object in body, which is valid JSON, has a
// key twice, in whatever case: encoding/json would take the last.
func refuseTwice(body []byte) error {
	type object struct {
		keys  map[string]bool // nil: an array
		isKey bool            // the next token, if it is a string, is a key
	}
	var open []object
	for d := json.NewDecoder(bytes.NewReader(body)); ; {
		t, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		last := len(open) - 1
		switch key, isString := t.(string); {
		case t == json.Delim('{'):
			open = append(open, object{keys: map[string]bool{}, isKey: true})
			continue
		case t == json.Delim('['):
			open = append(open, object{})
			continue
		case t == json.Delim('}') || t == json.Delim(']'):
			open = open[:last]
			last--
		case isString && last >= 0 && open[last].isKey:
			folded := strings.ToLower(strings.ToUpper(key)) // one form of all that encoding/json takes for it
			if open[last].keys[folded] {
				return fmt.Errorf("key %q: given twice", key)
			}
			open[last].keys[folded], open[last].isKey = true, false
			continue
		}
		if last >= 0 && open[last].keys != nil { // a value has ended
			open[last].isKey = true
		}
	}
}
