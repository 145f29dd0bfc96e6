"""How the loss, and the noise of its gradient, lie around what a network has learnt (thesis, 4.3.2).

Two random directions in the space of the weights, each filter of them as long as the network's own (Li et al., 2018), span a
plane through the trained weights. A direction depends on the seed and on the name and shape of a parameter alone, so cells
that are compared are moved alike wherever they have the same parameters; biases and normalisations stay where they are. The
loss at the centre is stated: a picture around no optimum says little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.checks import whole
from foresee.errors import InputError
from foresee.insight.objective import Objective, Weights, moved
from foresee.seeds import generator

#: a second difference below minus this share of the loss bends the wrong way, and is no error of rounding
BENT = 1e-5


@dataclass(frozen=True)
class Landscape:
    """A map around trained weights: row i, column j is `steps[i]` along the first direction and `steps[j]` along the second.

    Args:
        steps: distances, 1 being as long as the weights themselves.
        loss: mean over the samples.
        deviation: the square root of the gradient's variance, where it was asked for.
        centre: the loss of the weights as they were trained.
        samples: over which all is taken.
        seed: of the directions.
    """

    steps: tuple[float, ...]
    loss: tuple[tuple[float, ...], ...]
    deviation: tuple[tuple[float, ...], ...]
    centre: float
    samples: int
    seed: int

    @property
    def rise(self) -> float:
        """The median over the map of how much higher the loss is than in the centre: small where the valley is wide."""
        values = sorted(value for row in self.loss for value in row)
        return values[len(values) // 2] - self.centre

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is not finite is None."""
        plain = asdict(self)
        for key in ("loss", "deviation"):
            plain[key] = [[one if math.isfinite(one) else None for one in row] for row in plain[key]]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Landscape:
        """Inverse of `to_json`."""
        maps = {
            key: tuple(tuple(math.inf if one is None else one for one in row) for row in plain[key])
            for key in ("loss", "deviation")
        }
        return cls(**{**plain, **maps, "steps": tuple(plain["steps"])})


@dataclass(frozen=True)
class NearConvex:
    """How far from trained weights the loss stays convex along straight lines: the distance on each ray, 1 as in `Landscape`.

    A ray that is convex to its end has the distance `reach`.
    """

    radii: tuple[float, ...]
    reach: float

    @property
    def mean(self) -> float:
        """Over the rays."""
        return sum(self.radii) / len(self.radii)

    @property
    def least(self) -> float:
        """Of the rays."""
        return min(self.radii)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> NearConvex:
        """Inverse of `to_json`."""
        return cls(tuple(plain["radii"]), plain["reach"])


def directions(weights: Weights, seed: int, number: int) -> dict[str, Tensor]:
    """Direction `number`: Gaussian, every filter as long as the weights' own, zero for biases and normalisations.

    >>> found = directions({"w": torch.tensor([[3.0, 4.0], [0.0, 2.0]]), "b": torch.ones(2)}, seed=0, number=0)
    >>> [round(float(one), 5) for one in found["w"].norm(dim=1)], found["b"].tolist()
    ([5.0, 2.0], [0.0, 0.0])
    """
    made = {}
    for name, one in weights.items():
        if one.ndim < 2:
            made[name] = torch.zeros_like(one)
            continue
        drawn = torch.randn(one.shape, generator=generator(seed, "direction", number, name)).to(one)
        across = tuple(range(1, one.ndim))
        theirs, own = (torch.linalg.vector_norm(it, dim=across, keepdim=True) for it in (drawn, one))
        made[name] = drawn / theirs.clamp(min=1e-12) * own
    return made


def landscape(
    network: nn.Module,
    batches: Iterable[Batch],
    *,
    radius: float = 1.0,
    points: int = 11,
    seed: int = 0,
    variance: bool = False,
) -> Landscape:
    """The loss around a network's weights on a square of `points` by `points`, from -radius to radius both ways.

    Args:
        network: trained; it is not touched.
        batches: with labels, over which the loss is taken.
        radius: how far.
        points: an odd number, so that the centre is one of them.
        seed: of the directions.
        variance: whether the variance of the gradient is measured too, which takes a backward run for every sample.
    """
    whole("points", points, least=3)
    if points % 2 == 0 or not radius > 0:
        raise InputError(
            f"landscape of {points} points to {radius:g}: expected an odd number of points, a radius above 0"
        )
    objective = Objective(network, batches)
    first, second = (directions(objective.weights, seed, number) for number in (0, 1))
    steps = tuple(radius * (2 * place / (points - 1) - 1) for place in range(points))
    heights, noise = [], []
    for one in steps:
        line = [moved(objective.weights, (one, first), (other, second)) for other in steps]
        heights.append(tuple(_finite(objective.loss(at)) for at in line))
        if variance:
            noise.append(tuple(_finite(math.sqrt(objective.gradient_variance(at))) for at in line))
    return Landscape(steps, tuple(heights), tuple(noise), objective.loss(), objective.samples, seed)


def near_convex(
    network: nn.Module,
    batches: Iterable[Batch],
    *,
    reach: float = 1.0,
    points: int = 10,
    lines: int = 4,
    seed: int = 0,
) -> NearConvex:
    """How far the loss stays convex along `lines` straight lines through the weights, in the plane of `landscape`.

    A line is looked at in `points` equal steps to either side. Its ray ends before the first of them at which the loss bends
    downwards: where the second difference is below zero by more than rounding.
    """
    whole("points", points, least=2)
    whole("lines", lines)
    objective = Objective(network, batches)
    first, second = (directions(objective.weights, seed, number) for number in (0, 1))
    radii: list[float] = []
    for line in range(lines):
        angle = math.pi * line / lines
        along = [
            moved(objective.weights, (far * math.cos(angle), first), (far * math.sin(angle), second))
            for far in (reach * place / points for place in range(-points - 1, points + 2))
        ]
        bent = _bent([objective.loss(at) for at in along])
        sides = (bent[points:], bent[points::-1])
        ends = [next((k for k, one in enumerate(side) if one), points + 1) for side in sides]
        radii += [reach * max(0, end - 1) / points for end in ends]
    return NearConvex(tuple(radii), reach)


def _bent(values: list[float]) -> list[bool]:
    """Whether the loss bends downwards at each inner one of some places in a row; where it is no number, it does."""
    triples = zip(values, values[1:], values[2:], strict=False)
    return [not before - 2 * here + after >= -BENT * (1 + abs(here)) for before, here, after in triples]


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.inf
