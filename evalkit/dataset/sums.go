package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// verifySums checks SHA256SUMS, if there is one: every file that it lists must
// be there and match, and every file that was read must be listed. Files that
// are not part of the data, such as a README, may be listed too.
func (f *folder) verifySums() {
	at := place{file: sumsFile}
	read := f.read // without the list itself
	if _, err := f.root.Lstat(sumsFile); errors.Is(err, fs.ErrNotExist) {
		return
	}
	text, err := f.readText(sumsFile)
	if err != nil {
		f.probs.add(at, err)
		return
	}
	listed := map[string]bool{}
	for line := range strings.Lines(text) {
		at.line++
		if strings.TrimSpace(line) == "" {
			continue
		}
		want, name, err := parseSum(strings.TrimRight(line, "\r\n"))
		if err == nil && listed[name] {
			err = fmt.Errorf("%s: listed twice", name)
		}
		if err == nil {
			listed[name] = true
			err = f.verifySum(name, want)
		}
		if err != nil {
			f.probs.add(at, err)
		}
	}
	for _, name := range read {
		if !listed[name] {
			f.probs.addf(place{file: sumsFile}, "%s: not listed", name)
		}
	}
}

// parseSum reads a line of sha256sum: 64 hex digits, a blank, a blank or an
// asterisk, the name.
func parseSum(line string) (sum, name string, err error) {
	sum, name, ok := strings.Cut(line, " ")
	if digest, err := hex.DecodeString(sum); err != nil || len(digest) != sha256.Size || !ok || len(name) < 2 || (name[0] != ' ' && name[0] != '*') {
		return "", "", fmt.Errorf("%s: not a line of sha256sum", short(line))
	}
	return strings.ToLower(sum), strings.TrimPrefix(name[1:], "./"), nil
}

func (f *folder) verifySum(name, want string) error {
	file, err := f.open(name, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer file.Close() // only read from
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return fmt.Errorf("%s: %w", name, bare(err))
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("%s: its SHA-256 is %s, not %s: the file was changed, or its line ends were", name, got, want)
	}
	return nil
}
