"""Writes what sentence-transformers makes of many texts, to compare ours with.

    python scripts/embed_reference.py MODEL OUT [N]

MODEL is the folder of a sentence-transformer model, OUT the JSON file to write,
N the number of texts (all 260 where none is given). Needs sentence-transformers,
whose versions are written into the file. evalkit/embed/onnx/testdata holds the
first 43; all of them are compared by

    EVALKIT_EMBED_REFERENCE=OUT go test -run Reference -v ./evalkit/embed/onnx
"""

import base64
import json
import random
import sys

import sentence_transformers
import torch
import transformers

SENTENCES = [
    "The buoy drifts with the ice, and the node listens on the seabed.", "Wie groß ist die Wartezeit zwischen zwei Übertragungen?",
    "Où se trouve le fichier de configuration ? Près de l'œuvre, à côté du cœur.", "¿Cuántos nodos puede atender una pasarela en invierno?",
    "Il gateway inoltra ciò che sente; però non risponde mai.", "Поплавок дрейфует вместе со льдом. Ёлка, йод, объём.", "浮标随冰漂流，节点在海底监听。",
    "ブイは氷とともに漂い、ノードは海底で聞く。", "부표는 얼음과 함께 떠다니고 노드는 해저에서 듣는다.", "العوامة تنجرف مع الجليد، والعقدة تستمع في قاع البحر.",
    "הַמָּצוֹף נסחף עם הקרח", "बोया बर्फ के साथ बहता है", "ทุ่นลอยไปกับน้ำแข็ง", "Ο σημαδούρα παρασύρεται με τον πάγο", "Şamandıra buzla birlikte sürüklenir İIıi",
    "Phao trôi theo băng, và nút lắng nghe dưới đáy biển.", "Boja dryfuje z lodem; zażółć gęślą jaźń.", "Příliš žluťoučký kůň úpěl ďábelské ódy",
]
ODD = [
    "a", "!", "...", "42", "x" * 300, "word " * 700, "\u4e2d" * 400, "e\u0301 e\u0300\u0302 \u0344", "\U0001f642\U0001f468\u200d\U0001f469\u200d\U0001f467", "\ufb01ne \u2126 \u01c5 \u1e9e",
    "soft\u00adhyphen zero\u200bwidth \ufeffbom", "tab\tand\nline\r\nbreaks\u2028here", "\x00\x01nul\x7f", "\ufffd replacement \ue000 private", "\U00020000 \U0002a6df \uf900 \U0002f800",
    "[CLS] inside [SEP] and [MASK] twice [MASK][PAD] [UNK]", "[cls] [ SEP ] [[SEP]]", "| port | use |\n|---|---|\n| 80 | web |", "def f(x):\n    return x  # done", "https://example.org/a?b=c&d=%20#frag",
    "2026-12-01T10:00:00Z 1,234.56 \u20ac \u00a39.99", "it's IT'S don't rock'n'roll O'Neil's", "C++ and C# and F\u266f", "\u0661\u0662\u0663 \u2460\u00bd\u2167 \u00b2", "A" * 99 + " " + "B" * 100 + " " + "C" * 101,
]


def texts():
    rng = random.Random(11)
    out = SENTENCES + ODD
    words = " ".join(SENTENCES).split()
    while len(out) < 260:  # lengths around the window of 256 and far beyond it
        n = rng.choice([1, 2, 5, 10, 20, 40, 80, 110, 130, 160, 320])
        out.append(rng.choice([" ", "  ", "\n", ", "]).join(rng.choice(words) for _ in range(n)))
    return out


def packed(vector):
    """Numbers from -1 to 1 as 16 bits each, little endian, in base64."""
    return base64.b64encode(b"".join(round(float(x) * 32767).to_bytes(2, "little", signed=True) for x in vector)).decode()


def main(model, out, n=None):
    torch.set_num_threads(2)
    m = sentence_transformers.SentenceTransformer(model, device="cpu")
    list_ = texts()[: int(n) if n else None]
    vectors = m.encode(list_, batch_size=16, normalize_embeddings=True)
    reference = f"sentence-transformers {sentence_transformers.__version__}, transformers {transformers.__version__}, torch {torch.__version__}"
    cases = ",\n".join(json.dumps({"text": t, "vector": packed(v)}) for t, v in zip(list_, vectors))
    with open(out, "w") as f:
        f.write('{"reference": %s, "window": %d, "cases": [\n%s\n]}\n' % (json.dumps(reference), m.max_seq_length, cases))
    print(f"{len(list_)} texts, window {m.max_seq_length}")


main(*sys.argv[1:])
