package vectorfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/internal/hdf5"
)

const npyMagic = "\x93NUMPY"

// readNPY reads an array of two dimensions in NumPy's format, versions 1 to 3:
// float16, float32 or float64, little endian, in C order.
func readNPY(path string) (evalkit.Vectors, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return evalkit.Vectors{}, err
	}
	v, err := parseNPY(b)
	if err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

func parseNPY(b []byte) (evalkit.Vectors, error) {
	var v evalkit.Vectors
	if !bytes.HasPrefix(b, []byte(npyMagic)) || len(b) < 12 {
		return v, errors.New("not a .npy file")
	}
	start, n := 10, int(binary.LittleEndian.Uint16(b[8:]))
	if b[6] > 1 {
		start, n = 12, int(binary.LittleEndian.Uint32(b[8:]))
	}
	if n > len(b)-start {
		return v, fmt.Errorf("header of %d bytes in a file of %d", n, len(b))
	}
	header, data := string(b[start:start+n]), b[start+n:]
	kind, rows, dim, err := parseHeader(header)
	if err != nil {
		return v, err
	}
	size := int(kind[1] - '0')
	if rows > len(data)/size || dim > len(data)/size || rows*dim*size != len(data) {
		return v, fmt.Errorf("%d bytes for %d×%d numbers of %d bytes", len(data), rows, dim, size)
	}
	v = evalkit.Vectors{Dim: dim, Data: make([]float32, rows*dim)}
	for i := range v.Data {
		switch at := data[i*size:]; size {
		case 2:
			v.Data[i] = hdf5.Half(binary.LittleEndian.Uint16(at))
		case 4:
			v.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(at))
		default:
			v.Data[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(at)))
		}
	}
	return v, nil
}

// parseHeader reads the Python dictionary before the numbers.
func parseHeader(h string) (kind string, rows, dim int, err error) {
	m := regexp.MustCompile(`'descr':\s*'([^']*)'`).FindStringSubmatch(h)
	shape := regexp.MustCompile(`'shape':\s*\(\s*(\d+)\s*,\s*(\d+)\s*,?\s*\)`).FindStringSubmatch(h)
	switch {
	case m == nil:
		return "", 0, 0, errors.New("header names no type")
	case m[1] != "<f2" && m[1] != "<f4" && m[1] != "<f8":
		return "", 0, 0, fmt.Errorf("numbers of type %q: want <f2, <f4 or <f8", m[1])
	case shape == nil:
		return "", 0, 0, errors.New("want an array of two dimensions")
	case !regexp.MustCompile(`'fortran_order':\s*False`).MatchString(h):
		return "", 0, 0, errors.New("columns first: save it in C order")
	}
	rows, err1 := strconv.Atoi(shape[1])
	dim, err2 := strconv.Atoi(shape[2])
	return m[1][1:], rows, dim, errors.Join(err1, err2)
}

// encodeNPY is of version 1, as numpy.save writes it.
func encodeNPY(v evalkit.Vectors) []byte {
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", v.Len(), v.Dim)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	for _, x := range v.Data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
