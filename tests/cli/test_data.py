"""`foresee data`, as a user at a terminal meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from foresee.data.clicks.made.generating import generated
from foresee.data.clicks.schema import schema

pytest.importorskip("pyarrow")


@pytest.fixture
def log(tmp_path):
    return generated(tmp_path / "clicks.csv", 1500, malformed=0.004)


def test_a_log_is_guessed_and_shown(foresee, log):
    said = foresee("data", "clicks.csv")
    for part in ("1,4", "click: 1 means yes", "visitor", "category", "numbers with decimals", "guessed", "malformed"):
        assert part in said.stdout
    line, _ = log.named[0]
    assert f"line {line}" in said.stdout
    assert "--write-schema clicks.toml" in said.stderr
    assert sorted(path.name for path in Path().iterdir()) == ["clicks.csv"]


def test_the_schema_is_written_confirmed_and_used(foresee, log):
    foresee("data", "clicks.csv", "--write-schema", "c.toml")
    written = Path("c.toml").read_text()
    assert written.startswith("# Guessed from")
    assert schema("c.toml").label == "click"
    assert "edited" in foresee("data", "clicks.csv", "--write-schema", "c.toml", code=2).stderr
    assert Path("c.toml").read_text() == written
    said = foresee("data", "clicks.csv", "--schema", "c.toml")
    assert "guessed" not in said.stdout + said.stderr


def test_the_page_and_its_numbers(foresee, log):
    said = foresee("data", "clicks.csv", "--out", "pages/a", "--rows", "300")
    assert "300 looked at, not all there are" in said.stdout
    assert "pages/a/report.html" in said.stdout
    assert "clicks.csv" in Path("pages/a/report.html").read_text()
    assert json.loads(Path("pages/a/profile.json").read_text())["rows"] == 300


def test_json_is_json(foresee, log):
    plain = json.loads(foresee("data", "clicks.csv", "--json").stdout)
    assert (plain["rows"], plain["malformed"]) == (1500 - log.malformed, log.malformed)
    assert plain["guessed"]["click"][0] == "label"


def test_a_log_is_prepared_and_shown_as_data(foresee, log):
    foresee("data", "clicks.csv", "--prepare", "ready/a")
    said = foresee("data", "ready/a").stdout
    assert "8 categories and 6 numbers" in said
    assert "train" in said
    foresee("data", "clicks.csv", "--prepare", "ready/a")  # what is there is used


def test_a_published_log_is_recognised(foresee, tmp_path):
    generated(tmp_path / "train.txt.gz", 300, form="criteo")
    said = foresee("data", "train.txt.gz")
    assert "criteo, by its columns" in said.stdout
    assert "C26" in foresee("data", "train.txt.gz", "--schema", "criteo").stdout


def test_other_data(foresee, tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((5, 9, 8, 3), np.uint8), y=np.array([0, 1, 2, 1, 0]))
    said = foresee("data", "a.npz").stdout
    for part in ("3x9x8", "samples  5", "outputs  3", "fingerprint"):
        assert part in said
    assert json.loads(foresee("data", "digits", "--json").stdout)["splits"] == {"train": 1437, "test": 360}
    assert "without end" in foresee("data", "synthetic").stdout


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nothing.csv", "no such file or folder"),
        ("digitss", "did you mean digits"),
        ("clicks.csv --schema critteo", "did you mean criteo"),
        ("clicks.csv --schema nothing.toml", "nothing.toml"),
        ("clicks.csv --schema criteo", "does not name the columns of schema criteo"),
        ("clicks.csv --label clik", "did you mean click"),
        ("clicks.csv --schema criteo --label click", "name the label there"),
        ("clicks.csv --rows 0", "--rows 0"),
        ("clicks.csv --out clicks.csv", "clicks.csv"),
        ("digits --label y", "--label: only of a click log"),
        ("digits --schema criteo", "digits"),
        ("clicks.csv --shema criteo", "--shema"),
        ("empty.csv", "is empty"),
        ("words.csv", "no table of several columns"),
        ("unclear.csv", "several columns may be the label: click (0, 1) and conversion (0, 1)"),
    ],
)
def test_mistakes_are_one_line(foresee, log, line, words):
    Path("empty.csv").touch()
    Path("words.csv").write_text("once\nupon\n")
    Path("unclear.csv").write_text("click,conversion,x\n" + "0,0,a\n0,1,b\n1,0,c\n1,1,d\n" * 9)
    assert words in foresee("data", *line.split(), code=2).stderr


def test_names_in_a_file_steer_no_terminal(foresee, tmp_path):
    rows = "".join(f"{k % 2},\x1b[31mred{k % 3}[bold]\n" for k in range(90))
    (tmp_path / "a.csv").write_text("click,\x1b[2Jsite\n" + rows)
    said = foresee("data", "a.csv").stdout
    assert "\x1b" not in said
    assert "[bold]" in said


@pytest.mark.slow
def test_an_interruption_is_said_and_leaves_nothing_half_written(tmp_path):
    generated(tmp_path / "clicks.csv", 200_000, form="csv")
    called = subprocess.Popen(
        [sys.executable, "-m", "foresee.cli", "data", "clicks.csv", "--out", "page", "--prepare", "ready"],
        cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(3)
    called.send_signal(signal.SIGINT)
    _, err = called.communicate(timeout=60)
    assert called.returncode in (0, 130)
    if called.returncode == 130:
        assert err.strip().endswith("stopped")
    assert not (tmp_path / "page" / "report.html.new").exists()
