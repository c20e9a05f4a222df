package onnx_test

import (
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit/embed/onnx"
)

func ExampleParseSpec() {
	s, err := onnx.ParseSpec(`minilm(long=split, query_prefix="query: ")`)
	fmt.Println(s, err)
	_, err = onnx.ParseSpec("onnx(model=./mine,windw=128)")
	fmt.Println(err)
	// Output:
	// onnx(model=all-MiniLM-L6-v2,long=split,query_prefix="query: ") <nil>
	// parse embedder "onnx(model=./mine,windw=128)": unknown key "windw": did you mean "window"?
}
