// Package golden compares test output with files under testdata. It is for
// tests only.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Equal fails the test unless got equals the file testdata/name; with -update
// it writes the file instead.
func Equal(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to make it)", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run with -update and look at the diff\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
