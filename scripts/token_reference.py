"""Writes evalkit/token/testdata/*.json: ids and starts by the reference encoders.

    python scripts/token_reference.py RANKS OUT [VOCAB]

RANKS is the rank file cl100k_base.tiktoken, OUT the folder to write to, VOCAB
a vocab.txt (the small one of OUT where none is given). Needs tiktoken and
tokenizers; their versions are written into the files.
"""

import hashlib
import json
import pathlib
import random
import sys

import tiktoken
import tiktoken.load
import tokenizers
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

PATTERN = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""

HAND = [
    "", " ", "  ", "\n", "\r\n", "\r\n\r\n", " \n ", "a", " a", "  a", "a ", "a  ", "\ta", "\t\ta", "\u00a0\u00a0x", "\u2003\n\u2003y",
    "it's IT'S don't we'll they've I'm you're he'd 'S 'LL '\u017f x'\u212ax", "''s", "'sss", "rock'n'roll", "O'Neil's", "123456789 1 12 1234",
    "\u0661\u0662\u0663\u0664 \u2460\u2461\u00bd\u2167", "a1b22c333d4444", "x=1;y==2&&z!=3", "!!!\n\n\nnext", " ?!\r\n\r\nx", "...---...", "C++ and C#",
    "Gr\u00f6\u00dfe: 5 m\u00b2 \u2014 na\u00efve \u201cquotes\u201d \U0001f642 \u7d42\u308f\u308a\u3002", "\u00e4\U0001f642" * 40,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family", "\U0001f1e9\U0001f1ea\U0001f1f3\U0001f1f4", "e\u0301 e\u0300\u0302 \u0344", "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0644\u064f\u063a\u064e\u0629", "\u05e2\u05d1\u05e8\u05d9\u05ea \u05e0\u05b4\u05e7\u05bc\u05d5\u05bc\u05d3",
    "\u6771\u4eac\u30bf\u30ef\u30fc", "\ud55c\uad6d\uc5b4 \ubb38\uc7a5", "\u732b\u306f\u7720\u308b\u3002\u72ac\u306f\u8d70\u308b\uff01", "\u0130stanbul I\u0131\u015f\u0131k \u1e9e", "\u01c5 \ufb01 \u2126",
    "\x00\x01\x7f\x1b[0m\u0085\u2028\u2029", "\ufeffbom", "soft\u00adhyphen zero\u200bwidth", "<|endoftext|> <|fim_prefix|>", "\ufffd replacement", "\ue000 private",
    "| port | use |\n|---|---|\n| 80 | web |\n", "def f(x):\n    return x  # done\n\n\n\nclass A:\n\tpass\n", "https://example.org/a?b=c&d=%20#frag", "2026-12-01T10:00:00Z 1,234.56 \u20ac \u00a39.99",
    "x" * 300, " " * 300, "\n" * 300, "ab" * 200, "\u5b57" * 200, "-" * 200, "1" * 100, "q" * 4200 + " fin", "a b c " * 50, "\u00e9" * 101 + " " + "z" * 101,
]


def texts():
    rng = random.Random(7)
    pool = ["a", "B", "z", "9", " ", " ", "\n", "\r", "\t", "'", "s", "-", ".", "\u00e9", "e\u0301", "\u00df", "\u4e2d", "\u306e", "\ud55c", "\u0639", "\u0939", "\u0940", "\U0001f642", "\u200d", "\u00a0", "\u2003", "\u0130", "\u00bd", "\u0663", "_", "$", "\u20ac", "\x7f", "\u0301"]
    out = list(HAND)
    while len(out) < 320:
        out.append("".join(rng.choice(pool) for _ in range(rng.randrange(1, 60))))
    return out


def case(text, ids, starts):
    """Long texts are kept by digest, to keep the file small."""
    if len(ids) <= 60:
        return {"text": text, "ids": ids, "starts": starts}
    digest = lambda x: hashlib.sha256(",".join(map(str, x)).encode()).hexdigest()
    return {"text": text, "n": len(ids), "ids_sha256": digest(ids), "starts_sha256": digest(starts)}


def rune_start(data, i):
    while i > 0 and data[i] & 0xC0 == 0x80:
        i -= 1
    return i


def cl100k(ranks):
    enc = tiktoken.Encoding("cl100k_base", pat_str=PATTERN, mergeable_ranks=tiktoken.load.load_tiktoken_bpe(ranks), special_tokens={"<|endoftext|>": 100257})
    for text in texts():
        ids = enc.encode_ordinary(text)
        data, at, starts = text.encode(), 0, []
        for i in ids:
            starts.append(rune_start(data, at))
            at += len(enc.decode_single_token_bytes(i))
        yield case(text, ids, starts)


def wordpiece(vocab, lowercase):
    tok = tokenizers.Tokenizer(WordPiece.from_file(str(vocab), unk_token="[UNK]", max_input_chars_per_word=100))
    tok.normalizer = BertNormalizer(lowercase=lowercase, clean_text=True, handle_chinese_chars=True)
    tok.pre_tokenizer = BertPreTokenizer()
    for text in texts():
        e = tok.encode(text, add_special_tokens=False)
        yield case(text, e.ids, [len(text[:o[0]].encode()) for o in e.offsets])


def main(ranks, out, vocab=None):
    out = pathlib.Path(out)
    vocab = vocab or out / "vocab.txt"

    def write(name, reference, cases):
        body = ",\n".join(json.dumps(c) for c in cases)
        (out / name).write_text('{"reference": %s, "cases": [\n%s\n]}\n' % (json.dumps(reference), body))

    write("cl100k.json", f"tiktoken {tiktoken.__version__}", cl100k(ranks))
    for name, lowercase in (("uncased", True), ("cased", False)):
        write(f"wordpiece_{name}.json", f"tokenizers {tokenizers.__version__}", wordpiece(vocab, lowercase))


main(*sys.argv[1:])
