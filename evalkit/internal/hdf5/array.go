package hdf5

import (
	"errors"
	"fmt"
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
