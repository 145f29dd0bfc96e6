"""Dextr and MeCo on a few channels of each layer: for networks that differ in width."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from foresee.errors import InputError, UnsupportedError
from foresee.probes.draws import Draws
from foresee.probes.features import Feature
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.features.dextr import half_harmonic_mean, output_curvature
from foresee.proxies.spectra import for_each, inverse_condition, least_correlation

_REFERENCE = {"every_module": True, "whole_batch": True}
_CIRCLE = {"radius": 1.0, "angle": 0.0, "coordinates": 10}


@proxy(
    "dextr_opt",
    needs=Needs(looks=("sample.features",), held=24.0),
    paper="Asthana et al., Dextr: Zero-Shot Neural Architecture Search with SVD and Extrinsic Curvature, TMLR 2025",
    equation="Eq. 22",
    cost="4 forward runs of one sample, and one small spectrum per layer",
    variants={"reference": {**_REFERENCE, **_CIRCLE}},
)
def dextr_opt(
    probe: Probe,
    *,
    channels: int = 8,
    every_module: bool = False,
    whole_batch: bool = False,
    radius: float | None = None,
    angle: float | None = None,
    coordinates: int | None = None,
    size: int | None = None,
) -> Tensor:
    r"""Dextr with the condition number of a few random channels of each layer, scaled up to all of them; no labels.

    $$
    \frac{a b}{a + b}, \quad a = \log \left( 1 + \sum_\ell \frac{\alpha_\ell}{\beta c_\ell} \right), \quad
    b = \log (1 + \kappa)
    $$

    Formula: a b / (a + b) with a = log(1 + sum over layers of alpha / (beta c)) and b = log(1 + kappa). alpha is the
    number of channels of the layer, c the condition number of beta of them, drawn without replacement; kappa is Dextr's
    curvature. A layer with no more than beta channels counts 1/c as it is. A vector has c = 1, whatever is drawn.

    Settings: `channels` is beta; `every_module` and `whole_batch` as for `dextr`, `radius`, `angle`, `coordinates` and
    `size` of the circle too. Variant `reference` is the public code's rule, which does not exist for layers of fewer than
    8 channels.

    Needs one sample; labels are never read. BatchNorm: batch statistics. Float64 throughout.
    Draws: those of `dextr`, and `channels.<i>` for the call i.

    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(3, 12, 3), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(432, 10))
    >>> score(net, torch.randn(1, 3, 8, 8), "dextr_opt").ok
    True
    """
    features = _features(probe, every_module, whole_batch)
    maps, factors = sample_channels(probe.draws, features, channels)
    independence = (for_each(inverse_condition, maps) * factors).sum()
    kappa = output_curvature(probe, radius=radius, angle=angle, coordinates=coordinates, size=size)
    probe.note(independence=independence, curvature=kappa)
    return half_harmonic_mean(independence.log1p(), kappa.log1p())


@proxy(
    "meco_opt",
    needs=Needs(looks=("sample.features",), held=24.0),
    paper="Jiang et al., MeCo: Zero-Shot NAS with One Data and Single Forward Pass, NeurIPS 2023",
    cost="1 forward run of one sample, and one small spectrum per layer",
    variants={"reference": _REFERENCE},
)
def meco_opt(probe: Probe, *, channels: int = 8, every_module: bool = False, whole_batch: bool = False) -> Tensor:
    r"""MeCo with a few random channels of each layer, scaled up to all of them; no labels.

    $$
    \sum_\ell \frac{\alpha_\ell}{\beta} \lambda_{\min}(P_\ell)
    $$

    Formula: sum over layers of alpha / beta lambda_min(P). alpha is the number of channels of the layer, P the Pearson
    correlation matrix of beta of them over the positions of the first sample, drawn without replacement. A layer with no
    more than beta channels counts as in `meco`; a layer with a constant channel among the drawn adds 0, and so does a
    vector.

    Settings: `channels` is beta; `every_module` and `whole_batch` as for `meco`. Variant `reference` is the public code's
    rule, which does not exist for layers of fewer than 8 channels.

    Needs one sample; labels are never read. BatchNorm: batch statistics. Float64 throughout. Draws: `channels.<i>`.

    >>> from foresee import score
    >>> score(torch.nn.Conv2d(3, 12, 3), torch.randn(1, 3, 8, 8), "meco_opt").ok
    True
    """
    maps, factors = sample_channels(probe.draws, _features(probe, every_module, whole_batch), channels)
    wide = torch.tensor([one.shape[1] > 1 for one in maps], device=factors.device)  # a vector has no correlations
    least = for_each(least_correlation, [one for one in maps if one.shape[1] > 1])
    return (least * factors[wide]).sum()


def sample_channels(draws: Draws, features: Sequence[Feature], count: int) -> tuple[list[Tensor], Tensor]:
    """`count` random rows of each map, or all where there are fewer, and alpha / beta: by how much they fall short."""
    if count < 1:
        raise InputError(f"channels {count}: at least 1 is needed")
    maps: list[Tensor] = []
    for index, feature in enumerate(features):
        rows, size = feature.map, len(feature.map)
        if size > count:
            chosen = draws.draw(f"channels.{index}", lambda source, size=size: torch.randperm(size, generator=source))  # type: ignore[misc]
            rows = rows[chosen[:count].to(rows.device)]
        maps.append(rows)
    factors = [len(feature.map) / len(rows) for feature, rows in zip(features, maps, strict=True)]
    return maps, torch.tensor(factors, dtype=torch.float64, device=maps[0].device)


def _features(probe: Probe, every_module: bool, whole_batch: bool) -> list[Feature]:
    look = "features_of_all" if every_module else "features"
    features: list[Feature] = (probe.batch if whole_batch else probe.sample).see(look)
    if all(feature.map.shape[1] == 1 for feature in features):
        raise UnsupportedError("no feature maps: the output of every layer is a vector")
    return features
