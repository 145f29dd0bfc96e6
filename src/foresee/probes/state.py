"""Looking without touching: whatever happens inside, the network and the random states are as found afterwards."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import is_
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import module as _every_module


@contextmanager
def untouched(network: nn.Module, seed: int = 0, *, values: bool = True) -> Iterator[nn.Module]:
    """Inside, random numbers start from `seed`; on leaving, also by an exception, everything is as it was found.

    Everything: the values of parameters, buffers and `.grad`, which tensors and submodules each module holds, train or
    eval mode, `requires_grad`, hooks (forward, backward, of single modules and of all), any other attribute of a module,
    and the random states of Python, numpy and torch (CPU, and CUDA where it is in use). Without `values` the numbers in
    parameters and buffers are not copied, for uses inside which they are safe (see `converted`).

    >>> layer = nn.BatchNorm1d(2)
    >>> with untouched(layer):
    ...     _ = layer.eval(), layer.running_mean.add_(1)
    >>> layer.training, layer.running_mean.tolist()
    (True, [0.0, 0.0])
    """
    modules = list(network.modules())
    containers = _Containers(_global_hooks())
    for module in modules:
        containers.watch(vars(module))
    modes = [(module, module.training) for module in modules]
    tensors = [_Tensor(tensor, values) for tensor in _tensors(modules)]
    with random_states_kept(seed):
        try:
            yield network
        finally:
            containers.restore()
            for module, training in modes:
                if module.training != training:  # scripted modules keep it outside their attributes
                    module.training = training
            for tensor in tensors:
                tensor.restore()


@contextmanager
def random_states_kept(seed: int) -> Iterator[None]:
    """Python, numpy and torch count from `seed` inside and go on as if nothing had happened afterwards."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    # torch.manual_seed would also leave a seed behind for a CUDA that is not started yet.
    torch.default_generator.manual_seed(seed)
    if cuda is not None:
        torch.cuda.manual_seed_all(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        torch.set_rng_state(states[2])
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)


def use_batch_statistics(network: nn.Module) -> None:
    """The mode of the papers: train mode, so that BatchNorm normalises by the batch, but nothing is dropped at random.

    The papers' networks have no dropout, and a random mask would only add noise to a score: modules named after dropping
    (dropout, drop path) are in eval mode, and a `dropout` number of any other module (attention, recurrent layers) is 0.
    To be used inside `untouched`.
    """
    for module in network.modules():
        training = "drop" not in type(module).__name__.lower()
        if module.training != training:
            module.training = training
        if isinstance(vars(module).get("dropout"), float):
            vars(module)["dropout"] = 0.0


def copy_buffers(network: nn.Module) -> None:
    """Let the network go on with copies of its buffers, which a graph may remember; to be used inside `untouched`.

    What is written into the copies stays there, and the buffers themselves are put back untouched.
    """
    made: dict[int, Tensor] = {}
    for module in network.modules():
        for key, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[key] = made.setdefault(id(buffer), buffer.clone())


@contextmanager
def converted(network: nn.Module, convert: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Inside, every floating parameter and buffer holds `convert(itself)`; afterwards the tensors found, never written to.

    `convert` makes a new tensor. Other buffers are copied. Parameters stay the same objects, so layers that keep lists of
    their own weights see the change as well. New tensors are made in the converted type by default, for modules that make
    some while they run.

    >>> layer = nn.Linear(2, 1)
    >>> with converted(layer, lambda tensor: tensor.double()):
    ...     layer(torch.ones(1, 2, dtype=torch.float64)).dtype
    torch.float64
    >>> layer.weight.dtype
    torch.float32
    """
    modules = list(network.modules())
    held = {id(p): p for module in modules for p in module._parameters.values() if p is not None}
    parameters = [(p, p.data) for p in held.values() if p.is_floating_point()]
    buffers = [(m, k, b) for m in modules for k, b in m._buffers.items() if b is not None]
    usual = torch.get_default_dtype()
    try:
        made: dict[int, Tensor] = {}
        for parameter, data in parameters:
            parameter.data = convert(data)
        for module, key, buffer in buffers:
            copied = convert(buffer) if buffer.is_floating_point() else buffer.clone()
            module._buffers[key] = made.setdefault(id(buffer), copied)
        dtypes = {parameter.dtype for parameter, _ in parameters}
        if len(dtypes) == 1:
            torch.set_default_dtype(dtypes.pop())
        yield
    finally:
        torch.set_default_dtype(usual)
        for parameter, data in parameters:
            parameter.data = data
        for module, key, buffer in buffers:
            module._buffers[key] = buffer


def double(tensor: Tensor) -> Tensor:
    """A copy in float64."""
    return tensor.to(torch.float64, copy=True)


def _tensors(modules: list[nn.Module]) -> list[Tensor]:
    tables = [table for module in modules for table in (module._parameters, module._buffers) if table]
    held = {id(tensor): tensor for table in tables for tensor in table.values() if tensor is not None}
    return [*held.values(), *(tensor.grad for tensor in held.values() if tensor.grad is not None)]


class _Tensor:
    """A tensor and how it was found."""

    def __init__(self, tensor: Tensor, values: bool) -> None:
        self.tensor, self.grad, self.requires_grad = tensor, tensor.grad, tensor.requires_grad
        self.values = (tensor.detach().clone(), _version(tensor)) if values else None

    def restore(self) -> None:
        tensor = self.tensor
        if self.values is not None:
            # The version counts writes that torch sees; writes through `.data` are found by comparing.
            values, version = self.values
            if _version(tensor) != version or not torch.equal(tensor, values):
                tensor.data.copy_(values)
        if tensor.requires_grad != self.requires_grad:
            tensor.requires_grad_(self.requires_grad)
        if tensor.grad is not self.grad:
            tensor.grad = self.grad


def _version(tensor: Tensor) -> int:
    return -1 if tensor.is_inference() else tensor._version


class _Containers:
    """Dictionaries, lists and sets, and what was in them: by identity, values are not compared."""

    def __init__(self, tables: Iterable[dict[str, Any]]) -> None:
        self._empty: list[Any] = []
        self._filled: list[tuple[Any, Any]] = []
        for table in tables:
            self._add(table)

    def watch(self, attributes: dict[str, Any]) -> None:
        """Remember the attributes of an object, and the contents of those that are containers themselves."""
        self._add(attributes)
        for value in attributes.values():
            if type(value) in _CONTAINERS:
                self._add(value)

    def _add(self, container: Any) -> None:
        # A network has thousands of tables of hooks, nearly all empty: those are the quick case.
        if container:
            self._filled.append((container, container.copy()))
        else:
            self._empty.append(container)

    def restore(self) -> None:
        """Put back what was there."""
        for container, content in self._filled:
            if not _same(container, content):
                container.clear()
                (container.extend if isinstance(container, list) else container.update)(content)
        for container in self._empty:
            if container:
                container.clear()


_CONTAINERS = frozenset({dict, OrderedDict, list, set})


def _same(first: Any, second: Any) -> bool:
    if len(first) != len(second) or isinstance(first, set):
        return bool(first == second)
    if isinstance(first, dict):
        return all(map(is_, first, second)) and all(map(is_, first.values(), second.values()))
    return all(map(is_, first, second))


def _global_hooks() -> list[dict[str, Any]]:
    return [
        table for name, table in vars(_every_module).items() if name.startswith("_global_") and isinstance(table, dict)
    ]
