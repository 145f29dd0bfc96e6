"""A zoo: networks as real people and hostile ones write them, each with one thing unusual.

Every proxy must give each resident a score, or a status with its reason, the same twice, and leave it as it was found.

>>> [name for name in names() if "buffer" in name][:2]
['writes into its buffers', 'has a sparse buffer']
>>> made("is frozen").head.weight.requires_grad
False
"""

from __future__ import annotations

import warnings

from torch import nn

from foresee.errors import UnknownNameError
from foresee.seeds import random_states_kept
from foresee.testing.zoo import changing, code, tensors
from foresee.testing.zoo.plain import ZOO, Plain, batch

__all__ = ["Plain", "batch", "changing", "code", "made", "names", "tensors"]


def names() -> list[str]:
    """Of all residents."""
    return list(ZOO)


def made(name: str, seed: int = 0) -> nn.Module:
    """A resident, always the same for a seed."""
    if name not in ZOO:
        raise UnknownNameError("resident of the zoo", name, ZOO)
    with random_states_kept(seed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of several kinds torch says that they will go
        return ZOO[name]()
