"""The first seconds of the command: Ctrl-C while libraries load, and where they are looked for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import foresee as fs
from foresee.cli import start

#: sends a signal to itself when a module is about to be imported, then goes on as the command would
AT = """
import os, signal, sys

class At:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.{signal})

sys.meta_path.insert(0, At())
sys.argv = ["foresee", *{arguments!r}]
from foresee.cli import main
main()
"""
SEARCH = ["search", "nasbench201", "--proxy", "params", "--evaluations", "3", "--engine", "serial", "--out", "r"]
BENCH = ["bench", "--table", "t.csv", "--target", "acc"]


@pytest.fixture
def at(tmp_path):
    def call(module, arguments, number="SIGINT"):
        code = AT.format(module=module, signal=number, arguments=arguments)
        environment = {**os.environ, "PYTHONPATH": str(Path(fs.__file__).parents[1])}
        return subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    return call


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("foresee.cli.entry", ["proxies"]),  # the first of our own files after the door
        ("typer", ["proxies"]),
        ("numpy", ["table", "info", "t.csv"]),
        ("torch", SEARCH),
        ("torch.nn.modules.conv", SEARCH),
        ("foresee.searchers.session", SEARCH),
        ("torch", BENCH),
        ("sklearn.datasets", [*SEARCH, "--data", "digits"]),  # in the middle of the command, before the first score
    ],
)
def test_ctrl_c_while_libraries_load_is_one_line(at, module, arguments):
    done = at(module, arguments)
    assert (done.returncode, done.stderr, done.stdout) == (130, "stopped\n", "")


def test_a_polite_kill_is_ctrl_c(at):
    done = at("torch", SEARCH, "SIGTERM")
    assert (done.returncode, done.stderr) == (130, "stopped\n")


def test_ctrl_c_between_imports_passes_through_all_that_is_open(monkeypatch):
    monkeypatch.setattr(start.Signals, "seen", False)
    with pytest.raises(KeyboardInterrupt):
        start.Signals.stop(signal.SIGINT, sys._getframe())
    assert start.Signals.seen


def test_a_job_deaf_to_ctrl_c_stays_so(monkeypatch):
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        start.Signals.install()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) == start.Signals.stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_the_current_folder_is_taken_off_the_path(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    for first in ("", str(tmp_path)):
        monkeypatch.setattr(sys, "path", [first, "/installed", str(tmp_path)])  # the last was asked for by PYTHONPATH
        start.only_installed()
        assert sys.path == ["/installed", str(tmp_path)]
    start.only_installed()
    assert sys.path == ["/installed", str(tmp_path)]
    assert os.environ["PYTHONSAFEPATH"] == "1"


def test_the_folder_of_the_source_is_put_last(monkeypatch):
    source = Path(start.__file__).parents[2]
    monkeypatch.chdir(source)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    monkeypatch.setattr(sys, "path", [str(source), "/installed"])
    start.only_installed()
    assert sys.path == ["/installed", str(source)]


def test_ctrl_c_before_the_first_score_is_said_in_one_line(tmp_path):
    """The run has begun and nothing is scored: 130, and no complaint that there is no best candidate."""
    (tmp_path / "slow.py").write_text(
        "import time\nfrom torch import nn\n\ndef make(pick):\n    width = pick('width', [1, 2, 3])\n"
        "    time.sleep(60)\n    return nn.Sequential(nn.Flatten(), nn.Linear(12, width))\n"
    )
    command = [sys.executable, "-m", "foresee", "search", "slow.py:make", "--data", "synthetic", "--input", "3x2x2"]
    command += ["--outputs", "3", "--proxy", "grad_norm", "--evaluations", "3", "--engine", "serial", "--out", "r"]
    environment = {**os.environ, "PYTHONPATH": str(Path(fs.__file__).parents[1])}
    running = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "r" / "run.sqlite").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert errors == "stopped after 0 scored; the same command with --resume goes on\n"
