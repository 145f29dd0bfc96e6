"""A photograph of a network: all of it that can be compared, bit by bit, to see whether anything was changed."""

from __future__ import annotations

import functools
import random
from collections import OrderedDict, deque
from collections.abc import Iterator
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

_NUMBERS = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, torch.Size, torch.layout)
_ELSEWHERE = (type, ModuleType, torch._C.ScriptModule)


class Photograph:
    """What was there, by where it is: `differences` of two of them are the places that changed.

    Objects are compared by what they are and by what is in them. They are kept alive, so that no new one takes the place of
    an old one in memory. Of an object that is neither a module nor a container, what is in it counts down to two more.

    >>> layer = nn.Linear(2, 1)
    >>> before = Photograph(layer)
    >>> layer.notes = [1]
    >>> before.differences(Photograph(layer))
    ["network's attributes", 'network.notes']
    """

    def __init__(self, network: nn.Module) -> None:
        self.seen: dict[str, Any] = {}
        self._alive: dict[int, Any] = {}
        self._look("network", network, 0)
        for name, tensor in (*network.named_parameters(), *network.named_buffers()):  # scripted ones hide them
            self._look(f"network: {name}", tensor, 0)
        for name, table in vars(nn.modules.module).items():
            if name.startswith("_global_") and isinstance(table, dict):
                self._look(f"torch.{name}", table, 0)

    def differences(self, other: Photograph) -> list[str]:
        """The places where they differ; of those inside one another the outermost."""
        places = [place for place in {**self.seen, **other.seen} if self.seen.get(place) != other.seen.get(place)]
        return [place for place in places if not any(place != one and place.startswith(one) for one in places)]

    def _look(self, place: str, value: Any, steps: int) -> None:
        if isinstance(value, _NUMBERS):
            self.seen[place] = repr(value)
            return
        self.seen[place] = (type(value).__qualname__, id(value))
        if id(value) in self._alive or isinstance(value, _ELSEWHERE):
            return
        self._alive[id(value)] = value
        if type(value) is OrderedDict and not value:  # a table of hooks, of which there are hundreds
            return
        if isinstance(value, Tensor) and not is_lazy(value):
            self.seen[f"{place} numbers"] = numbers(value)
            self.seen[f"{place} kind"] = (str(value.dtype), tuple(value.shape), value.requires_grad, value.is_leaf)
            self._look(f"{place} gradient", value.grad if value.is_leaf else None, steps)
            self._look(f"{place} hooks", value._backward_hooks, steps)
            return
        for name, part, further in _parts(value):
            if steps + further <= 2:
                self._look(f"{place}{name}", part, steps + further)


def numbers(tensor: Tensor) -> Any:
    """The numbers of a tensor, as bytes."""
    if is_lazy(tensor) or tensor.is_meta:
        return None
    tensor = tensor.detach()
    if tensor.layout is torch.sparse_coo:
        parts = [tensor.coalesce().indices(), tensor.coalesce().values()]
    elif tensor.layout is not torch.strided:
        parts = [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    else:
        parts = [tensor.int_repr() if tensor.is_quantized else tensor]
    with torch.inference_mode(False):
        return tuple(part.cpu().contiguous().clone().reshape(-1).view(torch.uint8).numpy().tobytes() for part in parts)


def _parts(value: Any) -> Iterator[tuple[str, Any, int]]:
    """What is in an object: where, what, and how many steps away from the network that is."""
    if isinstance(value, dict) and value and all(type(key) is int and callable(hook) for key, hook in value.items()):
        yield (
            "'s hooks",
            str([(key, id(hook)) for key, hook in value.items()]),
            0,
        )  # what they write is not the network's
    elif isinstance(value, dict):
        names = [key if isinstance(key, str | int) else id(key) for key in value]
        yield "'s keys", str(names), 0
        yield from ((f"[{name!r}]", part, 0) for name, part in zip(names, value.values(), strict=True))
    elif isinstance(value, list | tuple | deque):
        yield "'s length", len(value), 0
        yield from ((f"[{n}]", part, 0) for n, part in enumerate(value))
    elif isinstance(value, set | frozenset):
        yield "'s members", str(sorted(map(repr, value))), 0
    elif isinstance(value, np.ndarray):
        yield " numbers", value.tobytes(), 0
    elif isinstance(value, torch.Generator):
        yield "'s state", value.get_state().numpy().tobytes(), 0
    elif isinstance(value, random.Random):
        yield "'s state", str(value.getstate()), 0
    elif isinstance(value, np.random.Generator):
        yield "'s state", str(value.bit_generator.state), 0
    elif isinstance(value, np.random.RandomState):
        yield "'s state", str(value.get_state(legacy=False)), 0
    elif isinstance(value, FunctionType):
        cells = [cell for cell in value.__closure__ or () if _full(cell)]
        yield from ((f"'s variable {n}", cell.cell_contents, 0) for n, cell in enumerate(cells))
    elif isinstance(value, MethodType):
        yield "'s object", value.__self__, 0
    elif isinstance(value, functools.partial):
        yield from (("'s function", value.func, 0), ("'s arguments", value.args, 0), ("'s names", value.keywords, 0))
    elif isinstance(value, nn.Module):
        yield "'s mode", value.training, 0
        yield from ((f".{name}", part, 0) for name, part in vars(value).items())
        yield "'s attributes", str(list(vars(value))), 0
    elif hasattr(value, "__dict__"):
        yield from ((f".{name}", part, 1) for name, part in vars(value).items())


def _full(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # not filled yet
        return False
