"""Times our embedder beside sentence-transformers, onnxruntime and transformers.js,
in one run.

    python scripts/bench_embed.py MODEL [ROUNDS [NODE_MODULES]]

MODEL is the folder of a BERT-like sentence-transformer model. The texts are the
documents of datasets/handbook in pieces of 16, 64 and 180 words. All compute the
same vectors on one thread; rounds are interleaved, and the table shows the median
of texts per second of processor time, which other work on the machine moves
little, and its ratio to sentence-transformers. NODE_MODULES is where npm put
@huggingface/transformers (`npm install --ignore-scripts` spares its GPU files);
without it, transformers.js is left out.
Needs sentence-transformers, onnxruntime, onnx and onnxscript, and Go.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import sentence_transformers
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = (16, 64, 180)


def texts(words, n):
    all_words = " ".join(p.read_text() for p in sorted((ROOT / "datasets/handbook/documents").rglob("*.md"))).split()
    step = max(1, (len(all_words) - words) // n)
    return [" ".join(all_words[i * step : i * step + words]) for i in range(n)]


class Export(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.inner(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state


def export(model, folder):
    """Puts the model's files and onnx/model.onnx into folder."""
    shutil.copytree(model, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.safetensors"))
    inner = sentence_transformers.SentenceTransformer(model, device="cpu", model_kwargs={"attn_implementation": "eager"})[0].auto_model.eval()
    example = torch.ones((2, 9), dtype=torch.long)
    mask = example.clone()
    mask[0, 5:] = 0  # else it is taken to mask nothing
    names = ["input_ids", "attention_mask", "token_type_ids"]
    shape = {0: torch.export.Dim("batch", min=1, max=4096), 1: torch.export.Dim("length", min=2, max=512)}
    program = torch.onnx.export(Export(inner), (example, mask, example * 0), input_names=names, output_names=["last_hidden_state"],
                                dynamic_shapes=[shape] * 3, dynamo=True, verbose=False)
    limits, tokenizer = (json.loads((folder / f"{name}.json").read_text()) for name in ("sentence_bert_config", "tokenizer_config"))
    tokenizer["model_max_length"] = limits["max_seq_length"]  # transformers.js reads this one
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "onnx").mkdir()
    program.save(folder / "onnx" / "model.onnx", external_data=False)


def with_ort(folder, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(folder / "onnx" / "model.onnx", options)
    st = sentence_transformers.SentenceTransformer(MODEL, device="cpu")
    tokenizer = st.tokenizer

    def run(list_):
        order = sorted(range(len(list_)), key=lambda i: -len(list_[i]))
        out = np.zeros((len(list_), 384), dtype="f4")
        for i in range(0, len(order), 32):
            part = order[i : i + 32]
            e = tokenizer([list_[j] for j in part], padding=True, truncation=True, max_length=st.max_seq_length, return_tensors="np")
            mask = e["attention_mask"].astype("i8")
            (hidden,) = session.run(None, {"input_ids": e["input_ids"].astype("i8"), "attention_mask": mask, "token_type_ids": e["token_type_ids"].astype("i8")})
            mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[part] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return out

    return run


def go(binary, model, file):
    env = {**os.environ, "GOMAXPROCS": "1", "EVALKIT_BENCH_MODEL": str(model), "EVALKIT_BENCH_TEXTS": str(file)}
    out = subprocess.run([binary, "-test.run", "^$", "-test.bench", "^BenchmarkTexts$", "-test.benchtime", "1x"], env=env, capture_output=True, text=True, check=True).stdout
    fields = out.split()
    return float(fields[fields.index("texts/cpu-s") - 1])


def javascript(modules, model, file, want):
    out = json.loads(subprocess.run(["node", ROOT / "scripts/bench_embed.mjs", modules, model, file], stdout=subprocess.PIPE, text=True, check=True).stdout)
    off = np.abs(np.array(out["first"]) - want).max()
    assert off < 1e-4, off
    return out["rate"]


def rate(run, list_):
    start = time.process_time()
    run(list_)
    return len(list_) / (time.process_time() - start)


def main(rounds, modules):
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        export(MODEL, tmp / "export")
        binary = tmp / "onnx.test"
        subprocess.run(["go", "test", "-c", "-o", binary, "./evalkit/embed/onnx"], cwd=ROOT, check=True)
        torch.set_num_threads(1)
        st = sentence_transformers.SentenceTransformer(MODEL, device="cpu")
        ort = with_ort(tmp / "export", 1)
        file = tmp / "texts.json"
        for words in WORDS:
            list_ = texts(words, 4000 // words + 40)
            file.write_text(json.dumps(list_))
            want = st.encode(list_, normalize_embeddings=True)
            off = np.abs(ort(list_) - want).max()
            assert off < 1e-4, off
            got = {"sentence-transformers": [], "onnxruntime": [], "ours, model.onnx": [], "ours, safetensors": []}
            if modules:
                got["transformers.js"] = []
            for _ in range(rounds):
                got["sentence-transformers"].append(rate(lambda x: st.encode(x, batch_size=32), list_))
                got["onnxruntime"].append(rate(ort, list_))
                got["ours, model.onnx"].append(go(binary, tmp / "export", file))
                got["ours, safetensors"].append(go(binary, MODEL, file))
                if modules:
                    got["transformers.js"].append(javascript(modules, tmp / "export", file, want[0]))
            base = statistics.median(got["sentence-transformers"])
            for name, rates in got.items():
                m = statistics.median(rates)
                print(f"{words:3d} words  {name:22s} {m:7.1f} texts/cpu-s  x{m / base:.2f}  (from {min(rates):.1f} to {max(rates):.1f})", flush=True)


if __name__ == "__main__":
    MODEL = sys.argv[1]
    main(int(sys.argv[2]) if len(sys.argv) > 2 else 5, sys.argv[3] if len(sys.argv) > 3 else "")
