"""Defences of what is on disk: which networks, on which samples, kept round by round.

found = defend_kept("runs/e", "digits", attacks=["fgsm", "pgd"], out="runs/e/defence")
"""

from foresee.ensembles.defending.run import defend_kept
from foresee.ensembles.defending.withstood import Withstood

__all__ = ["Withstood", "defend_kept"]
