package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folder returns the folder of models and of the runtime: the one that the
// environment variable EVALKIT_MODELS names, else evalkit/models in the user's
// cache folder.
func Folder() (string, error) {
	if dir := os.Getenv("EVALKIT_MODELS"); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("folder of models: %w; set EVALKIT_MODELS", err)
	}
	return filepath.Join(base, "evalkit", "models"), nil
}

const (
	poolMean = "mean"
	poolCLS  = "cls"
)

// An export is a model's folder as its files describe it.
type export struct {
	dir     string
	weights []string // model.onnx with what belongs to it, or model.safetensors
	vocab   string
	cased   bool
	window  int // tokens
	pooling string
	config  bertConfig
}

// modelDir returns the folder that a Spec names.
func modelDir(model string) (string, error) {
	if strings.ContainsAny(model, `/\`) || strings.HasPrefix(model, ".") {
		return model, nil
	}
	base, err := Folder()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, model)
	if _, err := os.Stat(dir); err != nil {
		if model == MiniLM {
			return "", fmt.Errorf("model %q is not in %s: get it with \"evalkit model pull %s\"", model, base, model)
		}
		return "", fmt.Errorf("model %q is not in %s: put its folder there, or name the folder with a path such as ./%s", model, base, model)
	}
	return dir, nil
}

// readExport reads what the folder says of its model.
func readExport(dir string) (export, error) {
	x := export{dir: dir, pooling: poolMean}
	var err error
	if x.weights, err = findWeights(dir); err != nil {
		return x, err
	}
	if x.vocab, err = findVocab(dir); err != nil {
		return x, err
	}
	if err := readJSON(dir, "config.json", &x.config); err != nil {
		return x, err
	}
	if x.config.Hidden == 0 {
		x.config.Hidden = x.config.Dim
	}
	if x.config.Hidden < 1 {
		return x, fmt.Errorf("%s: says no hidden_size", filepath.Join(dir, "config.json"))
	}
	if x.fromWeights() {
		if err := x.config.check(); err != nil {
			return x, err
		}
	}
	var limits struct {
		Max int `json:"max_seq_length"`
	}
	if err := optional(readJSON(dir, "sentence_bert_config.json", &limits)); err != nil {
		return x, err
	}
	if err := x.readTokenizer(); err != nil {
		return x, err
	}
	if limits.Max > 0 {
		x.window = limits.Max
	}
	if x.window < 3 {
		return x, fmt.Errorf("%s: says nowhere how many tokens the model reads; give window", dir)
	}
	return x, errors.Join(x.readModules(), x.readPooling())
}

// fromWeights reports whether there is no export, and the graph is made here.
func (x *export) fromWeights() bool { return filepath.Ext(x.weights[0]) == ".safetensors" }

func findWeights(dir string) ([]string, error) {
	for _, name := range []string{"model.onnx", "onnx/model.onnx"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if isFile(path) {
			files := []string{path}
			for _, more := range []string{path + "_data", path + ".data"} { // large exports keep their numbers apart
				if isFile(more) {
					files = append(files, more)
				}
			}
			return files, nil
		}
	}
	if path := filepath.Join(dir, "model.safetensors"); isFile(path) {
		return []string{path}, nil
	}
	return nil, fmt.Errorf("%s: holds neither model.onnx nor onnx/model.onnx nor model.safetensors", dir)
}

func findVocab(dir string) (string, error) {
	for _, name := range []string{"vocab.txt", "tokenizer/vocab.txt"} {
		if path := filepath.Join(dir, filepath.FromSlash(name)); isFile(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: holds no vocab.txt: only models with a WordPiece vocabulary are read", dir)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func readJSON(dir, name string, v any) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// optional drops the error of a missing file.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readTokenizer refuses what the WordPiece of package token does not do.
func (x *export) readTokenizer() error {
	lower, chinese := true, true
	c := struct {
		Class   string   `json:"tokenizer_class"`
		Lower   *bool    `json:"do_lower_case"`
		Strip   *bool    `json:"strip_accents"`
		Chinese *bool    `json:"tokenize_chinese_chars"`
		Max     *float64 `json:"model_max_length"` // some files hold 1e30
	}{Lower: &lower, Chinese: &chinese}
	name := "tokenizer_config.json"
	if err := optional(readJSON(x.dir, name, &c)); err != nil {
		return err
	}
	where := filepath.Join(x.dir, name)
	switch {
	case c.Class != "" && !strings.HasPrefix(c.Class, "Bert") && !strings.HasPrefix(c.Class, "DistilBert") && !strings.HasPrefix(c.Class, "MPNet"):
		return fmt.Errorf("%s: tokenizer_class %q: want one with WordPiece, such as BertTokenizer", where, c.Class)
	case strings.HasPrefix(c.Class, "MPNet"):
		return fmt.Errorf("%s: tokenizer_class %q: its special tokens differ from BERT's", where, c.Class)
	case c.Strip != nil && c.Lower != nil && *c.Strip != *c.Lower:
		return fmt.Errorf("%s: strip_accents differs from do_lower_case: not supported", where)
	case c.Chinese != nil && !*c.Chinese:
		return fmt.Errorf("%s: tokenize_chinese_chars is false: not supported", where)
	}
	x.cased = c.Lower != nil && !*c.Lower
	x.window = x.config.MaxPositions
	if c.Max != nil && (x.window == 0 || *c.Max < float64(x.window)) {
		x.window = int(min(*c.Max, 1<<20))
	}
	return nil
}

// readModules refuses a model that does more than encode, pool and normalize.
func (x *export) readModules() error {
	var modules []struct{ Type string }
	if err := optional(readJSON(x.dir, "modules.json", &modules)); err != nil {
		return err
	}
	for _, m := range modules {
		switch kind := m.Type[strings.LastIndex(m.Type, ".")+1:]; kind {
		case "Transformer", "Pooling", "Normalize":
		default:
			return fmt.Errorf("%s: module %q: not supported", filepath.Join(x.dir, "modules.json"), m.Type)
		}
	}
	return nil
}

// readPooling reads either form of the file; without it, the mean is taken.
func (x *export) readPooling() error {
	var c map[string]any
	if err := optional(readJSON(x.dir, "1_Pooling/config.json", &c)); err != nil {
		return err
	}
	var modes []string
	if mode, ok := c["pooling_mode"].(string); ok {
		modes = append(modes, mode)
	}
	for key, mode := range map[string]string{"pooling_mode_mean_tokens": poolMean, "pooling_mode_cls_token": poolCLS} {
		if c[key] == true {
			modes = append(modes, mode)
		}
	}
	for _, key := range []string{"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"} {
		if c[key] == true {
			modes = append(modes, key)
		}
	}
	switch {
	case c == nil:
		return nil
	case len(modes) == 1 && (modes[0] == poolMean || modes[0] == poolCLS):
		x.pooling = modes[0]
		return nil
	}
	return fmt.Errorf("%s: want pooling by mean or cls alone", filepath.Join(x.dir, "1_Pooling", "config.json"))
}
