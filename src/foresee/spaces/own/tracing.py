"""What runs when a network runs, and where the data goes: found by running it once and watching.

Modules are watched by hooks. What is computed between them is watched by a function mode: a function with weights, a known
layer in functional form and whatever joins several streams (`+`, `concat`) are boxes too; views, reshapes and other small
steps pass their stream on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from foresee.batch import Inputs, call, parts_of
from foresee.spaces.own.boxes import LETTERS, Box, Drawing
from foresee.spaces.own.titles import FUNCTIONS, JOINS, SHARED, title_of

#: whether a module is a box, by its dotted name
IsBox = Callable[[str, nn.Module], bool]


def trace(network: nn.Module, inputs: Inputs, is_box: IsBox) -> Drawing:
    """Run the network once, without gradients and in inference mode, and note what ran.

    Modules for which `is_box` says so are boxes, the outermost first; the others are looked into.
    """
    watch = _Watch(network)
    for part in parts_of(inputs):
        watch.add(Box("input", "input", shape=tuple(part.shape[1:])), (), part)
    handles = []
    for name, module in network.named_modules():
        if name and is_box(name, module):
            handles += watch.hook(name, module)
    try:
        with torch.no_grad(), watch:
            outputs = call(network.eval(), inputs)
    finally:
        for handle in handles:
            handle.remove()
    watch.add(Box("output", "output", shape=shape_of(outputs)), watch.streams(tensors_in(outputs)), ())
    return Drawing(tuple(watch.boxes), tuple(sorted(watch.lines)))


class _Watch(TorchFunctionMode):
    """Notes boxes and lines while a network runs. Tensors are kept in hand, so that no two have one identity."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.boxes: list[Box] = []
        self.lines: set[tuple[int, int]] = set()
        self._from: dict[int, tuple[Tensor, int]] = {}
        self._weights = {id(one): (name, one.numel()) for name, one in network.named_parameters()}
        self._kept: list[Tensor] = []
        self._counted: set[str] = set()
        self._inside = 0

    def add(self, box: Box, streams: Iterable[int], outputs: Any) -> None:
        """A box ran on some streams; its outputs are its stream from here on."""
        place = len(self.boxes)
        self.boxes.append(box)
        self.lines |= {(stream, place) for stream in streams}
        for tensor in tensors_in(outputs):
            self._from[id(tensor)] = tensor, place

    def streams(self, tensors: Iterable[Tensor]) -> list[int]:
        """The boxes that some tensors came from, each once."""
        return list(dict.fromkeys(self._from[id(one)][1] for one in tensors if id(one) in self._from))

    # -- modules ------------------------------------------------------------------------------------------------------
    def hook(self, name: str, module: nn.Module) -> list[Any]:
        """Watch a module that is a box."""
        streams: list[int] = []

        def before(_: nn.Module, args: Any, kwargs: Any) -> None:
            self._inside += 1
            if self._inside == 1:
                streams[:] = self.streams(tensors_in((args, kwargs)))

        def after(_: nn.Module, args: Any, kwargs: Any, outputs: Any) -> None:
            self._inside -= 1
            if self._inside == 0:
                weights = [id(one) for one in module.parameters()]
                params = sum(map(self._count, weights))
                title = f"{title_of(module)}, {SHARED}" if weights and not params else title_of(module)
                self.add(Box(title[:LETTERS], "layer", name[:LETTERS], shape_of(outputs), params), streams, outputs)

        return [
            module.register_forward_pre_hook(before, with_kwargs=True),
            module.register_forward_hook(after, with_kwargs=True),
        ]

    def _count(self, weight: int) -> int:
        """Numbers of a weight, the first time it is met."""
        name, numbers = self._weights[weight]
        if name in self._counted:
            return 0
        self._counted.add(name)
        return numbers

    # -- functions ----------------------------------------------------------------------------------------------------
    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        outputs = func(*args, **(kwargs or {}))
        if not self._inside:
            self._see(_name(func), list(tensors_in((args, kwargs))), outputs)
        return outputs

    def _see(self, name: str, taken: list[Tensor], outputs: Any) -> None:
        results = list(tensors_in(outputs)) or taken[:1] * (name == "setitem")
        if not results:
            return
        streams = self.streams(taken)
        weights = [id(one) for one in taken if id(one) in self._weights]
        if not streams:
            for weight in weights[:1]:  # a view of a weight is that weight
                for result in results:
                    self._weights.setdefault(id(result), self._weights[weight])
                    self._kept.append(result)
            return
        if len(streams) == 1 and not weights and name not in FUNCTIONS:
            for result in results:
                self._from[id(result)] = result, streams[0]
            return
        names = dict.fromkeys(self._weights[weight][0].rpartition(".")[2] for weight in weights)
        params = sum(self._count(weight) for weight in dict.fromkeys(weights))
        known = FUNCTIONS.get(name) or JOINS.get(name, name)
        title = f"{known} {', '.join(names)}" if names and name not in FUNCTIONS else known
        kind = "layer" if name in FUNCTIONS or weights else "join"
        self.add(Box(title[:LETTERS], kind, "", shape_of(outputs), params), streams, results)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """All tensors in lists, tuples, mappings and objects that hold some (the outputs of other libraries)."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from tensors_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)


def shape_of(outputs: Any) -> tuple[int, ...]:
    """The shape of the first tensor, without the batch."""
    first = next(tensors_in(outputs), None)
    return () if first is None else tuple(first.shape[1:])


def _name(func: Any) -> str:
    """`add` for whatever adds: functions, methods, operators, in place or not."""
    plain = str(getattr(func, "__name__", "")).strip("_")
    return plain[1:] if plain[1:] in JOINS and plain[:1] in "ir" else plain
