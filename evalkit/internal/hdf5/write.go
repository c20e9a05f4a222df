package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

// A Set is an array to write. Data is []float32, []int32 or []string, row-major.
type Set struct {
	Name  string
	Shape []int
	Data  any
}

// maxSets is what one node of the root group holds.
const maxSets = 8

// The sizes of what every file begins with, as libhdf5 lays them out for its
// default ranks of trees, 4 and 16.
const (
	superblockSize = 96
	treeSize       = 24 + 33*8 + 32*8
	heapHeadSize   = 32
	symbolsSize    = 8 + 2*4*40
	minCollection  = 4096
)

// Write makes the file at path, with at most 8 sets in its root group, whole
// and not in chunks, and the group's attributes: strings or ints. The same
// arguments give the same bytes. h5py reads it, and so does every HDF5 library.
func Write(path string, sets []Set, attributes map[string]any) error {
	b, err := encode(sets, attributes)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.WriteFile(path, b, 0o666)
}

func encode(sets []Set, attributes map[string]any) ([]byte, error) {
	sets = slices.Clone(sets)
	slices.SortFunc(sets, func(a, b Set) int { return strings.Compare(a.Name, b.Name) })
	if err := checkSets(sets); err != nil {
		return nil, err
	}
	w := &writer{b: make([]byte, superblockSize)}
	heap, err := w.attributeHeap(attributes)
	if err != nil {
		return nil, err
	}
	headers := make([]uint64, len(sets))
	for i, s := range sets {
		if headers[i], err = w.set(s); err != nil {
			return nil, fmt.Errorf("set %q: %w", s.Name, err)
		}
	}
	names, offsets := w.names(sets)
	symbols := w.symbols(offsets, headers)
	tree := w.tree(symbols, offsets)
	root := []message{{kind: msgSymbols, body: numbers(tree, names)}}
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		root = append(root, message{kind: msgAttribute, body: attribute(name, attributes[name], heap, i+1)})
	}
	group := w.header(root)
	copy(w.b, superblock(uint64(len(w.b)), group, tree, names))
	return w.b, nil
}

func checkSets(sets []Set) error {
	if len(sets) > maxSets {
		return fmt.Errorf("%d sets: at most %d", len(sets), maxSets)
	}
	for i, s := range sets {
		n := 1
		for _, d := range s.Shape {
			n *= d
		}
		got := -1
		switch data := s.Data.(type) {
		case []float32:
			got = len(data)
		case []int32:
			got = len(data)
		case []string:
			got = len(data)
		}
		switch {
		case s.Name == "" || strings.ContainsAny(s.Name, "/\x00"):
			return fmt.Errorf("set %q: want a name without a slash", s.Name)
		case i > 0 && s.Name == sets[i-1].Name:
			return fmt.Errorf("set %q: given twice", s.Name)
		case got != n || len(s.Shape) == 0:
			return fmt.Errorf("set %q: %d elements for shape %v", s.Name, got, s.Shape)
		}
	}
	return nil
}

// numbers returns 8 bytes each.
func numbers(list ...uint64) []byte {
	var b []byte
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// padded returns b with zeros up to a multiple of 8.
func padded(b []byte) []byte { return append(bytes.Clone(b), make([]byte, (8-len(b)%8)%8)...) }

// A writer appends blocks; each starts at a multiple of 8.
type writer struct{ b []byte }

func (w *writer) add(b []byte) (addr uint64) {
	addr = uint64(len(w.b))
	w.b = append(w.b, b...)
	w.b = append(w.b, make([]byte, (8-len(w.b)%8)%8)...)
	return addr
}

// superblock is of version 0.
func superblock(end, root, tree, heap uint64) []byte {
	b := append([]byte(magic), 0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16, 0, 0, 0, 0, 0)
	b = append(b, numbers(0, undefined, end, undefined, 0, root)...)
	b = append(b, 1, 0, 0, 0, 0, 0, 0, 0) // the next two are of a group
	return append(b, numbers(tree, heap)...)
}

// header adds an object header of version 1.
func (w *writer) header(messages []message) uint64 {
	var body []byte
	for _, m := range messages {
		m.body = padded(m.body)
		body = binary.LittleEndian.AppendUint16(body, uint16(m.kind))
		body = binary.LittleEndian.AppendUint16(body, uint16(len(m.body)))
		body = append(append(body, 0, 0, 0, 0), m.body...)
	}
	b := []byte{1, 0}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(messages)))
	b = binary.LittleEndian.AppendUint32(b, 1) // links to it
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	return w.add(append(append(b, 0, 0, 0, 0), body...))
}

// names adds the local heap: an empty name, then those of the sets.
func (w *writer) names(sets []Set) (addr uint64, offsets []uint64) {
	data := make([]byte, 8)
	for _, s := range sets {
		offsets = append(offsets, uint64(len(data)))
		data = append(data, padded(append([]byte(s.Name), 0))...)
	}
	head := append([]byte("HEAP"), 0, 0, 0, 0)
	const nothingFree = 1
	head = append(head, numbers(uint64(len(data)), nothingFree, uint64(len(w.b)+heapHeadSize))...)
	return w.add(append(head, data...)), offsets
}

func (w *writer) symbols(offsets, headers []uint64) uint64 {
	b := append([]byte("SNOD"), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(offsets)))
	for i, o := range offsets {
		b = append(b, numbers(o, headers[i], 0, 0, 0)...)
	}
	return w.add(append(b, make([]byte, symbolsSize-len(b))...))
}

func (w *writer) tree(symbols uint64, offsets []uint64) uint64 {
	b := append([]byte("TREE"), 0, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(min(1, len(offsets))))
	b = append(b, numbers(undefined, undefined)...)
	if len(offsets) > 0 {
		b = append(b, numbers(0, symbols, offsets[len(offsets)-1])...)
	}
	return w.add(append(b, make([]byte, treeSize-len(b))...))
}

// The types that are written.
var (
	typeFloat32 = []byte{0x11, 0x20, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0}
	typeInt32   = []byte{0x10, 0x08, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0}
	typeVlen    = []byte{0x19, 0x01, 0x01, 0, 16, 0, 0, 0, 0x13, 0x10, 0, 0, 1, 0, 0, 0} // UTF-8
)

func typeString(size int) []byte {
	const nullPadded, utf8 = 1, 1 << 4
	return binary.LittleEndian.AppendUint32([]byte{0x13, nullPadded | utf8, 0, 0}, uint32(size))
}

func space(shape []int) []byte {
	b := []byte{1, byte(len(shape)), 0, 0, 0, 0, 0, 0}
	for _, n := range shape {
		b = append(b, numbers(uint64(n))...)
	}
	return b
}

// set adds the data and the header of an array.
func (w *writer) set(s Set) (uint64, error) {
	var kind, raw []byte
	switch data := s.Data.(type) {
	case []float32:
		kind = typeFloat32
		for _, x := range data {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
	case []int32:
		kind = typeInt32
		for _, x := range data {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(x))
		}
	case []string:
		size := 1
		for i, x := range data {
			if strings.Contains(x, "\x00") {
				return 0, fmt.Errorf("string %d holds a NUL", i)
			}
			size = max(size, len(x))
		}
		kind = typeString(size)
		for _, x := range data {
			raw = append(append(raw, x...), make([]byte, size-len(x))...)
		}
	}
	addr := w.add(raw)
	if len(raw) == 0 {
		addr = undefined
	}
	return w.header([]message{
		{kind: msgDataspace, body: space(s.Shape)},
		{kind: msgDatatype, body: kind},
		{kind: msgFill, body: []byte{2, 2, 2, 1, 0, 0, 0, 0}},
		{kind: msgLayout, body: append([]byte{3, 1}, numbers(addr, uint64(len(raw)))...)},
	}), nil
}

// attributeHeap adds the global heap with the strings among the attributes,
// numbered from 1 in the order of their names, and returns its address.
func (w *writer) attributeHeap(attributes map[string]any) (uint64, error) {
	var objects []byte
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		switch v := attributes[name].(type) {
		case string:
			objects = binary.LittleEndian.AppendUint16(objects, uint16(i+1))
			objects = append(objects, 0, 0, 0, 0, 0, 0)
			objects = append(append(objects, numbers(uint64(len(v)))...), padded([]byte(v))...)
		case int:
			if int(int32(v)) != v {
				return 0, fmt.Errorf("attribute %q: %d is beyond 32 bits", name, v)
			}
		default:
			return 0, fmt.Errorf("attribute %q: neither a string nor an int", name)
		}
	}
	if len(objects) > 1<<16 {
		return 0, errors.New("attributes of more than 64 KiB")
	}
	size := max(minCollection, 16+len(objects)+16)
	b := append(append([]byte("GCOL"), 1, 0, 0, 0), numbers(uint64(size))...)
	b = append(b, objects...)
	free := append(make([]byte, 8), numbers(uint64(size-len(b)))...) // object 0: what is free
	b = append(b, free...)
	return w.add(append(b, make([]byte, size-len(b))...)), nil
}

// attribute returns the message of one attribute; a string is object number
// index of the global heap.
func attribute(name string, value any, heap uint64, index int) []byte {
	kind, data := typeInt32, []byte(nil)
	switch v := value.(type) {
	case int:
		data = binary.LittleEndian.AppendUint32(nil, uint32(v))
	case string:
		kind = typeVlen
		data = binary.LittleEndian.AppendUint32(nil, uint32(len(v)))
		data = append(data, numbers(heap)...)
		data = binary.LittleEndian.AppendUint32(data, uint32(index))
	}
	b := []byte{1, 0}
	for _, n := range []int{len(name) + 1, len(kind), len(space(nil))} {
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
	}
	b = append(b, padded(append([]byte(name), 0))...)
	b = append(append(b, padded(kind)...), space(nil)...)
	return append(b, data...)
}
