"""Ensembles of a space that is somebody's code: found, gone on with, loaded and attacked, where the person names the code."""

from __future__ import annotations

import json
import sys

import pytest
import torch
from tests.ensembles.finding.tiny import images

from foresee.ensembles import Ensemble
from foresee.ensembles.defending.targets import target_of
from foresee.ensembles.finding import EnsembleRun, ensemble
from foresee.errors import InputError
from foresee.training.export.sources import source_of

NETS = """
from torch import nn

def make_net(pick):
    width = pick("width", [2, 3, 4])
    return nn.Sequential(nn.Conv2d(3, width, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 4))
"""
SPACE = "own_nets_of_a_person:make_net"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("own")
    (place / "own_nets_of_a_person.py").write_text(NETS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(place))
        _found(place)
        yield place
    sys.modules.pop("own_nets_of_a_person", None)


def _found(place):
    said = {"size": 2, "pool": 2, "sampler": "nes-rs", "epochs": 1, "batch": 42, "recipe": "fast"}
    return ensemble(SPACE, images(), out=place / "e", **said)


def test_what_was_found_is_found_again(folder):
    again = _found(folder)
    x = torch.randn(3, 3, 8, 8)
    one, other = Ensemble.load(folder / "e", space=SPACE), again.ensemble
    assert torch.equal(one(x), other(x))
    (folder / "e" / "measures.json").unlink()  # as if it had been killed before
    assert torch.equal(_found(folder).ensemble(x), other(x))


def test_the_function_itself_will_do(folder):
    from own_nets_of_a_person import make_net

    x = torch.randn(3, 3, 8, 8)
    assert torch.equal(Ensemble.load(folder / "e", space=make_net)(x), Ensemble.load(folder / "e", space=SPACE)(x))


def test_no_file_is_followed_to_code(folder):
    assert SPACE in (folder / "e" / "ensemble.json").read_text()
    assert json.loads((folder / "e" / "settings.json").read_text())["settings"]["space"] == SPACE
    for follow in (Ensemble.load, target_of, source_of, lambda place: EnsembleRun.load(place).ensemble):
        with pytest.raises(InputError, match="no code is run because a file names it"):
            follow(folder / "e")
    with pytest.raises(InputError, match="no code is run because a file names it"):
        source_of(EnsembleRun.load(folder / "e"))


def test_where_the_code_is_named_it_is_attacked_and_exported(folder):
    assert len(target_of(folder / "e", space=SPACE).ensemble) == 2
    assert source_of(folder / "e", space=SPACE).ensemble is not None
    assert source_of(_found(folder)).ensemble is not None
    assert len(EnsembleRun.load(folder / "e", space=SPACE).ensemble) == 2
