"""Times LangChain's splitters with tiktoken on one file, for comparison with

    go test -run '^$' -bench Finance ./evalkit/chunk

    python scripts/bench_chunk.py RANKS FILE

RANKS is the rank file cl100k_base.tiktoken. Needs tiktoken and
langchain-text-splitters. One core each; run both in one session.
"""

import sys
import time
from importlib.metadata import version

import tiktoken
import tiktoken.load
from langchain_text_splitters import RecursiveCharacterTextSplitter, TokenTextSplitter

PATTERN = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""


def best(f, n=5):
    times = []
    for _ in range(n):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)


def main(ranks, file):
    enc = tiktoken.Encoding("cl100k_base", pat_str=PATTERN, mergeable_ranks=tiktoken.load.load_tiktoken_bpe(ranks), special_tokens={})
    original, tiktoken.get_encoding = tiktoken.get_encoding, lambda name: enc  # no download
    text = open(file, encoding="utf-8").read()
    size = len(text.encode())
    fixed = TokenTextSplitter(encoding_name="cl100k_base", chunk_size=200, chunk_overlap=0)
    recursive = RecursiveCharacterTextSplitter(
        chunk_size=200, chunk_overlap=0, separators=["\n\n", "\n", ".", "?", "!", " ", ""], length_function=lambda t: len(enc.encode_ordinary(t))
    )
    tiktoken.get_encoding = original
    print(f"langchain-text-splitters {version('langchain-text-splitters')}, tiktoken {version('tiktoken')}")
    for name, splitter in (("token", fixed), ("recursive", recursive)):
        seconds = best(lambda: splitter.split_text(text))
        print(f"{name:10} {1000 * seconds:8.1f} ms {size / seconds / 1e6:8.2f} MB/s")


main(*sys.argv[1:])
