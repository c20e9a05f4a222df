package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// An Array is the numbers or strings of one data set, row-major.
type Array struct {
	Shape []int
	kind  datatype
	raw   []byte
	file  *File
}

// A datatype is the type of one element.
type datatype struct {
	class  int
	size   int
	big    bool // big endian
	signed bool
	text   bool // of a class vlen: a string
}

// The classes of types that are read.
const (
	classInt    = 0
	classFloat  = 1
	classString = 3
	classVlen   = 9
)

// maxBytes bounds the size of one array, and maxRatio its size to that of the
// file, which deflate cannot exceed.
const (
	maxBytes = 1 << 36
	maxRatio = 1100
)

// Array reads a data set.
func (f *File) Array(name string) (*Array, error) {
	h, ok := f.sets[name]
	if !ok {
		return nil, fmt.Errorf("no data set %q: there are %s", name, strings.Join(f.names, ", "))
	}
	a, err := f.array(h)
	if err != nil {
		return nil, fmt.Errorf("data set %q: %w", name, err)
	}
	return a, nil
}

func (f *File) array(h header) (*Array, error) {
	space, ok1 := h.find(msgDataspace)
	kind, ok2 := h.find(msgDatatype)
	if !ok1 || !ok2 || space.shared || kind.shared {
		return nil, fmt.Errorf("no size or type of its own: %w", errDamaged)
	}
	a := &Array{file: f}
	var err error
	if a.Shape, err = parseSpace(space.body); err != nil {
		return nil, err
	}
	if a.kind, err = parseType(kind.body); err != nil {
		return nil, err
	}
	size := a.kind.size
	for _, n := range a.Shape {
		if n > 0 && size > maxBytes/n {
			return nil, fmt.Errorf("%v of %d bytes is more than is read", a.Shape, a.kind.size)
		}
		size *= n
	}
	if size > maxRatio*len(f.data) {
		return nil, fmt.Errorf("%v in a file of %d bytes: %w", a.Shape, len(f.data), errDamaged)
	}
	filters, err := parseFilters(h)
	if err != nil {
		return nil, err
	}
	layout, _ := h.find(msgLayout)
	a.raw, err = f.read(a, size, layout.body, filters)
	return a, err
}

func parseSpace(b []byte) ([]int, error) {
	c := cursor{b: b}
	version, rank := c.u8(), c.u8()
	c.skip(1)
	switch version {
	case 1:
		c.skip(5)
	case 2:
		if c.u8() == 2 {
			return nil, errors.New("an empty data set")
		}
	default:
		c.fail(fmt.Sprintf("dataspace of version %d", version))
	}
	shape := make([]int, rank)
	for i := range shape {
		shape[i] = c.size()
	}
	return shape, c.err
}

func parseType(b []byte) (datatype, error) {
	c := cursor{b: b}
	class, bits := c.u8()&15, c.u8()
	c.skip(2)
	d := datatype{class: class, size: c.u32(), big: bits&1 != 0, signed: bits&8 != 0}
	switch class {
	case classInt, classFloat:
		if d.size != 1 && d.size != 2 && d.size != 4 && d.size != 8 || class == classFloat && d.size == 1 {
			return d, fmt.Errorf("numbers of %d bytes are not read", d.size)
		}
	case classString:
		d.big = false
	case classVlen:
		d.big, d.text = false, bits&15 == 1
		if !d.text {
			return d, errors.New("lists of varying length are not read")
		}
	default:
		return d, fmt.Errorf("elements of class %d are not read: want numbers or strings", class)
	}
	return d, c.err
}

// A filter is what was done to each chunk.
type filter int

const (
	deflate  filter = 1
	shuffle  filter = 2
	fletcher filter = 3
)

func parseFilters(h header) ([]filter, error) {
	m, ok := h.find(msgFilters)
	if !ok {
		return nil, nil
	}
	c := cursor{b: m.body}
	version, n := c.u8(), c.u8()
	if version == 1 {
		c.skip(6)
	}
	var out []filter
	for range n {
		id, name := c.u16(), 0
		if version == 1 || id >= 256 {
			name = c.u16()
		}
		c.skip(2)
		values := c.u16()
		c.skip(name)
		c.skip(4 * values)
		if version == 1 && values%2 == 1 {
			c.skip(4)
		}
		if c.err != nil {
			return nil, c.err
		}
		if f := filter(id); f != deflate && f != shuffle && f != fletcher {
			return nil, fmt.Errorf("filter %d is not read: want gzip, shuffle or fletcher32", id)
		}
		out = append(out, filter(id))
	}
	return out, nil
}

// read returns the bytes of all elements.
func (f *File) read(a *Array, size int, layout []byte, filters []filter) ([]byte, error) {
	c := &cursor{b: layout}
	version, class := c.u8(), c.u8()
	if version != 3 && version != 4 {
		return nil, fmt.Errorf("layout of version %d: want 3 or 4", version)
	}
	switch {
	case class == 0:
		b := c.take(c.u16())
		if len(b) < size {
			c.fail("too few bytes")
		}
		return b[:min(size, len(b))], c.err
	case class == 1:
		addr := c.u64()
		if addr == undefined {
			return make([]byte, size), c.err // nothing was written: zeros
		}
		data := f.at(addr)
		b := data.take(size)
		return b, errors.Join(c.err, data.err)
	case class == 2 && version == 3:
		return f.chunks(a, size, c, filters)
	}
	return nil, errors.New("chunks of the newest format are not read: write the file with libver=\"earliest\"")
}

// chunks puts the pieces of an array together.
func (f *File) chunks(a *Array, size int, c *cursor, filters []filter) ([]byte, error) {
	rank := c.u8() - 1
	addr := c.u64()
	if rank != len(a.Shape) || rank < 1 || c.err != nil {
		return nil, errors.Join(c.err, fmt.Errorf("chunks of rank %d: %w", rank, errDamaged))
	}
	piece, bytes, expected := make([]int, rank), a.kind.size, 1
	for i := range piece {
		piece[i] = c.u32()
		if piece[i] < 1 || bytes > maxBytes/piece[i] {
			return nil, fmt.Errorf("chunks of %v: %w", piece[:i+1], errDamaged)
		}
		bytes *= piece[i]
		expected *= (a.Shape[i] + piece[i] - 1) / piece[i]
	}
	out := make([]byte, size)
	if addr == undefined || c.err != nil {
		return out, c.err
	}
	return out, f.tree(addr, 1, 8+8*(rank+1), func(k *cursor, child uint64) error {
		if expected--; expected < 0 {
			return fmt.Errorf("more chunks than fit: %w", errDamaged)
		}
		stored, mask := k.u32(), k.u32()
		origin := make([]int, rank)
		for i := range origin {
			origin[i] = k.size()
		}
		data := f.at(child)
		b := data.take(stored)
		if bytes > maxRatio*(stored+1) {
			data.fail(fmt.Sprintf("a chunk of %d bytes in %d", bytes, stored))
		}
		if err := errors.Join(k.err, data.err); err != nil {
			return err
		}
		b, err := unfilter(b, filters, mask, a.kind.size, bytes)
		if err != nil {
			return err
		}
		return place(out, b, a.Shape, piece, origin, a.kind.size)
	})
}

// unfilter undoes the filters of a chunk, the last first. Bits of mask say
// which were left out.
func unfilter(b []byte, filters []filter, mask, element, want int) ([]byte, error) {
	for i := len(filters) - 1; i >= 0; i-- {
		if mask>>i&1 != 0 {
			continue
		}
		switch filters[i] {
		case deflate:
			z, err := zlib.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			if b, err = io.ReadAll(io.LimitReader(z, int64(want)+4+1)); err != nil { // a checksum may follow
				return nil, err
			}
		case shuffle:
			b = unshuffle(b, element)
		case fletcher:
			b = b[:max(0, len(b)-4)]
		}
	}
	if len(b) != want {
		return nil, fmt.Errorf("chunk of %d bytes, want %d: %w", len(b), want, errDamaged)
	}
	return b, nil
}

// unshuffle gathers the bytes of each element, which were stored one plane
// after the other.
func unshuffle(b []byte, element int) []byte {
	n := len(b) / element
	out := bytes.Clone(b)
	for i := range n {
		for j := range element {
			out[i*element+j] = b[j*n+i]
		}
	}
	return out
}

// place copies what of a chunk lies in the array.
func place(out, b []byte, shape, piece, origin []int, element int) error {
	last := len(shape) - 1
	for i, o := range origin {
		if o >= shape[i] {
			return fmt.Errorf("chunk at %v of %v: %w", origin, shape, errDamaged)
		}
	}
	run := min(piece[last], shape[last]-origin[last]) * element
	at := make([]int, last) // row within the chunk
	for {
		from, to, inside := 0, 0, true
		for i := range last {
			from = from*piece[i] + at[i]
			to = to*shape[i] + origin[i] + at[i]
			inside = inside && origin[i]+at[i] < shape[i]
		}
		if inside {
			from = from * piece[last] * element
			to = (to*shape[last] + origin[last]) * element
			copy(out[to:to+run], b[from:from+run])
		}
		i := last - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < piece[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}

// Len returns the number of elements.
func (a *Array) Len() int { return len(a.raw) / max(1, a.kind.size) }

func (a *Array) order() binary.ByteOrder {
	if a.kind.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Floats returns the elements of an array of numbers, rounded to float32.
func (a *Array) Floats() ([]float32, error) {
	if a.kind.class == classInt {
		ints, err := a.Ints()
		out := make([]float32, len(ints))
		for i, x := range ints {
			out[i] = float32(x)
		}
		return out, err
	}
	if a.kind.class != classFloat {
		return nil, errors.New("holds strings, not numbers")
	}
	out := make([]float32, a.Len())
	for i := range out {
		b := a.raw[i*a.kind.size : (i+1)*a.kind.size]
		switch a.kind.size {
		case 2:
			out[i] = Half(a.order().Uint16(b))
		case 4:
			out[i] = math.Float32frombits(a.order().Uint32(b))
		default:
			out[i] = float32(math.Float64frombits(a.order().Uint64(b)))
		}
	}
	return out, nil
}

// Ints returns the elements of an array of whole numbers.
func (a *Array) Ints() ([]int, error) {
	if a.kind.class != classInt {
		return nil, errors.New("does not hold whole numbers")
	}
	out := make([]int, a.Len())
	for i := range out {
		b := a.raw[i*a.kind.size : (i+1)*a.kind.size]
		var x uint64
		for j := range b {
			at := j
			if !a.kind.big {
				at = len(b) - 1 - j
			}
			x = x<<8 | uint64(b[at])
		}
		if shift := 64 - 8*len(b); a.kind.signed {
			out[i] = int(int64(x<<shift) >> shift)
		} else {
			out[i] = int(x)
		}
	}
	return out, nil
}

// Strings returns the elements of an array of strings.
func (a *Array) Strings() ([]string, error) {
	if a.kind.class != classString && a.kind.class != classVlen || a.kind.class == classVlen && a.kind.size != 16 {
		return nil, errors.New("does not hold strings")
	}
	out := make([]string, a.Len())
	heaps := map[uint64]map[int][]byte{}
	for i := range out {
		b := a.raw[i*a.kind.size : (i+1)*a.kind.size]
		if a.kind.class == classVlen {
			s, err := a.file.heapString(heaps, &cursor{b: b})
			if err != nil {
				return nil, fmt.Errorf("string %d: %w", i, err)
			}
			out[i] = s
			continue
		}
		s, _, _ := bytes.Cut(b, []byte{0})
		out[i] = string(s)
	}
	return out, nil
}

// heapString reads a string of the global heap: its length, the address of a
// collection, and its number there. Collections are read once into heaps.
func (f *File) heapString(heaps map[uint64]map[int][]byte, ref *cursor) (string, error) {
	n, addr, index := ref.u32(), ref.u64(), ref.u32()
	if n == 0 {
		return "", nil
	}
	objects, ok := heaps[addr]
	if !ok {
		var err error
		if objects, err = f.collection(addr); err != nil {
			return "", err
		}
		heaps[addr] = objects
	}
	b, ok := objects[index]
	if !ok || n > len(b) {
		return "", fmt.Errorf("not in the heap: %w", errDamaged)
	}
	return string(b[:n]), nil
}

// collection reads the objects of a collection of the global heap.
func (f *File) collection(addr uint64) (map[int][]byte, error) {
	c := f.at(addr)
	c.sign("GCOL")
	c.skip(4)
	end := c.pos - 8 + c.size()
	out := map[int][]byte{}
	for c.err == nil && c.pos+16 <= end {
		index := c.u16()
		c.skip(6)
		size := c.size()
		if index == 0 { // what is free
			break
		}
		out[index] = c.take(size)
		c.skip((8 - size%8) % 8)
		if err := f.worked(); err != nil {
			return nil, err
		}
	}
	return out, c.err
}

// Half returns the number that 16 bits of IEEE 754 binary16 stand for.
func Half(b uint16) float32 {
	sign, exp, frac := float64(1), int(b>>10&31), float64(b&1023)
	if b>>15 != 0 {
		sign = -1
	}
	switch exp {
	case 0:
		return float32(sign * math.Ldexp(frac, -24))
	case 31:
		if frac != 0 {
			return float32(math.NaN())
		}
		return float32(math.Inf(int(sign)))
	}
	return float32(sign * math.Ldexp(1024+frac, exp-25))
}
