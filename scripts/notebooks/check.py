#!/usr/bin/env python3
"""Checks the form of committed notebooks; --fix writes them in that form.

    scripts/notebooks/check.py [--fix] notebooks/*.ipynb

A committed notebook holds no outputs, no counts and no metadata but the kernel,
so that a diff shows what a person changed. Its first code cell makes cells use
the module of this checkout and downloads nothing. A cell is short, and no cell
may end early unnoticed, excuse itself by a tag or name a folder of one machine.

Exit status: 0 in form, 1 not, 2 usage.
"""

import argparse
import json
import re
import sys
from pathlib import Path

MAX_LINES = 15
FIRST = ["%noautoget", '!*rm -f go.work && go work init . "$GONB_DIR/.."']
KERNELSPEC = {"display_name": "Go (gonb)", "language": "go", "name": "gonb"}
FORBIDDEN = {
    r"\bos\.Exit\(|\blog\.Fatal": "ends the cell without a failure that can be told from success; use panic",
    r"%autoget|\bgo get\b|\bgo install\b|-replace\b|\breplace\b.*=>": "changes which modules are used",
    r"(^|[\s\"'`(=])(/\w[\w.-]*/|~/|[A-Za-z]:\\)": "names a folder of one machine",
}


def source(cell):
    return "".join(cell["source"])


def canonical(nb):
    """Returns nb as it is committed."""
    cells = []
    for i, cell in enumerate(nb["cells"], 1):
        out = {"cell_type": cell["cell_type"], "id": f"cell-{i:02}", "metadata": {}, "source": source(cell).splitlines(keepends=True)}
        if cell["cell_type"] == "code":
            out |= {"execution_count": None, "outputs": []}
        cells.append(dict(sorted(out.items())))
    return {"cells": cells, "metadata": {"kernelspec": KERNELSPEC}, "nbformat": 4, "nbformat_minor": 5}


def write(nb):
    return json.dumps(nb, indent=1, ensure_ascii=False) + "\n"


def problems(nb):
    """Yields what a person must change, with the cell, from 1."""
    code = [(i, c) for i, c in enumerate(nb["cells"], 1) if c["cell_type"] == "code"]
    if not code:
        yield "has no code"
        return
    first, cell = code[0]
    if source(cell).splitlines()[: len(FIRST)] != FIRST:
        yield f"cell {first}: must begin with\n    " + "\n    ".join(FIRST)
    for i, cell in code:
        text = source(cell)
        if not text.strip():
            yield f"cell {i}: is empty"
        if (n := len(text.splitlines())) > MAX_LINES:
            yield f"cell {i}: {n} lines; at most {MAX_LINES}"
        for pattern, why in FORBIDDEN.items():
            if m := re.search(pattern, text, re.MULTILINE):
                yield f"cell {i}: {m.group().strip()!r} {why}"


def check(path, fix):
    """Returns the problems of one file; fix mends those of form."""
    text = path.read_text(encoding="utf-8")
    try:
        nb = json.loads(text)
        form = write(canonical(nb))
    except (ValueError, KeyError, TypeError) as e:
        return [f"not a notebook: {e}"]
    found = list(problems(nb))
    if form != text:
        if fix:
            path.write_text(form, encoding="utf-8")
        else:
            found += outputs(nb) or ["not in the form that is committed; check.py --fix writes it"]
    return found


def outputs(nb):
    return [f"cell {i}: has outputs; check.py --fix takes them out" for i, c in enumerate(nb["cells"], 1) if c.get("outputs")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--fix", action="store_true")
    opts = parser.parse_args()
    failed = False
    for path in opts.notebooks:
        for problem in check(path, opts.fix):
            failed = True
            print(f"{path.name}: {problem}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
