#!/usr/bin/env python3
"""Runs notebooks without a browser and writes each as HTML.

    scripts/notebooks/with.sh python scripts/notebooks/run.py --out reports/notebooks notebooks/*.ipynb

A notebook fails if a cell fails, takes longer than the limit, writes to standard
error, prints more than the limit or was not run. The failure names the notebook
and the cell, counted from 1 over all cells. HTML is written only of notebooks
that passed; it loads nothing from a network, and no output depends on time.

Exit status: 0 all passed, 1 one failed, 2 usage or no kernel, 130 interrupted.
"""

import argparse
import asyncio
import concurrent.futures
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter

KERNEL = "gonb"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
RUN_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, [\d.]+ s")  # in a technical report


class Failure(Exception):
    """What is wrong with a notebook, as a person should read it."""


class Client(NotebookClient):
    """A NotebookClient that knows the cell it is at and bounds what it prints."""

    at = 0  # the cell, from 1
    group = 0  # of the kernel's processes
    printed = 0  # bytes, in this cell

    def __init__(self, nb, max_output, **kwargs):
        super().__init__(nb, **kwargs)
        self.max_output, self.times = max_output, []
        self.on_cell_start, self.on_cell_executed = self.start_cell, self.end_cell

    def start_cell(self, cell, cell_index):
        self.at, self.printed, self.group = cell_index + 1, 0, self.km.provisioner.pgid
        self.began = time.monotonic()

    def end_cell(self, cell, cell_index, execute_reply):
        self.times.append(f"{self.at}: {time.monotonic() - self.began:.2f} s")
        if self.printed > self.max_output:
            raise Failure(f"printed more than {self.max_output} bytes")

    def process_message(self, msg, cell, cell_index):
        content = msg["content"]
        size = len(content.get("text", "")) if msg["msg_type"] == "stream" else 0
        size += sum(len(v) for v in content.get("data", {}).values() if isinstance(v, str))
        before = self.printed
        self.printed += size
        if self.printed <= self.max_output or not size:
            return super().process_message(msg, cell, cell_index)
        if before <= self.max_output:  # the first that is too much: stop the cell, keep the rest out
            asyncio.ensure_future(self.km.interrupt_kernel())
        return None


def check_kernel():
    try:
        KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel:
        print(f"notebooks: FAILED: Jupyter has no kernel {KERNEL!r}; scripts/notebooks/setup.sh installs it. Nothing was run.", file=sys.stderr)
        sys.exit(2)


async def execute(nb, folder, opts):
    """Executes nb in place. Its kernel and all that it started are gone afterwards."""
    client = Client(nb, opts.max_output, kernel_name=KERNEL, extra_arguments=["-raw_error"], timeout=opts.cell_timeout, startup_timeout=60,
                    record_timing=False, coalesce_streams=True, raise_on_iopub_timeout=True, iopub_timeout=30)
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        try:
            await client.async_execute(cwd=str(folder), env=dict(os.environ, EVALKIT_HEADLESS="1"), stderr=log)
            if opts.times:
                print("cells", ", ".join(client.times))
        except Failure as e:
            raise Failure(f"cell {client.at}: {e}") from e
        except CellTimeoutError as e:
            raise Failure(f"cell {client.at}: not done after {opts.cell_timeout} s") from e
        except CellExecutionError as e:
            raise Failure(f"cell {client.at}: {describe(nb.cells[client.at - 1], e)}") from e
        except (DeadKernelError, RuntimeError) as e:
            log.seek(0)
            where = f"cell {client.at}: the kernel died" if client.at else "the kernel did not start"
            raise Failure(f"{where}: {e}\n{log.read()[-2000:]}") from e
        finally:
            with contextlib.suppress(ProcessLookupError):
                if client.group:
                    os.killpg(client.group, signal.SIGKILL)


def describe(cell, e):
    """Says why a cell failed: what it wrote to standard error, then its error."""
    said = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr")
    lines = ANSI.sub("", said + "\n" + str(e.evalue)).strip().splitlines()
    return "\n    ".join(lines[:40] or ["failed"])


def verify(nb):
    """Checks that every cell ran and that none complained."""
    for i, cell in enumerate(nb.cells, 1):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if cell.execution_count is None:
            raise Failure(f"cell {i}: was not run")
        for out in cell.outputs:
            if out.output_type == "error":
                raise Failure(f"cell {i}: {out.ename}: {out.evalue}")
            if out.output_type == "stream" and out.name == "stderr":
                raise Failure(f"cell {i}: wrote to standard error (a shell line that fails does only that):\n    {out.text.strip()}")


def normalize(nb):
    """Takes out what differs from run to run without meaning."""
    for i, cell in enumerate(nb.cells, 1):
        cell.id = f"cell-{i}"
        for out in cell.get("outputs", []):
            out.pop("transient", None)
            data = out.get("data", {})
            for kind, text in data.items():
                if isinstance(text, str):
                    data[kind] = RUN_TIME.sub("(time of the run)", text)


def export(nb, title):
    nb.metadata.language_info = {"name": "go", "pygments_lexer": "go"}
    e = HTMLExporter(template_name="lab")
    e.require_js_url = e.mathjax_url = e.jquery_url = e.mermaid_js_url = e.mermaid_layout_elk_js_url = ""
    html, _ = e.from_notebook_node(nb, resources={"metadata": {"name": title}})
    return html


def run_one(path, opts):
    nb = nbformat.read(path, as_version=4)
    nbformat.validate(nb)
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.metadata.pop("tags", None)  # no tag may excuse a cell
    if not any(c.cell_type == "code" and c.source.strip() for c in nb.cells):
        raise Failure("has no code")
    with tempfile.TemporaryDirectory(prefix="notebook-") as tmp:
        os.environ["TMPDIR"] = tempfile.tempdir = tmp  # GoNB builds there; nothing of a killed kernel remains
        os.environ |= {"EVALKIT_CACHE": tmp + "/cache", "EVALKIT_RESULTS": tmp + "/results"}  # no run sees another's
        asyncio.run(execute(nb, path.parent.resolve(), opts))
    verify(nb)
    normalize(nb)
    if opts.out:
        opts.out.mkdir(parents=True, exist_ok=True)
        target = opts.out / (path.stem + ".html")
        new = target.with_suffix(".html.new")
        new.write_text(export(nb, path.stem), encoding="utf-8")
        new.replace(target)


def listen():
    """Lets both signals interrupt; a job in the background starts with SIGINT ignored."""
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, signal.default_int_handler)


def worker(path, opts):
    """Runs one notebook in this process; the reason of a failure is its last word."""
    listen()
    try:
        run_one(path, opts)
    except Failure as e:
        print(e)
        return 1
    except (OSError, nbformat.ValidationError, nbformat.reader.NotJSONError) as e:
        print(f"{type(e).__name__}: {e}")
        return 1
    return 0


def run_all(opts):
    """Runs every notebook in a process of its own, opts.jobs at a time."""
    running = set()

    def start(path):
        began = time.monotonic()
        if opts.out:
            (opts.out / (path.stem + ".html")).unlink(missing_ok=True)  # no old page may pass for a new one
        p = subprocess.Popen([sys.executable, __file__, "--worker", *opts.passed, str(path)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, start_new_session=True)
        running.add(p)
        said = p.communicate()[0].strip()
        running.discard(p)
        return p.returncode, said, time.monotonic() - began

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(opts.jobs) as pool:
        jobs = [(path, pool.submit(start, path)) for path in opts.notebooks]
        try:
            for path, job in jobs:
                code, said, seconds = job.result()
                print(f"{'FAILED' if code else 'ok':<7}{path.name}  {seconds:.1f} s" + (f"\n    {path.name}: {said}" if code else f"  {said}"), flush=True)
                failed += code != 0
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for p in list(running):
                p.terminate()
            print("notebooks: interrupted", file=sys.stderr)
            return 130
    print(f"notebooks: {len(jobs) - failed} of {len(jobs)} passed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="folder of the HTML files; default: none are written")
    parser.add_argument("--cell-timeout", type=int, default=180, metavar="SECONDS")
    parser.add_argument("--max-output", type=int, default=8 << 20, metavar="BYTES", help="of one cell")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--times", action="store_true", help="print how long each cell took")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    opts = parser.parse_args()
    for path in opts.notebooks:
        if not path.is_file():
            parser.error(f"{path}: no such file")
    if opts.worker:
        return worker(opts.notebooks[0], opts)
    opts.passed = ["--cell-timeout", str(opts.cell_timeout), "--max-output", str(opts.max_output)]
    opts.passed += ["--times"] * opts.times
    if opts.out:
        opts.passed += ["--out", str(opts.out)]
    check_kernel()
    listen()
    return run_all(opts)


if __name__ == "__main__":
    sys.exit(main())
