"""Layers that are made again and again: a network of cells holds hundreds of equal ones, and torch is slow to make a module.

A mould is such a module without numbers. What is cast from it has weights of its own, drawn as if it had been made by itself:
a network is the same, bit for bit, in a third of the time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

import torch
from torch import Tensor, nn

_moulds: dict[Hashable, nn.Module] = {}
_TABLES = (dict, OrderedDict, set, list)


def cast(make: Callable[..., nn.Module], *arguments: Hashable, **settings: Hashable) -> nn.Module:
    """What `make(*arguments, **settings)` makes: modules of torch, whose weights are drawn in the order in which they stand.

    >>> with torch.random.fork_rng():
    ...     one = cast(nn.Conv2d, 3, 8, 3, bias=False)
    >>> one
    Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), bias=False)
    """
    key = make, arguments, tuple(settings.items())
    if key not in _moulds:
        with torch.device("meta"):  # nothing is drawn
            _moulds[key] = make(*arguments, **settings)
    return _cast(_moulds[key])


def _cast(mould: nn.Module) -> nn.Module:
    made: nn.Module = object.__new__(type(mould))
    table = {name: value.copy() if type(value) in _TABLES else value for name, value in vars(mould).items()}
    vars(made).update(table)
    for name, child in mould._modules.items():
        made._modules[name] = None if child is None else _cast(child)
    for name, weight in mould._parameters.items():
        made._parameters[name] = None if weight is None else nn.Parameter(_empty(weight))
    for name, buffer in mould._buffers.items():
        made._buffers[name] = None if buffer is None else _empty(buffer)
    if mould._parameters or mould._buffers:
        made.reset_parameters()  # type: ignore[operator]
    return made


def _empty(like: Tensor) -> Tensor:
    """Where and in which type tensors are made now: a mould may be older than that."""
    return torch.empty(like.shape, dtype=None if like.is_floating_point() else like.dtype)
