package hdf5

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestH5pyReadsOurs asks h5py, where a python has it: the one that
// EVALKIT_PYTHON names, or python3.
func TestH5pyReadsOurs(t *testing.T) {
	python := os.Getenv("EVALKIT_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import h5py").Run(); err != nil {
		t.Skip("no python with h5py; name one in EVALKIT_PYTHON")
	}
	path := filepath.Join(t.TempDir(), "x.h5")
	sets, attributes := example()
	require.NoError(t, Write(path, sets, attributes))
	out, err := exec.CommandContext(t.Context(), python, filepath.Join("..", "..", "..", "scripts", "hdf5_reference.py"), "read", path).Output()
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(out, &got))
	set := func(kind string, shape []any, data ...any) map[string]any {
		if data == nil {
			data = []any{}
		}
		return map[string]any{"type": kind, "shape": shape, "data": data}
	}
	assert.Equal(t, map[string]any{
		"attributes": map[string]any{"distance": "angular", "dimension": 2.0, "model": "x(y=1)"},
		"sets": map[string]any{
			"vectors":   set("float32", []any{3.0, 2.0}, []any{1.0, -2.5}, []any{3.0, 4.0}, []any{5.0, 6.0}),
			"neighbors": set("int32", []any{2.0, 2.0}, []any{0.0, -1.0}, []any{2.0, float64(1 << 30)}),
			"ids":       set("|S5", []any{3.0}, "a", "bä#1", ""),
			"none":      set("float32", []any{0.0, 4.0}),
		},
	}, got)
}
