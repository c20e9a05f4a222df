package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// walk finds the arrays below a group.
func (f *File) walk(prefix string, addr uint64, seen map[uint64]bool) error {
	if seen[addr] {
		return nil // a second link to it
	}
	seen[addr] = true
	h, err := f.header(addr)
	if err != nil {
		return err
	}
	if _, ok := h.find(msgLayout); ok {
		name := strings.TrimPrefix(prefix, "/")
		f.names = append(f.names, name)
		f.sets[name] = h
		return nil
	}
	links, err := f.links(h)
	if err != nil {
		return fmt.Errorf("group %q: %w", prefix, err)
	}
	for _, l := range links {
		if err := f.walk(prefix+"/"+l.name, l.addr, seen); err != nil {
			return err
		}
	}
	return nil
}

type link struct {
	name string
	addr uint64
}

// links returns what a group holds.
func (f *File) links(h header) ([]link, error) {
	if m, ok := h.find(msgSymbols); ok {
		c := cursor{b: m.body}
		tree, heap := c.u64(), c.u64()
		names, err := f.localHeap(heap)
		if err = errors.Join(c.err, err); err != nil {
			return nil, err
		}
		var out []link
		err = f.tree(tree, 0, 8, func(_ *cursor, child uint64) error {
			more, err := f.symbols(child, names)
			out = append(out, more...)
			return err
		})
		return out, err
	}
	if m, ok := h.find(msgLinkInfo); ok {
		c := cursor{b: m.body}
		c.skip(1)
		if flags := c.u8(); flags&1 != 0 {
			c.skip(8)
		}
		if heap := c.u64(); c.err == nil && heap != undefined {
			return nil, errors.New("its links are in a heap of the newest format: write the file with libver=\"earliest\"")
		}
	}
	var out []link
	for _, m := range h {
		if m.kind == msgLink {
			if l, ok, err := parseLink(m.body); err != nil {
				return nil, err
			} else if ok {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// parseLink reads a link message; false if it is not a hard link.
func parseLink(b []byte) (link, bool, error) {
	c := cursor{b: b}
	c.skip(1)
	flags, kind := c.u8(), 0
	if flags&0x08 != 0 {
		kind = c.u8()
	}
	if flags&0x04 != 0 {
		c.skip(8)
	}
	if flags&0x10 != 0 {
		c.skip(1)
	}
	name := string(c.take(c.sized(1 << (flags & 3))))
	if kind != 0 {
		return link{}, false, c.err
	}
	return link{name, c.u64()}, true, c.err
}

func (f *File) localHeap(addr uint64) ([]byte, error) {
	c := f.at(addr)
	c.sign("HEAP")
	c.skip(4)
	size := c.size()
	c.skip(8)
	data := f.at(c.u64())
	b := data.take(size)
	return b, errors.Join(c.err, data.err)
}

// symbols reads the entries of a symbol table node.
func (f *File) symbols(addr uint64, names []byte) ([]link, error) {
	c := f.at(addr)
	c.sign("SNOD")
	c.skip(2)
	n := c.u16()
	var out []link
	for range n {
		at, object, cache := c.size(), c.u64(), c.u32()
		c.skip(4 + 16)
		if err := f.worked(); err != nil || c.err != nil || at > len(names) {
			return nil, errors.Join(err, c.err, errDamaged)
		}
		name, _, _ := bytes.Cut(names[at:], []byte{0})
		if cache != 2 { // a soft link
			out = append(out, link{string(name), object})
		}
	}
	return out, nil
}

// tree calls leaf with each key and child of the leaves of a B-tree of version 1.
func (f *File) tree(addr uint64, kind, key int, leaf func(key *cursor, child uint64) error) error {
	return f.branch(addr, kind, key, map[uint64]bool{}, leaf)
}

func (f *File) branch(addr uint64, kind, key int, seen map[uint64]bool, leaf func(key *cursor, child uint64) error) error {
	c := f.at(addr)
	c.sign("TREE")
	got, level, n := c.u8(), c.u8(), c.u16()
	c.skip(16)
	if c.err != nil || got != kind || seen[addr] {
		return errors.Join(c.err, fmt.Errorf("tree of kind %d, want %d: %w", got, kind, errDamaged))
	}
	seen[addr] = true
	for range n {
		k := &cursor{b: c.take(key)}
		child := c.u64()
		if err := errors.Join(c.err, f.worked()); err != nil {
			return err
		}
		var err error
		if level > 0 {
			err = f.branch(child, kind, key, seen, leaf)
		} else {
			err = leaf(k, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
