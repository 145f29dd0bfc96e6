"""The whole chain under SIGKILL: at every stage in turn; it goes on, and ends bit for bit as if it had never been stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.killing import run_script

from foresee.ensembles.finding import EnsembleRun

SCRIPT = """
import sys
from foresee.ensembles.finding.comparing import compare_ensembles
from foresee.ensembles.finding.run import ensemble
from tests.ensembles.finding.tiny import NB201, TINY, images
from tests.killing import at_moments, die, whole

what, *moments = sys.argv[1:]

def dying(moment):
    kind, _, number = moment.partition("*")
    left = int(number)
    def observe(event):
        nonlocal left
        name = str(event.details.get("name", ""))
        if event.kind == kind.partition("/")[0] and name.startswith(kind.partition("/")[2]):
            left -= 1
            if left <= 0:
                die()
    return observe

def work(folder, moment=None):
    said = {**TINY, **NB201, "epochs": 2, "out": folder, "observers": [] if moment is None else [dying(moment)]}
    if what == "ensemble":
        ensemble(said.pop("space"), images(), sampler="svgd-rd", **said)
    else:
        compare_ensembles(said.pop("space"), images(), ["mc", "nes-re", "snapshot"], 1, pool=3, **said)

whole(work, "whole")
at_moments(work, "killed", moments)
"""


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
    kills = [
        "step/supernet*1",
        "step/posterior*1",
        "chosen/*1",
        "epoch/*1",  # of the first member
        "epoch/*2",  # the first is trained, the second begun
        "member/member 2*1",
    ]
    run_script(SCRIPT, tmp_path, "ensemble", *kills)
    whole, killed = kept(tmp_path / "whole"), kept(tmp_path / "killed")
    assert whole.keys() == killed.keys()
    assert [name for name in whole if whole[name] != killed[name]] == []
    assert {"posterior.json", "predictions.npz", "members/1/best.safetensors"} <= whole.keys()
    assert str(EnsembleRun.load(tmp_path / "whole").measures) == str(EnsembleRun.load(tmp_path / "killed").measures)


@pytest.mark.slow
def test_a_comparison_killed_ends_the_same(tmp_path):
    kills = ["chosen/*1", "compared/mc*1", "pooled/*2", "epoch/*3", "compared/snap*1"]
    run_script(SCRIPT, tmp_path, "comparison", *kills)
    whole, killed = kept(tmp_path / "whole"), kept(tmp_path / "killed")
    assert whole.keys() == killed.keys()
    assert [name for name in whole if whole[name] != killed[name]] == []
