//go:build !unix

package onnx

import "testing"

// processorTime is not told here: the metric is not a number then.
func processorTime(*testing.B) float64 { return 0 }
