"""The kernel by contraction: one backward run per head, listened to at every layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from foresee.probes.kernel.heads import Question, directions, selected
from foresee.probes.kernel.layers import Layer, owners
from foresee.probes.kernel.runs import CoupledError, check, check_weights, combination, gradients, run
from foresee.probes.looks import Call, Watcher, watching
from foresee.probes.subject import Subject


def by_layers(probe: Subject, question: Question) -> Any:
    """The kernel (B H, B H), or the squared lengths of its rows (B H,), in float64; or the rows by name, (B H, ...).

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
        heads = along.shape[1]
        # Lengths go head by head; else all heads are needed at once.
        turns = [range(h, h + 1) for h in range(heads)] if question.answer == "lengths" else [range(heads)]
        found: list[Any] = []
        combined = {name: p.new_zeros(p.numel()) for name, p in chosen.items()}
        for turn in turns:
            traffic.forget()
            for head in turn:
                gradients(outputs.reshape(len(outputs), -1), list(chosen.values()), along[None, :, head])
            rows = len(along) * len(turn)
            total = _Rows() if question.answer == "rows" else _Sum(rows, question.matrix, outputs.device)
            for layer in traffic.layers(chosen):
                total.add(layer)
                for name, part in layer.combined(weights[:, turn.start : turn.stop]).items():
                    combined[name] += part
            found.append(total.found)
        traffic.listening = False
        expected = combination(outputs, along, weights, list(chosen.values()))
        if not traffic.intact:
            raise CoupledError
        check(list(combined.values()), expected)
    return torch.stack(found, 1).flatten() if question.answer == "lengths" else found[0]


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
    """What goes into each call of the layers and, once backward runs follow, the gradients that arrive at its outputs.

    The gradients come through hooks on tensors, which speak of the value at the time of the call: an activation that
    works in place afterwards does not disturb them.
    """

    def __init__(self, layers: Mapping[str, nn.Module]) -> None:
        self._layers = layers
        self.inputs: dict[str, list[Tensor]] = {name: [] for name in layers}
        self.gradients: dict[str, list[list[Tensor]]] = {name: [] for name in layers}
        self.versions: list[tuple[Tensor, int]] = []
        self.listening = True

    def selects(self, call: Call) -> bool:
        """The layers asked for."""
        return call.name in self._layers

    def before(self, call: Call, inputs: Tensor) -> None:
        """Keep the input; the graph keeps it anyway."""
        self.inputs[call.name].append(inputs.detach())
        self.versions.append((inputs, inputs._version))

    def after(self, call: Call, output: Tensor) -> None:
        """Listen for its gradients."""
        arrived: list[Tensor] = []
        self.gradients[call.name].append(arrived)

        def hook(gradient: Tensor) -> None:
            if self.listening:
                arrived.append(gradient.detach())

        if output.requires_grad:
            output.register_hook(hook)  # type: ignore[no-untyped-call]

    def forget(self) -> None:
        """Make place for the gradients of the next heads."""
        for calls in self.gradients.values():
            for arrived in calls:
                arrived.clear()

    def layers(self, chosen: Mapping[str, Tensor]) -> Iterator[Layer]:
        """The layers that gradients arrived at, one at a time, with those of their parameters that count."""
        names = {id(parameter): name for name, parameter in chosen.items()}
        for name, module in self._layers.items():
            held = {kind: names[id(p)] for kind, p in module.named_parameters(recurse=False) if id(p) in names}
            if any(self.gradients[name]):
                yield Layer(module, held, self.inputs[name], self.gradients[name])

    @property
    def intact(self) -> bool:
        """Whether no input was overwritten after it went in."""
        return all(tensor._version == version for tensor, version in self.versions)
