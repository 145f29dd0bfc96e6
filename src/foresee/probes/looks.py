"""What a look is: something that can be seen while a network runs.

A pass is one run of a network over one batch. While it runs, watchers note things down: before or after the call of a
module, and from gradients of the loss, of the summed outputs or of a random projection of them. All watchers of a pass share
its one forward run and one backward run per root, so a new look costs its own notes and nothing else. To add one, subclass
`Watcher` and give it a name; what it is made with are its settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, TypeVar

import torch
from torch import Tensor, nn

from foresee.errors import UnknownNameError, UnsupportedError
from foresee.probes.coverage import Coverage

R = TypeVar("R")
#: why a look at modules sees nothing of TorchScript
SCRIPTED = "the layers of a TorchScript module run without their hooks: score the module that it was made from"
#: what a pass can differentiate: nothing, the loss, the sum of the outputs, a random projection of the outputs
Root = Literal["", "loss", "outputs", "projection"]

#: name -> watcher, filled by subclassing
LOOKS: dict[str, type[Watcher[Any]]] = {}


@dataclass(frozen=True)
class Call:
    """A module and its name in the network."""

    name: str
    module: nn.Module

    @property
    def is_leaf(self) -> bool:
        """Whether the module has no modules inside."""
        inside = self.module._modules
        return not inside or all(one is None for one in inside.values())


@dataclass(frozen=True, eq=False)
class Forward:
    """What a pass has in hand when the forward run is over; `trained` are the parameters that were found trainable."""

    network: nn.Module
    inputs: tuple[Tensor, ...]
    outputs: Tensor
    loss: Tensor | None
    trained: Mapping[str, Tensor]


class Watcher(Generic[R]):
    """Notes one thing down during a pass.

    `root` says what is differentiated: the loss (labels are needed then), the sum of all outputs, a projection of them that
    is drawn, or nothing; the pass asks for `targets` and hands their gradients to `result` (None where a target has no
    influence). A look with settings hands them to `super().__init__(**settings)`, all of them; name and settings are its
    identity. Each run of a pass has watchers of its own, made by `again`.
    """

    name: ClassVar[str] = ""
    root: ClassVar[Root] = ""
    settings: Mapping[str, Any] = MappingProxyType({})
    #: whether what a module returns may be overwritten in place before the pass ends, and has to be copied at once
    careful: bool = False
    #: whether what is seen will be differentiated: nothing may be detached then
    differentiable: bool = False
    #: whether the backward run on its way is that of its root: hooks on tensors hear all of them
    listening: bool = False
    #: how much of the network was seen, set by `result` or before; None: the question does not arise
    coverage: Coverage | None = None

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            LOOKS[cls.name] = cls

    @property
    def identity(self) -> tuple[Any, ...]:
        """Looks with the same one see the same thing."""
        return self.name, *sorted(self.settings.items())

    @property
    def drawn(self) -> bool:
        """Whether what is seen depends on the draws."""
        return self.root == "projection"

    def again(self) -> Watcher[R]:
        """The same look, with nothing noted down yet."""
        return type(self)(**self.settings)

    def kept(self, tensor: Tensor) -> Tensor:
        """A tensor as it may be kept: without its graph, unless the look is to be differentiated."""
        return tensor if self.differentiable else tensor.detach()

    def alone(self, network: nn.Module) -> bool:
        """Whether the look wants a pass of its own: it changes how the network computes, if only by rounding."""
        return False

    def during(self, network: nn.Module) -> AbstractContextManager[Any]:
        """Surrounds the forward run."""
        return nullcontext()

    def wakes(self, network: nn.Module) -> Sequence[Tensor]:
        """Parameters that take part in the backward run of this pass even where they are frozen."""
        return ()

    def selects(self, call: Call) -> bool:
        """Whether the calls of this module are noted."""
        return False

    def before(self, call: Call, inputs: Tensor) -> None:
        """A selected module is about to run on `inputs` (its first tensor)."""

    def after(self, call: Call, output: Tensor) -> Tensor | None:
        """A selected module has returned `output` (its first tensor). A tensor returned from here takes its place."""
        return None

    def targets(self, forward: Forward) -> Sequence[Tensor]:
        """Tensors to differentiate `root` by."""
        return ()

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> R:
        """What was seen; `kept` decides about the graph."""
        raise NotImplementedError


class OverwrittenError(Exception):
    """A watcher kept what a module returned, and the network wrote into it later: look again, carefully."""


def look_called(name: str) -> Watcher[Any]:
    """The look of this name, with its default settings; an unknown one is named."""
    if name not in LOOKS:
        raise UnknownNameError("look", name, LOOKS)
    return LOOKS[name]()


@dataclass(frozen=True, eq=False)
class Declared:
    """A look that will be asked for: in which pass, and of which weights (a scheme of `initialise`, or "" for the own)."""

    scheme: str
    where: str
    look: Watcher[Any]

    @classmethod
    def read(cls, text: str, settings: Mapping[str, Any] = MappingProxyType({})) -> Declared:
        """From `batch.gradients`, or `he:batch.patterns`; of the settings the look takes those that it has, too.

        >>> Declared.read("batch.exchanges", {"columns": 4, "initialise": "default"}).look.settings
        {'channels': 256, 'columns': 4}
        """
        scheme, _, rest = text.rpartition(":")
        where, _, name = rest.partition(".")
        look = look_called(name)
        own = {key: settings[key] for key in look.settings if key in settings}
        return cls(scheme, where, type(look)(**{**look.settings, **own}) if own else look)


@contextmanager
def watching(network: nn.Module, watchers: Sequence[Watcher[Any]]) -> Iterator[None]:
    """Hooks that tell each watcher about the modules it selects, in the order of the calls."""
    handles = []
    for name, module in network.named_modules():
        call = Call(name, module)
        interested = [watcher for watcher in watchers if watcher.selects(call)]
        early = [watcher.before for watcher in interested if type(watcher).before is not Watcher.before]
        late = [watcher.after for watcher in interested if type(watcher).after is not Watcher.after]
        if (early or late) and isinstance(module, torch.jit.ScriptModule):
            raise UnsupportedError(SCRIPTED)
        if early:
            handles.append(module.register_forward_pre_hook(_before(call, early), with_kwargs=True))
        if late:
            handles.append(module.register_forward_hook(_after(call, late)))
    try:
        with ExitStack() as stack:
            for watcher in watchers:
                stack.enter_context(watcher.during(network))
            yield
    finally:
        for handle in handles:
            handle.remove()


def _before(call: Call, tell: list[Any]) -> Any:
    def hook(module: nn.Module, args: Any, kwargs: Any) -> None:
        tensor = first_tensor((args, *kwargs.values()))
        if tensor is not None:
            for watcher in tell:
                watcher(call, tensor)

    return hook


def _after(call: Call, tell: list[Any]) -> Any:
    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        tensor = first_tensor(output)
        if tensor is None:
            return None
        for watcher in tell:
            instead = watcher(call, tensor)
            if instead is not None and output is tensor:
                output = tensor = instead
        return output

    return hook


def first_tensor(value: Any) -> Tensor | None:
    """The first tensor in nested tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
    return next((found for part in parts if (found := first_tensor(part)) is not None), None)
