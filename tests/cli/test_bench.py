"""`foresee bench` at a terminal: what it prints and writes, mistakes in one line, Ctrl-C and going on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from tests.benchmarks.small import small_table

from foresee.benchmarks import save
from foresee.cli.entry import run
from foresee.scoring import Scorer

LOOK = ["--data", "synthetic", "--input", "3x8x8", "--outputs", "4", "--batch-size", "4", "--bootstrap", "50"]
LOOK += ["--set", "space.channels=2", "--set", "nasbench201.cells=1"]
ASK = ["--table", "small.npz", "--target", "test_acc_cifar10", "--proxy", "naswot", "--sample", "12", *LOOK]


@pytest.fixture
def foresee(tmp_path, monkeypatch, capfd):
    """The command in this process, in a folder with a table."""
    save(small_table(), tmp_path / "small.npz")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("FORESEE_CACHE", raising=False)

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["foresee", "bench", *arguments])
        capfd.readouterr()
        returned = run()
        found = capfd.readouterr()
        assert returned == code, (returned, found.out, found.err)
        if code == 2:
            assert len(found.err.strip().splitlines()) == 1, found.err
        return found

    call.folder = tmp_path
    return call


def test_it_prints_a_table_and_writes_a_folder(foresee):
    found = foresee(*ASK, "--engine", "serial", "--repeats", "2", "--out", "b", "--agreement")
    lines = found.out.splitlines()
    head = next(line for line in lines if line.startswith("proxy "))
    for column in ("Spearman", "n", "failed", "Kendall", "Pearson", "weighted tau", "top 10", "regret 5 %", "time"):
        assert column in head
    for name in ("naswot", "params (baseline)", "macs (baseline)", "random (baseline)"):
        assert any(line.startswith(name) and "[" in line for line in lines), name
    assert "synthetic (noise, no images) at 3x8x8" in found.out
    assert "12 of 40 architectures" in found.out
    assert "Spearman between proxies" in found.out
    files = {"report.html", "bench.json", "correlations.csv", "scores.csv", "settings.toml", "scores.sqlite"}
    assert files <= set(os.listdir(foresee.folder / "b"))


def test_the_same_command_again_scores_nothing(foresee, monkeypatch):
    first = foresee(*ASK, "--engine", "serial", "--out", "b")
    jobs = []
    monkeypatch.setattr(Scorer, "__call__", lambda self, job: jobs.append(job))
    again = foresee(*ASK, "--engine", "serial", "--out", "b")
    assert jobs == []
    assert "12 of 12 are scored already" in again.err
    assert again.out == first.out
    page = (foresee.folder / "b" / "report.html").read_text()
    foresee(*ASK, "--engine", "serial", "--out", "b", "--quiet", "nasbench201")
    assert (foresee.folder / "b" / "report.html").read_text() == page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--table"),
        (["--table", "small.npz"], "test_acc_cifar10, test_loss_cifar10, val_acc_cifar10"),
        (["--table", "absent.npz", "--target", "x"], "absent.npz"),
        (["--table", "small.npz"], "small.npz: say what to foresee with --target: "),
        (["--table", "small.npz", "--target", "test_acc_cifar100"], "did you mean"),
        (["darts", "--table", "small.npz", "--target", "test_acc_cifar10"], "nasbench201"),
        ([*ASK, "--set", "zico.x=1"], "unknown name in --set 'zico'"),
        ([*ASK, "--set", "naswot.colour=1"], "colour"),
        ([*ASK, "--proxy", "dexter"], "dextr"),
        ([*ASK, "--engine", "threads"], "engine"),
        ([*ASK, "--sample", "-3"], "sample = -3"),
        ([*ASK, "--cache", "."], "choose another --cache"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_report(foresee, arguments, words):
    assert words in foresee(*arguments, "--out", "b", code=2).err
    assert not (foresee.folder / "b" / "report.html").exists()


@pytest.mark.slow
def test_ctrl_c_is_clean_and_the_same_command_goes_on(foresee):
    more = [*ASK, "--sample", "40", "--repeats", "30", "--engine", "serial", "--out", "b"]
    victim = subprocess.Popen(
        [sys.executable, "-m", "foresee", "bench", *more, "--proxy", "grad_norm"], stderr=subprocess.PIPE, text=True
    )
    line = victim.stderr.readline()  # the first line tells of scores
    victim.send_signal(signal.SIGINT)
    rest = victim.stderr.read()
    assert victim.wait() == 130, line + rest
    assert "stopped after" in rest
    assert "the same command goes on" in rest
    assert "Traceback" not in rest
    victim.stderr.close()
    assert "are scored already" in foresee(*more, "--proxy", "grad_norm", "--repeats", "1").err


def test_a_proxy_that_fails_on_everything_is_exit_code_1(foresee):
    found = foresee(*ASK, "--engine", "serial", "--out", "b", "--proxy", "naswot", code=0)
    assert "no score" not in found.err
    only = [word for word in ASK if word not in ("--proxy", "naswot")]
    found = foresee(*only, "--proxy", "dss", "--engine", "serial", "--out", "b", code=1)
    assert "no score by dss: the reasons are above" in found.err
    assert "12 dss: unsupported" in found.out
    assert (foresee.folder / "b" / "report.html").exists()
