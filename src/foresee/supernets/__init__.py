"""Supernets: one set of weights shared by all networks of a space, and a little training before looking.

    supernet = Supernet(space, task, seed=0)
    supernet.train(data, share=0.1, out="runs/supernet")
    network = supernet.inherit(architecture)      # its weights lie in the supernet's storage

`sampling` says which part a step trains, `course` how steps follow each other and are gone on with, `evaluating` judges what
is inherited; `warmup` is training as a level, and `warm` the scorer that looks after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

#: public name -> where it lives; imported on first use
_HOMES = {
    "AnyPath": "foresee.supernets.sampling",
    "Supernet": "foresee.supernets.supernet",
    "Uniform": "foresee.supernets.sampling",
    "WarmScorer": "foresee.supernets.warm",
    "warmed": "foresee.supernets.warmup",
}

if TYPE_CHECKING:
    from foresee.supernets.sampling import AnyPath, Uniform
    from foresee.supernets.supernet import Supernet
    from foresee.supernets.warm import WarmScorer
    from foresee.supernets.warmup import warmed

__all__ = ["AnyPath", "Supernet", "Uniform", "WarmScorer", "warmed"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
