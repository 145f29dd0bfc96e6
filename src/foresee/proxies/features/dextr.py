"""Dextr: linear independence of feature maps, and curvature of the output."""

from __future__ import annotations

import math

from torch import Tensor

from foresee.errors import InputError, UnsupportedError
from foresee.probes.jets import curvature
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy
from foresee.proxies.spectra import inverse_condition, layers_of

_REFERENCE = {"every_module": True, "whole_batch": True, "radius": 1.0, "angle": 0.0, "coordinates": 10}


@proxy(
    "dextr",
    needs=Needs(looks=("sample.features",), held=24.0),
    paper="Asthana et al., Dextr: Zero-Shot Neural Architecture Search with SVD and Extrinsic Curvature, TMLR 2025",
    equation="Eq. 8",
    cost="4 forward runs of one sample, and one spectrum per layer",
    variants={"reference": _REFERENCE, "reference_nb201": {**_REFERENCE, "size": 64}},
)
def dextr(
    probe: Probe,
    *,
    every_module: bool = False,
    whole_batch: bool = False,
    radius: float | None = None,
    angle: float | None = None,
    coordinates: int | None = None,
    size: int | None = None,
) -> Tensor:
    r"""Half the harmonic mean of feature-map independence and output curvature, in logarithms; no labels.

    $$
    \frac{a b}{a + b}, \quad a = \log \left( 1 + \sum_\ell \frac{1}{c_\ell} \right), \quad b = \log (1 + \kappa)
    $$

    Formula: a b / (a + b) with a = log(1 + sum over layers of 1/c) and b = log(1 + kappa). c is the condition number of a
    layer's feature maps, (channels, positions) of the first sample ((tokens, numbers) for transformers; a vector has c = 1;
    a zero or rank-deficient map adds 0). kappa = (v.v)^(-3/2) sqrt((v.v)(a.a) - (v.a)^2) is the curvature of the outputs
    for the circular input sqrt(N) (o0 cos theta + o1 sin theta), N numbers, with a random plane o0, o1 and angle theta.

    Settings: `every_module` adds containers and the network itself to the layers; `whole_batch` takes batch statistics from
    the whole batch, not the first sample alone; `radius` (None: sqrt(N)) and `angle` (None: drawn) of the circle;
    `coordinates` draws so many outputs, with replacement (None: all outputs); `size` is the side of the circular image
    (None: the input's own).

    Variants: `reference` is the public code's rule, `reference_nb201` the same with the curve at 64x64. Where that code
    falls back to `a` alone or to a constant because the curvature is not a number, the status says so here.

    Needs one sample; labels are never read. BatchNorm: batch statistics. Float64 throughout.
    Draws: `plane.<N>`, `angle`, and `coordinates` where they are asked for.

    >>> import torch
    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(144, 10))
    >>> found = score(net, torch.randn(1, 3, 8, 8), "dextr")
    >>> found.ok, sorted(found.parts)
    (True, ['curvature', 'independence'])
    """
    independence = feature_independence(probe, every_module=every_module, whole_batch=whole_batch)
    kappa = output_curvature(probe, radius=radius, angle=angle, coordinates=coordinates, size=size)
    probe.note(independence=independence, curvature=kappa)
    return half_harmonic_mean(independence.log1p(), kappa.log1p())


def half_harmonic_mean(first: Tensor, second: Tensor) -> Tensor:
    """First times second over their sum; (...) and (...) to (...)."""
    return first * second / (first + second)


def feature_independence(probe: Probe, *, every_module: bool = False, whole_batch: bool = False) -> Tensor:
    """Sum of the inverse condition numbers of all layers' feature maps."""
    look = "features_of_all" if every_module else "features"
    layers = layers_of((probe.batch if whole_batch else probe.sample).see(look))
    if not layers.maps():
        raise UnsupportedError("no feature maps: the output of every layer is a vector, whose condition number is 1")
    return layers.total(inverse_condition)


def output_curvature(
    probe: Probe,
    *,
    radius: float | None = None,
    angle: float | None = None,
    coordinates: int | None = None,
    size: int | None = None,
) -> Tensor:
    """Curvature of the outputs for a circular input."""
    velocity, acceleration = probe.remember(
        ("circle", radius, angle, size), lambda: _along_circle(probe, radius=radius, angle=angle, size=size)
    )
    if coordinates is not None:
        chosen = probe.draws.integers("coordinates", len(velocity), coordinates).to(velocity.device)
        velocity, acceleration = velocity[chosen], acceleration[chosen]
    if not bool(velocity.any()):
        raise FloatingPointError("the outputs do not move along the circle of inputs: they have no curvature there")
    return curvature(velocity, acceleration)


def _along_circle(
    probe: Probe, *, radius: float | None, angle: float | None, size: int | None
) -> tuple[Tensor, Tensor]:
    """Velocity and acceleration of all outputs, flattened, for one angle."""
    shape = probe.input_shape
    if size is not None:
        if len(shape) < 2 or size < 1:
            raise InputError(f"size {size}: the side of an image, for inputs that are images; these are {shape}")
        shape = (*shape[:-2], size, size)
    count = math.prod(shape)
    if count < 2:
        raise UnsupportedError("inputs of a single number have no circle")
    first, second = probe.draws.plane(f"plane.{count}", count).unbind(1)
    theta = 2 * math.pi * float(probe.draws.uniform("angle")) if angle is None else angle
    length = math.sqrt(count) if radius is None else radius
    point = length * (math.cos(theta) * first + math.sin(theta) * second)
    velocity = length * (math.cos(theta) * second - math.sin(theta) * first)
    _, v, a = probe.taylor(point.view(1, *shape), velocity.view(1, *shape), -point.view(1, *shape))
    return v.flatten(), a.flatten()
