"""The kernel by contraction: one backward run per head, listened to at every layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

from foresee.probes.kernel.heads import Question, directions, selected
from foresee.probes.kernel.layers import Layer, owners
from foresee.probes.kernel.plan import Plan
from foresee.probes.kernel.runs import CoupledError, check, check_weights, combination, gradients_at, run
from foresee.probes.looks import Call, Watcher, watching
from foresee.probes.subject import Subject


def by_layers(probe: Subject, question: Question, plan: Plan) -> Any:
    """The kernel (B H, B H), or the squared lengths of its rows (B H,), in float64; or the rows by name, (B H, ...).

    Lengths go as many heads at a time as the plan has rows together; all else is made of all heads at once.

    Raises:
        CoupledError: where it does not apply: samples are coupled, or a layer's weights are used outside its calls.
    """
    with probe.contact() as network, torch.enable_grad():
        chosen = selected(network, question.parameters)
        modules = owners(network, chosen)
        assert modules is not None
        traffic = Traffic(modules)
        with watching(network, [traffic]):
            outputs = run(probe, network)
        along = directions(probe, outputs, question.outputs)
        weights = check_weights(probe, along)
        flat, heads = outputs.reshape(len(outputs), -1), along.shape[1]
        combined = {name: p.new_zeros(p.numel()) for name, p in chosen.items()}
        found: list[Any] = []
        for turn in torch.split(torch.arange(heads), max(1, plan.chunk // len(along))):
            traffic.arrive(flat, [along[:, head] for head in turn.tolist()])
            rows = len(along) * len(turn)
            total = _Rows() if question.answer == "rows" else _Sum(rows, question.matrix, outputs.device)
            for layer in traffic.layers(chosen):
                total.add(layer)
                for name, part in layer.combined(weights[:, turn]).items():
                    combined[name] += part
            found.append(total.found)
        expected = combination(outputs, along, weights, list(chosen.values()))
        if not traffic.intact:
            raise CoupledError
        check(list(combined.values()), expected)
    if question.answer != "lengths":
        return found[0]
    return torch.cat([part.reshape(len(along), -1) for part in found], 1).flatten()


class _Sum:
    """The kernels of the layers, or their squared lengths, added up."""

    def __init__(self, rows: int, matrix: bool, device: torch.device) -> None:
        self._matrix = matrix
        self.found = torch.zeros((rows, rows) if matrix else (rows,), dtype=torch.float64, device=device)

    def add(self, layer: Layer) -> None:
        self.found += layer.kernel() if self._matrix else layer.norms()


class _Rows:
    """The rows themselves, by the parameter's name."""

    def __init__(self) -> None:
        self.found: dict[str, Tensor] = {}

    def add(self, layer: Layer) -> None:
        self.found |= layer.rows()


class Traffic(Watcher[None]):
    """What goes into each call of the layers, and the places of the graph where gradients arrive at its outputs.

    These are edges of the graph at the time of the call: an activation that works in place afterwards does not move them. To
    ask for the gradients there, and not for those of the weights, leaves out what a backward run would spend on weights.
    """

    def __init__(self, layers: Mapping[str, nn.Module]) -> None:
        self._layers = layers
        self._calls: list[tuple[str, Tensor]] = []
        self._edges: list[GradientEdge | None] = []
        self._arrived: list[list[Tensor | None]] = []
        self.versions: list[tuple[Tensor, int]] = []

    def selects(self, call: Call) -> bool:
        """The layers asked for."""
        return call.name in self._layers

    def before(self, call: Call, inputs: Tensor) -> None:
        """Keep the input; the graph keeps it anyway."""
        self._calls.append((call.name, inputs.detach()))
        self.versions.append((inputs, inputs._version))

    def after(self, call: Call, output: Tensor) -> None:
        """Keep where its gradients will arrive: in the order of the calls, for a layer holds no other."""
        self._edges.append(get_gradient_edge(output) if output.requires_grad else None)

    def arrive(self, outputs: Tensor, seeds: Sequence[Tensor]) -> None:
        """One backward run for each of some heads; the gradients of earlier heads are let go."""
        there = [edge for edge in self._edges if edge is not None]
        self._arrived = []
        for seed in seeds:
            found = iter(gradients_at(outputs, there, seed))
            self._arrived.append([None if edge is None else next(found) for edge in self._edges])

    def layers(self, chosen: Mapping[str, Tensor]) -> Iterator[Layer]:
        """The layers that gradients arrived at, one at a time, with those of their parameters that count."""
        names = {id(parameter): name for name, parameter in chosen.items()}
        for name, module in self._layers.items():
            held = {kind: names[id(p)] for kind, p in module.named_parameters(recurse=False) if id(p) in names}
            places = [place for place, (called, _) in enumerate(self._calls) if called == name]
            arrived = [[one for head in self._arrived if (one := head[place]) is not None] for place in places]
            if any(arrived):
                yield Layer(module, held, [self._calls[place][1] for place in places], arrived)

    @property
    def intact(self) -> bool:
        """Whether no input was overwritten after it went in."""
        return all(tensor._version == version for tensor, version in self.versions)
