"""All that a network holds, as it was found, so that it can be put back: what `untouched` stands on.

Whatever the network can reach counts: attributes of its modules and of modules in lists, containers inside containers,
tensors, arrays and random generators of its own, variables of functions that it keeps (a `forward` of its own), and what
other objects hold, down to objects in objects. What a class, a Python module or the operating system holds does not, nor what
a hook writes elsewhere: that is the window of whoever registered it.
"""

from __future__ import annotations

import functools
import random
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from itertools import chain
from operator import is_
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import module as _every_module

from foresee.probes.found import Found, FoundArray, FoundTensors, FoundValue

#: values that nothing can be written into, and what is none of the network's own
_PLAIN: frozenset[type[Any]] = frozenset(
    {bool, int, float, complex, str, bytes, type(None), type, BuiltinFunctionType, ModuleType}
    | {torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format}
)
#: from the most special to the most general: an ordered dictionary is emptied by its own method
_CONTAINERS: tuple[type[Any], ...] = (OrderedDict, dict, list, set, deque)
_TABLES = frozenset({*_CONTAINERS, defaultdict, Counter})
_TENSORS = frozenset({Tensor, nn.Parameter})
_KINDS: tuple[type[Any], ...] = (
    nn.Module,
    *_CONTAINERS,
    tuple,
    frozenset,
    FunctionType,
    MethodType,
    functools.partial,
    CellType,
)
#: how many objects, one inside the other, are looked into
_DEPTH = 2


class Belongings:
    """What a network held when this was made; without `values` the numbers in parameters and buffers are not copied."""

    def __init__(self, network: nn.Module, *, values: bool) -> None:
        self._modules: list[tuple[nn.Module, type[nn.Module], bool]] = []
        self._empty: list[Any] = []
        self._filled: list[tuple[type[Any], Any, Any]] = []
        self._others: list[Found] = []
        found = self._find([*_global_hooks(), network])
        safe = set[int]() if values else _owned(network)
        self._tensors = [
            FoundTensors([one for one in found if id(one) in safe], copied=False),
            FoundTensors([one for one in found if id(one) not in safe], copied=True),
        ]

    def restore(self) -> list[str]:
        """Put everything back, each part whatever becomes of the others; what could not be put back, and why."""
        failures: list[str] = []
        changed: Iterable[tuple[Any, Callable[..., None], tuple[Any, ...]]] = chain(
            (("a container", refill, one) for one in self._filled if not same(one[1], one[2])),
            (("a container", _clear, (one,)) for one in filter(None, self._empty)),
            (
                ("a module", _reset, one)
                for one in self._modules
                if type(one[0]) is not one[1] or one[0].training != one[2]
            ),
            ((one, one.restore, ()) for tensors in self._tensors for one in tensors.changed()),
            ((one, one.restore, ()) for one in self._others),
        )
        for what, put, arguments in changed:
            try:
                put(*arguments)
            except Exception as error:  # whatever a stranger's object does
                failures.append(f"{what} ({(str(error).splitlines() or [type(error).__name__])[0]})")
        return failures

    def _find(self, start: list[Any]) -> list[Tensor]:
        """Walk over all that can be reached, what is nearest first, and remember it; the tensors among it."""
        tensors: list[Tensor] = []
        seen: set[int] = set()
        queues: list[list[Any]] = [start, *([] for _ in range(_DEPTH))]
        while waiting := [queue for queue in queues if queue]:
            depth = next(depth for depth, queue in enumerate(queues) if queue is waiting[0])
            queues[depth] = []
            self._walk(waiting[0], seen, tensors, queues, depth)
        return tensors

    def _walk(
        self, queue: list[Any], seen: set[int], tensors: list[Tensor], queues: list[list[Any]], depth: int
    ) -> None:
        """One after the other, while the queue grows; thousands are plain values and empty tables: quick cases."""
        empty, more = self._empty.append, queue.extend
        for value in queue:
            kind: Any = type(value)
            if kind in _PLAIN:
                continue
            if kind in _TABLES and not value:
                empty(value)
                continue
            if id(value) in seen:
                continue
            seen.add(id(value))
            if kind is dict:
                self._filled.append((dict, value, value.copy()))
                more(value.values())
            elif kind is tuple:
                more(value)
            elif kind in _TENSORS or isinstance(value, Tensor):
                tensors.append(value)
                if value.is_leaf and value.grad is not None:
                    queue.append(value.grad)
            elif (known := _kind(kind)) is nn.Module:
                (queues[0].extend if depth else more)(self._keep_module(value))
            elif known is not object:
                more(self._keep(value, known))
            else:
                found = _other(value)
                if found is not None:
                    self._others.append(found)
                attributes = getattr(value, "__dict__", None)
                if depth < _DEPTH and type(attributes) is dict:
                    queues[depth + 1].append(attributes)

    def _keep(self, value: Any, kind: type[Any]) -> Iterable[Any]:
        """Remember one thing; what is in it."""
        if kind in _CONTAINERS:
            content: Any = kind.copy(value)
            self._filled.append((kind, value, content))
            if not issubclass(kind, dict):
                return content  # type: ignore[no-any-return]
            return () if kind is OrderedDict and _are_hooks(value) else value.values()
        if kind is FunctionType:
            return (*(value.__closure__ or ()), value.__defaults__, value.__dict__)
        if kind is MethodType:
            return (value.__self__, value.__func__)
        if kind is functools.partial:
            return (value.func, value.args, value.keywords)
        if kind is CellType:
            return self._keep_cell(value)
        return value  # type: ignore[no-any-return]  # a tuple, a frozen set

    def _keep_module(self, module: nn.Module) -> Iterable[Any]:
        attributes = vars(module)
        self._filled.append((dict, attributes, attributes.copy()))
        self._modules.append((module, type(module), module.training))
        if "_c" in attributes and isinstance(module, torch.jit.ScriptModule):
            return (*attributes.values(), *self._keep_script(module))
        return attributes.values()

    def _keep_script(self, module: torch.jit.ScriptModule) -> Iterable[Any]:
        """What a scripted module holds outside Python."""
        tensors = (*module.parameters(recurse=False), *module.buffers(recurse=False))
        core: Any = vars(module)["_c"]
        for name in vars(module)["_concrete_type"].get_attributes() if "_concrete_type" in vars(module) else ():
            value = core.getattr(name)
            if not isinstance(value, Tensor):
                self._others.append(
                    FoundValue(value, functools.partial(core.getattr, name), functools.partial(core.setattr, name))
                )
        return tensors

    def _keep_cell(self, cell: CellType) -> Iterable[Any]:
        try:
            content = cell.cell_contents
        except ValueError:  # nothing in it yet
            return ()

        def put(value: Any) -> None:
            cell.cell_contents = value

        self._others.append(FoundValue(content, lambda: cell.cell_contents, put, same=is_))
        return (content,)


def _owned(network: nn.Module) -> set[int]:
    """Which tensors are parameters and buffers of the network itself."""
    return {id(tensor) for tensor in tensors_of(network)}


def modules_of(network: nn.Module) -> list[nn.Module]:
    """All modules, each once, as `network.modules()` gives them but in another order, and in less than half of the time."""
    found, seen = [network], {id(network)}
    for module in found:
        for child in module._modules.values():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                found.append(child)
    return found


def tensors_of(network: nn.Module) -> list[Tensor]:
    """All parameters and buffers; one that several modules share comes with each of them."""
    tables = (table for module in modules_of(network) for table in (module._parameters, module._buffers) if table)
    return [tensor for table in tables for tensor in table.values() if tensor is not None]


@functools.lru_cache(maxsize=1024)
def _kind(kind: Any) -> type[Any]:
    """What a type is for us."""
    return next((known for known in _KINDS if issubclass(kind, known)), object)


def _are_hooks(table: OrderedDict[Any, Any]) -> bool:
    """Hooks are windows of those who registered them: they stay, but what they write elsewhere is not the network's own."""
    return all(type(key) is int and callable(hook) for key, hook in table.items())


def _other(value: Any) -> Found | None:
    """Things with a state of their own."""
    if isinstance(value, np.ndarray):
        return FoundArray(value)
    if isinstance(value, torch.Generator):
        return FoundValue(value.get_state(), value.get_state, value.set_state, same=torch.equal)
    if isinstance(value, random.Random):
        return FoundValue(value.getstate(), value.getstate, value.setstate)
    if isinstance(value, np.random.Generator):
        bits = value.bit_generator
        return FoundValue(bits.state, lambda: None, lambda state: setattr(bits, "state", state))
    if isinstance(value, np.random.RandomState):
        return FoundValue(value.get_state(), lambda: None, value.set_state)
    return None


def _clear(container: Any) -> None:
    container.clear()


def refill(kind: type[Any], container: Any, content: Any) -> None:
    """Put into a container what it held."""
    kind.clear(container)
    (kind.update if issubclass(kind, dict | set) else kind.extend)(container, content)


def _reset(module: nn.Module, kind: type[nn.Module], training: bool) -> None:
    if type(module) is not kind:
        module.__class__ = kind
    module.training = training  # scripted modules keep it outside their attributes


def same(first: Any, second: Any) -> bool:
    """Whether the same objects are in two containers: by identity, values are not compared."""
    if len(first) != len(second):
        return False
    if isinstance(first, dict):
        return all(map(is_, first, second)) and all(map(is_, first.values(), second.values()))
    if isinstance(first, set):
        return set(map(id, first)) == set(map(id, second))
    return all(map(is_, first, second))


def _global_hooks() -> list[dict[str, Any]]:
    return [
        table for name, table in vars(_every_module).items() if name.startswith("_global_") and isinstance(table, dict)
    ]
