"""Networks that foresee built for a look and hands to nobody else: they are looked at without copying them.

A stranger's network is remembered whole before each contact and put back after it (`foresee.probes.state`), because its
forward may do anything. Ours are made of layers of torch and of our spaces, whose forward writes nothing but the running
statistics of norms. So these are not kept, weights are converted once for all contacts, and what is left to put back after
a contact are attributes that a look has exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.parameter import is_lazy

from foresee.errors import UnsupportedError
from foresee.probes.belongings import modules_of, refill, same, tensors_of
from foresee.probes.quick import Average
from foresee.probes.state import Convert, converted, use_batch_statistics

#: where the layers of our networks are written
_KNOWN = ("torch.nn.modules.", "foresee.spaces.")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def plain(network: nn.Module) -> bool:
    """Whether all its layers are torch's and ours, with no hook and no method of their own.

    >>> class Mine(nn.ReLU):
    ...     pass
    >>> plain(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())), plain(nn.Sequential(Mine()))
    (True, False)
    """
    return all(map(_plain, modules_of(network)))


def _plain(module: nn.Module) -> bool:
    own = vars(module)
    return (
        type(module).__module__.startswith(_KNOWN)
        and type(module) is not nn.SyncBatchNorm
        and ("forward" not in own or isinstance(own["forward"], Average))
        and not any(own[hooks] for hooks in _HOOKS)
    )


class Ours:
    """One of our networks, made ready to be looked at: batch statistics are used, running ones are not kept."""

    def __init__(self, network: nn.Module) -> None:
        use_batch_statistics(network)
        modules = modules_of(network)
        self.network = network
        self._norms = [one for one in modules if isinstance(one, _NormBase) and one.running_mean is not None]
        self._track(False)
        for one in modules:
            if type(one) is nn.AvgPool2d:
                vars(one)["forward"] = Average(one)
        tables = (table for one in modules for table in (vars(one), one._parameters, one._buffers, one._modules))
        self._found: list[tuple[dict[str, Any], dict[str, Any]]] = [(table, table.copy()) for table in tables if table]
        self._weights = list({id(p): p for one in modules for p in one._parameters.values() if p is not None}.values())
        self._trained = [weight.requires_grad for weight in self._weights]

    @classmethod
    def of(cls, network: nn.Module) -> Ours | None:
        """The network ready to be looked at, or None where not all of it is known: it is treated as a stranger's then."""
        numberless = (one.is_meta or is_lazy(one) for one in tensors_of(network))
        return cls(network) if plain(network) and not any(numberless) else None

    def _track(self, tracking: bool) -> None:
        for norm in self._norms:
            vars(norm)["track_running_stats"] = tracking

    @contextmanager
    def tracking(self) -> Iterator[None]:
        """Inside, norms keep running statistics; afterwards these are as they were."""
        found = [(one, one.clone()) for norm in self._norms for one in norm._buffers.values() if one is not None]
        self._track(True)
        try:
            yield
        finally:
            for buffer, numbers in found:
                buffer.copy_(numbers)  # the flags are put back with all attributes

    @contextmanager
    def contact(self, convert: Convert | None = None) -> Iterator[None]:
        """Inside, weights may be converted; afterwards all attributes are what they were, and no weight was written into."""
        versions = [weight._version for weight in self._weights]
        try:
            with converted(self.network, convert, statistics=False) if convert else nullcontext():
                yield
        finally:
            for table, content in self._found:
                if not same(table, content):
                    refill(dict, table, content)
            for weight, trained in zip(self._weights, self._trained, strict=True):
                if weight.requires_grad != trained:
                    weight.requires_grad_(trained)
                if weight.grad is not None:
                    weight.grad = None
        written = versions != [weight._version for weight in self._weights]
        if written and (convert is None or isinstance(convert, Remembered)):
            raise UnsupportedError("a look wrote into weights that others look at, too: it has to ask for copies")


class Remembered:
    """A conversion that gives the same tensor the next time it is asked for one that lies in the same place."""

    def __init__(self, convert: Convert) -> None:
        self._convert = convert
        self._made: dict[Any, Tensor] = {}

    def __call__(self, tensor: Tensor) -> Tensor:
        """The converted one."""
        key = tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
        if key not in self._made:
            self._made[key] = self._convert(tensor)
        return self._made[key]
