package onnx

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// A graph is an ONNX model being written, in the wire form of onnx.proto. Field
// numbers are those of ONNX IR version 8.
type graph struct {
	body []byte // GraphProto
}

// The numbers of ONNX's types and of the operator sets in use.
const (
	typeFloat   = 1
	typeInt32   = 6
	irVersion   = 8
	opset       = 17
	attrFloat   = 1
	attrInt     = 2
	contribName = "com.microsoft" // onnxruntime's own operators
)

// An attr is a named number of a node.
type attr struct {
	name  string
	value any // float32 or int
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func number(b []byte, field protowire.Number, n int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(n))
}

// node adds an operator.
func (g *graph) node(domain, op string, in, out []string, attrs ...attr) {
	var b []byte
	for _, name := range in {
		b = text(b, 1, name)
	}
	for _, name := range out {
		b = text(b, 2, name)
	}
	b = text(b, 3, out[0]+"/"+op)
	b = text(b, 4, op)
	for _, a := range attrs {
		m := text(nil, 1, a.name)
		switch v := a.value.(type) {
		case float32:
			m = protowire.AppendFixed32(protowire.AppendTag(m, 2, protowire.Fixed32Type), math.Float32bits(v))
			m = number(m, 20, attrFloat)
		case int:
			m = number(number(m, 3, v), 20, attrInt)
		}
		b = message(b, 5, m)
	}
	if domain != "" {
		b = text(b, 7, domain)
	}
	g.body = message(g.body, 1, b)
}

// weights adds a constant of the given shape, row-major.
func (g *graph) weights(name string, data []float32, shape ...int) {
	var b []byte
	for _, n := range shape {
		b = number(b, 1, n)
	}
	b = text(number(b, 2, typeFloat), 8, name)
	raw := make([]byte, 0, 4*len(data))
	for _, x := range data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	g.body = message(g.body, 5, message(b, 9, raw))
}

// The fields of GraphProto for what goes in and what comes out.
const (
	fieldInput  = 11
	fieldOutput = 12
)

// value declares an input or output; the sizes are names, free at each run, or numbers.
func (g *graph) value(field protowire.Number, name string, elem int, sizes ...any) {
	var shape []byte
	for _, s := range sizes {
		var dim []byte
		switch s := s.(type) {
		case string:
			dim = text(nil, 2, s)
		case int:
			dim = number(nil, 1, s)
		}
		shape = message(shape, 1, dim)
	}
	tensor := message(number(nil, 1, elem), 2, shape)
	g.body = message(g.body, field, message(text(nil, 1, name), 2, message(nil, 1, tensor)))
}

// model returns the whole ModelProto.
func (g *graph) model(name string) []byte {
	b := number(nil, 1, irVersion)
	b = message(b, 8, number(text(nil, 1, ""), 2, opset))
	b = message(b, 8, number(text(nil, 1, contribName), 2, 1))
	return message(b, 7, text(g.body, 2, name))
}
