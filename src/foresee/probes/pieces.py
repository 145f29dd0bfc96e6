"""Layers that lie in pieces: formulas that go layer by layer take their pieces for one.

A network that inherits from a one-shot network may hold one matrix as several, because the columns of its inputs are no
neighbours there. The module that holds the pieces says so (`one_layer = True`); a formula then gives the same number as for
the network that holds the matrix whole.
"""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn


def together(network: nn.Module, names: Iterable[str]) -> list[list[str]]:
    """The names of parameters, those of one layer together, in the order in which they came.

    >>> class Halves(nn.Module):
    ...     one_layer = True
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.left, self.right = nn.Linear(2, 3), nn.Linear(4, 3)
    >>> together(nn.Sequential(Halves(), nn.Linear(3, 1)), ["0.left.weight", "0.right.weight", "1.weight"])
    [['0.left.weight', '0.right.weight'], ['1.weight']]
    """
    owners = [f"{name}." for name, module in network.named_modules() if getattr(module, "one_layer", False)]
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(next((one for one in owners if name.startswith(one)), name), []).append(name)
    return list(found.values())
