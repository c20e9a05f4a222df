package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

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
