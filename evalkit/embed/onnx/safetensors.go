package onnx

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
)

// tensors are the weights of a safetensors file: a header of JSON behind its
// length in 8 bytes, then the numbers, little endian, at the header's offsets.
type tensors struct {
	header map[string]tensorInfo
	data   []byte
}

type tensorInfo struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// maxHeader is the length of a header that is not believed any more.
const maxHeader = 100 << 20

func readTensors(path string) (*tensors, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := parseTensors(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func parseTensors(data []byte) (*tensors, error) {
	if len(data) < 8 {
		return nil, fmt.Errorf("%d bytes are no safetensors file", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return nil, fmt.Errorf("header of %d bytes in a file of %d", n, len(data))
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &raw); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	delete(raw, "__metadata__")
	t := &tensors{map[string]tensorInfo{}, data[8+n:]}
	for name, entry := range raw {
		var info tensorInfo
		if err := json.Unmarshal(entry, &info); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if o := info.Offsets; o[0] < 0 || o[1] < o[0] || o[1] > len(t.data) {
			return nil, fmt.Errorf("tensor %q: bytes %v of %d", name, o, len(t.data))
		}
		t.header[name] = info
	}
	return t, nil
}

func (t *tensors) has(name string) bool {
	_, ok := t.header[name]
	return ok
}

// get returns a tensor of exactly this shape.
func (t *tensors) get(name string, shape ...int) ([]float32, error) {
	info, ok := t.header[name]
	if !ok {
		return nil, fmt.Errorf("tensor %q: not in the file", name)
	}
	n := 4
	for _, s := range shape {
		n *= s
	}
	raw := t.data[info.Offsets[0]:info.Offsets[1]]
	switch {
	case info.DType != "F32":
		return nil, fmt.Errorf("tensor %q: of type %s, want F32", name, info.DType)
	case !slices.Equal(info.Shape, shape) || len(raw) != n:
		return nil, fmt.Errorf("tensor %q: shape %v in %d bytes, want %v", name, info.Shape, len(raw), shape)
	}
	out := make([]float32, n/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, nil
}
