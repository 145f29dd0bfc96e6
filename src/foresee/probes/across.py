"""Formulas that go over the batches, parameter by parameter: of one network, or of many that were looked at together.

Such a formula takes the gradients of a parameter as (..., batches, numbers). One network hands it those of each parameter in
turn; where networks stand in a stack it is asked once for what all of them have, and each reads its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Tensor

#: of gradients, (..., batches, numbers); or of a parameter, (..., 1, numbers), and its gradients
Formula = Callable[..., Tensor]


class Many(ABC):
    """The gradients of many networks on one batch."""

    @abstractmethod
    def across(self, batches: Sequence[Many], formula: Formula, parameters: bool) -> Sequence[Mapping[str, Tensor]]:
        """What a formula gives for each parameter of each network over these batches, the first of which is this one's."""


class Among(dict[str, Tensor]):
    """The gradients of a network that is one of many, and its place among them."""

    def __init__(self, gradients: Mapping[str, Tensor], many: Many, place: int) -> None:
        super().__init__(gradients)
        self.many, self.place = many, place


def across(
    gradients: Sequence[Mapping[str, Tensor]],
    formula: Formula,
    names: Iterable[str],
    theta: Mapping[str, Tensor] | None = None,
) -> dict[str, Tensor]:
    """What a formula gives for the gradients of these parameters by batch; with `theta`, for the parameters and them.

    >>> across([{"w": torch.ones(2)}, {"w": torch.zeros(2)}], lambda rows: rows.mean(-2), ["w"])
    {'w': tensor([0.5000, 0.5000])}
    """
    many = [one for one in gradients if isinstance(one, Among)]
    if len(many) == len(gradients):
        found = many[0].many.across([one.many for one in many], formula, theta is not None)[many[0].place]
        return {name: found[name] for name in names}
    rows = ((name, torch.stack([one[name].flatten() for one in gradients])) for name in names)
    if theta is None:
        return {name: formula(own) for name, own in rows}
    return {name: formula(theta[name].flatten()[None], own) for name, own in rows}
