"""MeCo: how little the channels of each layer correlate."""

from __future__ import annotations

from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.spectra import layers_of, least_correlation


@proxy(
    "meco",
    needs=Needs(looks=("sample.features",), held=8.0),
    paper="Jiang et al., MeCo: Zero-Shot NAS with One Data and Single Forward Pass, NeurIPS 2023",
    cost="1 forward run of one sample, and one spectrum per layer",
    variants={"reference": {"every_module": True, "whole_batch": True}},
)
def meco(probe: Probe, *, every_module: bool = False, whole_batch: bool = False) -> Tensor:
    r"""Sum over layers of the least eigenvalue of the correlation matrix of the channels; no labels.

    $$
    \sum_\ell \lambda_{\min}(P_\ell)
    $$

    Formula: sum over layers of lambda_min(P), P the Pearson correlation matrix of the layer's channels over the positions
    of the first sample, (channels, positions) ((tokens, numbers) for transformers). A layer with a constant channel adds 0,
    and so does a vector, whose entries are all constant.

    Settings: `every_module` adds containers and the network itself to the layers; `whole_batch` takes batch statistics from
    the whole batch, not the first sample alone. Variant `reference`, the public code's rule, does both.

    Needs one sample; labels are never read. BatchNorm: batch statistics. Float64 throughout.

    >>> import torch
    >>> from foresee import score
    >>> score(torch.nn.Conv2d(3, 4, 3), torch.randn(1, 3, 8, 8), "meco").ok
    True
    """
    look = "features_of_all" if every_module else "features"
    features = (probe.batch if whole_batch else probe.sample).see(look)
    # A vector would go through the formula as a map of one column and come out as 0.
    maps = layers_of(features).maps()
    if not maps:
        raise UnsupportedError(
            "no feature maps: the output of every layer is a vector, whose channels have no correlation"
        )
    return maps.total(least_correlation)
