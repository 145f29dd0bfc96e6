"""The default score: in how many independent directions the layers of a network can learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import InputError, UnsupportedError
from foresee.probes.looks import Call, Watcher, watching
from foresee.probes.outputs import logits_of
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.spectra import sphericity

#: layers whose weights mix channels
LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


@proxy(
    "foresee",
    needs=Needs(batch=16, backward=True),
    paper="this project; docs/default-score.md",
    cost="1 forward + backward run of 16 samples, and two determinants per layer",
)
def foresee(probe: Probe, *, channels: int = 256, columns: int = 8) -> Tensor:
    """In how many independent directions the layers can learn, and how steadily; no labels.

    Formula: sum over layers of n sqrt(s(A) s(G)), over 1 + log(1 + F). A layer is a convolution or linear layer, once per
    call. A is what it reads (its input), G what it is told (the gradient by its output of a random projection of the
    network's outputs), each a matrix of channels x positions. s(X), in [0, 1], is the sphericity of the correlation matrix of
    the channels: the geometric over the arithmetic mean of its eigenvalues, 1 where channels are independent and 0 where one
    is a combination of others. n is the number of directions that a filter reads: the channels of its group, times the square
    root of the positions of its kernel. F is how far an output moves when every weight w of the layers is off by chance, per
    relative error: F^2 is the mean over outputs f of the sum over weights of (w df/dw)^2, from the same random projection.

    Reasons: the Fisher matrix of a layer is close to the Kronecker product of the second moments of A and G, so a layer
    learns as evenly as these are round; F is the size of that matrix, with weights measured by their own size: a network
    whose outputs jump at a touch of its weights can only be trained in small steps. An error grows by a factor from layer to
    layer, so it is measured by its logarithm. docs/default-score.md has the reasoning, the ablation and where it falls short.

    Positions are those of as few samples as give `columns` of them per channel, and s is the mean over such groups of
    samples: what a layer has to tell apart is within a sample, but the geometric mean of C eigenvalues from N positions is
    too small by about C / 2N, 6 % at 8 positions a channel, so a layer with few positions takes several samples together.

    Settings: `columns`; `channels` is the most channels of a layer that are compared, evenly spaced, which bounds the cost
    of a determinant. Parts: `reads` and `told` are the sums with s(A) and s(G) alone, `steady` is 1 / (1 + log(1 + F)).

    Needs 16 samples (fewer will do), no labels. BatchNorm: batch statistics. Determinants in float64.
    Draws: `projection.<shape>`.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.Flatten(), nn.Linear(8 * 16, 10))
    >>> found = score(net, torch.randn(8, 3, 8, 8), "foresee")
    >>> found.ok, sorted(found.parts)
    (True, ['reads', 'steady', 'told'])
    """
    if channels < 2 or columns < 1:
        raise InputError(f"channels {channels}, columns {columns}: at least 2 channels and 1 column are needed")
    layers, change = _look(probe, channels, columns)
    directions = torch.tensor([layer.directions for layer in layers], dtype=torch.float64)
    reads, told = (torch.stack([getattr(layer, look) for layer in layers]).cpu() for look in ("reads", "told"))
    steady = 1 / (1 + change.cpu().log1p())
    probe.note(reads=directions @ reads, told=directions @ told, steady=steady)
    return directions @ (reads * told).sqrt() * steady


@dataclass(eq=False)
class Exchange:
    """One call of a layer: how many directions its filters read, and the sphericity of what goes in and what comes back."""

    directions: float
    reads: Tensor
    told: Tensor


def _look(probe: Probe, channels: int, columns: int) -> tuple[list[Exchange], Tensor]:
    """Every call of a layer, in call order; and how much an output changes when every weight is off by chance."""
    watcher = _Exchanges(channels, columns)
    with probe.contact() as network, torch.enable_grad():
        parts = probe.data[0].parts
        kinds = (probe.dtype if part.is_floating_point() else None for part in parts)
        inputs = (part.detach().to(probe.device, kind).clone() for part, kind in zip(parts, kinds, strict=True))
        weights = _weights(network)
        with watching(network, [watcher]):
            outputs = logits_of(network(*inputs))
        if not watcher.seen:
            raise UnsupportedError("no convolution or linear layer was called: the default score looks at nothing else")
        shape = tuple(outputs.shape)
        projection = probe.draws.normal(f"projection.{'x'.join(map(str, shape))}", *shape).to(outputs)
        if not outputs.requires_grad:
            raise UnsupportedError("the outputs do not depend on the weights in a differentiable way")
        found = zip(weights, torch.autograd.grad(outputs, weights, projection, allow_unused=True), strict=True)
        changes = [torch.linalg.vector_norm(w.detach() * g, dtype=torch.float64) for w, g in found if g is not None]
        change = torch.stack(changes).norm() if changes else torch.zeros((), dtype=torch.float64)
        if not outputs.isfinite().all():  # layers see correlations, and might not notice
            change = change * torch.nan
    return watcher.seen, change / math.sqrt(outputs.numel())


def _weights(network: nn.Module) -> list[Tensor]:
    """Weights of the layers, a shared one once; frozen ones too: how steady a network is does not depend on who trains it."""
    layers = [module for module in network.modules() if isinstance(module, LAYERS)]
    found = {id(p): p for layer in layers for p in layer.parameters() if p.ndim > 1}
    return [p.requires_grad_() for p in found.values()]


class _Exchanges(Watcher[list[Exchange]]):
    """Keeps numbers, not tensors: each matrix is looked at while it passes by."""

    def __init__(self, channels: int, columns: int) -> None:
        self._channels, self._columns = channels, columns
        self.seen: list[Exchange] = []
        self._reads: list[Tensor] = []

    def selects(self, call: Call) -> bool:
        """Convolutions and linear layers."""
        return isinstance(call.module, LAYERS)

    def before(self, call: Call, inputs: Tensor) -> None:
        """What the layer reads."""
        self._reads.append(self._look(call.module, inputs))

    def after(self, call: Call, output: Tensor) -> None:
        """A word to the gradient that will come back, before anything is written into the output."""
        reads = self._reads.pop()
        exchange = Exchange(_directions(call.module), reads, torch.zeros_like(reads))
        self.seen.append(exchange)

        def told(gradient: Tensor) -> None:
            exchange.told = self._look(call.module, gradient)

        if output.requires_grad:
            output.register_hook(told)  # type: ignore[no-untyped-call]

    def _look(self, layer: nn.Module, tensor: Tensor) -> Tensor:
        return sphericity(grouped(as_maps(tensor.detach(), layer), self._channels, self._columns)).mean()


def _directions(layer: Any) -> float:
    """Channels that one filter reads, times the square root of the positions of its kernel."""
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
    wanted = min(samples, -(-columns * maps.shape[1] // positions))
    groups = samples // wanted
    size = samples // groups  # samples left over join the groups as far as they go round
    return maps[: groups * size].reshape(groups, size, -1, positions).transpose(1, 2).flatten(2)
