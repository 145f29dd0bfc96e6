"""Which recipe a supernet, or a warm-up, follows where nobody says otherwise."""

from __future__ import annotations

from typing import Any

from foresee.spaces.autoformer.space import AutoFormer
from foresee.spaces.base import Space
from foresee.spaces.nasrec.space import NASRec
from foresee.task import Task

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


def usual_warmup(task: Task) -> str:
    """One pass over the data: of click logs by their own recipe, of all else by plain SGD.

    >>> usual_warmup(Task())
    'warmup'
    """
    return "ctr" if task.vocabularies else WARMUP
