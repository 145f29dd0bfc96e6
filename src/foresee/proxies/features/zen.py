"""Zen: how much a small change of a Gaussian input moves the features of a network with Gaussian weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from foresee.errors import InputError, UnsupportedError
from foresee.probes.looks import Call, Watcher, watching
from foresee.probes.probe import Probe
from foresee.probes.stages import before_pooling
from foresee.proxies.base import Needs, proxy


@proxy(
    "zen",
    needs=Needs(data=False, batch=16),
    paper="Lin et al., Zen-NAS: A Zero-Shot NAS for High-Performance Image Recognition, ICCV 2021",
    equation="Algorithm 1",
    cost="2 forward runs, in float64",
    variants={"reference": {"running": True}},
    initialise="normal",
)
def zen(probe: Probe, *, gamma: float = 0.01, running: bool = False) -> Tensor:
    r"""Log of how far features move when Gaussian inputs move a little, with what BatchNorm hides added again; no data.

    $$
    \log D + \sum_\ell \log \sqrt{\frac{1}{C_\ell} \sum_c v_{\ell c}}, \quad
    D = \frac{1}{B} \sum_x \Vert f(x) - f(x + \gamma x^\prime) \Vert_1
    $$

    Formula: log D + sum over BatchNorm layers of log sqrt(mean over channels of v). D is the sum over channels and
    positions of |f(x) - f(x + gamma x')|, mean over the samples, f the maps before global pooling, x and x' from N(0, 1);
    v is the variance of a channel of the layer's input over the batch x. Weights are drawn from N(0, 1) (`initialise`
    says otherwise), so that the network's scale is its own; BatchNorm divides it away, and the second term puts it back.

    Settings: `gamma` is the size of the step; `running` takes for v the running variance after both runs, started from 1
    with the layer's momentum. Variant `reference`, the public code's rule, does: 81 % of that is the start. The public
    search scores networks without their residual links; here they stay, since a module cannot be asked to drop them.

    Needs no data: as many samples are drawn as the batch has, of its shape. The maps are those of the network's
    `pre_gap`, or the input of its last global pooling module. BatchNorm: batch statistics. Maps in the
    network's own type, sums in float64. Draws: `input`, `step`, `weights.<name>`.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
    >>> score(net, torch.zeros(4, 3, 8, 8), "zen").ok
    True
    """
    if not gamma > 0:
        raise InputError(f"gamma {gamma}: a positive number is needed")
    shape = (len(probe.batch), *probe.input_shape)
    x, step = probe.draws.normal("input", *shape), probe.draws.normal("step", *shape)

    def look(network: nn.Module, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        f, variances = before_pooling(network), _Variances()
        with torch.no_grad():
            here, there = probe.moved((x, x + gamma * step), dtype)
            with watching(network, [variances]):
                features = f(here)
            moved = f(there)
        found = _running(network) if running else variances.seen
        terms = torch.stack([v.double().mean() for v in found]) if found else torch.ones(1, device=probe.device)
        return features.double(), moved.double(), terms

    with probe.contact(tracking=running) as network:
        features, moved, variances = look(network, probe.dtype)
    change, scale = distance(features.flatten(1), moved.flatten(1)), variances.log().sum() / 2
    probe.note(change=change.log(), scale=scale)
    return change.log() + scale


def distance(first: Tensor, second: Tensor) -> Tensor:
    """Sum of absolute differences, mean over the samples: (..., samples, n) and the same to (...)."""
    return (first - second).abs().sum(-1).mean(-1)


class _Variances(Watcher[None]):
    """Variance over the batch of each channel that goes into a BatchNorm layer, one entry per call."""

    def __init__(self) -> None:
        self.seen: list[Tensor] = []

    def selects(self, call: Call) -> bool:
        """BatchNorm layers."""
        return isinstance(call.module, _BatchNorm)

    def before(self, call: Call, inputs: Tensor) -> None:
        """As BatchNorm takes it, without the correction for the mean."""
        axes = [axis for axis in range(inputs.ndim) if axis != 1]
        self.seen.append(inputs.detach().var(dim=axes, correction=0))


def _running(network: nn.Module) -> list[Tensor]:
    found = []
    for name, module in network.named_modules():
        if isinstance(module, _BatchNorm):
            if module.running_var is None:
                raise UnsupportedError(f"BatchNorm {name} keeps no running variance, which the public code reads")
            found.append(module.running_var.clone())
    return found
