"""What comes of finding an ensemble, fresh and read again."""

from __future__ import annotations

import json

import pytest
import torch
from tests.ensembles.finding.tiny import NB201, TINY, images

from foresee.ensembles.finding import EnsembleRun, ensemble
from foresee.errors import RunError

HOW = {**TINY, **NB201, "sampler": "mc"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ensemble")
    return ensemble(data=images(), out=folder, **HOW)


def test_it_is_read_from_its_folder(made):
    read = EnsembleRun.load(made.folder)
    assert read.measures == made.measures
    assert read.settings == made.settings
    assert read.statistics == made.statistics
    assert torch.equal(read.probabilities, made.probabilities)
    for one, other in zip(read.ensemble.parameters(), made.ensemble.parameters(), strict=True):
        assert torch.equal(one, other)
    assert str(read) == str(made)
    assert "ensemble" in str(made)
    assert "<table" in made._repr_html_()


@pytest.mark.parametrize(("name", "words"), [("selected.json", "not chosen"), ("measures.json", "not all trained")])
def test_what_is_not_finished_is_said(made, tmp_path, name, words):
    for other in ("settings.json", "selected.json"):
        if other != name:
            (tmp_path / other).write_bytes((made.folder / other).read_bytes())
    with pytest.raises(RunError, match=words):
        EnsembleRun.load(tmp_path)


def test_what_is_damaged_is_said(made, tmp_path):
    for name in ("settings.json", "selected.json", "measures.json"):
        (tmp_path / name).write_bytes((made.folder / name).read_bytes())
    with pytest.raises(RunError, match=r"predictions\.npz is missing"):
        _ = EnsembleRun.load(tmp_path).labels
    plain = json.loads((tmp_path / "measures.json").read_text())
    del plain["budget"]
    (tmp_path / "measures.json").write_text(json.dumps(plain))
    with pytest.raises(RunError, match="not as an ensemble leaves it"):
        EnsembleRun.load(tmp_path)
