"""What can be seen while a network runs: one class per look.

A pass is one run of a network over one batch. While it runs, watchers note things down: before or after the call of a
module, and from gradients of the loss or of the summed outputs. All watchers of a pass share its one forward and its one
backward run, so a new look costs its own notes and nothing else. To add one, subclass `Watcher` and give it a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from torch import Tensor, nn

from foresee.errors import UnsupportedError

R = TypeVar("R")

#: modules that let a signal pass or hold it back by its sign; a plain class test, so subclasses count
RELU_LIKE: tuple[type[nn.Module], ...] = (
    nn.ReLU,
    nn.ReLU6,
    nn.LeakyReLU,
    nn.PReLU,
    nn.RReLU,
    nn.ELU,
    nn.CELU,
    nn.SELU,
    nn.GELU,
    nn.SiLU,
    nn.Mish,
    nn.Hardswish,
)

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
        return next(self.module.children(), None) is None


@dataclass(frozen=True, eq=False)
class Run:
    """What a pass has in hand when the forward run is over."""

    network: nn.Module
    inputs: tuple[Tensor, ...]
    outputs: Tensor
    loss: Tensor | None


class Watcher(Generic[R]):
    """Notes one thing down during a pass.

    `root` says what is differentiated: the loss (labels are needed then), the sum of all outputs, or nothing; the pass asks
    for `targets` and hands their gradients to `result` (None where a target has no influence).
    """

    name: ClassVar[str] = ""
    root: ClassVar[Literal["", "loss", "outputs"]] = ""
    #: whether what a module returns may be overwritten in place before the pass ends, and has to be copied at once
    careful: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name:
            LOOKS[cls.name] = cls

    def selects(self, call: Call) -> bool:
        """Whether the calls of this module are noted."""
        return False

    def before(self, call: Call, inputs: Tensor) -> None:
        """A selected module is about to run on `inputs` (its first tensor)."""

    def after(self, call: Call, output: Tensor) -> Tensor | None:
        """A selected module has returned `output` (its first tensor). A tensor returned from here takes its place."""
        return None

    def targets(self, run: Run) -> Sequence[Tensor]:
        """Tensors to differentiate `root` by."""
        return ()

    def result(self, run: Run, gradients: Sequence[Tensor | None]) -> R:
        """What was seen, detached from the graph."""
        raise NotImplementedError


class OverwrittenError(Exception):
    """A watcher kept what a module returned, and the network wrote into it later: look again, carefully."""


@contextmanager
def watching(network: nn.Module, watchers: Sequence[Watcher[Any]]) -> Iterator[None]:
    """Hooks that tell each watcher about the modules it selects, in the order of the calls."""
    handles = []
    for name, module in network.named_modules():
        call = Call(name, module)
        interested = [watcher for watcher in watchers if watcher.selects(call)]
        early = [watcher.before for watcher in interested if type(watcher).before is not Watcher.before]
        late = [watcher.after for watcher in interested if type(watcher).after is not Watcher.after]
        if early:
            handles.append(module.register_forward_pre_hook(_before(call, early), with_kwargs=True))
        if late:
            handles.append(module.register_forward_hook(_after(call, late)))
    try:
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


# -- forward looks ------------------------------------------------------------------------------------------------------
class Feature(NamedTuple):
    """What one call of a module made of the first sample: `map` is (rows, columns).

    Rows are channels and columns positions; tokens and their numbers for transformers; a vector is one column.
    """

    name: str
    module: nn.Module
    map: Tensor


class Features(Watcher[list[Feature]]):
    """Outputs of the leaf modules for the first sample, one entry per call, in call order."""

    name = "features"

    def __init__(self) -> None:
        self._seen: list[Feature] = []
        self._versions: list[int] = []

    def selects(self, call: Call) -> bool:
        """Leaf modules: what a container returns is what its last child returned."""
        return call.is_leaf

    def after(self, call: Call, output: Tensor) -> None:
        """Keep the first sample."""
        if output.ndim == 0 or not output.is_floating_point():
            return
        rows = output.shape[1] if output.ndim > 1 else 1
        sample = output.detach().select(0, 0).reshape(rows, -1)
        if self.careful or len(output) > 1:
            sample = sample.clone()  # neither overwritten nor keeping the whole batch alive
        self._seen.append(Feature(call.name, call.module, sample))
        self._versions.append(sample._version)

    def result(self, run: Run, gradients: Sequence[Tensor | None]) -> list[Feature]:
        """All of them."""
        if [feature.map._version for feature in self._seen] != self._versions:
            raise OverwrittenError
        return self._seen


class FeaturesOfAll(Features):
    """As `features`, but for every module, containers and the network itself included (the public codes' rule)."""

    name = "features_of_all"

    def selects(self, call: Call) -> bool:
        """Every module."""
        return True


class Pattern(NamedTuple):
    """Where the input of one call of an activation is positive: (samples, ...) of booleans."""

    name: str
    module: nn.Module
    positive: Tensor


class Patterns(Watcher[list[Pattern]]):
    """Signs of the inputs of the ReLU-like modules, one entry per call; for a ReLU also the signs of its outputs."""

    name = "patterns"

    def __init__(self) -> None:
        self._seen: list[Pattern] = []

    def selects(self, call: Call) -> bool:
        """Modules of the `RELU_LIKE` classes."""
        return isinstance(call.module, RELU_LIKE)

    def before(self, call: Call, inputs: Tensor) -> None:
        """Keep the signs, a byte each."""
        self._seen.append(Pattern(call.name, call.module, inputs.detach() > 0))

    def result(self, run: Run, gradients: Sequence[Tensor | None]) -> list[Pattern]:
        """All of them."""
        return self._seen


class PatternsByName(Patterns):
    """As `patterns`, but for every module whose type is called something with "ReLU" (the public code's rule)."""

    name = "patterns_by_name"

    def selects(self, call: Call) -> bool:
        """Types with "ReLU" in their name, containers too."""
        return "ReLU" in type(call.module).__name__


class Outputs(Watcher[Tensor]):
    """The outputs (logits) of the network."""

    name = "outputs"

    def result(self, run: Run, gradients: Sequence[Tensor | None]) -> Tensor:
        """Detached."""
        return run.outputs.detach()


class LossValue(Watcher[Tensor]):
    """The loss of the batch."""

    name = "loss"
    root = "loss"

    def result(self, run: Run, gradients: Sequence[Tensor | None]) -> Tensor:
        """Detached."""
        assert run.loss is not None
        return run.loss.detach()


# -- backward looks -----------------------------------------------------------------------------------------------------
class Gradients(Watcher[dict[str, Tensor]]):
    """Gradients of the loss by each trainable parameter that has an influence on it, by name."""

    name = "gradients"
    root = "loss"

    def targets(self, run: Run) -> Sequence[Tensor]:
        """Every parameter that asks for a gradient."""
        return [parameter for parameter in run.network.parameters() if parameter.requires_grad]

    def result(self, run: Run, gradients: Sequence[Tensor | None]) -> dict[str, Tensor]:
        """By the parameter's name."""
        names = [name for name, parameter in run.network.named_parameters() if parameter.requires_grad]
        return {name: gradient for name, gradient in zip(names, gradients, strict=True) if gradient is not None}


class Jacobian(Watcher[Tensor]):
    """Gradient of the sum of all outputs by the inputs: (samples, ...) as the first floating input."""

    name = "jacobian"
    root = "outputs"

    def targets(self, run: Run) -> Sequence[Tensor]:
        """The first floating input."""
        floating = [part for part in run.inputs if part.is_floating_point()]
        if not floating:
            raise UnsupportedError("no floating input to differentiate by")
        return floating[:1]

    def result(self, run: Run, gradients: Sequence[Tensor | None]) -> Tensor:
        """One gradient per sample."""
        if gradients[0] is None:
            raise UnsupportedError("the outputs do not depend on the inputs in a differentiable way")
        return gradients[0]
