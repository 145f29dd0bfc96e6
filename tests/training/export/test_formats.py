"""ONNX as far as it can be looked at without its libraries: what torch's exporter and the runtime are asked."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.training.export.made import small, trained

import foresee as fs
from foresee.errors import MissingExtraError, UnsupportedError
from foresee.extras import need
from foresee.training.export import formats

REAL = torch.onnx.export


class Stage:
    """Stands in for the libraries: programs are kept in memory, by the path that they are written to."""

    def __init__(self, scripted: bool, runtime: bool) -> None:
        self.scripted, self.runtime = scripted, runtime
        self.programs: dict[str, Any] = {}
        self.names: list[str] = []

    def need(self, library: str) -> Any:
        if library == "onnxruntime" and self.runtime:
            return SimpleNamespace(InferenceSession=lambda path, providers: self.session(path), __version__="9")
        if library == "onnxruntime":
            raise MissingExtraError("not here")
        graph = SimpleNamespace(graph=SimpleNamespace(input=[SimpleNamespace(name=name) for name in self.names]))
        evaluator = SimpleNamespace(ReferenceEvaluator=lambda model: self.session(next(iter(self.programs))))
        return SimpleNamespace(__version__="8", load=lambda path: graph, reference=evaluator)

    def export(self, *arguments: Any, **named: Any) -> None:
        asked = inspect.signature(REAL).bind(*arguments, **named).arguments  # as torch would take them
        model = asked["model"]
        assert asked["dynamo"] is self.scripted
        self.names = asked["input_names"]
        if self.scripted:
            self.programs[asked["f"]] = model.module()
        else:
            assert set(asked["dynamic_axes"]) == {*self.names, "logits"}
            assert len(asked["args"]) == len(self.names)
            self.programs[asked["f"]] = model
        Path(asked["f"]).write_bytes(b"a graph")

    def session(self, path: str) -> Any:
        def run(outputs: None, inputs: dict[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
            with torch.no_grad():
                return [self.programs[path](*(torch.from_numpy(inputs[name]) for name in self.names)).numpy()]

        return SimpleNamespace(run=run, get_inputs=lambda: [SimpleNamespace(name=name) for name in self.names])


@pytest.mark.slow
@pytest.mark.parametrize("scripted", [True, False])
@pytest.mark.parametrize("runtime", [True, False])
def test_onnx_is_asked_for_as_torch_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripted: bool, runtime: bool
) -> None:
    stage = Stage(scripted, runtime)
    monkeypatch.setattr(formats, "need", stage.need)
    monkeypatch.setattr(formats, "available", lambda library: scripted)
    monkeypatch.setattr(torch.onnx, "export", stage.export)
    written = fs.export(trained(small()), tmp_path / "out", ["onnx"]).description.files["onnx"]
    assert written.by == ("onnxruntime 9" if runtime else "onnx 8, its reference")
    assert written.difference <= 1e-6
    assert stage.names == ["input0"]


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'foresee\[onnx\]'"):
        need("onnx")


def test_a_tracers_error_is_one_line_that_names_the_form() -> None:
    with (
        pytest.raises(UnsupportedError, match=r"^onnx: the network cannot be traced \(ValueError: first\); leave onnx"),
        formats.tracing("onnx"),
    ):
        raise ValueError("first\nsecond\nthird")
