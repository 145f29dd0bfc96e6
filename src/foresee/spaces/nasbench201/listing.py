"""The cells of NAS-Bench-201 in the order in which the benchmark numbers them."""

from __future__ import annotations

import itertools
import random
from functools import lru_cache

from foresee.spaces.four_nodes import EDGES
from foresee.spaces.nasbench201.architecture import OPS, Architecture

#: what the benchmark's list was shuffled with
_SEED = 88


@lru_cache(maxsize=1)
def official() -> tuple[str, ...]:
    """All 15,625 texts; the place of a text is its index in the benchmark's files.

    >>> official()[0]
    '|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|nor_conv_1x1~0|skip_connect~1|skip_connect~2|'
    """
    texts = [str(Architecture(ops)) for ops in itertools.product(OPS, repeat=len(EDGES))]
    random.Random(_SEED).shuffle(texts)
    return tuple(texts)
