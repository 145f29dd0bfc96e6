"""How a kernel will be computed, and the bytes that takes, known before anything is spent.

A survey runs the network once on two samples at most, and counts what the graph keeps, the greatest tensor on the way, and
what goes through each layer. From that the bytes of every way follow, and the way is chosen by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

import torch
from torch import Tensor, nn

from foresee.probes.kernel.heads import Question, selected
from foresee.probes.kernel.layers import owners
from foresee.probes.kernel.runs import run
from foresee.probes.kernel.spectrum import BLOCK
from foresee.probes.looks import Call, Watcher, watching
from foresee.probes.subject import Subject

#: seeds are stacked up to this many bytes of the greatest tensor and of gradients on a CPU: more is no faster there
_STACK_ON_CPU = 2**24
#: heads whose lengths are found together hold up to this many bytes
_STACK = 2**26
#: tensors of the greatest size that a backward run holds at once, per seed
_ALIVE = 4

Way = Literal["layers", "rows"]


@dataclass(frozen=True)
class Size:
    """One call of a leaf module, per sample: entries that its product reads, entries of its output, positions."""

    name: str
    read: int
    output: int
    positions: int


class Survey(Watcher[None]):
    """Bytes per sample, seen on a few of them."""

    def __init__(self, samples: int) -> None:
        self.samples, self.width = samples, 1
        #: bytes that the graph keeps, of the greatest output, of the greatest patches of a convolution
        self.graph, self.greatest, self.patches = 0.0, 0.0, 0.0
        self.calls: list[Size] = []

    def selects(self, call: Call) -> bool:
        """Leaf modules."""
        return call.is_leaf

    def after(self, call: Call, output: Tensor) -> None:
        """Measure the output, and what a product reads for it."""
        entries = output.numel() // self.samples
        convolution = isinstance(call.module, nn.modules.conv._ConvNd)
        weight = getattr(call.module, "weight", None)
        fan = prod(weight.shape[1:]) if isinstance(weight, Tensor) else 1
        channels = output.shape[1 if convolution else -1] if output.ndim > 1 else 1
        groups = getattr(call.module, "groups", 1) if convolution else 1
        size = Size(call.name, entries // max(channels, 1) * fan * groups, entries, entries // max(channels, 1))
        self.calls.append(size)
        self.greatest = max(self.greatest, entries * output.element_size())
        if convolution:
            self.patches = max(self.patches, size.read * output.element_size())


def survey(probe: Subject) -> Survey:
    """Run two samples (one where there is no more) and count."""

    def count() -> Survey:
        # A batch without labels: what needs none must not touch them.
        batch = probe.data[0]
        two = batch.rebuilt((part[:2] for part in batch.parts), labels=None)  # labels are not touched without need
        few = Subject(probe.network, two, seed=probe.seed, outputs=probe.given_outputs)
        seen, kept = Survey(len(few.data[0])), dict[int, int]()
        own = {p.untyped_storage().data_ptr() for p in probe.network.parameters()}

        def pack(tensor: Tensor) -> Tensor:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in own:
                kept[storage.data_ptr()] = storage.nbytes()
            return tensor.detach()

        hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
        with few.contact() as network, torch.enable_grad(), watching(network, [seen]), hooks:
            seen.width = run(few, network)[0].numel()
        seen.graph = sum(kept.values()) / seen.samples
        return seen

    return probe.remember("kernel.survey", count)


@dataclass(frozen=True)
class Plan:
    """The way, its parameters in groups, the rows computed together, and the bytes it will take at most."""

    way: Way
    groups: tuple[tuple[str, ...], ...]
    chunk: int
    alone: bool
    bytes: int


def coupled(network: nn.Module) -> bool:
    """Whether BatchNorm makes the output of a sample depend on the others; other couplings are found by a check."""
    return any(isinstance(module, nn.modules.batchnorm._BatchNorm) for module in network.modules())


def plan(probe: Subject, question: Question, *, alone: bool | None = None) -> Plan:
    """Choose the way by bytes. `alone`: whether samples may run on their own; None: unless BatchNorm forbids it."""
    chosen, seen = selected(probe.network, question.parameters), survey(probe)
    alone = not coupled(probe.network) if alone is None else alone
    by_rows = _rows(probe, question, seen, chosen, alone=alone)
    layers = owners(probe.network, chosen)
    if question.method in ("rows", "stochastic") or not alone or layers is None:
        return by_rows
    by_layers = _layers(probe, question, seen, chosen, layers)
    if question.method == "exact" and by_layers.bytes > max(question.memory, by_rows.bytes):
        return by_rows
    return by_layers


def _rows(probe: Subject, question: Question, seen: Survey, chosen: Mapping[str, Tensor], *, alone: bool) -> Plan:
    size, samples, memory = probe.dtype.itemsize, len(probe.data[0]), question.memory
    matrix = question.matrix and question.method != "stochastic"
    keep = matrix or question.answer == "rows"
    together, heads = (1 if alone else samples), (seen.width if question.outputs == "all" else 1)
    rows = samples * heads
    copy = size * sum(p.numel() for p in probe.network.parameters())
    entries = sum(p.numel() for p in chosen.values())
    # Where samples run alone, a run of the whole batch is there too, and two sums of gradients, for the check.
    fixed = copy + seen.graph * samples + 3 * size * entries * alone + 3 * 8 * rows**2 * matrix
    fixed += 2 * min(BLOCK, 8 * rows * entries) + _directions(question, seen, size)
    transient = together * (_ALIVE * seen.greatest + (seen.patches if probe.device.type == "cpu" else 0))
    room = memory - fixed - transient
    groups = _groups(chosen, max(room / size / (rows + 2), 1.0) if matrix else float("inf"))
    widest = max(sum(chosen[name].numel() for name in group) for group in groups)
    kept = size * widest * rows * keep + (8 * rows * question.buckets + 16 * entries) * (question.buckets > 0)
    step = transient + 2 * size * widest + size * together * seen.width
    most = max(1, int((memory - fixed - kept) // step))
    if probe.device.type == "cpu":
        most = min(most, max(1, int(_STACK_ON_CPU // (seen.greatest * together + size * widest))))
    chunk = min(most, together * heads)
    return Plan("rows", groups, chunk, alone, int(fixed + kept + chunk * step))


def _groups(chosen: Mapping[str, Tensor], entries: float) -> tuple[tuple[str, ...], ...]:
    """Parameters in order, in groups of at most so many entries (or one parameter)."""
    groups: list[list[str]] = [[]]
    filled = 0
    for name, parameter in chosen.items():
        if groups[-1] and filled + parameter.numel() > entries:
            groups.append([])
            filled = 0
        groups[-1].append(name)
        filled += parameter.numel()
    return tuple(map(tuple, groups))


def _layers(
    probe: Subject, question: Question, seen: Survey, chosen: Mapping[str, Tensor], layers: Mapping[str, nn.Module]
) -> Plan:
    size, samples, matrix = probe.dtype.itemsize, len(probe.data[0]), question.matrix
    copy = size * sum(p.numel() for p in probe.network.parameters())
    calls = [call for call in seen.calls if call.name in layers]
    own = {name: sum(p.numel() for p in module.parameters(recurse=False)) for name, module in layers.items()}
    fixed = copy + seen.graph * samples + samples * (_ALIVE * seen.greatest + seen.patches)
    fixed += _directions(question, seen, size)

    def needed(rows: int) -> int:
        arriving = sum(size * rows * call.output for call in calls)
        widest = 0.0
        for call in calls:
            by_rows = size * rows * own[call.name]
            by_products = 2 * 8 * (rows * rows if matrix else rows) * call.positions**2
            doubled = (8 + size) * (samples * call.read + rows * call.output)
            widest = max(widest, doubled + 2 * min(by_rows, by_products))
        matrices = 3 * 8 * rows**2 * matrix + 2 * min(BLOCK, 8 * rows * max(own.values()))
        matrices += size * rows * sum(own.values()) * (question.answer == "rows")
        return int(fixed + arriving + widest + matrices)

    heads = seen.width if question.outputs == "all" else 1
    if question.answer == "lengths":
        # As many together as are cheap to hold: what goes into a layer is read once for all of them.
        heads = min(heads, max(1, int(_STACK // max(1, needed(2 * samples) - needed(samples)))))
        while heads > 1 and needed(heads * samples) > question.memory:
            heads //= 2
    return Plan("layers", (tuple(chosen),), heads * samples, True, needed(heads * samples))


def _directions(question: Question, seen: Survey, size: int) -> int:
    """Bytes of the directions of the outputs; those of all outputs are a square matrix, one for all samples."""
    return size * seen.width**2 * (question.outputs == "all")
