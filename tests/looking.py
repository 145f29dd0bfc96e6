"""Reference networks and small ones, for all tests that look at networks."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn

from foresee.probes.draws import Draws
from foresee.probes.probe import Probe
from foresee.proxies import get

GOLDEN_NETWORKS = ("tiny_cnn", "nb201_cell_net", "tiny_vit")


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@dataclass
class Golden:
    """One reference network in one type, and its reference values."""

    network: nn.Module
    inputs: torch.Tensor
    labels: torch.Tensor
    draws: dict[str, torch.Tensor]
    entries: dict[str, Any]
    dtype: torch.dtype
    #: everything that was drawn, by the reference's names
    saved: dict[str, Any]

    def value(self, entry: str) -> float:
        """The reference value, or skip where the public code has none."""
        found = self.entries.get(entry, {}).get(str(self.dtype).removeprefix("torch."))
        if found is None:
            pytest.skip(f"no reference value of {entry} for this network")
        return found

    def compute(self, proxy: str, batches: Any, **settings: Any) -> float:
        """Our value under the reference's draws."""
        probe = Probe(self.network, batches, draws=Draws(0, given=self.draws))
        return float(get(proxy, settings)(probe))

    def tolerance(self, float64: float = 1e-6, float32: float = 1e-4) -> float:
        return float64 if self.dtype == torch.float64 else float32


@pytest.fixture(scope="session")
def _golden_file(golden_folder):
    spec = importlib.util.spec_from_file_location("golden_networks", golden_folder / "networks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return golden_folder, module, json.loads((golden_folder / "golden.json").read_text())


@pytest.fixture(params=[(n, d) for n in GOLDEN_NETWORKS for d in ("float64", "float32")], ids="-".join)
def golden(request, _golden_file) -> Golden:
    folder, networks, values = _golden_file
    name, dtype = request.param[0], getattr(torch, request.param[1])
    network, inputs, labels, draws = networks.load(name, folder, dtype)
    given = {f"plane.{3 * s * s}": f"dextr_U_{s}" for s in (32, 64) if f"dextr_U_{s}" in draws}
    given["coordinates"] = "dextr_coords"
    tensors = {ours: torch.from_numpy(draws[theirs]) for ours, theirs in given.items()}
    return Golden(network, inputs, labels, tensors, values[name], dtype, draws)


def _small(norm: bool, channels: int) -> nn.Module:
    layers = [nn.Conv2d(2, channels, 3, padding=1), nn.BatchNorm2d(channels) if norm else nn.Identity(), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(channels, 4, 3, stride=2), nn.GELU(), nn.Flatten(), nn.Linear(16, 5))


@pytest.fixture
def small():
    """Makes a small network for images of 2x6x6 with 5 outputs, from a seed."""

    def make(seed: int = 0, *, norm: bool = True, channels: int = 3, dtype: torch.dtype = torch.float64) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return _small(norm, channels).to(dtype)

    return make


@pytest.fixture
def batch():
    """Makes (inputs, labels) for the small network, from a seed."""

    def make(count: int = 6, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
        source = torch.Generator().manual_seed(seed)
        inputs = torch.randn(count, 2, 6, 6, generator=source, dtype=torch.float64).to(dtype)
        return inputs, torch.randint(5, (count,), generator=source)

    return make
