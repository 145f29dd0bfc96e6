"""Which recipe a supernet, or a warm-up, follows where nobody says otherwise."""

from __future__ import annotations

from typing import Any

from foresee.spaces.autoformer.space import AutoFormer
from foresee.spaces.base import Space
from foresee.spaces.nasrec.space import NASRec
from foresee.task import MANY_ROWS, Task

#: one pass over the data: what a warm-up is a share of
WARMUP = "warmup"


def usual_recipe(space: Space[Any]) -> str:
    """What the paper of a space's supernet says; for spaces without such a paper NESBS' values.

    >>> from foresee.spaces.nasbench201 import NASBench201
    >>> usual_recipe(NASBench201())
    'nesbs_supernet'
    """
    if isinstance(space, NASRec):
        return "nasrec_supernet"
    return "autoformer_supernet" if isinstance(space, AutoFormer) else "nesbs_supernet"


def usual_warmup(task: Task, samples: int) -> str:
    """One pass over so many samples: of click logs by a recipe for few steps, of large ones by the papers', of all else by
    plain SGD.

    >>> usual_warmup(Task(), 50_000), usual_warmup(Task((3,), 1, (10, 20)), 400_000)
    ('warmup', 'ctr_warmup')
    """
    if not task.vocabularies:
        return WARMUP
    return "ctr" if samples >= MANY_ROWS else "ctr_warmup"
