"""Attacks: small changes of images that a network takes for another class; one file each.

from foresee.ensembles.attacks import attacks

found = attacks["pgd"](network, images, labels, eps=0.01)
found.accuracy, found.images
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

_HOMES = {
    "Attack": "foresee.ensembles.attacks.base",
    "Attacked": "foresee.ensembles.attacks.base",
    "attacks": "foresee.ensembles.attacks.base",
}

if TYPE_CHECKING:
    from foresee.ensembles.attacks.base import Attack, Attacked, attacks

__all__ = ["Attack", "Attacked", "attacks"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
