"""How curved the loss is at the weights of a network: the largest and least eigenvalue of its Hessian (thesis, 4.3.2.1).

By Lanczos' method in float64, with every new vector kept orthogonal to all before: products with the Hessian are all that is
needed of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.checks import whole
from foresee.insight.objective import TOGETHER, Objective
from foresee.seeds import generator


@dataclass(frozen=True)
class Curvature:
    """The curvature of the loss at some weights.

    Args:
        largest: the largest eigenvalue of the Hessian: locally the Lipschitz constant of the gradient.
        least: the least; below zero where the loss is not convex.
        residual: `||H v - largest v||` of the vector found: the true eigenvalue is no farther away than this.
        steps: products with the Hessian.
        loss: at these weights.
        samples: over which the loss is taken.
    """

    largest: float
    least: float
    residual: float
    steps: int
    loss: float
    samples: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Curvature:
        """Inverse of `to_json`."""
        return cls(**plain)


def curvature(
    network: nn.Module, batches: Iterable[Batch], *, steps: int = 20, seed: int = 0, together: int = TOGETHER
) -> Curvature:
    """The extreme eigenvalues of the Hessian of the loss on these batches, at the network's weights, in evaluation mode.

    Args:
        network: any module, on any device; looked at in float64.
        batches: with labels.
        steps: products with the Hessian, at most.
        seed: of the vector that Lanczos' method starts with.
        together: samples whose second derivatives are held at once: memory goes by it, the eigenvalues do not.

    >>> network = nn.Linear(2, 1, bias=False)
    >>> batch = Batch(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.5], [0.2]]))  # a mean of squares
    >>> found = curvature(network, [batch])
    >>> round(found.largest, 6), round(found.least, 6), found.steps
    (9.0, 1.0, 2)
    """
    objective = Objective(network, batches, double=True)
    device = next(iter(objective.weights.values())).device
    start = torch.randn(objective.size, generator=generator(seed, "lanczos"), dtype=torch.float64).to(device)
    values, residual, taken = lanczos(objective.hessian_at(together=together), start, steps)
    return Curvature(float(values[-1]), float(values[0]), residual, taken, objective.loss(), objective.samples)


def lanczos(product: Callable[[Tensor], Tensor], start: Tensor, steps: int = 20) -> tuple[Tensor, float, int]:
    """Eigenvalues of a symmetric matrix by its products: the Ritz values in order, the residual of the largest, the steps.

    Ends early where the vectors it can reach are used up: then the values are exact.

    >>> matrix = torch.diag(torch.tensor([1.0, 2.0, 7.0], dtype=torch.float64))
    >>> values, residual, taken = lanczos(lambda v: matrix @ v, torch.ones(3, dtype=torch.float64))
    >>> [round(float(one), 6) for one in values], taken
    ([1.0, 2.0, 7.0], 3)
    """
    whole("steps", steps)
    basis = [start / start.norm()]
    diagonal: list[Tensor] = []
    beside: list[Tensor] = []
    scale = start.new_zeros(())
    for _ in range(min(steps, len(start))):
        made = product(basis[-1])
        diagonal.append(made @ basis[-1])
        for _ in range(2):  # twice is enough (Parlett)
            for one in basis:
                made = made - (made @ one) * one
        left = made.norm()
        scale = torch.maximum(scale, torch.maximum(left, diagonal[-1].abs()))
        beside.append(left)
        if float(left) <= 1e-12 * float(scale) or float(scale) == 0:
            break
        basis.append(made / left)
    taken = len(diagonal)
    inner = torch.stack(diagonal).diag()
    for place in range(taken - 1):
        inner[place, place + 1] = inner[place + 1, place] = beside[place]
    values, vectors = torch.linalg.eigh(inner)
    residual = float(beside[taken - 1] * vectors[-1, -1].abs())
    return values, residual, taken
