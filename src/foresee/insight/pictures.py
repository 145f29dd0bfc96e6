"""Dextr's pictures as plain values: the outputs along a circle of inputs, independence layer by layer, stability over inputs.

curve = output_curve(network, batch)                 # Figure 1b: three numbers for each point of the circle
profile = independence(network, batch)               # Figure 3: 1 / condition number of each layer's maps
steady = stability(network, [batch, ...])            # Figure 2: mean and spread of a proxy
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.checks import whole
from foresee.errors import InputError, UnsupportedError
from foresee.probes.probe import Probe
from foresee.proxies.features.dextr_parts import LayerIndependence, fmi_profile
from foresee.scoring import score

#: why a network whose outputs are the same for all inputs has no curve
STILL = "the outputs do not move along the circle of inputs"
#: principal components that are drawn
COMPONENTS = 3


@dataclass(frozen=True)
class OutputCurve:
    """The outputs along a closed curve of inputs, seen along their first principal components.

    `points` are these for each angle, the first angle being 0; `shares` the components' shares of the variance;
    `turning` how far the curve turns in all its dimensions, in full turns: 1 for a circle or an ellipse, more for a
    tangled curve, whatever its size, and at most half a turn for each point: a very tangled one needs more points to be
    measured than drawn; `length` is that of the curve over that of the input circle; `curvature` the
    median over the angles (Dextr's kappa, which grows where the outputs are small).
    """

    points: tuple[tuple[float, ...], ...]
    shares: tuple[float, ...]
    turning: float
    length: float
    curvature: float
    radius: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> OutputCurve:
        """What `to_json` gave."""
        return cls(**{**plain, "points": tuple(map(tuple, plain["points"])), "shares": tuple(plain["shares"])})


def output_curve(
    network: nn.Module,
    batch: Any,
    *,
    points: int = 96,
    radius: float | None = None,
    together: bool = False,
    initialise: str = "default",
    seed: int = 0,
) -> OutputCurve:
    """The outputs for inputs on a circle in a random plane (Dextr, Figure 1b), in float64; the network is left as found.

    `batch` says which shape inputs have. `radius` None: the root of their size, as in the paper. Every point is a
    batch of its own, as for Dextr's curvature, unless they go `together`, where batch statistics tie them to one
    another. The plane is that of the proxies under the same seed.

    >>> _ = torch.manual_seed(0)
    >>> found = output_curve(nn.Sequential(nn.Flatten(), nn.Linear(12, 5)), torch.zeros(1, 3, 2, 2))
    >>> round(found.turning, 3), round(sum(found.shares[:2]), 6)  # a linear network: an ellipse, in one plane
    (1.0, 1.0)
    """
    whole("points", points, 8)
    with Probe(network, batch, seed=seed).initialised(initialise) as probe:
        shape = probe.input_shape
        count = math.prod(shape)
        if count < 2:
            raise UnsupportedError("inputs of a single number have no circle")
        length = math.sqrt(count) if radius is None else radius
        if not length > 0:
            raise InputError(f"radius {length:g}: expected a positive number")
        plane = probe.draws.plane(f"plane.{count}", count).double()
        angles = torch.linspace(0, 2 * math.pi, points + 1, dtype=torch.float64)[:-1]
        circle = (length * torch.stack([angles.cos(), angles.sin()], dim=1) @ plane.mT).view(points, *shape)

        def look(net: nn.Module, dtype: torch.dtype) -> Tensor:
            groups = [circle] if together else [circle[i : i + 1] for i in range(points)]
            with torch.no_grad():
                return torch.cat(
                    [probe.select(net(*probe.moved([group], dtype))).flatten(1).double() for group in groups]
                )

        outputs = probe.exactly(look).cpu()
    return _seen(outputs, length)


def _seen(outputs: Tensor, radius: float) -> OutputCurve:
    """The numbers of a closed curve, (points, outputs)."""
    if not bool(outputs.isfinite().all()):
        raise FloatingPointError("the outputs along the circle are not all numbers")
    centred = outputs - outputs.mean(0)
    _, scales, directions = torch.linalg.svd(centred, full_matrices=False)
    kept = min(COMPONENTS, len(scales))
    signs = directions[:kept][torch.arange(kept), directions[:kept].abs().argmax(1)].sign()  # a side that does not flip
    seen = centred @ (directions[:kept] * signs[:, None]).mT
    variance = scales.square()
    edges = outputs.roll(-1, 0) - outputs
    lengths = edges.norm(dim=1)
    if not bool((lengths > 0).any()):
        raise FloatingPointError(STILL)
    moving = edges[lengths > 0] / lengths[lengths > 0][:, None]
    following = moving.roll(-1, 0)
    # the angle by half its chord: exact also for small angles
    turned = 2 * ((following - moving).norm(dim=1) / 2).clamp(max=1).asin()
    step = (lengths[lengths > 0] + lengths[lengths > 0].roll(-1, 0)) / 2
    return OutputCurve(
        tuple(tuple(row) for row in seen.tolist()),
        tuple((variance[:kept] / variance.sum()).tolist()),
        float(turned.sum()) / (2 * math.pi),
        float(lengths.sum()) / (2 * math.pi * radius),
        float((turned / step).median()),
        radius,
    )


@dataclass(frozen=True)
class Independence:
    """Feature-map independence (FMI) of each layer in the order of the calls, and the sum over them."""

    layers: tuple[LayerIndependence, ...]

    @property
    def total(self) -> float:
        """The sum over layers: what Dextr takes."""
        return math.fsum(layer.value for layer in self.layers)

    @property
    def mean(self) -> float:
        """The mean over layers."""
        return self.total / len(self.layers)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"layers": [layer._asdict() for layer in self.layers]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Independence:
        """What `to_json` gave."""
        return cls(tuple(LayerIndependence(**layer) for layer in plain["layers"]))


def independence(
    network: nn.Module, batch: Any, *, every_module: bool = False, initialise: str = "default", seed: int = 0
) -> Independence:
    """1 over the condition number of every layer's feature maps of the first sample (Dextr, Figure 3).

    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
    >>> found = independence(net, torch.randn(1, 3, 8, 8))
    >>> len(found.layers), found.total >= 2  # the two vectors have 1 each
    (4, True)
    """
    layers = fmi_profile(network, batch, seed=seed, every_module=every_module, initialise=initialise)
    if not layers:
        raise UnsupportedError("the network has no layers whose outputs can be seen")
    return Independence(tuple(layers))


@dataclass(frozen=True)
class Stability:
    """A proxy of one network under several inputs and draws: its values, their mean and standard deviation."""

    proxy: str
    values: tuple[float, ...]
    mean: float
    deviation: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Stability:
        """What `to_json` gave."""
        return cls(**{**plain, "values": tuple(plain["values"])})


def stability(network: nn.Module, batches: Sequence[Any], proxy: str = "dextr", *, seed: int = 0) -> Stability:
    """A proxy with each of the batches and a draw of its own for each: the weights stay the same (Dextr, Figure 2).

    >>> net = nn.Sequential(nn.Flatten(), nn.Linear(12, 3))
    >>> found = stability(net, [torch.randn(1, 3, 2, 2) for _ in range(3)], "params")
    >>> found.mean, found.deviation
    (39.0, 0.0)
    """
    if len(batches) < 2:
        raise InputError(f"{len(batches)} batches: a spread needs at least 2")
    found = [score(network, batch, proxy, seed=seed + place) for place, batch in enumerate(batches)]
    for one in found:
        if not one.ok:
            raise FloatingPointError(f"{proxy} has no value ({one.status}): {one.reason}")
    values = torch.tensor([float(one.merit) for one in found], dtype=torch.float64)
    return Stability(proxy, tuple(values.tolist()), float(values.mean()), float(values.std(correction=0)))
