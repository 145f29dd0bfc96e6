"""`explain`: architectures, own modules, disconnected ones, what fails; each part by itself."""

from __future__ import annotations

import copy
import json

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.errors import InputError
from foresee.insight.explaining import explain
from foresee.insight.explanation import Explanation
from foresee.scoring.settings import ScoringSettings
from foresee.spaces import get

NOTHING = "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"
SMALL = {"channels": 4, "cells": 1}
TINY = ScoringSettings(proxies=("params", "foresee", "synflow"), inputs=(3, 8, 8))


class Own(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.drop, self.last = nn.Conv2d(3, 6, 3), nn.Dropout(0.5), nn.Linear(6 * 36, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.drop(self.first(x).relu()).flatten(1))


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("NASNet_A", "5c, 2"), ("AmoebaNet_A", "4c, 4"), ("ENAS", "5c, 2"), ("DARTS_V2", "3.5c, 3"), ("SNAS", "4c, 2")],
)
def test_known_widths_and_depths(name: str, shapes: str) -> None:
    space = get("darts", channels=2, layers=2)
    settings = ScoringSettings(proxies=("params",), inputs=(3, 8, 8))
    found = explain((space, name), samples=0, settings=settings, parts=["cells"])
    assert str(found.cells[0].shape) == shapes
    assert found.cells[0].distribution is not None
    assert found.cells[0].distribution.whole
    assert found.name == name


@pytest.mark.slow
def test_an_architecture_with_all_its_parts() -> None:
    space = get("nasbench201", **SMALL)
    found = explain((space, "ResNet"), settings=TINY, samples=4)
    assert dict(found.reasons) == {}
    counts = space.counts(space.named["ResNet"], fs.Task((3, 8, 8), 10))
    assert (found.params, found.macs) == (counts.params, counts.macs)
    assert found.cells[0].distribution is not None
    assert found.cells[0].distribution.total == 15_625
    assert all(one.percentile is not None for one in found.standings)
    parts = (found.drawing, found.layers, found.spectrum, found.curve, found.independence, found.survey)
    assert all(part is not None for part in parts)
    assert Explanation.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert "ResNet: " in str(found)
    assert "percentile" in str(found)
    again = explain((space, "ResNet"), settings=TINY, samples=4)
    assert again.standings == found.standings
    assert again.spectrum == found.spectrum


def test_a_disconnected_architecture_is_explained_all_the_same() -> None:
    settings = ScoringSettings(proxies=("params", "dextr", "zen"), inputs=(3, 8, 8))
    parts = ["cells", "drawing", "layers", "output curve", "proxies"]
    found = explain((get("nasbench201", **SMALL), NOTHING), settings=settings, samples=2, parts=parts)
    assert found.still
    assert found.reasons["output curve"] == "the outputs do not move along the circle of inputs"
    assert (found.cells[0].shape.width, found.cells[0].shape.depth) == (0.0, 0)
    bad = [one for one in found.standings if one.value is None]
    assert [one.proxy for one in bad] == ["dextr", "zen"]
    assert all(one.reason and one.percentile is None for one in bad)
    assert found.drawing is not None
    assert str(found)


def test_an_own_module_has_no_percentiles_and_says_so_and_is_left_as_found() -> None:
    torch.manual_seed(0)
    net = Own().train()
    before = copy.deepcopy(net.state_dict())
    found = explain(net, (torch.randn(8, 3, 8, 8), torch.arange(8) % 4), proxies=["params", "synflow"])
    assert "name one" in found.reasons["percentiles"]
    assert found.others == ""
    assert found.cells == ()
    assert "cells" not in found.reasons
    assert all(one.percentile is None for one in found.standings)
    assert found.standing("params").value == found.params
    assert net.training
    assert net.drop.training
    assert all(torch.equal(before[key], value) for key, value in net.state_dict().items())
    assert found.name == "Own"
    assert found.survey is not None


def test_an_own_module_among_a_space() -> None:
    torch.manual_seed(0)
    batch = (torch.randn(4, 3, 8, 8), torch.arange(4))
    how = {"among": get("nasbench201", **SMALL), "samples": 3, "proxies": ["params", "synflow"], "parts": ["proxies"]}
    found = explain(Own(), batch, **how)  # type: ignore[arg-type]
    assert found.others.startswith("3 random architectures of nasbench201")
    assert all(one.percentile is not None for one in found.standings)
    assert "half" not in found.looked


def test_a_network_that_yields_nan_is_statuses_and_reasons() -> None:
    class Bad(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = nn.Linear(6, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(x) * float("nan")

    found = explain(Bad(), (torch.randn(6, 6), torch.arange(6) % 3), proxies=["params", "grad_norm", "synflow"])
    assert found.standing("params").value == 21  # type: ignore[union-attr]
    assert found.standing("grad_norm").value is None  # type: ignore[union-attr]
    assert "output curve" in found.reasons
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))


def test_no_labels_leave_statements_out_with_a_reason() -> None:
    found = explain(nn.Sequential(nn.Flatten(), nn.Linear(12, 3)), torch.randn(4, 3, 2, 2), proxies=["params"])
    assert "labels" in found.reasons["statements"]
    assert found.survey is None
    assert found.spectrum is not None
    assert found.spectrum.outputs == "sum"


def test_large_networks_are_not_differentiated_many_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foresee.insight.explaining.MOST_STATED", 10)
    monkeypatch.setattr("foresee.insight.explaining.MOST_MACS", 10)
    found = explain(nn.Linear(12, 3), (torch.randn(4, 12), torch.arange(4) % 3), proxies=["params"])
    assert "MACs, more than 10" in found.reasons["statements"]
    assert "MACs, more than 10" in found.reasons["kernel"]


def test_mistakes_are_said() -> None:
    with pytest.raises(InputError, match=r"expected a torch\.nn\.Module"):
        explain("nasbench201")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="say one of them"):
        explain(nn.Linear(2, 2), torch.zeros(2, 2), data="digits")
    with pytest.raises(InputError, match="samples"):
        explain(("mlp", "mlp(24)"), samples=-1)
    with pytest.raises(InputError, match="did you mean kernel"):
        explain(("mlp", "mlp(24)"), parts=["kernels"])


def test_what_training_can_add_is_named() -> None:
    darts = get("darts", channels=2, layers=2)
    settings = ScoringSettings(proxies=("params",), inputs=(3, 8, 8))
    found = explain((darts, "DARTS_V2"), samples=0, settings=settings, parts=[])
    lines = [line for _, line in found.further]
    assert lines[0] == "foresee train darts DARTS_V2 --data digits --out runs/trained"
    assert any("--variants 12 --train 5ep" in line for line in lines)
    assert any("landscape(network" in line for line in lines)
