package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
)

const magic = "\x89HDF\r\n\x1a\n"

// undefined is the address of what is not in the file.
const undefined = ^uint64(0)

// The types of messages in an object header.
const (
	msgDataspace    = 0x01
	msgLinkInfo     = 0x02
	msgDatatype     = 0x03
	msgFill         = 0x05
	msgLink         = 0x06
	msgLayout       = 0x08
	msgFilters      = 0x0B
	msgAttribute    = 0x0C
	msgContinuation = 0x10
	msgSymbols      = 0x11
)

// A File is a whole file in memory.
type File struct {
	data  []byte
	names []string
	sets  map[string]header
	work  int // entries and messages read so far
}

// maxWork bounds what is read, so that a damaged file that refers to itself
// ends in an error.
const maxWork = 1 << 22

// worked counts one more entry or message.
func (f *File) worked() error {
	if f.work++; f.work > maxWork {
		return fmt.Errorf("more than %d entries: %w", maxWork, errDamaged)
	}
	return nil
}

// A header is the messages of an object.
type header []message

type message struct {
	kind   int
	shared bool
	body   []byte
}

func (h header) find(kind int) (message, bool) {
	i := slices.IndexFunc(h, func(m message) bool { return m.kind == kind })
	if i < 0 {
		return message{}, false
	}
	return h[i], true
}

// Open reads the file at path.
func Open(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Parse reads a file that is in memory; it keeps data.
func Parse(data []byte) (*File, error) {
	f := &File{data: data, sets: map[string]header{}}
	root, err := f.superblock()
	if err != nil {
		return nil, err
	}
	if err := f.walk("", root, map[uint64]bool{}); err != nil {
		return nil, err
	}
	slices.Sort(f.names)
	return f, nil
}

// Names returns the paths of the arrays, sorted: "train", "group/array".
func (f *File) Names() []string { return slices.Clone(f.names) }

// at returns a cursor at an address.
func (f *File) at(addr uint64) *cursor {
	c := &cursor{b: f.data}
	if addr > uint64(len(f.data)) {
		c.fail(fmt.Sprintf("address %d in a file of %d bytes", addr, len(f.data)))
		return c
	}
	c.pos = int(addr)
	return c
}

// superblock returns the address of the root group.
func (f *File) superblock() (uint64, error) {
	if !bytes.HasPrefix(f.data, []byte(magic)) {
		return 0, errors.New("not an HDF5 file")
	}
	c := f.at(uint64(len(magic)))
	version := c.u8()
	var offsets, lengths int
	var base, root uint64
	switch version {
	case 0, 1:
		c.skip(4)
		offsets, lengths = c.u8(), c.u8()
		c.skip(1 + 2 + 2 + 4 + 4*version)
		base = c.u64()
		c.skip(3*8 + 8)
		root = c.u64()
	case 2, 3:
		offsets, lengths = c.u8(), c.u8()
		c.skip(1)
		base = c.u64()
		c.skip(2 * 8)
		root = c.u64()
	default:
		return 0, fmt.Errorf("superblock of version %d: want 0 to 3", version)
	}
	if c.err == nil && (offsets != 8 || lengths != 8 || base != 0) {
		return 0, fmt.Errorf("addresses of %d and lengths of %d bytes from %d: want 8, 8 and 0", offsets, lengths, base)
	}
	return root, c.err
}

// header reads the messages of the object at addr.
func (f *File) header(addr uint64) (header, error) {
	c := f.at(addr)
	var h header
	var blocks []cursor
	creation := false
	v2 := bytes.HasPrefix(c.b[min(c.pos, len(c.b)):], []byte("OHDR"))
	if v2 {
		c.skip(4)
		version, flags := c.u8(), c.u8()
		if version != 2 {
			return nil, fmt.Errorf("object header of version %d", version)
		}
		creation = flags&0x04 != 0
		c.skip(flags >> 5 & 1 * 16)
		c.skip(flags >> 4 & 1 * 4)
		size := c.sized(1 << (flags & 3))
		blocks = append(blocks, cursor{b: c.take(size)})
	} else {
		if version := c.u8(); version != 1 {
			c.fail(fmt.Sprintf("object header of version %d", version))
		}
		c.skip(7)
		size := c.u32()
		c.skip(4)
		blocks = append(blocks, cursor{b: c.take(size)})
	}
	if c.err != nil {
		return nil, c.err
	}
	for i := 0; i < len(blocks); i++ {
		if i > 1000 {
			return nil, fmt.Errorf("object header in a circle: %w", errDamaged)
		}
		more, err := f.messages(&h, &blocks[i], v2, creation)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, more...)
	}
	return h, nil
}

// messages adds those of one block to h and returns the blocks that go on.
func (f *File) messages(h *header, c *cursor, v2, creation bool) (more []cursor, err error) {
	prefix := 8
	if v2 {
		prefix = 4
		if creation {
			prefix += 2
		}
	}
	for c.left() >= prefix && c.err == nil {
		if err := f.worked(); err != nil {
			return nil, err
		}
		var m message
		var size, flags int
		if v2 {
			m.kind, size, flags = c.u8(), c.u16(), c.u8()
			c.skip(prefix - 4)
		} else {
			m.kind, size, flags = c.u16(), c.u16(), c.u8()
			c.skip(3)
		}
		m.body, m.shared = c.take(size), flags&2 != 0
		if m.kind != msgContinuation {
			*h = append(*h, m)
			continue
		}
		at := cursor{b: m.body}
		block := f.at(at.u64())
		body := cursor{b: block.take(at.size())}
		if v2 {
			body.sign("OCHK")
			body.b = body.b[:max(body.pos, len(body.b)-4)]
		}
		if err := errors.Join(at.err, block.err, body.err); err != nil {
			return nil, err
		}
		more = append(more, body)
	}
	return more, c.err
}
