"""The operations that policies choose from, by name, each with a strength from 0 (nothing happens) to 1.

What strength 1 is follows AutoAugment (Cubuk et al. 2019, Table 6): shears by 0.3, turns by 30 degrees, factors of colour,
contrast, brightness and sharpness from 0.1 to 1.9, 4 of 8 bits kept, everything solarised. Shifts reach 10 of 32 pixels, as
in the authors' program for CIFAR (their table says 150 pixels, of images of 331).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from foresee.training.augmentation import bending, colouring


@dataclass(frozen=True)
class Operation:
    """A change of pixels from 0 to 1.

    `sides` says what an amount may be: "both" is a strength of either sign (left or right), "factor" one too, where less and
    more are the two ends of one range, "one" a strength from 0, "none" has no strength.
    """

    sides: Literal["both", "factor", "one", "none"]
    change: Callable[[Tensor, Tensor], Tensor]
    #: from a strength, -1 to 1, to what `change` takes
    amount: Callable[[Tensor], Tensor]

    def __call__(self, pixels: Tensor, strength: Tensor) -> Tensor:
        """(N, C, H, W) changed by strengths (N, 1, 1, 1)."""
        return self.change(pixels, self.amount(strength))


def _factor(change: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    return Operation("factor", change, lambda strength: 1 + 0.9 * strength)


def _same(change: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    return Operation("none", change, lambda strength: strength)


OPERATIONS = {
    "identity": _same(lambda pixels, _: pixels),
    "shear_x": Operation("both", bending.sheared_x, lambda strength: 0.3 * strength),
    "shear_y": Operation("both", bending.sheared_y, lambda strength: 0.3 * strength),
    "translate_x": Operation("both", bending.shifted_x, lambda strength: 10 / 32 * strength),
    "translate_y": Operation("both", bending.shifted_y, lambda strength: 10 / 32 * strength),
    "rotate": Operation("both", bending.turned, lambda strength: 30 * strength),
    "brightness": _factor(colouring.brightened),
    "colour": _factor(colouring.coloured),
    "contrast": _factor(colouring.contrasted),
    "sharpness": _factor(colouring.sharpened),
    "posterize": Operation("one", colouring.posterised, lambda strength: 8 - 4 * strength),
    # Above 1 nothing is inverted at strength 0; at 0 everything is at strength 1.
    "solarize": Operation("one", colouring.solarised, lambda strength: 256 / 255 * (1 - strength)),
    "autocontrast": _same(colouring.stretched),
    "equalize": _same(colouring.equalised),
    "invert": _same(colouring.inverted),
}
