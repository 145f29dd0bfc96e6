"""All that is measured around one trained network: contours, the noise of its gradients, its curvature, how far it is convex.

    looks = Looks(points=7, radius=0.5)
    found = look_around(trained.network, batches, looks, seed=0)
    print(found.loss, found.rise, found.curvature.largest, found.convex.mean, found.noise)

The directions come from the seed and the names of the parameters, so cells that are compared are moved alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from torch import nn

from foresee.batch import Batch
from foresee.insight.curvature import Curvature, curvature
from foresee.insight.landscape import Landscape, NearConvex, landscape, near_convex


@dataclass(frozen=True)
class Looks:
    """How closely is looked: a map of `points` by `points` out to `radius`, over so many test samples.

    `lanczos` are products with the Hessian, `lines` those along which convexity is followed.
    """

    points: int = 7
    radius: float = 0.5
    samples: int = 32
    lanczos: int = 12
    lines: int = 4

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Around:
    """What lies around the trained weights of one network."""

    cell: str
    seed: int
    landscape: Landscape
    curvature: Curvature
    convex: NearConvex

    @property
    def loss(self) -> float:
        """In the centre, over the samples that were looked at."""
        return self.landscape.centre

    @property
    def rise(self) -> float:
        """How much higher the loss is, the median over the map."""
        return self.landscape.rise

    @property
    def noise(self) -> float:
        """The deviation of the gradient over samples, the median over the map."""
        return median(value for row in self.landscape.deviation for value in row)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **{"cell": self.cell, "seed": self.seed, "landscape": self.landscape.to_json()},
            **{"curvature": self.curvature.to_json(), "convex": self.convex.to_json()},
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Around:
        """Inverse of `to_json`."""
        return cls(
            plain["cell"],
            plain["seed"],
            Landscape.from_json(plain["landscape"]),
            Curvature.from_json(plain["curvature"]),
            NearConvex.from_json(plain["convex"]),
        )


#: what can be compared over cells: in words, and how it is read
MEASURED: Mapping[str, Callable[[Around], float]] = {
    "loss in the centre": lambda one: one.loss,
    "rise of the loss": lambda one: one.rise,
    "largest eigenvalue": lambda one: one.curvature.largest,
    "near-convex radius": lambda one: one.convex.mean,
    "gradient deviation": lambda one: one.noise,
}


def look_around(
    network: nn.Module, batches: Iterable[Batch], looks: Looks, *, cell: str = "", trained: int = 0, seed: int = 0
) -> Around:
    """Look at a trained network, which is not touched.

    Args:
        network: on any device.
        batches: with labels.
        looks: how closely.
        cell: what it is called.
        trained: the seed of its training.
        seed: of the directions; the same for all that are compared.
    """
    given = list(batches)
    reach = {"radius": looks.radius, "points": looks.points}
    return Around(
        cell,
        trained,
        landscape(network, given, **reach, seed=seed, variance=True),  # type: ignore[arg-type]
        curvature(network, given, steps=looks.lanczos, seed=seed),
        near_convex(network, given, reach=looks.radius, lines=looks.lines, seed=seed),
    )
