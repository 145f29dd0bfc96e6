"""Looking without touching: whatever happens inside, the network and the random states are as found afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from foresee.errors import UnsupportedError
from foresee.probes.belongings import Belongings, modules_of
from foresee.seeds import random_states_kept

#: makes a new tensor of one
Convert = Callable[[Tensor], Tensor]


@contextmanager
def untouched(network: nn.Module, seed: int = 0, *, values: bool = True) -> Iterator[nn.Module]:
    """Inside, random numbers start from `seed`; on leaving, also by an exception, everything is as it was found.

    Everything: the values of parameters, buffers and `.grad`, which tensors and submodules each module holds, train or
    eval mode, `requires_grad`, hooks (forward, backward, of single modules and of all), any other attribute of a module
    with all that is in it (see `foresee.probes.belongings`), the random states of Python, numpy and torch (CPU, and CUDA
    where it is in use), the default type, and whether gradients are recorded. Every part is tried; what cannot be put back
    is an `UnsupportedError`, or a note on the exception on its way. Without `values` the numbers in parameters and buffers
    are not copied, for uses inside which they are safe (see `converted`).

    >>> layer = nn.BatchNorm1d(2)
    >>> with untouched(layer):
    ...     _ = layer.eval(), layer.running_mean.add_(1)
    >>> layer.training, layer.running_mean.tolist()
    (True, [0.0, 0.0])
    """
    belongings = Belongings(network, values=values)
    with process_kept(seed):
        try:
            yield network
        except BaseException as error:
            for failure in belongings.restore():
                error.add_note(f"not put back as found: {failure}")
            raise
        failures = belongings.restore()
    if failures:
        raise UnsupportedError(f"the network cannot be put back as it was found: {'; '.join(failures)}")


@contextmanager
def process_kept(seed: int) -> Iterator[None]:
    """Inside, random numbers start from `seed`; what a network may set for the whole process is as before afterwards."""
    dtype, recording = torch.get_default_dtype(), torch.is_grad_enabled()
    with random_states_kept(seed):
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_grad_enabled(recording)


def uncompiled() -> AbstractContextManager[object]:
    """Inside, what `torch.compile` made runs as it was written: compiled code would run without the hooks of a look.

    Nothing can be compiled where torch's compiler is not even loaded, and loading it takes seconds.
    """
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()


def use_batch_statistics(network: nn.Module) -> None:
    """The mode of the papers: train mode, so that BatchNorm normalises by the batch, but nothing is dropped at random.

    The papers' networks have no dropout, and a random mask would only add noise to a score: modules named after dropping
    (dropout, drop path) are in eval mode, and a `dropout` number of any other module (attention, recurrent layers) is 0.
    To be used inside `untouched`.
    """
    for module in modules_of(network):
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
    for module in modules_of(network):
        for key, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[key] = made.setdefault(id(buffer), buffer.clone())


@contextmanager
def converted(network: nn.Module, convert: Convert, *, statistics: bool = True) -> Iterator[None]:
    """Inside, every floating parameter and buffer holds `convert(itself)`; afterwards the tensors found, never written to.

    `convert` makes a new tensor. Other buffers are copied; without `statistics` those of norms stay as they are, for uses
    inside which nobody reads or writes them. Parameters stay the same objects, so layers that keep lists of their own
    weights see the change as well. New tensors are made in the converted type by default, for modules that make
    some while they run.

    >>> layer = nn.Linear(2, 1)
    >>> with converted(layer, lambda tensor: tensor.double()):
    ...     layer(torch.ones(1, 2, dtype=torch.float64)).dtype
    torch.float64
    >>> layer.weight.dtype
    torch.float32
    """
    modules = modules_of(network)
    held = {id(p): p for module in modules for p in module._parameters.values() if p is not None}
    parameters = [(p, p.data) for p in held.values() if p.is_floating_point()]
    kept = [m for m in modules if m._buffers and (statistics or not isinstance(m, _NormBase))]
    buffers = [(m, k, b) for m in kept for k, b in m._buffers.items() if b is not None]
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
