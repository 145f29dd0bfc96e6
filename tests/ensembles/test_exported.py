"""Ensembles exported like single networks: written, read again, built again; pixels go in."""

from __future__ import annotations

import json

import pytest
import torch
from tests.ensembles.defending.trained import ensembled
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

import foresee as fs
from foresee.data import load
from foresee.ensembles import Ensemble
from foresee.ensembles.exported import built, plain
from foresee.ensembles.finding import ensemble
from foresee.errors import RunError, UnsupportedError
from foresee.training.export import export, load_exported


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return ensembled(tmp_path_factory.mktemp("exported") / "e")


def test_weights_program_and_pixels(folder, tmp_path) -> None:
    made = export(folder, tmp_path / "out", ["safetensors", "torch_export"])
    assert made.description.pixels
    assert made.description.files["safetensors"].difference == 0
    kept = Ensemble.load(folder)
    pixels = load("digits", inputs=(3, 4, 4), split="test", normalise=False).batch(7).inputs
    normal = made.description.statistics.apply(pixels)
    program = torch.export.load(tmp_path / "out" / "model.pt2").module()
    with torch.no_grad():
        truth = kept(normal)
        torch.testing.assert_close(load_exported(tmp_path / "out")(pixels), truth)
        torch.testing.assert_close(program(pixels), truth)
    assert "of 2 networks" in (tmp_path / "out" / "README.md").read_text()
    assert len(json.loads((tmp_path / "out" / "model.json").read_text())["ensemble"]["members"]) == 2


def test_normalised_inputs_where_asked_for(folder, tmp_path) -> None:
    made = export(folder, tmp_path / "out", ["safetensors"], pixels=False)
    assert not made.description.pixels
    normal = load("digits", inputs=(3, 4, 4), split="test").batch(7).inputs
    with torch.no_grad():
        torch.testing.assert_close(load_exported(tmp_path / "out")(normal), Ensemble.load(folder)(normal))


@pytest.mark.slow
def test_onnx(folder, tmp_path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    made = export(folder, tmp_path / "out", ["onnx"])
    assert made.description.files["onnx"].by.startswith("onnxruntime")


def test_one_that_was_found_and_not_kept(tmp_path) -> None:
    found = ensemble(data=images(), sampler="mc", **{**TINY, **NB201})
    export(found, tmp_path / "out", ["safetensors"])
    again = load_exported(tmp_path / "out")
    pixels = torch.rand(4, 3, 8, 8)
    normal = found.statistics.apply(pixels)
    with torch.no_grad():
        torch.testing.assert_close(again(pixels), found.ensemble(normal))


@pytest.mark.slow
def test_dropped_paths_are_dropped_again(tmp_path) -> None:
    found = ensemble(data=images(), sampler="droppath", **{**TINY, **DARTS, "droppath": 0.3}, out=tmp_path / "e")
    export(tmp_path / "e", tmp_path / "out", ["safetensors"])
    pixels = torch.rand(4, 3, 8, 8)
    with torch.no_grad():
        truth = found.ensemble(found.statistics.apply(pixels))
        torch.testing.assert_close(load_exported(tmp_path / "out")(pixels), truth)
    with pytest.raises(UnsupportedError, match="torch_export"):
        export(tmp_path / "e", tmp_path / "no", ["torch_export"])


def test_what_is_damaged_or_unfinished_is_said(folder, tmp_path) -> None:
    with pytest.raises(RunError, match="does not tell of an ensemble"):
        built({"average": "probabilities"})
    (tmp_path / "settings.json").write_text("{}")
    with pytest.raises(RunError, match="not finished"):
        fs.export(tmp_path, tmp_path / "out", ["safetensors"])
    bare = tmp_path / "bare"
    kept = Ensemble.load(folder)
    said = json.loads((folder / "ensemble.json").read_text())["candidates"]
    kept.save(bare, [fs.Candidate.from_json(one) for one in said])
    with pytest.raises(RunError, match="what normalises"):
        export(bare, tmp_path / "out", ["safetensors"])
    assert plain(kept, [])["average"] == "probabilities"
