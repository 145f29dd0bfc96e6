"""A look at what layers read and what they are told: how round both are, and how far the outputs move with the weights.

What a layer reads is its input; what it is told is the gradient by its output of a random projection of the network's
outputs. Each is looked at while it passes by, and small matrices are kept of it, whose spectra are taken together: beside the
graph of its pass the look holds little, whatever the batch. Modules are heard by hooks; layers that are no modules of torch
are found in the graph.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.coverage import Coverage, matrices
from foresee.probes.looks import Call, Forward, Watcher
from foresee.probes.products import Product, products
from foresee.probes.recurrent import has_recurrent, step_by_step
from foresee.probes.sphericity import Later, Sphericities, sphericity

#: modules whose weights mix channels
LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


@dataclass(frozen=True, eq=False)
class Exchange:
    """What all calls of layers exchanged; every tensor in float64 on the CPU.

    `names` are those of the modules, or of the weights found in the graph. (calls,) each, modules in order of their calls,
    then what was found in the graph: `weights` is the number of weights of a layer, `directions` how many directions its
    filters read, `positions` how many positions it makes, `reads` and `told` how round the spectra are of what goes in and
    of what comes back, and `changes` how far an output moves when the weights of the layer are off by chance, relatively.
    `change` is the same for every weight of the network at once; calls that share a weight share its change. `later` is how
    many calls lie between it and the outputs: those that are told something before it is (all of them, where it never is).
    """

    names: tuple[str, ...]
    weights: Tensor
    directions: Tensor
    positions: Tensor
    reads: Tensor
    told: Tensor
    changes: Tensor
    change: Tensor
    later: Tensor

    @property
    def work(self) -> Tensor:
        """(calls,) the geometric mean of a layer's weights and its MACs, which are one for each weight and position.

        Neighbouring positions are nearly copies: a weight does more where there are more of them, but not so many times.
        """
        return self.weights * self.positions.sqrt()


class Exchanges(Watcher[Exchange]):
    """How round the spectra are of what layers read and are told, and the change of the outputs with their weights.

    A layer is a module of torch, once per call, or any other product of a weight with data that the graph of the run shows:
    functions, packed projections, transposed convolutions, layers of other libraries; there a weight counts once, with the
    positions of all its uses, as the steps of a recurrent layer are.

    Settings: `channels` is the most channels of a layer that are compared, in groups of as few samples as give `columns`
    positions per channel (see `grouped`). Frozen weights count too: how steady a network is does not depend on who trains it.
    """

    name = "exchanges"
    root = "projection"

    def __init__(self, channels: int = 256, columns: int = 8) -> None:
        super().__init__(channels=channels, columns=columns)
        self._channels, self._columns = channels, columns
        self._calls: list[_Call] = []
        self._waiting: list[Later] = []
        self._spectra = Sphericities()
        self._matrices: list[Tensor] = []
        self._called: dict[int, Tensor] = {}
        self._weights: list[Tensor] = []
        self._handles: list[Any] = []
        self._told = 0

    def alone(self, network: nn.Module) -> bool:
        """Recurrent layers run step by step for this look only."""
        return has_recurrent(network)

    def during(self, network: nn.Module) -> AbstractContextManager[None]:
        """Recurrent layers step by step: a fused one hides its layers and gates."""
        return step_by_step(network)

    def wakes(self, network: nn.Module) -> Sequence[Tensor]:
        """All weights that may be those of layers, a shared one once."""
        self._matrices = list(matrices(network).values())
        return self._matrices

    def selects(self, call: Call) -> bool:
        """Convolutions and linear layers."""
        return isinstance(call.module, LAYERS)

    def before(self, call: Call, inputs: Tensor) -> None:
        """What the layer reads."""
        self._waiting.append(self._look(as_maps(inputs, call.module)))

    def after(self, call: Call, output: Tensor) -> None:
        """A word to the gradient that will come back, before anything is written into the output."""
        reads = self._waiting.pop()
        layer: Any = call.module
        given = [weight for weight in layer.parameters() if weight.ndim > 1]  # one, but where it is made of others
        made = as_maps(output, layer).shape[-1]
        seen = _Call(call.name, given, layer.weight.numel(), directions(layer), made, reads)
        self._calls.append(seen)
        self._called.update({id(weight): weight for weight in call.module.parameters()})

        def hook(gradient: Tensor) -> None:
            if self.listening:
                self._hear(seen, as_maps(gradient, call.module))

        if output.requires_grad:
            output.register_hook(hook)  # type: ignore[no-untyped-call]

    def targets(self, forward: Forward) -> Sequence[Tensor]:
        """The weights of the layers; on the way to them the gradient passes every layer."""
        layers = [module for module in forward.network.modules() if isinstance(module, LAYERS)]
        weights: dict[int, Tensor] = {id(p): p for layer in layers for p in layer.parameters() if p.ndim > 1}
        others = {id(p): p for p in self._matrices if id(p) not in self._called}
        self.coverage = Coverage()
        if others and forward.outputs.requires_grad:
            seen = products(forward.outputs, len(forward.inputs[0]), others.values())
            names = {id(weight): name for name, weight in forward.network.named_parameters()}
            for product in seen.products:
                self._listen(product, names.get(id(product.weight), ""))
                weights[id(product.weight)] = product.weight
            found = {*self._called, *(id(product.weight) for product in seen.products)}
            missing = [p for key, p in seen.reached.items() if key in others and key not in found | seen.tables]
            known = [p for p in self._matrices if id(p) in found]
            self.coverage = Coverage.of(forward.network, known, missing)
        if not self._calls:
            raise UnsupportedError(
                "no convolution, linear layer or other product with a weight was found in the network"
            )
        self._weights = list(weights.values())
        return self._weights

    def _listen(self, product: Product, name: str) -> None:
        """As `before` and `after`, for a layer that was found in the graph."""
        reads = self._look(product.reads)
        made = product.reads.shape[-1]  # until something is heard
        seen = _Call(name, [product.weight], product.weights, product.directions, made, reads)
        self._calls.append(seen)
        heard: list[Tensor] = []
        for use in product.uses:

            def hook(gradients: tuple[Tensor | None, ...], maps: Callable[[Tensor], Tensor] = use.maps) -> None:
                if self.listening and gradients[0] is not None:
                    heard.append(maps(gradients[0]))
                    if len(heard) == len(product.uses):
                        whole = torch.cat(heard, dim=-1)
                        seen.positions = whole.shape[-1]
                        self._hear(seen, whole)
                        heard.clear()

            self._handles.append(use.node.register_prehook(hook))

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> Exchange:
        """Numbers of all calls."""
        for handle in self._handles:
            handle.remove()
        found = [(w, g) for w, g in zip(self._weights, gradients, strict=True) if g is not None]
        if not found:
            raise UnsupportedError("the outputs do not depend on the weights in a differentiable way")
        norms = torch.stack([torch.linalg.vector_norm(w.detach() * g, dtype=torch.float64) for w, g in found])
        if not forward.outputs.isfinite().all():  # layers see correlations, and might not notice
            norms = norms * torch.nan
        squares = {id(weight): norm**2 for (weight, _), norm in zip(found, norms, strict=True)}
        calls = Counter(id(weight) for seen in self._calls for weight in seen.given)
        none, outputs = torch.zeros_like(norms[0]), math.sqrt(forward.outputs.numel())
        changes = [
            sum((squares[id(w)] / calls[id(w)] for w in seen.given if id(w) in squares), none).sqrt()
            for seen in self._calls
        ]
        self._spectra.settle()
        numbers = [
            (seen.weights, seen.directions, seen.positions, len(self._calls) if seen.later is None else seen.later)
            for seen in self._calls
        ]
        weights, read, made, later = torch.tensor(numbers, dtype=torch.float64).unbind(-1)
        return Exchange(
            tuple(seen.name for seen in self._calls),
            weights,
            read,
            made,
            torch.stack([seen.reads.mean for seen in self._calls]).cpu(),
            torch.stack([none if seen.told is None else seen.told.mean for seen in self._calls]).cpu(),
            (torch.stack(changes) / outputs).cpu(),
            (norms.norm() / outputs).cpu(),
            later,
        )

    def roundness(self, maps: Tensor) -> Tensor:
        """How round maps are: (samples, channels, positions) to (). Nothing waits, so it can be mapped over more axes."""
        return sphericity(grouped(self.kept(maps), self._channels, self._columns)).mean()

    def _hear(self, seen: _Call, maps: Tensor) -> None:
        """What a call is told. The way back takes what the run has made in turn, the last first."""
        seen.told, seen.later = self._look(maps), self._told
        self._told += 1

    def _look(self, maps: Tensor) -> Later:
        return self._spectra.add(grouped(self.kept(maps), self._channels, self._columns))


@dataclass(eq=False)
class _Call:
    """One call of a layer; `given` are the parameters that its weight is, or is made of."""

    name: str
    given: list[Tensor]
    weights: int
    directions: float
    positions: int
    reads: Later
    told: Later | None = None
    later: int | None = None


def directions(layer: Any) -> float:
    """Channels that one filter reads, times the square root of the positions of its kernel.

    >>> directions(nn.Conv2d(8, 4, 3, groups=2))
    12.0
    """
    if isinstance(layer, nn.Linear):
        return float(layer.in_features)
    return float(layer.in_channels / layer.groups * math.sqrt(math.prod(layer.kernel_size)))


def as_maps(tensor: Tensor, layer: nn.Module) -> Tensor:
    """(samples, channels, positions): the channels of a linear layer are the last axis, those of a convolution the second."""
    if isinstance(layer, nn.Linear):
        return tensor.reshape(len(tensor), -1, tensor.shape[-1]).mT if tensor.ndim > 1 else tensor[None, :, None]
    dimensions = len(layer.kernel_size)  # type: ignore[arg-type]
    batched = tensor if tensor.ndim == dimensions + 2 else tensor[None]
    return batched.flatten(2)


def grouped(maps: Tensor, channels: int, columns: int) -> Tensor:
    """(samples, channels, positions) to (groups, at most `channels`, positions of all samples of a group).

    Groups are as small as gives `columns` positions per channel; where all samples together do not, they are one group.
    """
    samples, rows, positions = maps.shape
    if rows > channels:
        maps = maps[:, torch.arange(channels, device=maps.device) * rows // channels]
    wanted = min(samples, -(-columns * min(channels, rows) // positions))
    groups = samples // wanted
    size = samples // groups  # samples left over join the groups as far as they go round
    return maps[: groups * size].reshape(groups, size, -1, positions).transpose(1, 2).flatten(2)
