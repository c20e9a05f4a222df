package hdf5

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
)

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
