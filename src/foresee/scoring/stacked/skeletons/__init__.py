"""The skeletons of the spaces whose architectures are stacked: one file each, the only ones here that know a space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foresee.errors import UnsupportedError
from foresee.scoring.stacked.sizes import Sizes
from foresee.scoring.stacked.skeleton import Skeleton
from foresee.scoring.stacked.skeletons import autoformer, darts, nasbench201, nasbench_macro, nats_size, transnas_micro
from foresee.spaces.autoformer.space import AutoFormerBase, AutoFormerSmall, AutoFormerTiny
from foresee.spaces.base import Space
from foresee.spaces.darts.space import DARTS
from foresee.spaces.nasbench201.space import NASBench201
from foresee.spaces.nasbench_macro.space import NASBenchMacro
from foresee.spaces.nats_size.space import NATSSize
from foresee.spaces.transnas.space import TransNASMicro
from foresee.task import Task

#: what a skeleton is made by; an `UnsupportedError` says why there is none
Maker = Callable[[Any, Task], Skeleton]
_MAKERS: Mapping[type[Space[Any]], Maker] = {
    DARTS: darts.skeleton,
    NASBench201: nasbench201.skeleton,
    NASBenchMacro: nasbench_macro.skeleton,
    NATSSize: nats_size.skeleton,
    TransNASMicro: transnas_micro.skeleton,
    AutoFormerTiny: autoformer.skeleton,
    AutoFormerSmall: autoformer.skeleton,
    AutoFormerBase: autoformer.skeleton,
}
#: what an architecture chose, where it does not say so itself
_CHOICES: Mapping[type[Space[Any]], Callable[[Any, Any], Sequence[str]]] = {
    DARTS: darts.choices,
    NATSSize: nats_size.choices,
    AutoFormerTiny: autoformer.choices,
    AutoFormerSmall: autoformer.choices,
    AutoFormerBase: autoformer.choices,
}
#: their names
SPACES = tuple(sorted(space.name for space in _MAKERS))


def skeleton_of(space: Space[Any], task: Task) -> Skeleton:
    """What the networks of a space have in common; an `UnsupportedError` where they are not stacked.

    >>> skeleton_of(NASBench201(cells=1), Task(inputs=(3, 32, 32), outputs=10)).image
    (3, 32, 32)
    """
    make = _MAKERS.get(type(space))  # of a class of somebody's own nobody knows what it changed
    if make is None:
        raise UnsupportedError(f"architectures of {space.name} are not stacked: those of {', '.join(SPACES)} are")
    if len(task.inputs) != 3 or task.tokens is not None:
        raise UnsupportedError("stacks are of networks for images")
    found = make(space, task)
    if found.by_batch and min(Sizes(found).last[1:]) < 2 and found.pieces == 1:
        size = "x".join(map(str, task.inputs[1:]))
        raise UnsupportedError(f"images of {size}: batch norm has one value per channel in the last stage")
    return found


def choices_of(space: Space[Any], architecture: Any) -> Sequence[str]:
    """What an architecture chose where the skeleton leaves a choice; an `UnsupportedError` where it lies outside.

    >>> space = DARTS()
    >>> choices_of(space, space.named["DARTS_V2"])[:2]
    ('sep_conv_3x3 of 0', 'sep_conv_3x3 of 1')
    """
    chosen = _CHOICES.get(type(space))
    found: Sequence[str] = architecture.ops if chosen is None else chosen(space, architecture)
    return found
