"""Fisher: how much the loss would feel the loss of each channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from foresee.errors import UnsupportedError
from foresee.probes.looks import Call, OverwrittenError, Run, Watcher
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy


@proxy(
    "fisher",
    needs=Needs(labels=True, backward=True, batch=64, looks=("batch.channels",)),
    paper="Turner et al., BlockSwap: Fisher-guided Block Substitution for Network Compression on a Budget, ICLR 2020, "
    "summed over weights as in Abdelfattah et al., Zero-Cost Proxies for Lightweight NAS, ICLR 2021",
    cost="1 forward + backward run",
    variants={"reference": {"second_axis": True}},
)
def fisher(probe: Probe, *, second_axis: bool = False) -> Tensor:
    """Sum over channels of half the mean squared (activation times its gradient), weighted by the size of a filter.

    Formula: sum over convolutions and linear layers of f sum_c D_c, D_c = 1/2 mean over samples of (sum over positions of
    a dL/da)^2, a the layer's output of channel c before normalisation and activation, L the mean loss of one batch, f the
    number of weights per channel: every weight counts its channel. The channels of a convolution are its second axis, those
    of a linear layer its last; any other axis is a position. A layer that is called several times counts each time; frozen
    layers and those without influence on the loss count 0.

    Settings: `second_axis` takes the second axis for linear layers as well, the public code's rule, which makes the tokens of
    a transformer its channels; variant `reference` does.

    Needs labels. BatchNorm: batch statistics. Activations and gradients in the network's own type, the rest in float64; each
    layer's product is summed up on the way of the shared backward run, so no gradient of an activation is kept.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), "fisher").ok
    True
    """
    count = len(probe.weights)
    layers: list[Channels] = probe.batch.see("channels_by_second_axis" if second_axis else "channels")
    if not layers:
        raise UnsupportedError(
            f"none of the {count} weights of convolutions and linear layers has an influence on the loss"
        )
    return torch.stack([layer.filter_size * importance(layer.products) for layer in layers]).sum()


def importance(products: Tensor) -> Tensor:
    """Half the mean over samples of the squares, summed over channels: (..., samples, channels) to (...)."""
    return products.double().square().mean(-2).sum(-1) / 2


@dataclass(eq=False)
class Channels:
    """One call of a layer: `products` is the sum over positions of activation times gradient, (samples, channels).

    `filter_size` is the number of weights per channel. The activation is let go as soon as its gradient has come.
    """

    module: nn.Linear | _ConvNd
    axis: int
    activation: Tensor | None
    products: Tensor = field(default_factory=lambda: torch.empty(0))
    overwritten: bool = False

    def __post_init__(self) -> None:
        self._version = 0 if self.activation is None else self.activation._version

    @property
    def filter_size(self) -> int:
        """Weights per channel."""
        count = self.module.out_features if isinstance(self.module, nn.Linear) else self.module.out_channels
        return self.module.weight.numel() // count

    def meet(self, gradient: Tensor) -> None:
        """Take the gradient of the activation."""
        activation, self.activation = self.activation, None
        if activation is None:  # a second backward run over the same graph: that of the outputs
            return
        self.overwritten = activation._version != self._version
        positions = [n for n in range(1, activation.ndim) if n != self.axis % activation.ndim]
        product = activation.detach() * gradient
        self.products = product.sum(positions) if positions else product


class ChannelProducts(Watcher[list[Channels]]):
    """Activation times gradient of the loss at the outputs of convolutions and linear layers, one entry per call."""

    name = "channels"
    root = "loss"

    def __init__(self) -> None:
        self._calls: list[Channels] = []

    def selects(self, call: Call) -> bool:
        """Convolutions and linear layers whose weight is trained."""
        return isinstance(call.module, nn.Linear | _ConvNd) and call.module.weight.requires_grad

    def axis(self, module: nn.Module) -> int:
        """Which axis of the output holds the channels."""
        return -1 if isinstance(module, nn.Linear) else 1

    def after(self, call: Call, output: Tensor) -> None:
        """Wait for the gradient of this output; it comes during the backward run of the pass."""
        if not output.requires_grad or output.ndim < 2:
            return
        assert isinstance(call.module, nn.Linear | _ConvNd)
        activation = output.detach().clone() if self.careful else output
        seen = Channels(call.module, self.axis(call.module), activation)
        output.register_hook(seen.meet)  # type: ignore[no-untyped-call]
        self._calls.append(seen)

    def targets(self, run: Run) -> Sequence[Tensor]:
        """The layers' weights: their gradients are on the way anyway, and make the backward run come by."""
        return [seen.module.weight for seen in self._calls]

    def result(self, run: Run, gradients: Sequence[Tensor | None]) -> list[Channels]:
        """Those that have an influence on the loss: only they met a gradient."""
        both = zip(self._calls, gradients, strict=True)
        found = [seen for seen, gradient in both if gradient is not None and seen.activation is None]
        for seen in self._calls:
            seen.activation = None
        if any(seen.overwritten for seen in found):
            raise OverwrittenError
        return found


class ChannelProductsBySecondAxis(ChannelProducts):
    """As `channels`, with the second axis as the channels of every layer (the public code's rule)."""

    name = "channels_by_second_axis"

    def axis(self, module: nn.Module) -> int:
        """The second."""
        return 1
