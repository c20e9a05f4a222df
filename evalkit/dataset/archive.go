package dataset

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// errArchive is the answer to every kind of archive: unpacking is left to
// tools that are made for it.
var errArchive = errors.New("archives are not read: unpack it, look at what it holds, and name the folder or file")

// packedName reports whether name ends like an archive or a compressed file.
func packedName(name string) bool {
	return slices.Contains([]string{
		".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".lz4", ".7z", ".rar", ".br",
	}, strings.ToLower(path.Ext(name)))
}

// packedContent reports whether data begins like an archive or a compressed file.
func packedContent(data []byte) bool {
	for _, magic := range []string{
		"PK\x03\x04", "PK\x05\x06", "\x1f\x8b", "BZh", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "7z\xbc\xaf\x27\x1c", "Rar!\x1a\x07",
	} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	const tarMagic = 257 // offset of "ustar" in a POSIX tar header
	return len(data) >= tarMagic+5 && string(data[tarMagic:tarMagic+5]) == "ustar"
}

// refuseArchive returns errArchive if name is an archive, by name or content.
// A file that cannot be read is left to the caller.
func refuseArchive(name string) error {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if packedName(name) {
		return errArchive
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() // only read from
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if packedContent(head[:n]) {
		return errArchive
	}
	return nil
}
