"""Which samples come when: the order that a seed draws, drawn once; and how many samples each share gets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import torch
from torch import Tensor

from foresee.errors import InputError
from foresee.seeds import generator


class Orders:
    """The permutations of `count` samples by (seed, lap).

    The last one is remembered, because drawing it costs more than many batches; a copy in another process draws its own.

    >>> orders = Orders()
    >>> orders.rows(5, seed=0, lap=0, first=1, size=2).tolist() == orders.rows(5, 0, 0, 0, 5).tolist()[1:3]
    True
    """

    def __init__(self) -> None:
        self._last: tuple[tuple[int, int, int], Tensor] | None = None

    def __reduce__(self) -> tuple[type[Orders], tuple[()]]:
        return Orders, ()

    def rows(self, count: int, seed: int, lap: int, first: int, size: int) -> Tensor:
        """The `size` numbers from place `first` on, as the caller's own tensor; fewer where the order ends."""
        key = (count, seed, lap)
        last = self._last
        if last is None or last[0] != key:
            last = key, torch.randperm(count, generator=generator(seed, "data", lap))
            self._last = last
        return last[1][first : first + size].clone()


def shared_out(count: int, shares: Mapping[str, float]) -> dict[str, int]:
    """`count` samples shared out by the largest remainder: every size is its share of `count`, rounded down or up.

    >>> shared_out(10, {"train": 0.75, "test": 0.25})
    {'train': 8, 'test': 2}
    """
    if not shares or not all(_is_share(share) for share in shares.values()):
        raise InputError(f"split {dict(shares)}: expected names with shares above 0, such as train 0.8 and test 0.2")
    if abs(math.fsum(shares.values()) - 1) > 1e-6:
        raise InputError(f"split {dict(shares)}: the shares sum up to {math.fsum(shares.values()):g}, expected 1")
    # In fractions of the decimals as written: 0.29 of 100 is 29, and equal remainders are equal.
    exact = {name: Fraction(str(float(share))) for name, share in shares.items()}
    quotas = {name: share * count / sum(exact.values()) for name, share in exact.items()}
    sizes = {name: math.floor(quota) for name, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda name: sizes[name] - quotas[name])  # of equal ones the first named
    for name in by_remainder[: count - sum(sizes.values())]:
        sizes[name] += 1
    empty = [name for name, size in sizes.items() if size == 0]
    if empty:
        raise InputError(f"split {dict(shares)}: {' and '.join(empty)} would get none of {count} samples")
    return sizes


def _is_share(share: object) -> bool:
    return isinstance(share, int | float) and not isinstance(share, bool) and 0 < share < math.inf
