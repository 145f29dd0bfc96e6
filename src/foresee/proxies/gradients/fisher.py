"""Fisher: how much the loss would feel the loss of each channel."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.channels import ChannelProducts, ChannelProductsBySecondAxis
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
    r"""Sum over channels of half the mean squared (activation times its gradient), weighted by the size of a filter.

    $$
    \sum_\ell f_\ell \sum_c \frac{1}{2 B} \sum_{i = 1}^{B} \left( \sum_p a_{icp} \frac{\partial L}{\partial a_{icp}} \right)^2
    $$

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
    layers = probe.batch.see(ChannelProductsBySecondAxis() if second_axis else ChannelProducts())
    if not layers:
        raise UnsupportedError(
            f"none of the {count} weights of convolutions and linear layers has an influence on the loss"
        )
    return torch.stack([layer.filter_size * importance(layer.products) for layer in layers]).sum()


def importance(products: Tensor) -> Tensor:
    """Half the mean over samples of the squares, summed over channels: (..., samples, channels) to (...)."""
    return products.double().square().mean(-2).sum(-1) / 2
