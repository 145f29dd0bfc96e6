"""`foresee compare` at a terminal: what it prints and writes, mistakes in one line, Ctrl-C and going on."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys

import pytest
from tests.benchmarks.small import small_table

from foresee.benchmarks import save
from foresee.benchmarks.contest import ground as room

LOOK = ["--data", "synthetic", "--input", "3x8x8", "--outputs", "4", "--batch-size", "4", "--engine", "serial"]
LOOK += ["--set", "space.channels=2", "--set", "nasbench201.cells=1"]
WHO = "random@measured,young=evolution@measured,evolution@params"
ASK = ["--table", "small.npz", "--searchers", WHO, "--seeds", "2", "--budget", "8", *LOOK]
ASK += ["--set", "young.population=4", "--set", "young.sample=2"]


@pytest.fixture
def compare(foresee, tmp_path, monkeypatch):
    """The command in a folder with a table."""
    save(small_table(200), tmp_path / "small.npz")
    monkeypatch.delenv("FORESEE_CACHE", raising=False)

    def call(*arguments, code=0):
        return foresee("compare", *arguments, code=code)

    call.folder = tmp_path
    return call


def test_it_prints_a_table_and_writes_a_folder(compare, foresee, monkeypatch):
    found = compare(*ASK, "--out", "c")
    lines = found.stdout.splitlines()
    head = next(line for line in lines if line.startswith("searcher "))
    for column in ("test_acc_cifar10", "regret", "evaluations", "time of a run", "not in the table"):
        assert column in head
    for name in ("random@measured", "young", "evolution@params"):
        assert any(line.startswith(name) for line in lines), name
    assert "val_acc_cifar10 by those who follow measured" in found.stdout
    files = {"report.html", "regret.png", "compare.json", "picks.csv", "curves.csv", "settings.toml", "runs"}
    assert files <= set(os.listdir(compare.folder / "c"))
    page = (compare.folder / "c" / "report.html").read_text()
    # again nothing is done, and the page is the same
    monkeypatch.setattr(room, "run_search", None)
    assert compare(*ASK, "--out", "c").stdout == found.stdout
    assert foresee("report", "c").stdout == "c/report.html\n"
    assert (compare.folder / "c" / "report.html").read_text() == page
    # the line on the page does it again, too
    line = page[page.index('id="line-compare"') :]
    words = "".join(part.partition(">")[2] for part in line[line.index(">") + 1 : line.index("</pre>")].split("<"))
    typed = shlex.split(words.replace("&#39;", "'").replace("&amp;", "&"))
    assert typed[:2] == ["foresee", "compare"]
    assert compare(*typed[2:], "--engine", "serial").stdout == found.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--table"),
        (["--table", "small.npz"], "name who takes part with --searchers: "),
        (["--table", "absent.npz", "--searchers", "random"], "absent.npz"),
        ([*ASK, "--searchers", "evolutoin"], "did you mean evolution"),
        ([*ASK, "--judge", "test_acc_cifar100"], "did you mean"),
        ([*ASK, "--target", "val_acc_cifar100"], "did you mean"),
        ([*ASK, "--set", "zico.x=1"], "unknown name in --set 'zico'"),
        ([*ASK, "--set", "young.populaton=4"], "did you mean population?"),
        ([*ASK, "--proxy", "naswot", "--proxy", "zico"], "--proxy: name one"),
        (["darts", *ASK], "nasbench201"),
        ([*ASK, "--max-latency", "3ms"], "limit params or macs"),
    ],
)
def test_mistakes_are_one_line(compare, arguments, words):
    assert words in compare(*arguments, "--out", "c", code=2).stderr


def test_picks_outside_the_table_are_exit_code_1(compare):
    save(small_table(3), compare.folder / "tiny.npz")
    found = compare(
        "--table", "tiny.npz", "--searchers", "random@params", "--seeds", "1", "--budget", "2", *LOOK, code=1
    )
    assert "the table holds no pick" in found.stderr
    assert "100 %" in found.stdout


@pytest.mark.slow
def test_ctrl_c_says_so_and_the_same_command_goes_on(compare):
    more = [*ASK, "--searchers", "random@grad_norm", "--seeds", "2", "--budget", "30", "--out", "c"]
    victim = subprocess.Popen(
        [sys.executable, "-m", "foresee", "compare", *more], cwd=compare.folder, stderr=subprocess.PIPE, text=True
    )
    while not list((compare.folder / "c").glob("runs/*/seed-0/run.sqlite")):
        assert victim.poll() is None
    victim.send_signal(signal.SIGINT)
    said = victim.stderr.read()
    victim.stderr.close()
    assert victim.wait() == 130, said
    assert said.strip().splitlines()[-1].startswith("stopped")
    assert "Traceback" not in said
    assert not (compare.folder / "c" / "compare.json").exists()
    compare(*more)
    assert (compare.folder / "c" / "compare.json").exists()
