"""`foresee table`, as a user at a terminal meets it."""

from __future__ import annotations

import json
import pickle
import sys
import types

import pytest
from tests.benchmarks.formats import writers

from foresee.benchmarks import load
from foresee.cli.entry import run

CELL, OTHER = writers.CELLS_201[:2]
CSV = f"""architecture,metric,value,task,epochs,seed,params
{CELL},test_acc,93,cifar10,200,0,100
{CELL},test_acc,95,cifar10,200,1,
{OTHER},test_acc,80,cifar10,200,0,50
"""


@pytest.fixture
def foresee(tmp_path, monkeypatch, capfd):
    """The command, called in this process; returns what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "t.csv").write_text(CSV)

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["foresee", "table", *arguments])
        capfd.readouterr()
        returned = run()
        printed = capfd.readouterr()
        assert returned == code, (returned, printed)
        if code == 2:
            assert len(printed.err.strip().splitlines()) == 1, printed.err
        return printed.err if code else printed.out

    return call


def test_info(foresee):
    shown = foresee("info", "t.csv", "--space", "nasbench201")
    for word in ("nasbench201", "test_acc_cifar10", "200", "0,1", "params", "higher"):
        assert word in shown
    plain = json.loads(foresee("info", "t.csv", "--json"))
    assert (plain["space"], plain["architectures"], plain["measurements"]) == ("", 2, 3)
    (target,) = plain["targets"]
    assert (target["n"], target["min"], target["median"], target["max"]) == (2, 80.0, 87.0, 94.0)
    assert target["spread"] == pytest.approx(2**0.5)
    assert plain["costs"]["params"] == {"n": 2, "min": 50.0, "median": 75.0, "max": 100.0}
    assert plain["sha256"] == plain["source"]["sha256"]
    assert foresee("info", "t.csv", "--sha256", plain["sha256"])
    assert "expected 00" in foresee("info", "t.csv", "--sha256", "00", code=2)


def test_convert_there_and_back(foresee):
    said = foresee("convert", "t.csv", "t.npz", "--space", "nasbench201")
    assert "2 architectures of nasbench201, 3 measurements, 1 target" in said
    assert load("t.npz").source == "t.csv"
    assert "made from" in foresee("info", "t.npz")
    foresee("convert", "t.npz", "again.csv.gz")
    again = load("again.csv.gz")
    assert (again.space, again.values("test_acc").tolist()) == ("nasbench201", [94.0, 80.0])


def test_convert_checks_every_architecture(foresee, tmp_path):
    (tmp_path / "bad.csv").write_text(CSV + "|conv~0|,test_acc,1,cifar10,200,0,\n")
    assert "cell" in foresee("convert", "bad.csv", "t.npz", "--space", "nasbench201", code=2)
    assert not (tmp_path / "t.npz").exists()
    foresee("convert", "bad.csv", "t.npz")  # no space, nothing to check by


def test_pickles_need_trust(foresee, tmp_path):
    plain = writers.api_file((CELL, OTHER), {"12": (12, (777,))})
    (tmp_path / "api.pth").write_bytes(pickle.dumps(plain))
    assert "foresee table convert api.pth table.npz --trust-pickle" in foresee("convert", "api.pth", "t.npz", code=2)
    assert "--trust-pickle" in foresee("info", "api.pth", code=2)
    foresee("convert", "api.pth", "t.npz", "--trust-pickle")
    assert load("t.npz").values("test_acc_cifar10").tolist() == pytest.approx([51.777, 52.777])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("info", "missing.csv"), "missing.csv: no such file"),
        (("info", "t.csv", "--space", "nasbench2001"), "did you mean nasbench201"),
        (("convert", "t.csv", "t.csv"), "would overwrite"),
        (("convert", "t.csv", "t.txt"), "t.txt: a table is written as .npz"),
        (("convert", "t.csv", "none/t.npz"), "its folder does not exist"),
        (("convert", "t.csv", "t.npz", "--format", "cvs"), "unknown format 'cvs': did you mean csv"),
        (("convert", "t.csv", "t.npz", "--format", "nasbench101"), "not NAS-Bench-101's record file"),
        (("predict", "model", "t.npz"), "add --trust-pickle"),
    ],
)
def test_a_mistake_is_one_line(foresee, arguments, message):
    assert message in foresee(*arguments, code=2)


def test_predict(foresee, monkeypatch, tmp_path):
    class Model:
        def predict(self, config, representation, with_noise):
            return 93.0

    (tmp_path / "xgb_v1.0").mkdir()
    assert "nasbench301 is needed" in foresee("predict", "xgb_v1.0", "t.npz", "--trust-pickle", code=2)
    monkeypatch.setitem(sys.modules, "nasbench301", types.SimpleNamespace(load_ensemble=lambda folder: Model()))
    foresee("predict", "xgb_v1.0", "t.npz", "--sample", "5", "--trust-pickle")
    first = load("t.npz").architectures
    (tmp_path / "cells.txt").write_text("\n".join(first[:2]) + "\n\n")
    foresee("predict", "xgb_v1.0", "t.csv", "--architectures", "cells.txt", "--trust-pickle")
    assert (len(first), load("t.csv").architectures) == (5, first[:2])
    assert "cannot be read" in foresee(
        "predict", "xgb_v1.0", "t.npz", "--architectures", "no.txt", "--trust-pickle", code=2
    )
