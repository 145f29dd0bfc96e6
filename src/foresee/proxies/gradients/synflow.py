"""Synflow and synflow_bn: how much signal the weights pass on, without any data."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy

_PAPER = (
    "Tanaka et al., Pruning neural networks without any data by iteratively conserving synaptic flow, NeurIPS 2020, "
    "summed as in Abdelfattah et al., Zero-Cost Proxies for Lightweight NAS, ICLR 2021"
)
_NEEDS = Needs(data=False, backward=True, held=8.0)
_COST = "1 forward + backward run of one sample, in float64"


@proxy("synflow", needs=_NEEDS, paper=_PAPER, cost=_COST, variants={"naslib": {"log": True}})
def synflow(probe: Probe, *, log: bool = False) -> Tensor:
    r"""Sum over weights of |w dR/dw|, R the summed outputs of the network of absolute values for an input of ones.

    $$
    \sum_w \left\vert w \frac{\partial R}{\partial w} \right\vert
    $$

    Formula: sum over weights of convolutions and linear layers of |w * dR/dw|. Every parameter and buffer is replaced by its
    absolute value, every BatchNorm by the identity, and the input is one sample of ones. LayerNorm and smooth activations
    stay, so for a transformer the network is not a positive one.

    Settings: `log` gives the natural logarithm, for values that span many magnitudes; variant `naslib` does.

    Needs no data but the shape of the input. Float64 throughout; values of 1e60 are usual for deep networks.

    >>> from foresee import score
    >>> score(nn.Sequential(nn.Linear(2, 1, bias=False)), torch.zeros(1, 2), "synflow").ok
    True
    """
    value = _total(flow(probe, probe.weights, norm=False))
    return value.log() if log else value


@proxy("synflow_bn", needs=_NEEDS, paper=_PAPER, cost=_COST)
def synflow_bn(probe: Probe) -> Tensor:
    r"""As synflow, but BatchNorm stays: sum over weights of |w dR/dw| for absolute values and an input of ones.

    $$
    \sum_w \left\vert w \frac{\partial R}{\partial w} \right\vert
    $$

    Formula: sum over weights of convolutions and linear layers of |w * dR/dw|, R the summed outputs of the network of
    absolute values for one sample of ones. BatchNorm normalises by the statistics of that sample, so no value explodes, but
    signals are no longer positive. Without BatchNorm it is synflow.

    Needs no data but the shape of the input. BatchNorm: statistics of the one sample; a layer that sees one value per channel
    has none (status `unsupported`). Float64 throughout.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(18, 2))
    >>> score(net, torch.zeros(1, 1, 5, 5), "synflow_bn").ok
    True
    """
    return _total(flow(probe, probe.weights, norm=True))


def flow(probe: Probe, names: Iterable[str], *, norm: bool) -> dict[str, tuple[Tensor, Tensor]]:
    """|w| and dR/d|w| of the named parameters, in float64: R the summed outputs of the network of absolute values for ones.

    `norm` keeps BatchNorm; without it BatchNorm is the identity. Parameters without influence on R are left out.
    """
    if not all(part.is_floating_point() for part in probe.data[0].parts):
        raise UnsupportedError("an input of ones needs floating inputs; this network takes whole numbers")
    ones = [torch.ones(1, *part.shape[1:], dtype=torch.float64, device=probe.device) for part in probe.data[0].parts]
    names = list(names)
    with probe.contact(lambda tensor: tensor.double().abs()) as network, torch.enable_grad():
        for module in network.modules():
            if not norm and getattr(module, "original_name", "").startswith("BatchNorm"):
                raise UnsupportedError("BatchNorm inside TorchScript cannot be taken out: see `synflow_bn`")
            if isinstance(module, nn.modules.batchnorm._BatchNorm) and not norm:
                vars(module)["forward"] = lambda signal: signal  # taken away again when the contact ends
        parameters = dict(network.named_parameters())
        weights = [parameters[name] for name in names]
        total = probe.answer(network, ones).sum()
        gradients = (
            torch.autograd.grad(total, weights, allow_unused=True) if total.requires_grad else [None] * len(names)
        )
        both = zip(names, weights, gradients, strict=True)
        pairs = {name: (weight.detach(), gradient) for name, weight, gradient in both if gradient is not None}
    if not pairs:
        raise UnsupportedError("the outputs do not depend on the weights in a differentiable way")
    return pairs


def _total(pairs: dict[str, tuple[Tensor, Tensor]]) -> Tensor:
    return torch.stack([saliency(w.flatten(), g.flatten()) for w, g in pairs.values()]).sum()


def saliency(weights: Tensor, gradients: Tensor) -> Tensor:
    """Sum of |w g|: (..., n) and (..., n) to (...)."""
    return (weights.double() * gradients.double()).abs().sum(-1)
