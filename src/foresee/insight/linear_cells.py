"""The widest and the narrowest cell of linear nodes: Theorems 4.3 and 4.4 of the thesis, measured.

Both cells have one input x, nodes y1 ... yn with a square matrix each, and join all nodes: in the widest `yi = Wi x`, in the
narrowest `yi = Wi ... W1 x`. An objective f follows, the same for both. For every block Wi are measured

- the *Lipschitz constant* of its gradient where the weights are: the largest absolute eigenvalue of its block of the Hessian;
- the *variance* of its gradient over the samples, `E ||G - E G||²` in the Frobenius norm;

each beside what the theorem says it is at most, from what was measured of the widest cell and the norms λ of the matrices.

The proofs take `∂f/∂yi` to be the same in both cells. Of an objective that is linear in the nodes this is so, and both
statements hold. Of others it is not: the narrowest cell's nodes are other vectors, and a change of Wi moves all nodes after
it. So Theorem 4.3 as printed misses a power of the λ before i and all nodes after i; `lipschitz_ours` is the bound with both
put right, `c ||E x xᵀ|| (Π_{j<i} λj)² Σ_{k≥i} (Π_{i<j≤k} λj)²` for an objective that curves by at most c in its nodes. It
grows faster with the λ: what the thesis says of deep cells is rather too little than too much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from math import prod
from typing import Any, Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import grad, jacrev, vmap

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.seeds import generator

ObjectiveName: TypeAlias = Literal["linear", "quadratic", "cross-entropy"]
#: how much an objective curves at most in the joined nodes of a sample
CURVING: Mapping[str, float] = {"linear": 0.0, "quadratic": 1.0, "cross-entropy": 0.5}
#: a bound is met within so much of it, which is rounding
ROUNDING = 1e-9


@dataclass(frozen=True)
class Block:
    """One matrix of both cells: what was measured, and what the theorems say.

    Args:
        number: i, from 1.
        norm: λ, its largest singular value.
        lipschitz_widest: of the widest cell; measured.
        lipschitz_narrowest: of the narrowest cell; measured.
        lipschitz_bound: Theorem 4.3 as printed: `(Π_{j<i} λj) L`.
        lipschitz_ours: the bound put right.
        variance_widest: of the widest cell; measured.
        variance_narrowest: of the narrowest cell; measured.
        variance_bound: Theorem 4.4: `n Σ_{k≥i} (σk / λi Π_{j≤k} λj)²`.
    """

    number: int
    norm: float
    lipschitz_widest: float
    lipschitz_narrowest: float
    lipschitz_bound: float
    lipschitz_ours: float
    variance_widest: float
    variance_narrowest: float
    variance_bound: float

    @property
    def smooth_holds(self) -> bool:
        """Whether Theorem 4.3 holds here."""
        return _below(self.lipschitz_narrowest, self.lipschitz_bound)

    @property
    def ours_holds(self) -> bool:
        """Whether the bound that was put right holds here."""
        return _below(self.lipschitz_narrowest, self.lipschitz_ours)

    @property
    def variance_holds(self) -> bool:
        """Whether Theorem 4.4 holds here."""
        return _below(self.variance_narrowest, self.variance_bound)


@dataclass(frozen=True)
class LinearCells:
    """Both cells under one objective: what is measured of each block."""

    objective: str
    scale: float
    blocks: tuple[Block, ...]

    @property
    def smoothness(self) -> float:
        """The largest Lipschitz constant of the narrowest cell over that of the widest; NaN where that is zero."""
        return _ratio(
            *(max(getattr(one, f"lipschitz_{cell}") for one in self.blocks) for cell in ("narrowest", "widest"))
        )

    @property
    def noise(self) -> float:
        """The gradient variance of the narrowest cell over that of the widest."""
        return _ratio(
            *(sum(getattr(one, f"variance_{cell}") for one in self.blocks) for cell in ("narrowest", "widest"))
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values, with whether each statement holds."""
        holds = ("smooth_holds", "ours_holds", "variance_holds")
        blocks = [{**asdict(one), **{key: getattr(one, key) for key in holds}} for one in self.blocks]
        return {"objective": self.objective, "scale": self.scale, "blocks": blocks}


def widest(weights: Tensor, x: Tensor) -> Tensor:
    """Nodes (n, d) of one sample x (d,), each with its own matrix (n, d, d)."""
    return weights @ x


def narrowest(weights: Tensor, x: Tensor) -> Tensor:
    """Nodes (n, d) of one sample x (d,), each the one before times its matrix."""
    nodes = []
    for matrix in weights:
        x = matrix @ x
        nodes.append(x)
    return torch.stack(nodes)


def compare(
    objective: ObjectiveName = "quadratic",
    *,
    nodes: int = 4,
    width: int = 6,
    samples: int = 64,
    scale: float = 1.0,
    seed: int = 0,
) -> LinearCells:
    """Both cells with the same random matrices and samples, in float64.

    Args:
        objective: what follows the joined nodes z: `linear` (a random vector for each sample times z), `quadratic` (half the
            squared distance to a random target of each sample), or `cross-entropy` (of a random linear classifier of z).
        nodes: n, matrices and nodes.
        width: d, numbers of a node.
        samples: x, Gaussian.
        scale: the matrices' entries are Gaussian with standard deviation scale / sqrt(width), so λ is about 2 scale.
        seed: of all of it.

    >>> found = compare("linear")
    >>> all(one.smooth_holds and one.variance_holds for one in found.blocks)
    True
    >>> found = compare("quadratic")
    >>> [one.smooth_holds for one in found.blocks], all(one.ours_holds for one in found.blocks), found.smoothness > 1
    ([False, False, False, False], True, True)
    """
    if objective not in CURVING:
        raise UnknownNameError("objective", objective, CURVING)
    for key, value in (("nodes", nodes), ("width", width)):
        whole(key, value)
    whole("samples", samples, least=2)
    if not scale > 0:
        raise InputError(f"scale {scale:g}: expected a number above 0")
    draw = generator(seed, "linear cells")
    weights = torch.randn(nodes, width, width, generator=draw, dtype=torch.float64) * scale / width**0.5
    x = torch.randn(samples, width, generator=draw, dtype=torch.float64)
    loss, known = _objective(objective, nodes * width, samples, draw)
    wide, narrow = (_measured(cell, weights, x, known, loss) for cell in (widest, narrowest))
    norms = [float(one) for one in torch.linalg.matrix_norm(weights, ord=2)]
    spread = float(torch.linalg.matrix_norm(x.T @ x / samples, ord=2))
    blocks = []
    for i in range(nodes):
        before = prod(norms[:i])
        after = [prod(norms[i + 1 : k + 1]) for k in range(i, nodes)]
        blocks.append(
            Block(
                number=i + 1,
                norm=norms[i],
                lipschitz_widest=wide[i][0],
                lipschitz_narrowest=narrow[i][0],
                lipschitz_bound=before * wide[i][0],
                lipschitz_ours=CURVING[objective] * spread * before**2 * sum(one**2 for one in after),
                variance_widest=wide[i][1],
                variance_narrowest=narrow[i][1],
                variance_bound=nodes * sum(wide[i + k][1] * (before * one) ** 2 for k, one in enumerate(after)),
            )
        )
    return LinearCells(objective, scale, tuple(blocks))


_Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def _objective(name: str, size: int, samples: int, draw: torch.Generator) -> tuple[_Loss, Tensor]:
    """f(z, what is known of the sample), z flat, and what is known of each sample."""
    if name == "cross-entropy":
        classifier = torch.randn(5, size, generator=draw, dtype=torch.float64)
        classifier /= torch.linalg.matrix_norm(classifier, ord=2)
        labels = F.one_hot(torch.randint(0, 5, (samples,), generator=draw), 5).double()
        return lambda z, label: (classifier @ z).logsumexp(0) - label @ (classifier @ z), labels
    given = torch.randn(samples, size, generator=draw, dtype=torch.float64)
    if name == "linear":
        return lambda z, slope: slope @ z, given
    return lambda z, target: (z - target).square().sum() / 2, given


def _measured(
    cell: Callable[[Tensor, Tensor], Tensor], weights: Tensor, x: Tensor, known: Tensor, loss: _Loss
) -> list[tuple[float, float]]:
    """Of each block its Lipschitz constant and the variance of its gradient."""

    def of_sample(matrices: Tensor, one: Tensor, about: Tensor) -> Tensor:
        return loss(cell(matrices, one).reshape(-1), about)

    def of_block(number: int, block: Tensor) -> Tensor:
        matrices = torch.cat([weights[:number], block[None], weights[number + 1 :]])
        return vmap(of_sample, in_dims=(None, 0, 0))(matrices, x, known).mean()

    single = vmap(grad(of_sample), in_dims=(None, 0, 0))(weights, x, known)  # (samples, n, d, d)
    variances = (single - single.mean(0)).square().sum((2, 3)).mean(0)
    found = []
    for number, matrix in enumerate(weights):
        curved = jacrev(grad(partial(of_block, number)))(matrix)
        flat = curved.reshape(matrix.numel(), matrix.numel())
        largest = torch.linalg.eigvalsh((flat + flat.T) / 2).abs().max()
        found.append((float(largest), float(variances[number])))
    return found


def _below(value: float, bound: float) -> bool:
    return value <= bound + ROUNDING * (1 + abs(bound))


def _ratio(one: float, other: float) -> float:
    return one / other if other > 0 else float("nan")
