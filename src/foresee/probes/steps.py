"""Losses and gradients batch after batch: at weights that stay, or along a few steps of training on the side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from foresee.errors import UnknownNameError, UnsupportedError
from foresee.probes.probe import Probe
from foresee.probes.subject import refuse_complex

#: what a rising rate begins at
LEAST = 1e-8


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
        return torch.stack([gradients[name].flatten() for gradients in self.gradients]).double()

    @property
    def reached(self) -> list[str]:
        """Parameters with a gradient in every batch."""
        return [name for name in self.theta if all(name in gradients for gradients in self.gradients)]

    @property
    def reached_layers(self) -> list[str]:
        """Those of `reached` that are weights of convolutions and linear layers."""
        layers = set(self.layers)
        found = [name for name in self.reached if name in layers]
        if not found:
            raise UnsupportedError("no layer has a gradient in every batch")
        return found

    def only(self, names: Collection[str]) -> Trail:
        """The same of some parameters, as if no other had ever been trainable."""
        kept = [{name: one for name, one in gradients.items() if name in names} for gradients in self.gradients]
        theta = {name: one for name, one in self.theta.items() if name in names}
        return replace(self, gradients=kept, theta=theta)


def frozen(probe: Probe, count: int) -> Trail:
    """At least `count` batches with weights that stay: these gradients are shared with other proxies."""
    runs = probe.at_least(count)
    theta = {name: p.detach() for name, p in probe.network.named_parameters() if p.requires_grad}
    # The gradients first: their pass brings the loss along, the other way round would be two.
    return Trail([run.gradients for run in runs], [run.loss for run in runs], theta, list(probe.weights))


def stepped(
    probe: Probe,
    count: int,
    *,
    optimizer: str,
    lr: float,
    clip: float | None = None,
    eps: float = 1e-10,
    rising: int = 0,
    only: Collection[str] | None = None,
) -> Trail:
    """At least `count` batches, with a step of `optimizer` after each, on copies of the weights.

    A gradient longer than `clip`, all parameters taken together, is cut to that length before it is used and kept. `eps` is
    Adagrad's; `rising` as in `rate`; `only` names the parameters that learn, the others are taken for frozen.
    """
    if optimizer not in OPTIMIZERS:
        raise UnknownNameError("optimizer", optimizer, OPTIMIZERS)
    step = OPTIMIZERS[optimizer](eps)
    all_gradients, losses = [], []
    with probe.contact(Tensor.clone) as network, torch.enable_grad():
        theta = {n: p for n, p in network.named_parameters() if p.requires_grad and (only is None or n in only)}
        refuse_complex(theta)
        for number, run in enumerate(probe.at_least(count)):
            loss = run.loss_of(network)
            if not loss.requires_grad:
                raise UnsupportedError("the outputs do not depend on the weights or inputs in a differentiable way")
            found = torch.autograd.grad(loss, list(theta.values()), allow_unused=True)
            gradients = {name: g for name, g in zip(theta, found, strict=True) if g is not None}
            if clip is not None:
                gradients = clipped(gradients, clip)
            for name, gradient in gradients.items():
                theta[name].data += step(name, gradient, rate(lr, number, rising))
            all_gradients.append(gradients)
            losses.append(loss.detach())
        copies = {name: parameter.detach() for name, parameter in theta.items()}
    return Trail(all_gradients, losses, copies, list(probe.weights))


def clipped(gradients: Mapping[str, Tensor], length: float) -> dict[str, Tensor]:
    """The gradients, scaled down so that they are together no longer than `length`."""
    whole = torch.stack([gradient.norm() for gradient in gradients.values()]).norm()
    factor = (length / (whole + 1e-6)).clamp(max=1.0)
    return {name: gradient * factor for name, gradient in gradients.items()}


def rate(lr: float, number: int, rising: int = 0) -> float:
    """The rate of step `number` (from 0): `lr`, or on the way there.

    Over `rising` steps it goes from 1e-8 up, as NASRec's schedule does, which stays at its beginning for two steps.

    >>> [round(rate(0.04, number, rising=50), 6) for number in range(4)]
    [0.0, 0.0, 0.0008, 0.0016]
    """
    return lr if number > rising or not rising else LEAST + (lr - LEAST) * max(0, number - 1) / rising


#: from the name of a parameter, its gradient and the rate to the change of its values
Step = Callable[[str, Tensor, float], Tensor]


def sgd(eps: float = 0.0) -> Step:
    """Plain gradient descent."""
    return lambda name, gradient, lr: -lr * gradient


def adagrad(eps: float = 1e-10) -> Step:
    """Steps divided by the root of the sum of all squared gradients so far."""
    squares: dict[str, Tensor] = {}

    def step(name: str, gradient: Tensor, lr: float) -> Tensor:
        squares[name] = squares.get(name, torch.zeros_like(gradient)) + gradient.square()
        return -lr * gradient / (squares[name].sqrt() + eps)

    return step


#: by name; each is made with the number that keeps its division from being one by zero
OPTIMIZERS: dict[str, Callable[[float], Step]] = {"sgd": sgd, "adagrad": adagrad}
