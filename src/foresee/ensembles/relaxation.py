r"""Architectures as points: the relaxed posterior (thesis, Eq. 5.8), and the architecture nearest to a point (Eq. 5.9).

A choice with the options O becomes a point x of R^|O|, and an option the corner h_o of a simplex. The density of a choice is
a mixture of normal distributions around the corners, each as heavy as its option is likely,

    p(x) = sum_o p(o) N(x | h_o, |O| I),

and that of an architecture the product over its choices. A point is decoded to the corner nearest to it, which is the option
of its largest coordinate; a choice of two options at once (the inputs of a DARTS node) to its two largest.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from foresee.ensembles.posterior import Posterior, foremost


class Relaxation:
    """The relaxed density of a posterior.

    All choices lie side by side in a matrix (choices, most options); what a choice has no option for is left out by a mask,
    so that a step costs a few operations however many choices there are.

    >>> from foresee.ensembles.posterior import Posterior
    >>> posterior = Posterior({"a": torch.tensor([2.0, 0.0]), "b": torch.tensor([0.0, 0.0, 5.0])})
    >>> relaxed = Relaxation(posterior)
    >>> relaxed.dimensions, relaxed.decode(torch.tensor([0.9, 0.1, 0.2, 0.3, 0.1]))["b"].tolist()
    (5, [0.0, 1.0, 0.0])
    """

    def __init__(self, posterior: Posterior) -> None:
        self.posterior = posterior
        self.sizes = {name: len(vector) for name, vector in posterior.logits.items()}
        widest = max(self.sizes.values())
        self._there = torch.zeros(len(self.sizes), widest, dtype=torch.bool)
        self._log = torch.full((len(self.sizes), widest), -torch.inf, dtype=torch.float64)
        for row, (name, likely) in enumerate(posterior.probabilities().items()):
            self._there[row, : self.sizes[name]] = True
            self._log[row, : self.sizes[name]] = likely.log()
        self._variance = torch.tensor(list(self.sizes.values()), dtype=torch.float64)[:, None]

    @property
    def dimensions(self) -> int:
        """Coordinates of a point: the options of all choices."""
        return sum(self.sizes.values())

    def log_density(self, points: Tensor) -> Tensor:
        """(n, dimensions) to (n,), without the constant of the normal distributions."""
        terms, _ = self._terms(points)
        return terms.logsumexp(-1).sum(-1)

    def slope(self, points: Tensor) -> Tensor:
        """The gradient of the log density, (n, dimensions): to each corner as far as it is responsible for the point."""
        terms, matrix = self._terms(points)
        pulled = (terms.softmax(-1) - matrix) / self._variance
        return pulled[:, self._there]

    def _terms(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Log p(o) - |x - h_o|^2 / (2 |O|), (n, choices, options), and the points as matrices."""
        matrix = torch.zeros(len(points), *self._there.shape, dtype=torch.float64)
        matrix[:, self._there] = points.double()
        squares = matrix.square().sum(-1, keepdim=True) - 2 * matrix + 1  # |x - h_o|^2, for h_o has a single 1
        return self._log - squares / (2 * self._variance), matrix

    def corners(self, paths: Mapping[str, Tensor]) -> Tensor:
        """The point (dimensions,) of a path: ones and zeros."""
        return torch.cat([paths[name].double() for name in self.sizes])

    def decode(self, point: Tensor) -> dict[str, Tensor]:
        """The path nearest to a point: a vector of ones and zeros for each choice; never an option that cannot be."""
        found = {}
        parts = torch.split(point.double(), list(self.sizes.values()))
        for name, part in zip(self.sizes, parts, strict=True):
            allowed = torch.where(self.posterior.allowed[name], part, -torch.inf)
            found[name] = foremost(allowed, self.posterior.counts.get(name, 1))
        return found
