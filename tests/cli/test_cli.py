"""The front door, as a user at a terminal meets it."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from foresee.cli.entry import run
from foresee.runs import read

CELL = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"
MODELS = """
import torch
from torch import nn

def make_net():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))

def pick_net(pick):
    width = pick("width", [2, 4, 8])
    return nn.Sequential(nn.Flatten(), nn.Linear(192, width), nn.ReLU(), nn.Linear(width, 5))

def broken():
    raise ValueError("cannot be made")

number = 7
"""
QUICK = ["--proxy", "params", "--data", "synthetic", "--evaluations", "6", "--engine", "serial"]


class Done:
    def __init__(self, code, out, err):
        self.returncode, self.stdout, self.stderr = code, out, err


@pytest.fixture
def foresee(tmp_path, monkeypatch, capfd):
    """The command, called in this process (starting a new one costs seconds) from a folder with a module of models."""
    (tmp_path / "models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["foresee", *arguments])
        capfd.readouterr()
        returned = run()
        done = Done(returned, *capfd.readouterr())
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        if code == 2:
            assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        return done

    call.folder = tmp_path
    yield call
    sys.modules.pop("models", None)


def test_search_makes_a_run_folder_and_resume_ends_the_same(foresee):
    command = ["search", "nasbench201", *QUICK, "--max-params", "600k", "--seed", "1", "--out", "runs/a"]
    done = foresee(*command)
    folder = foresee.folder / "runs" / "a"
    assert {"run.sqlite", "settings.toml", "best.json", "report.html"} <= set(os.listdir(folder))
    best = json.loads((folder / "best.json").read_text())
    assert best["params"] <= 600_000
    assert best["architecture"] in done.stdout
    assert "report.html" in done.stdout
    assert "holds a run already" in foresee(*command, code=2).stderr
    foresee(*command, "--resume")
    assert json.loads((folder / "best.json").read_text()) == best
    changed = [*command, "--resume", "--set", "evolution.population=9"]
    assert "searcher_settings.population: 9 here, unset in the run" in foresee(*changed, code=2).stderr
    # the settings written are settings to read
    foresee("search", "--settings", str(folder / "settings.toml"), "--out", "runs/b", "--engine", "serial")
    other = json.loads((foresee.folder / "runs" / "b" / "best.json").read_text())
    assert other == best
    assert foresee("report", "runs/a").stdout.strip() == "runs/a/report.html"
    assert foresee("report", "runs/a", "runs/b", "-o", "both.html").stdout.strip() == "both.html"
    assert "runs/b" in (foresee.folder / "both.html").read_text()


def test_a_run_is_extended_and_the_finals_are_told(foresee):
    space = ["nasbench201", "--set", "space.channels=2", "--set", "space.cells=1", "--data", "synthetic"]
    command = ["search", *space, "--proxy", "grad_norm", "--input", "3x8x8", "--outputs", "4", "--batch-size", "4"]
    folder = foresee.folder / "runs" / "a"
    told = foresee(*command, "--evaluations", "3", "--out", "runs/a").stdout
    assert "Under 4 fresh seeds" in told
    assert "the second" in told
    foresee(*command, "--out", "runs/a", "--resume")  # what is not said stays
    assert "evaluations = 3" in (folder / "settings.toml").read_text()
    foresee(*command, "--out", "runs/a", "--resume", "--evaluations", "6")
    foresee(*command, "--evaluations", "6", "--out", "runs/whole")
    assert (folder / "best.json").read_text() == (foresee.folder / "runs" / "whole" / "best.json").read_text()
    assert "6 (extended, 3 at first)" in (folder / "report.html").read_text()
    assert "can only grow" in foresee(*command, "--out", "runs/a", "--resume", "--evaluations", "2", code=2).stderr
    silent = foresee(*command, "--evaluations", "3", "--finalists", "0", "--out", "runs/none").stdout
    assert "fresh seeds" not in silent


def test_score_prints_json_and_a_table(foresee):
    options = ["--proxy", "dextr", "--proxy", "synflow", "--set", "space.channels=4", "--set", "space.cells=1"]
    plain = json.loads(foresee("score", "nasbench201", CELL, *options, "--json").stdout)
    assert plain["architecture"] == CELL
    assert plain["scores"]["dextr"]["status"] == "ok"
    assert plain["scores"]["dextr"]["value"] > 0
    table = foresee("score", "nasbench201", CELL, *options).stdout
    assert "synflow" in table
    assert f"{plain['scores']['dextr']['value']:.6g}" in table


def test_score_any_factory_and_own_spaces(foresee):
    plain = json.loads(foresee("score", "models:make_net", "--input", "3x8x8", "--proxy", "dextr", "--json").stdout)
    assert plain["scores"]["dextr"]["status"] == "ok"
    own = foresee("score", "models:pick_net", '{"width":4}', "--input", "3x8x8", "--proxy", "params", "--json").stdout
    assert json.loads(own)["params"] == 192 * 4 + 4 + 4 * 5 + 5


def test_search_an_own_space_by_name(foresee):
    foresee("search", "models:pick_net", *QUICK, "--input", "3x8x8", "--outputs", "5", "--out", "own")
    assert json.loads((foresee.folder / "own" / "best.json").read_text())["architecture"] == '{"width":8}'
    build = (
        "import foresee as fs, torch; print(fs.build('own', space='models:pick_net')(torch.zeros(2, 3, 8, 8)).shape)"
    )
    done = subprocess.run([sys.executable, "-c", build], cwd=foresee.folder, capture_output=True, text=True)
    assert "[2, 5]" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search", "nasbench21", *QUICK], "did you mean nasbench201"),
        (["search"], "name a space"),
        (["search", "nasbench201", "--proxy", "dexter"], "did you mean dextr"),
        (["search", "nasbench201", "--proxy", "dextr:refrence"], "did you mean reference"),
        (["search", "nasbench201", "--searcher", "evoluton"], "did you mean evolution"),
        (["search", "nasbench201", *QUICK, "--engine", "thread"], "unknown engine"),
        (["search", "nasbench201", *QUICK, "--max-params", "lots"], "--max-params: quantity 'lots'"),
        (["search", "nasbench201", *QUICK, "--max-params", "50k"], "params 73,306"),
        (["search", "nasbench201", *QUICK, "--set", "evolution.popluation=3"], "popluation"),
        (["search", "nasbench201", *QUICK, "--set", "nonsense"], "expected name.key=value"),
        (["search", "nasbench201", *QUICK, "--evaluatoins", "3"], "--evaluations"),
        (["search", "nasbench201", *QUICK, "--data", "nowhere.npz"], "no such file"),
        (["search", "nasbench201", *QUICK, "--out", "models.py/x"], "cannot be used as a run folder"),
        (["search", "nasbench201", *QUICK, "--settings", "absent.toml"], "absent.toml"),
        (["search", "models:nothing", *QUICK], "nothing"),
        (["search", "modles:pick_net", *QUICK], "modles"),
        (["score", "nasbench201", "|nor_conv_5x5~0|+|none~0|none~1|+|none~0|none~1|none~2|"], "nor_conv_5x5"),
        (["score", "models:broken", "--input", "3x8x8"], "cannot be made"),
        (["score", "models:number", "--input", "3x8x8"], "number"),
        (["score", "models:make_net", "--input", "3y8"], "expected sizes joined by x"),
        (["proxies", "dextrr"], "did you mean dextr"),
        (["report", "nowhere"], "no run here"),
        (["serach"], "serach"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(foresee, arguments, words):
    assert words in foresee(*arguments, code=2).stderr


def test_a_damaged_run_is_refused(foresee):
    (foresee.folder / "r").mkdir()
    (foresee.folder / "r" / "run.sqlite").write_bytes(b"SQLite format 3\x00" + bytes(50))
    assert "not a run of foresee" in foresee("search", "nasbench201", *QUICK, "--out", "r", "--resume", code=2).stderr


def test_a_report_is_written_to_plain_files_only(foresee):
    foresee("search", "nasbench201", *QUICK, "--out", "r")
    store = (foresee.folder / "r" / "run.sqlite").read_bytes()
    for name in ("r/run.sqlite", "r/settings.toml", "r/best.json"):
        assert "would overwrite the run itself" in foresee("report", "r", "-o", name, code=2).stderr
        (foresee.folder / "link").symlink_to(name)
        assert foresee("report", "r", "-o", "link", code=2)
        (foresee.folder / "link").unlink()
    assert "name a plain file" in foresee("report", "r", "-o", "/dev/null", code=2).stderr
    assert (foresee.folder / "r" / "run.sqlite").read_bytes() == store


def test_listings_and_doctor(foresee):
    proxies = {row["name"]: row for row in json.loads(foresee("proxies", "--json").stdout)}
    assert {
        "dextr",
        "zico",
        "meco",
        "naswot",
        "synflow",
        "snip",
        "grad_norm",
        "params",
        "macs",
        "random",
    } <= proxies.keys()
    assert all(row["better"] in ("higher", "lower") and row["cost"] and row["source"] for row in proxies.values())
    assert "Eq. 8" in foresee("proxies").stdout
    assert "reference_nb201" in foresee("proxies", "dextr").stdout
    assert "15,625" in foresee("spaces").stdout
    assert {"evolution", "random"} <= {row["name"] for row in json.loads(foresee("searchers", "--json").stdout)}
    facts = json.loads(foresee("doctor", "--json").stdout)
    assert facts["installed"]["torch"].startswith("2.")
    assert "torch" in foresee("doctor").stdout


def test_ctrl_c_keeps_what_was_scored_and_says_how_to_go_on(foresee):
    command = [sys.executable, "-m", "foresee", "search", "nasbench201", "--proxy", "dextr", "--evaluations", "2000"]
    command += [
        "--out",
        "r",
        "--engine",
        "processes",
        "--workers",
        "2",
        "--set",
        "space.channels=4",
        "--set",
        "space.cells=1",
    ]
    running = subprocess.Popen(
        command, cwd=foresee.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.1)
        if (foresee.folder / "r" / "run.sqlite").exists() and len(read(foresee.folder / "r").scored) >= 3:
            break
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the whole group
    output, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert "--resume" in errors
    assert "Traceback" not in errors
    record = read(foresee.folder / "r")
    assert record.status == "interrupted"
    assert len(record.scored) >= 3
    assert "report" in output
    assert (foresee.folder / "r" / "report.html").exists()


def test_the_progress_bar_on_a_terminal(foresee):
    """On a real (pseudo) terminal the bar shows candidates, the best, the rate and the time left."""
    parent, child = pty.openpty()
    done = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "foresee",
            "search",
            "nasbench201",
            "--proxy",
            "naswot",
            "--batch-size",
            "8",
            "--evaluations",
            "12",
            "--out",
            "r",
            "--engine",
            "serial",
            "--set",
            "space.channels=4",
            "--set",
            "space.cells=1",
        ],
        cwd=foresee.folder,
        stderr=child,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm-256color"},
    )
    os.close(child)
    seen = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    assert done.wait() == 0
    text = seen.decode(errors="replace")
    for word in ("searching", "/12", "best", "/s", "left"):
        assert word in text
