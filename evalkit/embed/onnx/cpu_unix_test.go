//go:build unix

package onnx

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// processorTime returns the seconds that all threads of the process have run.
func processorTime(b *testing.B) float64 {
	b.Helper()
	var r syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}
