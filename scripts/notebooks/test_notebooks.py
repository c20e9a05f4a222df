#!/usr/bin/env python3
"""Tests of run.py and check.py. Run it through with.sh, after setup.sh."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import check

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HELLO = '%%\nfmt.Println("hello")'


def notebook(*cells, **metadata):
    """A notebook of code cells, as text."""
    nb = {"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    for source in cells:
        nb["cells"].append({"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None})
    return check.write(check.canonical(nb))


class Case(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory(prefix="notebooks-test-")
        self.addCleanup(tmp.cleanup)
        self.dir = Path(tmp.name)

    def write(self, name, *cells):
        path = self.dir / name
        path.write_text(notebook(*cells), encoding="utf-8")
        return path

    def start(self, *args, **env):
        return subprocess.Popen([sys.executable, str(HERE / "run.py"), "--out", str(self.dir / "html"), *map(str, args)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ, **env))

    def run_notebooks(self, *args, **env):
        p = self.start(*args, **env)
        said = p.communicate(timeout=300)[0]
        return p.returncode, said

    def fails(self, cells, *wanted, args=()):
        """The second cell fails the notebook: named, without a page, without leftovers."""
        path = self.write("broken.ipynb", HELLO, *cells, HELLO)
        page = self.dir / "html" / "broken.html"
        page.parent.mkdir(exist_ok=True)
        page.write_text("of an earlier run")
        code, said = self.run_notebooks(*args, path)
        self.assertEqual(code, 1, said)
        self.assertIn("FAILED broken.ipynb", said)
        for text in ("broken.ipynb: cell 2: ", *wanted):
            self.assertIn(text, said)
        self.assertFalse(page.exists(), "a failed notebook leaves no page behind")


class Running(Case):
    def test_passes(self):
        code, said = self.run_notebooks(self.write("good.ipynb", HELLO))
        self.assertEqual(code, 0, said)
        html = (self.dir / "html" / "good.html").read_text(encoding="utf-8")
        self.assertIn("hello", html)
        self.assertNotRegex(html, r'(src|href)="(https?:)?//', "the page loads nothing")

    def test_HO_NB_01_cell_does_not_compile(self):
        self.fails(['%%\nvar x int = "text"'], 'cannot use "text"')

    def test_HO_NB_01_cell_panics(self):
        self.fails(['%%\npanic("boom")'], "panic: boom")

    def test_HO_NB_01_kernel_is_missing(self):
        code, said = self.run_notebooks(self.write("good.ipynb", HELLO), JUPYTER_DATA_DIR=str(self.dir / "none"))
        self.assertEqual(code, 2, said)
        self.assertIn("FAILED: Jupyter has no kernel 'gonb'", said)
        self.assertNotIn("passed", said)

    def test_HO_NB_01_kernel_does_not_start(self):
        kernel = self.dir / "data" / "kernels" / "gonb"
        kernel.mkdir(parents=True)
        (kernel / "kernel.json").write_text(json.dumps({"argv": ["false"], "display_name": "Go", "language": "go"}))
        code, said = self.run_notebooks(self.write("good.ipynb", HELLO), JUPYTER_DATA_DIR=str(self.dir / "data"))
        self.assertEqual(code, 1, said)
        self.assertIn("good.ipynb: the kernel did not start", said)

    def test_kernel_dies(self):
        self.fails(["!kill -9 $PPID"], "the kernel died")

    def test_cell_exits(self):
        self.fails(["%%\nos.Exit(3)"], "exit status 3")

    def test_shell_line_fails(self):
        self.fails(["!false"], "standard error", "exit status 1")

    def test_cell_waits_for_input(self):
        self.fails(["%%\nvar s string\nfmt.Scanln(&s)"], "not done after 15 s", args=["--cell-timeout", "15"])

    def test_cell_hangs_and_is_killed(self):
        mark = self.dir / "alive"
        cell = f'%%\nfor {{ os.WriteFile("{mark}", nil, 0o600); time.Sleep(50 * time.Millisecond) }}'
        self.fails([cell], "not done after 15 s", args=["--cell-timeout", "15"])
        mark.unlink()
        time.sleep(0.5)
        self.assertFalse(mark.exists(), "the cell's process is gone")

    def test_cell_prints_50_MB(self):
        self.fails(['%%\nfor range 50 << 10 { fmt.Println(strings.Repeat("x", 1023)) }'], "printed more than")

    def test_cell_is_interrupted(self):
        self.fails(["%%\np, _ := os.FindProcess(os.Getpid())\np.Signal(os.Interrupt)\ntime.Sleep(time.Minute)"], "signal: interrupt")

    def test_no_tag_excuses_a_cell(self):
        path = self.write("tagged.ipynb", HELLO, '%%\npanic("boom")')
        nb = json.loads(path.read_text())
        for tag in ("raises-exception", "skip-execution"):
            nb["cells"][1]["metadata"]["tags"] = [tag]
            path.write_text(json.dumps(nb))
            code, said = self.run_notebooks(path)
            self.assertEqual(code, 1, said)
            self.assertIn("tagged.ipynb: cell 2: panic: boom", said)

    def test_run_is_interrupted(self):
        mark = self.dir / "alive"
        path = self.write("long.ipynb", f'%%\nfor {{ os.WriteFile("{mark}", nil, 0o600); time.Sleep(50 * time.Millisecond) }}')
        p = self.start(path)
        for _ in range(600):
            if mark.exists():
                break
            time.sleep(0.1)
        self.assertTrue(mark.exists(), "the cell runs")
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=60)[0]
        self.assertEqual(p.returncode, 130, said)
        mark.unlink()
        time.sleep(0.5)
        self.assertFalse(mark.exists(), "the cell's process is gone")
        self.assertFalse((self.dir / "html" / "long.html").exists())

    def test_not_a_notebook(self):
        path = self.dir / "broken.ipynb"
        for text in ("", "{", "{}", notebook()):
            path.write_text(text)
            code, said = self.run_notebooks(path)
            self.assertEqual(code, 1, said)
            self.assertIn("FAILED broken.ipynb", said)


MODULE = "\n".join(check.FIRST)
USES = """import "github.com/chunkeval/chunkeval/evalkit"
%%
e, err := evalkit.ParseExpr("markdown(size=200)")
fmt.Println(e, err, evalkit.Marker())"""


class Clone(Case):
    def test_HO_NB_02_uses_the_checked_out_module(self):
        """A copy elsewhere, with a function that no published version has; run twice."""
        clone = self.dir / "some where" / "clone"
        for part in ("go.mod", "go.sum"):
            clone.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / part, clone / part)
        shutil.copytree(ROOT / "evalkit", clone / "evalkit", ignore=lambda folder, names: [n for n in names if n.endswith("_test.go") or (Path(folder) / n).is_dir()])
        (clone / "evalkit" / "marker.go").write_text('package evalkit\n\n// Marker is not published.\nfunc Marker() string { return "from the clone" }\n')
        (clone / "notebooks").mkdir()
        path = clone / "notebooks" / "uses.ipynb"
        path.write_text(notebook(MODULE, MODULE, USES))  # the first cell may be run again
        before = {p: p.stat().st_mtime_ns for p in clone.rglob("*")}
        pages = []
        for _ in range(2):
            code, said = self.run_notebooks(path)
            self.assertEqual(code, 0, said)
            pages.append((self.dir / "html" / "uses.html").read_text())
            self.assertEqual({p: p.stat().st_mtime_ns for p in clone.rglob("*")}, before, "nothing in the clone was touched")
        self.assertIn("markdown(size=200) &lt;nil&gt; from the clone", pages[0])
        self.assertEqual(pages[0], pages[1])
        self.assertEqual(check.check(path, fix=False), [])


class Form(Case):
    def problems(self, *cells):
        return check.check(self.write("x.ipynb", *cells), fix=False)

    def test_in_form(self):
        self.assertEqual(self.problems(MODULE, HELLO), [])

    def test_outputs(self):
        path = self.write("x.ipynb", MODULE, HELLO)
        clean = path.read_text()
        nb = json.loads(clean)
        nb["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["hello\n"]}]
        nb["cells"][1]["execution_count"] = 7
        path.write_text(json.dumps(nb))
        self.assertEqual(check.check(path, fix=False), ["cell 2: has outputs; check.py --fix takes them out"])
        check.check(path, fix=True)
        self.assertEqual(path.read_text(), clean)

    def test_counts_and_metadata(self):
        path = self.write("x.ipynb", MODULE, HELLO)
        nb = json.loads(path.read_text())
        for key, value in (("execution_count", 3), ("metadata", {"tags": ["skip-execution"]})):
            changed = json.loads(json.dumps(nb))
            changed["cells"][1][key] = value
            path.write_text(json.dumps(changed, indent=1) + "\n")
            self.assertEqual(len(check.check(path, fix=False)), 1, key)

    def test_rules(self):
        for cells, wanted in (
            ([HELLO], "must begin with"),
            ([MODULE, ""], "is empty"),
            ([MODULE, "\n".join(["//"] * 16)], "16 lines"),
            ([MODULE, "%%\nos.Exit(0)"], "ends the cell"),
            ([MODULE, '%%\nlog.Fatal("x")'], "ends the cell"),
            ([MODULE, "%autoget"], "which modules"),
            ([MODULE, "!*go mod edit -replace x=../x"], "which modules"),
            ([MODULE, '%%\nos.ReadFile("/home/me/data")'], "one machine"),
        ):
            found = self.problems(*cells)
            self.assertEqual(len(found), 1, (cells, found))
            self.assertIn(wanted, found[0])

    def test_exit_status(self):
        path = self.write("x.ipynb", HELLO)
        with contextlib.redirect_stderr(io.StringIO()) as err:
            sys.argv = ["check.py", str(path)]
            self.assertEqual(check.main(), 1)
        self.assertIn("x.ipynb: cell 1: must begin with", err.getvalue())

    def test_one_version_of_gonb(self):
        """The kernel and the library that talks to it are of one version."""
        def version(mod):
            lines = [line.split() for line in mod.read_text().splitlines() if "janpfeifer/gonb v" in line]
            return lines[0][1] if lines else None
        self.assertEqual(version(HERE / "go.mod"), version(ROOT / "go.mod"))


if __name__ == "__main__":
    unittest.main()
