"""The whole chain under SIGKILL: at every stage in turn; it goes on, and ends bit for bit as if it had never been stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from foresee.ensembles.finding import EnsembleRun

#: forks before torch has computed anything, so that each child begins as a fresh process would, without its imports
SCRIPT = """
import os, signal, sys
import torch._dynamo  # what an optimiser would import in each child
from foresee.ensembles.finding.samplers import samplers
from foresee.spaces.find import get
from foresee.ensembles.finding.comparing import compare_ensembles
from foresee.ensembles.finding.run import ensemble
from tests.ensembles.finding.tiny import NB201, TINY, images

get("nasbench201"), samplers["mc"]
what, folder, kinds = sys.argv[1], sys.argv[2], sys.argv[3:]

def killing(kind, number):
    left = [int(number)]
    def observe(event):
        name = str(event.details.get("name", ""))
        if event.kind == kind.partition("/")[0] and name.startswith(kind.partition("/")[2]):
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
    return observe

def work(observers):
    said = {**TINY, **NB201, "epochs": 2, "out": folder, "observers": observers}
    if what == "ensemble":
        ensemble(said.pop("space"), images(), sampler="svgd-rd", **said)
    else:
        compare_ensembles(said.pop("space"), images(), ["mc", "nes-re", "snapshot"], 1, pool=3, **said)

for one in [*kinds, ""]:
    child = os.fork()
    if child == 0:
        work([killing(*one.split("*"))] if one else [])
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(one, status, flush=True)
"""


def run(what: str, folder: Path, *kills: str) -> list[str]:
    """What became of each process: killed one after the other at these events, the last one left alone."""
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, what, str(folder), *kills],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    killed = [line for line in lines if line.endswith(str(-signal.SIGKILL.value))]
    assert len(killed) == len(kills), (lines, found.stderr)
    assert lines[-1].endswith(" 0"), found.stderr
    return lines


def kept(folder: Path) -> dict[str, bytes]:
    """All files that have to be equal: weights, predictions, what was chosen; of JSON files all but times."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        plain = ("posterior.json", "selected.json", "settings.json", "ensemble.json")
        if (path.suffix in (".safetensors", ".npz") and not path.name.startswith("last")) or path.name in plain:
            found[name] = path.read_bytes()
        elif path.name in ("measures.json", "comparison.json"):
            found[name] = json.dumps(without_times(json.loads(path.read_text()))).encode()
    return found


def without_times(plain):
    if isinstance(plain, dict):
        return {key: without_times(one) for key, one in plain.items() if key != "seconds"}
    return [without_times(one) for one in plain] if isinstance(plain, list) else plain


@pytest.mark.slow
def test_an_ensemble_killed_at_every_stage_ends_the_same(tmp_path):
    run("ensemble", tmp_path / "whole")
    kills = [
        "step/supernet*1",
        "step/posterior*1",
        "chosen/*1",
        "epoch/*1",  # of the first member
        "epoch/*2",  # the first is trained, the second begun
        "member/member 2*1",
    ]
    run("ensemble", tmp_path / "killed", *kills)
    whole, killed = kept(tmp_path / "whole"), kept(tmp_path / "killed")
    assert whole.keys() == killed.keys()
    assert [name for name in whole if whole[name] != killed[name]] == []
    assert {"posterior.json", "predictions.npz", "members/1/best.safetensors"} <= whole.keys()
    assert str(EnsembleRun.load(tmp_path / "whole").measures) == str(EnsembleRun.load(tmp_path / "killed").measures)


@pytest.mark.slow
def test_a_comparison_killed_ends_the_same(tmp_path):
    run("comparison", tmp_path / "whole")
    kills = ["chosen/*1", "compared/mc*1", "pooled/*2", "epoch/*3", "compared/snap*1"]
    run("comparison", tmp_path / "killed", *kills)
    whole, killed = kept(tmp_path / "whole"), kept(tmp_path / "killed")
    assert whole.keys() == killed.keys()
    assert [name for name in whole if whole[name] != killed[name]] == []
