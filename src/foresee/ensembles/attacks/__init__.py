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
    "Masking": "foresee.ensembles.attacks.masking",
    "find_masking": "foresee.ensembles.attacks.masking",
}

if TYPE_CHECKING:
    from foresee.ensembles.attacks.base import Attack, Attacked, attacks
    from foresee.ensembles.attacks.masking import Masking, find_masking

__all__ = ["Attack", "Attacked", "Masking", "attacks", "find_masking"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
