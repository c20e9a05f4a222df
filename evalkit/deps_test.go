package evalkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/chunkeval/chunkeval/evalkit"

// floors is the import policy, from the ground up: what each package may
// import beside the standard library and the ground. It states an intent; a
// build is not fixed by widening it.
var floors = map[string][]string{
	".": {}, // ground: nouns and small interfaces

	// Floor 1: pure functions over the nouns.
	"token":           {"github.com/pkoukk/tiktoken-go-loader", "golang.org/x/text/unicode/norm"},
	"dataset":         {"github.com/goccy/go-yaml"},
	"chunk":           {"token", "github.com/yuin/goldmark", "github.com/clipperhouse/uax29/v2", "gonum.org/v1/gonum"},
	"chunk/chunktest": {}, // conformance check, importable by those who write a strategy
	"expand":          {},
	"metric":          {},
	// llm calls models behind HTTP for embed/openai, answer and wire. It is one
	// package so that keys, waits and limits are handled once, and it is the
	// only importer of the client library.
	"llm": {"github.com/sashabaranov/go-openai"},

	// Floor 2: engines.
	"embed": {"gonum.org/v1/gonum"},
	// embed/openai is apart from embed so that those who fit models in the
	// process do not link a client.
	"embed/openai": {"embed", "llm", "token"},
	"retrieve":     {"github.com/blevesearch"}, // the only bleve importer
	"answer":       {"chunk", "expand", "llm"}, // chunk for its sentences
	// dataset/synth is apart from dataset so that loading a data set needs no
	// sentences; it sees models through interfaces of its own.
	"dataset/synth": {"chunk"},

	// The only onnxruntime importer: it needs cgo, and only the command links it.
	// protowire writes the model that onnxruntime is given.
	"embed/onnx": {"token", "github.com/yalue/onnxruntime_go", "google.golang.org/protobuf/encoding/protowire"},

	"embed/vectorfile": {"internal/hdf5"},

	// Floor 3: the grid.
	"experiment": {}, // sees interfaces only

	// Floor 4: what is made of an Experiment.
	// The only Arrow importer, so it reads and writes vectors in Parquet too.
	"store": {"experiment", "embed/vectorfile", "github.com/apache/arrow-go/v18"},
	// compare reads finished Experiments, so it stands above the grid.
	"compare":  {"experiment", "expand", "metric", "token", "gonum.org/v1/gonum"},
	"chart":    {"github.com/go-echarts/go-echarts/v2"}, // the only go-echarts importer
	"report":   {"experiment", "expand", "compare", "chart", "token"},
	"gate":     {"experiment", "expand", "compare", "metric", "token", "github.com/goccy/go-yaml"},
	"notebook": {"experiment", "expand", "compare", "chart", "report", "github.com/janpfeifer/gonb"}, // the only gonb importer
	// Every cell links what it imports: to show things a cell needs neither the
	// engines, which notebook/lab brings, nor Arrow, which notebook/results brings.
	"notebook/lab":     {"notebook", "wire", "dataset", "chunk", "token", "expand", "experiment", "report"},
	"notebook/results": {"notebook", "store", "experiment"},
	// wire turns the strings of a Spec into components. It stands apart from
	// the roof because the command, the server and notebooks all need it.
	"wire": {"token", "dataset", "chunk", "expand", "metric", "llm", "embed", "retrieve", "answer", "experiment", "github.com/goccy/go-yaml"},

	// Floor 5: over HTTP.
	"server": {"wire", "expand", "answer", "experiment", "compare", "report"},

	"cmd/evalkit": {"*"}, // roof

	// Own code, where the pure Go library does not read what h5py writes.
	"internal/hdf5": {},

	"internal/golden":  {},                                                               // tests only
	"internal/trial":   {"wire", "experiment", "compare", "github.com/stretchr/testify"}, // tests only
	"internal/browser": {"github.com/chromedp", "github.com/stretchr/testify"},           // tests only
}

// TestFloors parses the sources in-process: what a child process reads is
// invisible to the test cache, and a stale pass would be served.
func TestFloors(t *testing.T) {
	documented := map[string]bool{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(name))
		f := parseImports(t, name)
		documented[pkg] = documented[pkg] || f.Doc != nil
		allowed, ok := floors[pkg]
		if !ok {
			t.Errorf("%s: package %s has no floor; give it one, with a reason", name, pkg)
		}
		for _, spec := range f.Imports {
			if imp, _ := strconv.Unquote(spec.Path.Value); !mayImport(allowed, imp) {
				t.Errorf("%s imports %s, which the floor of %s does not allow", name, imp, pkg)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range floors {
		if doc, exists := documented[pkg]; !exists {
			t.Errorf("floors names %s, which does not exist", pkg)
		} else if !doc {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

func parseImports(t *testing.T, name string) *ast.File {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mayImport(allowed []string, imp string) bool {
	if host, _, _ := strings.Cut(imp, "/"); !strings.Contains(host, ".") || imp == module {
		return true // standard library, or the ground
	}
	for _, a := range allowed {
		if a == "*" || imp == path.Join(module, a) || imp == a || strings.HasPrefix(imp, a+"/") {
			return true
		}
	}
	return false
}

// TestTopLevel holds the fixed layout: a newcomer sees nine names.
func TestTopLevel(t *testing.T) {
	want := map[string]bool{
		"notebooks": true, "evalkit": true, "datasets": true, "reports": true, "scripts": true,
		"go.mod": true, "go.sum": true, "Makefile": true, "README.md": true,
	}
	generated := map[string]bool{"results": true, "bin": true} // ignored by git
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !want[name] && !generated[name] && !strings.HasPrefix(name, ".") {
			t.Errorf("%s does not belong to the top level", name)
		}
	}
}
