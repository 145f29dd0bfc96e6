"""What networks of DARTS cells cost, by formula: the network of `network.py` written down a second time, as a sum."""

from __future__ import annotations

from foresee.spaces import counting
from foresee.spaces.blocks import image_shape
from foresee.spaces.counting import Counts, Size
from foresee.spaces.darts import operations
from foresee.spaces.darts.cells import Architecture
from foresee.spaces.darts.network import Form, Place, plan
from foresee.task import Task


def count(architecture: Architecture, task: Task, form: Form) -> Counts:
    """Exact counts of `network.build`; the auxiliary head has parameters, and no MACs at inference."""
    inputs, *size = image_shape(task, "of DARTS cells")
    where, (tap, last) = plan(architecture, form)
    total, before, now = count_stem(inputs, (size[0], size[1]), form)
    affine = not form.search
    for place in where:
        if place.pooled:
            before, now = counting.strided(before), counting.strided(now)
        total += count_inputs(place, before, now, affine=affine)
        out = counting.strided(now, place.stride)
        for op, source in architecture[place.kind].edges:
            stride = place.stride if source < 2 else 1
            total += operations.count(op, place.channels // form.partial, stride, now if source < 2 else out, affine)
        before, now = now, out
    return total + counting.linear(last, task.outputs) + count_auxiliary(tap, task, form)


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


def count_auxiliary(inputs: int, task: Task, form: Form) -> Counts:
    """Parameters of the auxiliary head, if there is one."""
    if not form.auxiliary:
        return counting.NOTHING
    nowhere = (0, 0)
    convs = counting.conv2d(inputs, 128, 1, nowhere) + counting.norm(128) + counting.conv2d(128, 768, 2, nowhere)
    norm = counting.norm(768) if form.network == "cifar" else counting.NOTHING
    return convs + norm + Counts(counting.linear(768, task.outputs).params, 0)
