"""Counting without building: the formulas of layers and blocks, and the slow oracle they are tested against.

A formula takes plain numbers and returns `Counts`, so a space writes its network down a second time as a sum:

>>> stem = conv2d(3, 16, 3, (32, 32)) + norm(16)
>>> stem.params, stem.macs
(464, 442368)

MACs count convolutions, linear layers and matrix products only; a bias, a norm, an activation or a pool costs
parameters or nothing. `size` is always the height and width of the *output*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import nn

from foresee.counting import count_macs, count_params
from foresee.errors import BuildError, ForeseeError, said
from foresee.task import Task

T = TypeVar("T")
Size = tuple[int, int]


@dataclass(frozen=True)
class Counts:
    """What a network costs before it runs: exact parameters and multiply-accumulates of one sample.

    MACs count convolutions, linear layers and matrix products only; FLOPs are two per MAC.
    """

    params: int
    macs: int

    @property
    def flops(self) -> int:
        """Floating-point operations: two per MAC."""
        return 2 * self.macs

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.params + other.params, self.macs + other.macs)


NOTHING = Counts(0, 0)


# -- layers -----------------------------------------------------------------------------------------------------------
def conv2d(inputs: int, outputs: int, kernel: int, size: Size, *, groups: int = 1, bias: bool = False) -> Counts:
    """A square convolution whose output is `size` large."""
    weights = outputs * (inputs // groups) * kernel * kernel
    return Counts(weights + (outputs if bias else 0), weights * size[0] * size[1])


def linear(inputs: int, outputs: int, *, bias: bool = True, positions: int = 1) -> Counts:
    """A linear layer applied at `positions` places (tokens) of one sample."""
    weights = inputs * outputs
    return Counts(weights + (outputs if bias else 0), weights * positions)


def norm(channels: int, *, affine: bool = True) -> Counts:
    """Scale and shift of any normalisation."""
    return Counts(2 * channels if affine else 0, 0)


def matmul(rows: int, inner: int, columns: int, *, times: int = 1) -> Counts:
    """`times` products of a rows x inner with an inner x columns matrix, none of them a parameter."""
    return Counts(0, rows * inner * columns * times)


# -- blocks -----------------------------------------------------------------------------------------------------------
def relu_conv_bn(inputs: int, outputs: int, kernel: int, size: Size, *, affine: bool = True) -> Counts:
    """`blocks.relu_conv_bn`."""
    return conv2d(inputs, outputs, kernel, size, bias=not affine) + norm(outputs, affine=affine)


def reduction(inputs: int, outputs: int, size: Size) -> Counts:
    """`blocks.Reduction`; `size` is already the halved one."""
    main = relu_conv_bn(inputs, outputs, 3, size) + relu_conv_bn(outputs, outputs, 3, size)
    return main + conv2d(inputs, outputs, 1, size)


# -- composing --------------------------------------------------------------------------------------------------------
def repeat(counts: Counts, times: int) -> Counts:
    """The same block `times` times.

    >>> repeat(linear(2, 3), 4)
    Counts(params=36, macs=24)
    """
    return Counts(counts.params * times, counts.macs * times)


def total(parts: Iterable[Counts]) -> Counts:
    """Sum of any number of counts."""
    return sum(parts, NOTHING)


def strided(size: Size, stride: int = 2) -> Size:
    """Output size of a layer with stride and "same" padding.

    >>> strided((32, 17))
    (16, 9)
    """
    return -(-size[0] // stride), -(-size[1] // stride)


# -- the oracle -------------------------------------------------------------------------------------------------------
def on_meta(make: Callable[[], T]) -> T:
    """Run `make` on the meta device, where tensors have shapes but no numbers; on the CPU where it cannot run there.

    Global torch random numbers are left as they were. `make` may be called twice.
    """
    with torch.random.fork_rng(devices=[]):
        try:
            with torch.device("meta"):
                return make()
        except Exception:  # reading numbers, moving devices: what code does that meta tensors cannot is open-ended
            return make()


def measure(build: Callable[[], nn.Module], task: Task) -> Counts:
    """Exact counts of the network `build` makes, by building it and sending one sample through it. Slow: an oracle."""
    network = on_meta(build)
    try:
        macs = count_macs(network, task.example())
    except ForeseeError:
        raise
    except Exception as error:
        shape = "x".join(map(str, task.inputs))
        raise BuildError(f"the network does not take inputs of {shape}: {said(error)}") from error
    return Counts(count_params(network), macs)
