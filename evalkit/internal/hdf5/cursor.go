package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errDamaged is wrapped by errors about bytes that make no sense.
var errDamaged = errors.New("damaged, or not of the kind that is read")

// A cursor reads numbers, little endian. After the first byte beyond the end,
// all it gives is zero, and err is set.
type cursor struct {
	b   []byte
	pos int
	err error
}

func (c *cursor) take(n int) []byte {
	if c.err == nil && (n < 0 || n > len(c.b)-c.pos) {
		c.err = fmt.Errorf("%d bytes at %d of %d: %w", n, c.pos, len(c.b), errDamaged)
	}
	if c.err != nil {
		return make([]byte, min(max(n, 0), 64))
	}
	c.pos += n
	return c.b[c.pos-n : c.pos]
}

func (c *cursor) skip(n int)  { c.take(n) }
func (c *cursor) u8() int     { return int(c.take(1)[0]) }
func (c *cursor) u16() int    { return int(binary.LittleEndian.Uint16(c.take(2))) }
func (c *cursor) u32() int    { return int(binary.LittleEndian.Uint32(c.take(4))) }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }
func (c *cursor) left() int   { return len(c.b) - c.pos }
func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %w", what, errDamaged)
	}
}

// size reads a length or an offset as an int.
func (c *cursor) size() int {
	n := c.u64()
	if n > 1<<56 {
		c.fail(fmt.Sprintf("a size of %d", n))
		return 0
	}
	return int(n)
}

// sized reads a number of 1, 2, 4 or 8 bytes.
func (c *cursor) sized(bytes int) int {
	switch bytes {
	case 1:
		return c.u8()
	case 2:
		return c.u16()
	case 4:
		return c.u32()
	}
	return c.size()
}

func (c *cursor) sign(want string) {
	if got := string(c.take(len(want))); c.err == nil && got != want {
		c.err = fmt.Errorf("%q where %q was expected: %w", got, want, errDamaged)
	}
}
