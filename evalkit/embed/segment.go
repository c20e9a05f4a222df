package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A segment is a file of vectors:
//
//	offset      size      what
//	0           8         "evkvec01"
//	8           4         size of a vector, dim, little endian as all numbers
//	12          4         number of vectors, n
//	16          32·n      keys
//	…           4         CRC-32C of all before
//	…           n·(4·dim+4) vectors as float32 bits, each with the CRC-32C of its key and bits
//
// Its name is the digest of its content.
type segment struct {
	file  *os.File
	dim   int
	start int64 // of the vectors
}

const (
	segmentMagic  = "evkvec01"
	segmentSuffix = ".vec"
	headerSize    = 16
)

func checksum(parts ...[]byte) uint32 {
	sum := uint32(0)
	for _, p := range parts {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), p)
	}
	return sum
}

// segmentNames returns the files of vectors in dir, the oldest first: what
// replaced a damaged vector counts more than the vector.
func segmentNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type file struct {
		name string
		time time.Time
	}
	var files []file
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), segmentSuffix) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		files = append(files, file{filepath.Join(dir, e.Name()), info.ModTime()})
	}
	slices.SortStableFunc(files, func(a, b file) int { return a.time.Compare(b.time) })
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.name
	}
	return names, nil
}

// openSegment opens a file and reads its keys, in the order of rows.
func openSegment(name string) (*segment, []key, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	s, keys, err := readHeader(f)
	if err != nil {
		_ = f.Close() // only read; the first error is the cause
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, keys, nil
}

func readHeader(f *os.File) (*segment, []key, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, nil, err
	}
	dim, n := int64(binary.LittleEndian.Uint32(head[8:])), int64(binary.LittleEndian.Uint32(head[12:]))
	if string(head[:8]) != segmentMagic || dim == 0 || headerSize+n*int64(len(key{}))+4 > info.Size() {
		return nil, nil, errors.New("not a file of vectors, or cut off")
	}
	body := make([]byte, n*int64(len(key{}))+4)
	if _, err := io.ReadFull(f, body); err != nil {
		return nil, nil, err
	}
	raw, sum := body[:len(body)-4], binary.LittleEndian.Uint32(body[len(body)-4:])
	if checksum(head, raw) != sum {
		return nil, nil, errors.New("checksum of the keys differs")
	}
	keys := make([]key, n)
	for i := range keys {
		copy(keys[i][:], raw[i*len(key{}):])
	}
	return &segment{f, int(dim), headerSize + int64(len(body))}, keys, nil
}

// read returns a row, checked against the key.
func (s *segment) read(k key, row int) ([]float32, error) {
	buf := make([]byte, 4*s.dim+4)
	if _, err := s.file.ReadAt(buf, s.start+int64(row)*int64(len(buf))); err != nil {
		return nil, err
	}
	raw := buf[:4*s.dim]
	if checksum(k[:], raw) != binary.LittleEndian.Uint32(buf[4*s.dim:]) {
		return nil, errors.New("checksum of the vector differs")
	}
	out := make([]float32, s.dim)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, nil
}

// A segmentWriter collects rows of one size.
type segmentWriter struct {
	keys []key
	rows [][]float32
}

// add keeps a copy of row and returns its number.
func (w *segmentWriter) add(k key, row []float32) int {
	w.keys = append(w.keys, k)
	w.rows = append(w.rows, slices.Clone(row)) // not the whole of the answer
	return len(w.keys) - 1
}

func (w *segmentWriter) row(i int) []float32 { return w.rows[i] }

// write makes the file in dir and returns its name.
func (w *segmentWriter) write(dir string) (name string, err error) {
	content := w.encode()
	digest := sha256.Sum256(content)
	name = filepath.Join(dir, hex.EncodeToString(digest[:16])+segmentSuffix)
	f, err := os.CreateTemp(dir, "*.tmp")
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return name, nil
}

func (w *segmentWriter) encode() []byte {
	var b bytes.Buffer
	b.WriteString(segmentMagic)
	number := func(x uint32) { b.Write(binary.LittleEndian.AppendUint32(nil, x)) }
	number(uint32(len(w.rows[0])))
	number(uint32(len(w.keys)))
	for _, k := range w.keys {
		b.Write(k[:])
	}
	number(checksum(b.Bytes()))
	for i, row := range w.rows {
		raw := appendFloats(nil, row)
		b.Write(raw)
		number(checksum(w.keys[i][:], raw))
	}
	return b.Bytes()
}
