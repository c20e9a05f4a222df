//go:build !cgo

package onnx

import "errors"

// runnable returns the error that every model meets here.
func runnable() error {
	return errors.New("this program was built without cgo, which onnxruntime needs: build it with CGO_ENABLED=1 and a C compiler")
}

// A session cannot be made without cgo.
type session struct{}

func newSession(string, modelFile) (*session, error) { return nil, runnable() }

func (*session) run([]int32, int) ([]float32, error) { return nil, errors.ErrUnsupported }

func (*session) close() error { return nil }
