"""What networks of DARTS cells cost, by formula: the network of `network.py` written down a second time, as a sum."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from foresee.spaces import counting
from foresee.spaces.blocks import image_shape
from foresee.spaces.counting import Counts, Size
from foresee.spaces.darts import operations
from foresee.spaces.darts.cells import KINDS, Architecture
from foresee.spaces.darts.network import Form, Place, joined_by, plan
from foresee.task import Task


def count(architecture: Architecture, task: Task, form: Form) -> Counts:
    """Exact counts of `network.build`; the auxiliary head has parameters, and no MACs at inference."""
    inputs, *size = image_shape(task, "of DARTS cells")
    joined = tuple(joined_by(architecture).values())
    fixed, edges = _parts(inputs, (size[0], size[1]), task.outputs, form, joined)
    params, macs = fixed.params, fixed.macs
    for kind in KINDS:
        for op, source in architecture[kind].edges:
            one = edges(kind, op, source < 2)
            params, macs = params + one.params, macs + one.macs
    return Counts(params, macs)


@lru_cache(maxsize=64)
def _parts(
    inputs: int, size: Size, outputs: int, form: Form, joined: tuple[int, ...]
) -> tuple[Counts, Callable[[str, str, bool], Counts]]:
    """What all architectures of a form have that join so many nodes, and what an edge costs in all cells of its kind.

    An edge is given by its kind of cell, its operation, and whether it reads an input of the cell. So the twenty cells are
    walked once, and an architecture is a sum over its sixteen edges.
    """
    where, (tap, last) = plan(dict(zip(KINDS, joined, strict=True)), form)
    fixed, before, now = count_stem(inputs, size, form)
    affine = not form.search
    stands: list[tuple[Place, Size, Size]] = []
    for place in where:
        if place.pooled:
            before, now = counting.strided(before), counting.strided(now)
        fixed += count_inputs(place, before, now, affine=affine)
        out = counting.strided(now, place.stride)
        stands.append((place, now, out))
        before, now = now, out

    @cache
    def edge(kind: str, op: str, first: bool) -> Counts:
        return counting.total(
            operations.count(
                op, place.channels // form.partial, place.stride if first else 1, now if first else out, affine
            )
            for place, now, out in stands
            if place.kind == kind
        )

    return fixed + counting.linear(last, outputs) + count_auxiliary(tap, outputs, form), edge


def count_inputs(place: Place, before: Size, last: Size, *, affine: bool) -> Counts:
    """Counts of `network.preprocess_both` on outputs of these sizes."""
    first = operations.count_preprocess(place.inputs[0], place.channels, before, halve=place.halve, affine=affine)
    return first + operations.count_preprocess(place.inputs[1], place.channels, last, halve=False, affine=affine)


def count_stem(inputs: int, size: Size, form: Form) -> tuple[Counts, Size, Size]:
    """Counts of the stem, and the sizes of the two outputs the first cell reads."""
    width = form.channels
    if form.network == "cifar":
        return counting.conv2d(inputs, 3 * width, 3, size) + counting.norm(3 * width), size, size
    half, (a, b, c) = max(1, width // 2), (counting.strided(size, stride) for stride in (2, 4, 8))
    counts = counting.conv2d(inputs, half, 3, a) + counting.norm(half)
    counts += counting.conv2d(half, width, 3, b) + counting.norm(width)
    return counts + counting.conv2d(width, width, 3, c) + counting.norm(width), b, c


def count_auxiliary(inputs: int, outputs: int, form: Form) -> Counts:
    """Parameters of the auxiliary head, if there is one."""
    if not form.auxiliary:
        return counting.NOTHING
    nowhere = (0, 0)
    convs = counting.conv2d(inputs, 128, 1, nowhere) + counting.norm(128) + counting.conv2d(128, 768, 2, nowhere)
    norm = counting.norm(768) if form.network == "cifar" else counting.NOTHING
    return convs + norm + Counts(counting.linear(768, outputs).params, 0)
