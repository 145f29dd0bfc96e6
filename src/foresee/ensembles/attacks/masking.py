"""Robust, or only hard to look through? A stronger attack that does worse than a weaker one tells.

The signs are those of Athalye, Carlini and Wagner, "Obfuscated gradients give a false sense of security", ICML 2018,
Section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.ensembles.attacks.base import BATCH, Attacked, attacks
from foresee.grid import Bad, Column, Grid, Shown

#: chance by which a comparison may look suspicious although nothing is wrong
LEVEL = 0.01


@dataclass(frozen=True)
class Compared:
    """Two attacks on the same samples, the second of which should break at least as many.

    Args:
        name: in what it is stronger.
        weaker: the first, in words.
        stronger: the second, in words.
        weaker_accuracy: what the network still knows after the first.
        stronger_accuracy: and after the second.
        only_weaker: samples that the first breaks and the second does not.
        only_stronger: the other way round.
    """

    name: str
    weaker: str
    stronger: str
    weaker_accuracy: float
    stronger_accuracy: float
    only_weaker: int
    only_stronger: int

    @property
    def chance(self) -> float:
        """How likely so many samples are broken by the weaker one alone if both are equally strong (exact sign test).

        >>> Compared("steps", "one", "ten", 0.5, 0.6, 3, 0).chance
        0.125
        """
        n = self.only_weaker + self.only_stronger
        return sum(math.comb(n, k) for k in range(self.only_weaker, n + 1)) / (1 << n)

    @property
    def suspicious(self) -> bool:
        """Whether the stronger attack does worse by more than noise."""
        return self.chance < LEVEL


@dataclass(frozen=True)
class Masking(Shown):
    """Signs that gradients do not show the way although there is one.

    Args:
        samples: how many were looked at.
        compared: weaker attacks beside stronger ones.
        zero_gradients: share of samples whose gradient is exactly zero.
        grey_accuracy: what is still known when every image may be made grey (ε = 1/2).
        grey_bound: what may be known then at most: all images can be made equal, so only one class can be right.
    """

    samples: int
    compared: tuple[Compared, ...]
    zero_gradients: float
    grey_accuracy: float
    grey_bound: float

    @property
    def signs(self) -> tuple[str, ...]:
        """What is suspicious, in words; none where the attacks can be trusted."""
        found = [
            f"{one.weaker} breaks {one.only_weaker} samples that {one.stronger} does not, and only {one.only_stronger} the "
            "other way round"
            for one in self.compared
            if one.suspicious
        ]
        if self.zero_gradients > LEVEL:
            found.append(f"the gradient is zero at {self.zero_gradients:.1%} of the samples")
        if self.grey_accuracy > self.grey_bound:
            found.append(f"{self.grey_accuracy:.1%} are right where all images may be made grey")
        return tuple(found)

    @property
    def suspicious(self) -> bool:
        """Whether there is any sign."""
        return bool(self.signs)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "compared": [asdict(one) for one in self.compared]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Masking:
        """Inverse of `to_json`."""
        return cls(**{**plain, "compared": tuple(Compared(**one) for one in plain["compared"])})

    def __str__(self) -> str:
        return str(self._grid())

    def _grid(self) -> Grid:
        columns = [Column("stronger by", words=True), Column("weaker", words=True), Column("right")]
        columns += [Column("stronger", words=True), Column("right"), Column("", words=True)]
        rows = [
            [
                *(one.name, one.weaker, f"{one.weaker_accuracy:.1%}", one.stronger, f"{one.stronger_accuracy:.1%}"),
                Bad("suspicious") if one.suspicious else "as it should be",
            ]
            for one in self.compared
        ]
        return Grid(columns, rows, notes=self.signs or ("no sign of masked gradients",))


def find_masking(
    network: nn.Module,
    images: Tensor,
    labels: Tensor,
    *,
    eps: float = 0.01,
    steps: int = 40,
    queries: int = 1000,
    seed: int = 0,
    batch: int = BATCH,
) -> Masking:
    """Look for masked gradients: a stronger attack should never do worse than a weaker one by more than noise.

    Compared are one step with many, few steps with many, ε with 2ε, and an attack without gradients with one that has them,
    each pair on the same samples. Besides: gradients that are exactly zero, and ε = 1/2, which allows to make all images
    equal.

    Args:
        network: a classifier of pixels from 0 to 1.
        images: (n, channels, height, width), in [0, 1]; a hundred say something, a handful nothing.
        labels: (n,).
        eps: the largest change of a pixel.
        steps: of the stronger attacks with gradients.
        queries: of the attack without.
        seed: of random starts.
        batch: samples at once.

    >>> _ = torch.manual_seed(0)
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    >>> images = torch.rand(40, 1, 4, 4)
    >>> find_masking(network, images, network(images).argmax(1), eps=0.05, steps=10, queries=50).signs
    ()
    """

    def run(name: str, **settings: Any) -> Attacked:
        return attacks[name](network, images, labels, seed=seed, batch=batch, **settings)

    few, double = max(steps // 4, 1), min(2 * eps, 1.0)
    once, many = run("fgsm", eps=eps), run("pgd", eps=eps, step=eps / 4, steps=steps)
    fewer = run("pgd", eps=eps, step=eps / 4, steps=few)
    wider = run("pgd", eps=double, step=double / 4, steps=steps)
    black, white = run("square", eps=eps, queries=queries), run("apgd_ce", eps=eps, steps=steps)
    grey = run("pgd", eps=0.5, step=0.5 / 4, steps=max(steps, 40), random=True)
    unmoved = once.linf[once.right] == 0  # one step along the gradient's signs led nowhere
    return Masking(
        samples=len(once),
        compared=(
            compare("steps", "FGSM", once, f"PGD of {steps} steps", many),
            compare("steps", f"PGD of {few} steps", fewer, f"PGD of {steps} steps", many),
            compare("eps", f"PGD within {eps:g}", many, f"PGD within {double:g}", wider),
            compare("gradients", f"Square of {queries} queries", black, f"APGD of {steps} steps", white),
        ),
        zero_gradients=float(unmoved.double().mean()) if len(unmoved) else 0.0,
        grey_accuracy=grey.accuracy,
        grey_bound=float(torch.bincount(labels.cpu()).max()) / len(labels),
    )


def compare(name: str, weaker: str, first: Attacked, stronger: str, second: Attacked) -> Compared:
    """Two attacks on the same samples of one network."""
    return Compared(
        *(name, weaker, stronger, first.accuracy, second.accuracy),
        only_weaker=int((first.success & ~second.success).sum()),
        only_stronger=int((second.success & ~first.success).sum()),
    )
