"""Proxies from their papers' formulas, as one would write them down: one at a time, layer by layer, entry by entry.

Each takes the network and what it looks at, and gives a number; nothing is shared between two of them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

Batch = tuple[Tensor, Tensor]


def out(network: nn.Module, inputs: Tensor) -> Tensor:
    """The outputs, where a network gives features beside them too."""
    found = network(inputs)
    return found[-1] if isinstance(found, tuple) else found


def gradients(network: nn.Module, batch: Batch) -> list[tuple[Tensor, Tensor]]:
    """Weights of convolutions and linear layers with the gradients of the loss, of a copy of the network."""
    own = copy.deepcopy(network)
    own.zero_grad()
    F.cross_entropy(out(own, batch[0]), batch[1]).backward()
    layers = [module for module in own.modules() if isinstance(module, nn.Conv2d | nn.Linear)]
    return [(layer.weight.detach(), layer.weight.grad) for layer in layers if layer.weight.grad is not None]


def grad_norm(network: nn.Module, batch: Batch) -> float:
    """Sum over layers of ||g||."""
    return sum(float(g.double().norm()) for _, g in gradients(network, batch))


def snip(network: nn.Module, batch: Batch) -> float:
    """Sum over weights of |w g|."""
    return sum(float((w.double() * g.double()).abs().sum()) for w, g in gradients(network, batch))


def l2_norm(network: nn.Module, batch: Batch) -> float:
    """Sum over layers of ||w||."""
    return sum(float(w.double().norm()) for w, _ in gradients(network, batch))


def zico(network: nn.Module, batches: Sequence[Batch]) -> float:
    """Sum over layers of log sum |mean| / std over batches (Li et al. 2023)."""
    layers: list[list[np.ndarray]] = []
    for batch in batches:
        for place, (_, g) in enumerate(gradients(network, batch)):
            if place == len(layers):
                layers.append([])
            layers[place].append(g.flatten().double().cpu().numpy())
    total = 0.0
    for rows in layers:
        stacked = np.array(rows)
        deviation, mean = np.std(stacked, axis=0), np.mean(np.abs(stacked), axis=0)
        there = deviation > 0
        if there.any():
            total += math.log(float(np.sum(mean[there] / deviation[there])))
    return total


def seen(
    network: nn.Module, inputs: Tensor, kinds: Callable[[nn.Module], bool], *, before: bool = False
) -> list[Tensor]:
    """What comes out of (or goes into) the modules of some kinds, in the order they are called."""
    found: list[Tensor] = []
    own = copy.deepcopy(network)

    def keep(module: nn.Module, given: tuple[Tensor, ...], gave: Tensor) -> None:
        found.append((given[0] if before else gave).detach().clone())

    for module in own.modules():
        if kinds(module):
            module.register_forward_hook(keep)
            if isinstance(module, nn.ReLU):
                module.inplace = False
    with torch.no_grad():
        own(inputs)
    return found


def naswot(network: nn.Module, inputs: Tensor) -> float:
    """The logarithm of |det K|, K the number of ReLU units on which two samples agree (Mellor et al. 2021)."""
    K = np.zeros((len(inputs), len(inputs)))
    for given in seen(network, inputs, lambda module: isinstance(module, nn.ReLU), before=True):
        active = (given.flatten(1) > 0).double().cpu().numpy()
        K += active @ active.T + (1 - active) @ (1 - active).T
    return float(np.linalg.slogdet(K)[1])


def maps(network: nn.Module, inputs: Tensor) -> list[np.ndarray]:
    """The feature maps of every layer for the first sample, (channels, positions)."""
    found = seen(network, inputs[:1], lambda module: not list(module.children()))
    return [one[0].reshape(len(one[0]), -1).double().cpu().numpy() for one in found]


def meco(network: nn.Module, inputs: Tensor) -> float:
    """Sum over layers of the least eigenvalue of the correlations of the channels (Jiang et al. 2023)."""
    total = 0.0
    for one in maps(network, inputs):
        if one.shape[1] > 1 and (one.std(axis=1) > 0).all():
            total += max(0.0, float(np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(one)))[0]))
    return total


def dextr(network: nn.Module, inputs: Tensor, plane: Tensor, angle: float) -> float:
    """As a b / (a + b), a = log(1 + sum of inverse condition numbers), b = log(1 + curvature), by two backward runs each."""
    inverse = 0.0
    for one in maps(network, inputs):
        values = np.linalg.svd(one, compute_uv=False)
        inverse += values[-1] / values[0] if values[-1] > 1e-12 * values[0] else 0.0
    own = copy.deepcopy(network).double()
    theta = torch.tensor(angle, dtype=torch.float64, device=inputs.device, requires_grad=True)
    first, second = (part.double().to(inputs.device).view(1, *inputs.shape[1:]) for part in plane.unbind(1))
    output = out(own, math.sqrt(len(plane)) * (first * theta.cos() + second * theta.sin()))[0]
    velocity = [torch.autograd.grad(y, theta, create_graph=True)[0] for y in output]
    acceleration = [torch.autograd.grad(v, theta, retain_graph=True)[0] for v in velocity]
    v, a = torch.stack(velocity).detach(), torch.stack(acceleration)
    kappa = float(v.dot(v) ** -1.5 * (v.dot(v) * a.dot(a) - v.dot(a) ** 2).clamp(min=0).sqrt())
    independence, curved = math.log1p(inverse), math.log1p(kappa)
    return independence * curved / (independence + curved)
