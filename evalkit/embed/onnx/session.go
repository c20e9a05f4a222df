//go:build cgo

package onnx

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// environment guards what onnxruntime keeps once per process: the library that
// was loaded first stays.
var environment sync.Mutex

// runnable returns why no model can run in this program, or nil.
func runnable() error { return nil }

func loadRuntime(library string) error {
	environment.Lock()
	defer environment.Unlock()
	if ort.IsInitialized() {
		return nil
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("onnxruntime: %w", err)
	}
	return nil
}

// A session is a model ready to run. It is safe for concurrent use; each run
// computes on the goroutine that asks.
type session struct {
	inner  *ort.DynamicAdvancedSession
	inputs []ort.InputOutputInfo
	output ort.InputOutputInfo
}

// newSession loads the runtime, once, and the model.
func newSession(library string, m modelFile) (*session, error) {
	if err := loadRuntime(library); err != nil {
		return nil, err
	}
	options, err := sessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }()
	s := &session{}
	if m.graph != nil {
		s.inputs = []ort.InputOutputInfo{{Name: inputIDs, DataType: ort.TensorElementDataTypeInt32}}
		s.output = ort.InputOutputInfo{Name: hiddenOut}
		s.inner, err = ort.NewDynamicAdvancedSessionWithONNXData(m.graph, []string{inputIDs}, []string{hiddenOut}, options)
		return s, err
	}
	inputs, outputs, err := ort.GetInputOutputInfo(m.path)
	if err != nil {
		return nil, err
	}
	if s.inputs, s.output, err = knownValues(inputs, outputs); err != nil {
		return nil, err
	}
	names := make([]string, len(s.inputs))
	for i, in := range s.inputs {
		names[i] = in.Name
	}
	s.inner, err = ort.NewDynamicAdvancedSession(m.path, names, []string{s.output.Name}, options)
	return s, err
}

// sessionOptions asks for one thread a run: the sums are then in one order
// whatever the number of cores, and texts are spread over the cores instead.
func sessionOptions() (*ort.SessionOptions, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	return o, errors.Join(
		o.SetIntraOpNumThreads(1),
		o.SetInterOpNumThreads(1),
		o.SetMemPattern(false), // it would be kept for every length
		o.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll),
	)
}

// knownValues checks that an export asks for nothing but ids, mask and types,
// and picks the output with one vector per token.
func knownValues(inputs, outputs []ort.InputOutputInfo) ([]ort.InputOutputInfo, ort.InputOutputInfo, error) {
	for _, in := range inputs {
		if !slices.Contains([]string{inputIDs, inputMask, inputType}, in.Name) {
			return nil, ort.InputOutputInfo{}, fmt.Errorf("the model has an input %q: want %s, %s or %s", in.Name, inputIDs, inputMask, inputType)
		}
	}
	for _, name := range []string{hiddenOut, "token_embeddings"} {
		for _, out := range outputs {
			if out.Name == name && len(out.Dimensions) == 3 {
				return inputs, out, nil
			}
		}
	}
	return nil, ort.InputOutputInfo{}, fmt.Errorf("the model has no output %s or token_embeddings with one vector per token", hiddenOut)
}

// run computes n texts of one length, ids one text after the other. The result
// has length·hidden numbers per text.
func (s *session) run(ids []int32, n int) ([]float32, error) {
	shape := ort.NewShape(int64(n), int64(len(ids)/n))
	in := make([]ort.Value, len(s.inputs))
	defer func() { destroy(in) }()
	for i, info := range s.inputs {
		v, err := inputValue(info, ids, shape)
		if err != nil {
			return nil, err
		}
		in[i] = v
	}
	out := []ort.Value{nil}
	defer func() { destroy(out) }()
	if err := s.inner.Run(in, out); err != nil {
		return nil, err
	}
	t, ok := out[0].(*ort.Tensor[float32])
	if !ok {
		return nil, fmt.Errorf("output %q: not of float32", s.output.Name)
	}
	return slices.Clone(t.GetData()), nil
}

func destroy(values []ort.Value) {
	for _, v := range values {
		if v != nil {
			_ = v.Destroy() // it fails only on what is destroyed already
		}
	}
}

// inputValue makes the tensor that an input asks for; nothing is masked.
func inputValue(info ort.InputOutputInfo, ids []int32, shape ort.Shape) (ort.Value, error) {
	data := slices.Clone(ids)
	for i := range data {
		switch info.Name {
		case inputMask:
			data[i] = 1
		case inputType:
			data[i] = 0
		}
	}
	if info.DataType == ort.TensorElementDataTypeInt32 {
		return ort.NewTensor(shape, data)
	}
	wide := make([]int64, len(data))
	for i, x := range data {
		wide[i] = int64(x)
	}
	return ort.NewTensor(shape, wide)
}

func (s *session) close() error { return s.inner.Destroy() }
