"""A look at the channels of layers: what each one said, times how the loss felt about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from foresee.probes.coverage import Coverage, layered
from foresee.probes.looks import Call, Forward, OverwrittenError, Watcher


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

    def meet(self, gradient: Tensor, differentiable: bool) -> None:
        """Take the gradient of the activation."""
        activation, self.activation = self.activation, None
        assert activation is not None
        self.overwritten = activation._version != self._version
        positions = [n for n in range(1, activation.ndim) if n != self.axis % activation.ndim]
        product = (activation if differentiable else activation.detach()) * gradient
        self.products = product.sum(positions) if positions else product


class ChannelProducts(Watcher[list[Channels]]):
    """Activation times gradient of the loss at the outputs of convolutions and linear layers, one entry per call."""

    name = "channels"
    root = "loss"

    def __init__(self) -> None:
        self._calls: list[Channels] = []

    def selects(self, call: Call) -> bool:
        """Convolutions and linear layers whose weight is trained."""
        if not isinstance(call.module, nn.Linear | _ConvNd):
            return False
        weight = call.module._parameters.get("weight")  # asking the module would compute one that is parametrised
        return weight is not None and weight.requires_grad

    def axis(self, module: nn.Module) -> int:
        """Which axis of the output holds the channels."""
        return -1 if isinstance(module, nn.Linear) else 1

    def after(self, call: Call, output: Tensor) -> None:
        """Wait for the gradient of this output; it comes during the backward run of the pass."""
        if not output.requires_grad or output.ndim < 2:
            return
        assert isinstance(call.module, nn.Linear | _ConvNd)
        activation = self.kept(output).clone() if self.careful else output
        seen = Channels(call.module, self.axis(call.module), activation)

        def hook(gradient: Tensor) -> None:
            if self.listening:
                seen.meet(gradient, self.differentiable)

        output.register_hook(hook)  # type: ignore[no-untyped-call]
        self._calls.append(seen)

    def targets(self, forward: Forward) -> Sequence[Tensor]:
        """The layers' weights: their gradients are on the way anyway, and make the backward run come by."""
        return [seen.module.weight for seen in self._calls]

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> list[Channels]:
        """Those that have an influence on the loss: only they met a gradient."""
        both = zip(self._calls, gradients, strict=True)
        found = [seen for seen, gradient in both if gradient is not None and seen.activation is None]
        for seen in self._calls:
            seen.activation = None
        if any(seen.overwritten for seen in found):
            raise OverwrittenError
        trained = {id(parameter) for parameter in forward.trained.values()}
        missing = (weight for weight in layered(forward.network) if id(weight) in trained)
        self.coverage = Coverage.of(forward.network, (seen.module.weight for seen in self._calls), missing)
        return found


class ChannelProductsBySecondAxis(ChannelProducts):
    """As `channels`, with the second axis as the channels of every layer (the public code's rule)."""

    name = "channels_by_second_axis"

    def axis(self, module: nn.Module) -> int:
        """The second."""
        return 1
