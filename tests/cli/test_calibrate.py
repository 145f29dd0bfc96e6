"""`foresee calibrate`, as a user at a terminal meets it."""

from __future__ import annotations

import csv
import json
import os
import random
import sys

import pytest

from foresee.cli.entry import run
from foresee.scoring import Scorer
from foresee.spaces import get

QUICK = ["--proxy", "params", "--proxy", "macs", "--untrained", "params", "--engine", "serial", "--data", "synthetic"]
QUICK += ["--bootstrap", "20"]
LESS = ["nasbench201", "--table", "t.csv", "--target", "test_acc", "--trained", "12", *QUICK]


@pytest.fixture
def foresee(tmp_path, monkeypatch, capfd):
    """The command, called in this process in a folder with a table of 24 cells; returns what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORESEE_CACHE", raising=False)
    space, rng = get("nasbench201"), random.Random(3)
    cells = list({str(space.sample(rng)): None for _ in range(30)})[:24]
    lines = [f"{text},test_acc,{80 + 2 * text.count('conv') + 0.1 * place:.1f}" for place, text in enumerate(cells)]
    (tmp_path / "t.csv").write_text("\n".join(["architecture,metric,value", *lines]))

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["foresee", "calibrate", *arguments])
        capfd.readouterr()
        returned = run()
        printed = capfd.readouterr()
        assert returned == code, (returned, printed)
        if code == 2:
            assert len(printed.err.strip().splitlines()) == 1, printed.err
        return printed.err if code else printed.out

    call.folder, call.cells = tmp_path, cells
    return call


def test_predictions_stand_beside_the_untrained_score(foresee):
    shown = foresee(
        "nasbench201", "--table", "t.csv", "--target", "test_acc", "--trained", "12", "--out", "o", "--top", "3", *QUICK
    )
    assert "12 trained architectures, 12 foreseen; target test_acc, better is higher" in shown
    assert "proxies look at synthetic as 3x32x32 with 10 outputs" in shown
    for word in (
        "90 % interval",
        "the untrained score params",
        "its rank",
        "held out",
        "checked by the table",
        "spearman",
        "kendall",
    ):
        assert word in shown
    assert "held out: The model is " in shown
    assert "intervals: 90 % asked, at least 80 % whatever the truth" in shown
    assert sum(line.split()[-1] in foresee.cells for line in shown.splitlines() if line) == 3
    with (foresee.folder / "o" / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert rows[0]["architecture"] in shown
    assert {"scores.sqlite", "calibration.json", "report.html"} <= set(os.listdir(foresee.folder / "o"))
    assert "o/report.html" in shown


def test_json_and_the_same_again_from_the_cache(foresee):
    command = ["nasbench201", "--table", "t.csv", "--target", "test_acc", "--trained", "10", "--sample", "3", "--json"]
    command += ["--cache", "c.sqlite", "--coverage", "0.8", "--no-parts", *QUICK]
    plain = json.loads(foresee(*command))
    assert plain["parts"] == 0
    assert plain["coverage"]["asked"] == 0.8
    assert len(plain["predictions"]) == 3
    assert set(plain["held_out"]) >= {"model", "untrained", "gain", "covered", "verdict"}
    assert json.loads(foresee(*command)) == plain


def test_proxies_of_no_use_are_said(foresee):
    shown = foresee(
        "nasbench201",
        "--table",
        "t.csv",
        "--target",
        "test_acc",
        "--trained",
        "10",
        "--sample",
        "2",
        *QUICK,
        "--proxy",
        "dss",
    )
    assert "dss failed on 12 of 12, so it says nothing: unsupported" in shown
    assert "the model reads params, macs and" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "--table FILE and --target NAME are needed"),
        (["--table", "none.csv", "--target", "test_acc"], "none.csv"),
        (["--table", "t.csv", "--target", "test_acc", "--trained", "12", *QUICK], "a space is needed"),
        (["nasbench201", "--table", "t.csv", "--target", "accuracy", *QUICK], "unknown target"),
        (["nasbench201", "--table", "t.csv", "--target", "test_acc", *QUICK], "nothing is left to predict"),
        (
            ["nasbench201", "--table", "t.csv", "--target", "test_acc", "--trained", "5", *QUICK],
            "at least 10 are needed",
        ),
        (["nasbench201", "--table", "t.csv", "--target", "test_acc", "--input", "3x8x8", *QUICK], "belong together"),
        (["nasbench201", "--table", "t.csv", "--target", "test_acc", "--set", "x.y=1", *QUICK], "name in --set"),
        (
            ["nasbench201", "--table", "t.csv", "--target", "test_acc", "--trained", "12", *QUICK, "--bootstrap", "-1"],
            "bootstrap -1",
        ),
        (["nasbench201", "--table", "t.csv", "--target", "test_acc", "--top", "-1", *QUICK], "--top -1"),
        (["nasbench201", "--table", "t.csv", "--target", "test_acc", "--trained", "-5", *QUICK], "--trained -5"),
        ([*LESS, "--untrained", "params*", "--untrained", "*"], "name one score to stand beside"),
        ([*LESS, "--device", "nowhere"], "device 'nowhere' cannot be used here"),
        ([*LESS, "--engine", "processes", "--workers", "0"], "workers 0: at least 1 is needed"),
        ([*LESS, "--out", "t.csv"], "t.csv: cannot be used as a run folder"),
        ([*LESS, "--out", "searched"], "searched holds a search: choose another --out"),
        (["nasbench201", "--table", "t.csv", "--target", "test_acc", "--predict", "no.txt", *QUICK], "no.txt"),
    ],
)
def test_mistakes_are_one_line(foresee, arguments, sentence):
    (foresee.folder / "searched").mkdir()
    (foresee.folder / "searched" / "run.sqlite").touch()
    assert sentence in foresee(*arguments, code=2)


def test_too_few_trained_are_refused_before_anything_is_scored(foresee, monkeypatch):
    monkeypatch.setattr(Scorer, "__call__", lambda self, job: pytest.fail("scored"))
    for more, sentence in (
        (["--trained", "9"], "9 trained architectures: at least 10 are needed"),
        (["--coverage", "0.99"], "coverage 0.99 needs at least 99 trained"),
        (["--coverage", "90"], "expected a share between 0 and 1"),
    ):
        assert sentence in foresee(*LESS, *more, code=2)


def test_ctrl_c_says_that_the_same_command_goes_on(foresee, monkeypatch):
    monkeypatch.setenv("FORESEE_CACHE", "kept.sqlite")
    plain, done = Scorer.__call__, []

    def work(self, job):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(job)
        return plain(self, job)

    monkeypatch.setattr(Scorer, "__call__", work)
    assert "stopped after 5 of 24; the same command goes on from there" in foresee(*LESS, code=130)
    done.clear()
    monkeypatch.setattr(Scorer, "__call__", lambda self, job: done.append(job) or plain(self, job))
    foresee(*LESS)
    assert len(done) == 19
