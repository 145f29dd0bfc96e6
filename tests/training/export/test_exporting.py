"""Exports: equal outputs, nothing left behind when something is wrong, the network handed over as it was."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.training.export.made import CLASSES, STATISTICS, Small, mlp, small, trained
from torch import Tensor, nn

import foresee as fs
from foresee.errors import InputError, MissingExtraError, RunError, UnknownNameError, UnsupportedError
from foresee.task import Task
from foresee.training.export import formats
from foresee.training.export.formats import FORMATS


def outputs(network: nn.Module, *inputs: Tensor) -> Tensor:
    with torch.no_grad():
        found: Tensor = network.eval()(*inputs)
        return found


def test_a_training_of_an_architecture(tmp_path: Path) -> None:
    candidate = mlp()
    network = candidate.build()
    made = fs.export(trained(network, candidate), tmp_path / "out", ["safetensors"])
    again = fs.load_exported(made.folder)
    images = torch.randn(4, 3, 4, 4)
    assert torch.equal(outputs(again, images), outputs(network, images))
    assert not again.training
    said = json.loads((tmp_path / "out" / "model.json").read_text())
    assert said["task"] == {"inputs": [3, 4, 4], "outputs": 3}
    assert said["classes"] == list(CLASSES)
    assert said["normalisation"] == {"mean": list(STATISTICS.mean), "std": list(STATISTICS.std)}
    assert said["architecture"]["space"] == "mlp"
    assert said["architecture"]["architecture"] == "mlp(16)"
    assert said["files"]["safetensors"]["largest_difference"] == 0
    assert {path.name for path in made.folder.iterdir()} == {
        *("model.json", "model.safetensors", "README.md", "use.py", "example.npz")
    }
    assert "mlp(16)" in (made.folder / "README.md").read_text()
    assert list(tmp_path.iterdir()) == [made.folder]


@pytest.mark.slow
def test_a_torch_program_takes_any_number_of_samples(tmp_path: Path) -> None:
    network = small().train()
    state = {key: value.clone() for key, value in network.state_dict().items()}
    made = fs.export(trained(network), tmp_path / "out", ["torch_export", "safetensors"])
    program = torch.export.load(made.folder / "model.pt2").module()
    images = torch.randn(7, 3, 8, 8)
    torch.testing.assert_close(program(images), outputs(small(), images))
    assert network.training
    assert all(torch.equal(value, state[key]) for key, value in network.state_dict().items())
    written = made.description.files["torch_export"]
    assert written.difference <= written.tolerance
    assert written.batches == (1, 2, 5)


@pytest.mark.slow
def test_pixels_are_normalised_by_the_program(tmp_path: Path) -> None:
    network = small()
    made = fs.export(trained(network), tmp_path / "out", ["safetensors", "torch_export"], pixels=True)
    images = torch.rand(4, 3, 8, 8)
    expected = outputs(network, STATISTICS.apply(images))
    torch.testing.assert_close(torch.export.load(made.folder / "model.pt2").module()(images), expected)
    torch.testing.assert_close(outputs(fs.load_exported(made.folder, network=small(1)), images), expected)
    example = np.load(made.folder / "example.npz")
    assert example["input0"].min() >= 0
    assert example["input0"].max() <= 1


class Clicks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(7, 2), nn.Linear(6, 1)

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        found: Tensor = self.head(torch.cat([dense, self.table(sparse).flatten(1)], 1))
        return found


class Named(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(7, 4), nn.Linear(4, 2)

    def forward(self, input_ids: Tensor, mask: Tensor) -> dict[str, Tensor]:
        found = self.table(input_ids) * mask[..., None]
        return {"logits": self.head(found.mean(1)), "features": found}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["safetensors", "torch_export"])
def test_several_inputs_and_named_ones(tmp_path: Path, form: str) -> None:
    clicks = trained(Clicks(), task=Task((2,), 1, vocabularies=(7, 7)), classes=(), facts={})
    assert fs.export(clicks, tmp_path / "clicks", [form]).description.names is None
    ids = torch.randint(7, (5, 6))
    made = fs.export(Named(), tmp_path / "named", [form], example={"input_ids": ids, "mask": torch.ones(5, 6)})
    assert made.description.names == ("input_ids", "mask")
    assert made.description.inputs == (((6,), "int64"), ((6,), "float32"))


def test_a_module_needs_an_example(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="hand over example="):
        fs.export(small(), tmp_path / "out")
    made = fs.export(small(), tmp_path / "out", ["safetensors"], example=torch.zeros(1, 3, 8, 8))
    with pytest.raises(InputError, match="hand one over to be filled"):
        fs.load_exported(made.folder)
    with pytest.raises(InputError, match="does not run on inputs of shape"):
        fs.export(small(), tmp_path / "other", ["safetensors"], example=torch.zeros(1, 5, 8, 8))
    assert not (tmp_path / "other").exists()


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean torch_export"):
        fs.export(trained(small()), tmp_path / "out", ["torch-export"])
    with pytest.raises(InputError, match="no formats"):
        fs.export(trained(small()), tmp_path / "out", [])
    with pytest.raises(InputError, match="hand over statistics="):
        fs.export(trained(small(), facts={}), tmp_path / "out", ["safetensors"], pixels=True)
    with pytest.raises(InputError, match="4 names of classes for 3 outputs"):
        fs.export(trained(small()), tmp_path / "out", ["safetensors"], classes=list("abcd"))
    with pytest.raises(InputError, match="a dict is no network"):
        fs.export({}, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_onnx_says_what_is_missing_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.import_module

    def missing(library: str, *of: Any) -> Any:
        if library.startswith("onnx"):
            raise ImportError(f"No module named {library!r}")
        return found(library, *of)

    monkeypatch.setattr("foresee.extras.importlib.import_module", missing)
    with pytest.raises(MissingExtraError, match=r"foresee\[onnx\]"):
        fs.export(trained(small()), tmp_path / "out", ["safetensors", "onnx"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_onnx_gives_the_same(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="the extra onnx is not installed")
    made = fs.export(trained(small()), tmp_path / "out", ["onnx"], pixels=True)
    written = made.description.files["onnx"]
    assert written.difference <= written.tolerance < 0.1


class Branching(nn.Module):
    """What no tracer follows: numbers decide which way it goes."""

    def forward(self, images: Tensor) -> Tensor:
        return images.flatten(1)[:, :3] * (2 if float(images.sum()) > 0 else 3)


class Counting(nn.Module):
    """What torch takes for one number of samples only."""

    def forward(self, images: Tensor) -> Tensor:
        return images.reshape(len(images), -1)[:, :3]


@pytest.mark.slow
def test_a_fixed_number_of_samples_is_told_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"x\.shape\[0\] leaves it open"):
        fs.export(trained(Counting()), tmp_path / "out", ["torch_export"])


@pytest.mark.slow
def test_what_cannot_be_traced_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="torch_export: the network cannot be traced") as found:
        fs.export(trained(Branching()), tmp_path / "out", ["safetensors", "torch_export"])
    assert "\n" not in str(found.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_outputs_differ_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that lost digits on the way are noticed."""

    class Half(formats.Safetensors):
        def write(self, network: nn.Module, program: Any, example: Any, path: Path) -> None:
            other = Small()
            other.load_state_dict({key: value * 1.001 for key, value in network.state_dict().items()})
            super().write(other, program, example, path)

    monkeypatch.setitem(FORMATS, "safetensors", Half())
    with pytest.raises(UnsupportedError, match=r"safetensors: its outputs are .* away"):
        fs.export(trained(small()), tmp_path / "out", ["safetensors"])
    assert list(tmp_path.iterdir()) == []


def test_folders_are_replaced_only_when_told(tmp_path: Path) -> None:
    first, second = trained(small(1)), trained(small(2))
    made = fs.export(first, tmp_path / "out", ["safetensors"])
    with pytest.raises(RunError, match="say overwrite"):
        fs.export(second, made.folder, ["safetensors"])
    fs.export(second, made.folder, ["safetensors"], overwrite=True)
    images = torch.randn(2, 3, 8, 8)
    assert torch.equal(outputs(fs.load_exported(made.folder, network=small()), images), outputs(small(2), images))
    assert list(tmp_path.iterdir()) == [made.folder]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match="something else than an export"):
        fs.export(first, tmp_path / "mine", ["safetensors"], overwrite=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="is no folder"):
        fs.export(first, tmp_path / "file", ["safetensors"], overwrite=True)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
