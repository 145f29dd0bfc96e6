"""The two parts of Dextr as proxies of their own, and feature-map independence layer by layer."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from foresee.errors import InputError
from foresee.probes import jets
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.features.dextr import feature_independence, output_curvature
from foresee.proxies.spectra import for_each, inverse_condition

_PAPER = "Asthana et al., Dextr: Zero-Shot Neural Architecture Search with SVD and Extrinsic Curvature, TMLR 2025"
_CIRCLE = {"radius": 1.0, "angle": 0.0, "coordinates": 10}


@proxy(
    "inverse_conditions",
    needs=Needs(looks=("sample.features",), held=24.0),
    paper=_PAPER,
    equation="Eq. 8, first part",
    cost="1 forward run of one sample, and one spectrum per layer",
    variants={"reference": {"every_module": True, "whole_batch": True}},
)
def inverse_conditions(probe: Probe, *, every_module: bool = False, whole_batch: bool = False) -> Tensor:
    r"""Sum over layers of the inverse condition number of the feature maps; no labels. Convergence and generalisation.

    $$
    \sum_\ell \frac{1}{c_\ell}, \quad c_\ell = \frac{\sigma_{\max}(X_\ell)}{\sigma_{\min}(X_\ell)}
    $$

    Formula: sum over layers of 1/c, c the condition number (greatest over least singular value) of the layer's feature
    maps, (channels, positions) of the first sample ((tokens, numbers) for transformers; a vector adds 1, a zero or
    rank-deficient map 0). The paper takes log(1 + sum), which orders networks the same way.

    Settings: `every_module` adds containers and the network itself to the layers; `whole_batch` takes batch statistics from
    the whole batch, not the first sample alone. Variant `reference`, the public code's rule, does both.

    Needs one sample; labels are never read. BatchNorm: batch statistics. Float64 throughout.

    >>> from foresee import score
    >>> score(nn.Conv2d(3, 4, 3), torch.randn(1, 3, 8, 8), "inverse_conditions").ok
    True
    """
    return feature_independence(probe, every_module=every_module, whole_batch=whole_batch)


@proxy(
    "curvature",
    needs=Needs(held=24.0),
    paper=_PAPER,
    equation="Eq. 8, second part",
    cost="3 forward runs of one sample",
    variants={
        "reference": _CIRCLE,
        "reference_nb201": {**_CIRCLE, "size": 64},
        "reference_sum": {**_CIRCLE, "points": 8},
    },
)
def curvature(
    probe: Probe,
    *,
    radius: float | None = None,
    angle: float | None = None,
    coordinates: int | None = None,
    size: int | None = None,
    points: int = 1,
) -> Tensor:
    r"""Curvature of the outputs along a circle of inputs; no labels. Expressivity.

    $$
    \kappa = \frac{\sqrt{(v \cdot v)(a \cdot a) - (v \cdot a)^2}}{(v \cdot v)^{3/2}}, \quad
    v = \frac{d f}{d \theta}, \quad a = \frac{d^2 f}{d \theta^2}
    $$

    Formula: kappa = (v.v)^(-3/2) sqrt((v.v)(a.a) - (v.a)^2), v and a the velocity and acceleration of the outputs for the
    input sqrt(N) (o0 cos theta + o1 sin theta), N numbers, with a random plane o0, o1 and a random angle theta. The paper
    takes log(1 + kappa), which orders networks the same way.

    Settings: `radius` (None: sqrt(N)) and `angle` (None: drawn) of the circle; `coordinates` draws so many outputs, with
    replacement (None: all); `size` is the side of the circular image (None: the input's own); `points` above 1 sums kappa
    over so many angles from 0 to 2 pi, both included, that go through the network as one batch.

    Variants: `reference` and `reference_nb201` are what the public code uses for Dextr, `reference_sum` its diagnostic of 8
    points, where batch statistics tie the points together: v and a are those of the outputs summed over the batch.

    Needs the shape of the inputs, one floating tensor; labels are never read. BatchNorm: batch statistics. Float64.
    Draws: `plane.<N>`, `angle`, and `coordinates` where they are asked for.

    >>> from foresee import score
    >>> found = score(nn.Sequential(nn.Flatten(), nn.Linear(12, 3)), torch.zeros(1, 3, 2, 2), "curvature")
    >>> found.ok  # outputs of a linear network move on an ellipse
    True
    """
    if points == 1:
        return output_curvature(probe, radius=radius, angle=angle, coordinates=coordinates, size=size)
    if points < 1 or size is not None:
        raise InputError(f"points {points}: at least 1, and for several of them the size is the input's own")
    return _summed(probe, radius, coordinates, points)


def _summed(probe: Probe, radius: float | None, coordinates: int | None, points: int) -> Tensor:
    """Sum of the curvatures at the points of one batch, each derivative by its own backward run."""
    shape = probe.input_shape
    count = math.prod(shape)
    length = math.sqrt(count) if radius is None else radius

    def look(network: nn.Module, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        plane = probe.draws.plane(f"plane.{count}", count).to(probe.device, dtype)
        theta = torch.linspace(0, 2 * math.pi, points, dtype=dtype, device=probe.device).requires_grad_()
        curve = length * torch.stack([theta.cos(), theta.sin()], dim=1) @ plane.mT
        with torch.enable_grad():
            outputs = probe.select(network(curve.view(points, *shape))).flatten(1)
            chosen = torch.arange(outputs.shape[1])
            if coordinates is not None:
                chosen = probe.draws.integers("coordinates", outputs.shape[1], coordinates)
            first, second = [], []
            for column in chosen.tolist():
                (v,) = torch.autograd.grad(outputs[:, column].sum(), theta, create_graph=True)
                (a,) = torch.autograd.grad(v.sum(), theta, retain_graph=True)
                first.append(v.detach())
                second.append(a)
        return torch.stack(first, dim=-1).double(), torch.stack(second, dim=-1).double()

    velocity, acceleration = probe.exactly(look)
    if not bool(velocity.any(-1).all()):
        raise FloatingPointError("the outputs do not move along the circle of inputs: they have no curvature there")
    return jets.curvature(velocity, acceleration).sum()


class LayerIndependence(NamedTuple):
    """How linearly independent the feature maps of one layer are: 1 over their condition number."""

    name: str
    kind: str
    value: float


def fmi_profile(
    network: nn.Module, batch: Any, *, seed: int = 0, every_module: bool = False, initialise: str = "default"
) -> list[LayerIndependence]:
    """Feature-map independence 1/c of each layer, in the order of the calls (Dextr, Fig. 3).

    Layers are leaf modules, one entry per call; `every_module` adds containers and the network itself. `batch` is as in
    `score`; its first sample is looked at, in float64. The network is left as found.

    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
    >>> [(layer.name, layer.kind) for layer in fmi_profile(net, torch.randn(1, 3, 8, 8))]
    [('0', 'Conv2d'), ('1', 'ReLU'), ('2', 'Flatten'), ('3', 'Linear')]
    """
    with Probe(network, batch, seed=seed).initialised(initialise) as probe:
        features = probe.sample.see("features_of_all" if every_module else "features")
    values = for_each(inverse_condition, [feature.map for feature in features]).tolist() if features else []
    return [
        LayerIndependence(feature.name, type(feature.module).__name__, value)
        for feature, value in zip(features, values, strict=True)
    ]
