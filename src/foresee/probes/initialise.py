"""Initialisation as a setting of every proxy: the weights a network is looked at with, drawn from the seed.

    default   the network's own weights, as found
    lecun     normal, variance 1 / fan_in
    xavier    normal, variance 2 / (fan_in + fan_out)
    he        normal, variance 2 / fan_in
    normal    normal, variance 1, whatever the size of the layer

Weights of convolutions, linear layers and attention projections are drawn; their biases become 0; normalisation layers
start anew (scale 1, shift 0, running mean 0 and variance 1). Everything else (embeddings, tokens, recurrent layers) stays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.conv import _ConvNd

from foresee.errors import UnknownNameError, UnsupportedError
from foresee.probes.draws import Draws

SCHEMES: tuple[str, ...] = ("default", "lecun", "xavier", "he", "normal")
#: tensors of a network, each with the values that it gets, and whether any of these was drawn
Fresh = tuple[list[tuple[Tensor, Tensor]], bool]
_NORMS = (_NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)


def check(scheme: Any) -> None:
    """An unknown initialisation is named, with the nearest ones."""
    if scheme not in SCHEMES:
        raise UnknownNameError("initialisation", str(scheme), SCHEMES)


def deviation(scheme: str, fan_in: int, fan_out: int) -> float:
    """Standard deviation of the weights of a layer whose units have `fan_in` inputs, and whose inputs feed `fan_out` units.

    >>> deviation("he", 50, 10), deviation("xavier", 50, 150), deviation("normal", 50, 10)
    (0.2, 0.1, 1.0)
    """
    check(scheme)
    variances = {"lecun": 1 / fan_in, "xavier": 2 / (fan_in + fan_out), "he": 2 / fan_in, "normal": 1.0}
    return math.sqrt(variances[scheme])


@contextmanager
def initialised(
    network: nn.Module, scheme: str, draws: Draws, *, kept: dict[str, Fresh] | None = None
) -> Iterator[None]:
    """Inside, the network has weights drawn by `scheme`; afterwards, also after an exception, its own tensors again.

    A shared weight is drawn once. Draws: `weights.<name>` for each weight, in standard deviations. What was drawn by a scheme
    may be `kept` for the next time, where the draws are the same.

    >>> layer = nn.Linear(200, 100)
    >>> before = layer.weight.clone()
    >>> with initialised(layer, "lecun", Draws(seed=1)):
    ...     print(f"{layer.weight.var().item() * 200:.1f}", bool(layer.bias.any()))
    1.0 False
    >>> torch.equal(layer.weight, before)
    True
    """
    check(scheme)
    if scheme == "default":
        yield
        return
    if kept is not None and scheme in kept:
        fresh, drawn = kept[scheme]
    else:
        with (
            torch.inference_mode(False),
            draws.apart() as apart,
        ):  # weights that gradients can be taken of, whoever asks
            fresh = [(t, values.to(t.device, t.dtype)) for t, values in _fresh(network, scheme, draws)]
        drawn = apart.used
        if kept is not None:
            kept[scheme] = fresh, drawn
    draws.used |= drawn
    found = [(tensor, tensor.data) for tensor, _ in fresh]
    try:
        for tensor, values in fresh:
            tensor.data = values
        yield
    finally:
        for tensor, data in found:
            tensor.data = data


def _fresh(network: nn.Module, scheme: str, draws: Draws) -> list[tuple[Tensor, Tensor]]:
    """Each tensor that changes, with its new values."""
    # A compiled network is drawn as the one it was made from: torch.compile puts a step of its own into the names.
    names = {id(parameter): name.replace("_orig_mod.", "") for name, parameter in network.named_parameters()}
    fresh: dict[int, tuple[Tensor, Tensor]] = {}

    def put(tensor: Tensor | None, values: float | Tensor) -> None:
        if tensor is not None:
            fresh.setdefault(
                id(tensor), (tensor, values if isinstance(values, Tensor) else torch.full_like(tensor, values))
            )

    for place, module in network.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            raise UnsupportedError('weights inside TorchScript are not drawn anew: initialise="default" takes its own')
        for weight, fan_in, fan_out in _weights(module):
            if weight is None or id(weight) not in names:
                raise UnsupportedError(f"a weight of {place} is computed (parametrised): it cannot be drawn anew")
            if id(weight) not in fresh:
                numbers = draws.normal(f"weights.{names[id(weight)]}", *weight.shape)
                put(weight, numbers * deviation(scheme, fan_in, fan_out))
        if isinstance(module, nn.Linear | _ConvNd):
            put(module._parameters.get("bias"), 0.0)
        elif isinstance(module, nn.MultiheadAttention):
            put(module._parameters.get("in_proj_bias"), 0.0)
        elif isinstance(module, _NORMS):
            put(module._parameters.get("weight"), 1.0)
            put(module._parameters.get("bias"), 0.0)
            put(module._buffers.get("running_mean"), 0.0)
            put(module._buffers.get("running_var"), 1.0)
            put(module._buffers.get("num_batches_tracked"), 0.0)
    return list(fresh.values())


def _weights(module: nn.Module) -> Iterator[tuple[Tensor | None, int, int]]:
    """The weights of a layer, each with its fan-in and fan-out; None for one that is computed, and not asked for."""
    if isinstance(module, nn.Linear):
        yield module._parameters.get("weight"), module.in_features, module.out_features
    elif isinstance(module, _ConvNd):
        size = math.prod(module.kernel_size)
        weight, groups = module._parameters.get("weight"), module.groups
        yield weight, module.in_channels // groups * size, module.out_channels // groups * size
    elif isinstance(module, nn.MultiheadAttention):
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = module._parameters.get(name)
            if weight is not None:
                yield weight, weight.shape[1], module.embed_dim
            elif name not in module._parameters:
                yield None, 1, 1
