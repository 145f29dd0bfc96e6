"""Losses and gradients batch after batch: at weights that stay, or along a few steps of training on the side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foresee.errors import UnknownNameError, UnsupportedError
from foresee.probes.probe import Probe
from foresee.probes.subject import refuse_complex


@dataclass(frozen=True, eq=False)
class Trail:
    """What was met on the way, batch by batch.

    `gradients` of the trainable parameters that have an influence and `losses`, both before the step of their batch; `theta`
    are all trainable parameters at the end; `layers` names those that are weights of convolutions and linear layers.
    """

    gradients: Sequence[Mapping[str, Tensor]]
    losses: Sequence[Tensor]
    theta: Mapping[str, Tensor]
    layers: Sequence[str]

    def rows(self, name: str) -> Tensor:
        """The gradients of one parameter, (batches, numbers), in float64."""
        return torch.stack([gradients[name].flatten().double() for gradients in self.gradients])

    @property
    def reached(self) -> list[str]:
        """Parameters with a gradient in every batch."""
        return [name for name in self.theta if all(name in gradients for gradients in self.gradients)]

    @property
    def reached_layers(self) -> list[str]:
        """Those of `reached` that are weights of convolutions and linear layers."""
        found = [name for name in self.reached if name in set(self.layers)]
        if not found:
            raise UnsupportedError("no layer has a gradient in every batch")
        return found


def frozen(probe: Probe, count: int) -> Trail:
    """At least `count` batches with weights that stay: these gradients are shared with other proxies."""
    runs = probe.at_least(count)
    theta = {name: p.detach() for name, p in probe.network.named_parameters() if p.requires_grad}
    # The gradients first: their pass brings the loss along, the other way round would be two.
    return Trail([run.gradients for run in runs], [run.loss for run in runs], theta, list(probe.weights))


def stepped(probe: Probe, count: int, *, optimizer: str, lr: float, clip: float | None = None) -> Trail:
    """At least `count` batches, with a step of `optimizer` after each, on copies of the weights.

    A gradient longer than `clip`, all parameters taken together, is cut to that length before it is used and kept.
    """
    if optimizer not in OPTIMIZERS:
        raise UnknownNameError("optimizer", optimizer, OPTIMIZERS)
    step = OPTIMIZERS[optimizer](lr)
    all_gradients, losses = [], []
    with probe.contact(Tensor.clone) as network, torch.enable_grad():
        theta = {name: p for name, p in network.named_parameters() if p.requires_grad}
        refuse_complex(theta)
        for run in probe.at_least(count):
            loss = run.loss_of(network)
            if not loss.requires_grad:
                raise UnsupportedError("the outputs do not depend on the weights or inputs in a differentiable way")
            found = torch.autograd.grad(loss, list(theta.values()), allow_unused=True)
            gradients = {name: g for name, g in zip(theta, found, strict=True) if g is not None}
            if clip is not None:
                gradients = clipped(gradients, clip)
            for name, gradient in gradients.items():
                theta[name].data += step(name, gradient)
            all_gradients.append(gradients)
            losses.append(loss.detach())
        copies = {name: parameter.detach() for name, parameter in theta.items()}
    return Trail(all_gradients, losses, copies, list(probe.weights))


def clipped(gradients: Mapping[str, Tensor], length: float) -> dict[str, Tensor]:
    """The gradients, scaled down so that they are together no longer than `length`."""
    whole = torch.stack([gradient.norm() for gradient in gradients.values()]).norm()
    factor = (length / (whole + 1e-6)).clamp(max=1.0)
    return {name: gradient * factor for name, gradient in gradients.items()}


#: from the name of a parameter and its gradient to the change of its values
Step = Callable[[str, Tensor], Tensor]


def sgd(lr: float) -> Step:
    """Plain gradient descent."""
    return lambda name, gradient: -lr * gradient


def adagrad(lr: float) -> Step:
    """Steps divided by the root of the sum of all squared gradients so far."""
    squares: dict[str, Tensor] = {}

    def step(name: str, gradient: Tensor) -> Tensor:
        squares[name] = squares.get(name, torch.zeros_like(gradient)) + gradient.square()
        return -lr * gradient / (squares[name].sqrt() + 1e-10)

    return step


OPTIMIZERS: dict[str, Callable[[float], Step]] = {"sgd": sgd, "adagrad": adagrad}
