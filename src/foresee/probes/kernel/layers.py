"""Layer-wise contraction: the kernel from what goes into each layer and what comes back out of it, without the gradients.

Where samples are not coupled, the gradient of sample i by the weights of a linear layer is the sum over positions t of
d[i,t] a[i,t]^T, with a the input and d the gradient that arrives at the output, and one backward run of the whole batch
yields d for all samples at once. Then

    G G^T[i,j] = sum over layers, t, u of (a[i,t] . a[j,u]) (d[i,t] . d[j,u])

A convolution is a linear layer on patches; a bias is an input that is always 1; the scale and shift of LayerNorm and
GroupNorm are diagonal. A layer is contracted through the products above or through its own gradients, whichever takes
fewer bytes, and only one layer's at a time is in memory. Cost: H backward runs of the batch, H heads per sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresee.probes.kernel.spectrum import gram, squared_lengths

_MATMULS = (nn.Linear, nn.Conv1d, nn.Conv2d)
_NORMS = (nn.LayerNorm, nn.GroupNorm)
#: layers the contraction knows, by exact class: a subclass may compute something else
KNOWN: tuple[type[nn.Module], ...] = (*_MATMULS, *_NORMS)


def owners(network: nn.Module, parameters: Mapping[str, Tensor]) -> dict[str, nn.Module] | None:
    """The layers that hold the parameters, by name; None where one is not held by exactly one layer of a known class."""
    left = {id(p) for p in parameters.values()}
    found: dict[str, nn.Module] = {}
    for name, module in network.named_modules():
        held = {id(p) for p in module.parameters(recurse=False)} & {id(p) for p in parameters.values()}
        if held and type(module) not in KNOWN:
            return None
        if held and not held <= {id(module._parameters.get(kind)) for kind in ("weight", "bias")}:
            return None  # weights under other names are those of an old weight or spectral norm
        if not held <= left:
            return None  # shared with an earlier layer
        left -= held
        if held:
            found[name] = module
    return None if left else found


class Product(NamedTuple):
    """One linear map (or one group of a convolution): inputs (B, T, a), arriving gradients (B, H, T, o)."""

    inputs: Tensor
    arriving: Tensor


def products(module: nn.Module, inputs: Sequence[Tensor], gradients: Sequence[Sequence[Tensor]]) -> list[Product]:
    """The calls of a linear layer or convolution as products, one per group; several calls are more positions."""
    calls = [(a, torch.stack(list(d), 1)) for a, d in zip(inputs, gradients, strict=True) if d]
    groups = 1 if isinstance(module, nn.Linear) else int(module.groups)  # type: ignore[arg-type]
    parts: list[list[tuple[Tensor, Tensor]]] = [[] for _ in range(groups)]
    for a, d in calls:
        if isinstance(module, nn.Linear):
            rows = a.reshape(len(a), -1, a.shape[-1])
            arriving = d.reshape(*d.shape[:2], -1, d.shape[-1])
        else:
            rows, arriving = _patches(module, a), d.flatten(3).transpose(2, 3)
        for part, x, y in zip(parts, rows.chunk(groups, -1), arriving.chunk(groups, -1), strict=True):
            part.append((x, y))
    return [Product(torch.cat([x for x, _ in part], 1), torch.cat([y for _, y in part], 2)) for part in parts if part]


def _patches(module: nn.Module, signal: Tensor) -> Tensor:
    """What each position of a convolution's output looks at: (B, positions, channels times kernel)."""
    assert isinstance(module, nn.Conv1d | nn.Conv2d)
    mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
    padded = F.pad(signal, module._reversed_padding_repeated_twice, mode=mode)
    kernel, stride, dilation = module.kernel_size, module.stride, module.dilation
    if isinstance(module, nn.Conv1d):
        padded, kernel, stride, dilation = padded.unsqueeze(2), (1, *kernel), (1, *stride), (1, *dilation)
    return F.unfold(padded, kernel, dilation, 0, stride).transpose(1, 2)


class Layer:
    """One layer's part of the kernel. Rows are ordered by sample, then head.

    `inputs` are what went into each of its calls, (B, ...); `arrived` the gradients that came to the output of each, (B, ...)
    for each of the H heads; `held` the names of the parameters that count, by what they are to the module: weight, bias.
    """

    def __init__(
        self, module: nn.Module, held: Mapping[str, str], inputs: Sequence[Tensor], arrived: Sequence[Sequence[Tensor]]
    ) -> None:
        self.module, self.held = module, held
        self._inputs, self._gradients = inputs, arrived
        self.linear = isinstance(module, _MATMULS)

    @cached_property
    def _products(self) -> list[Product]:
        return products(self.module, self._inputs, self._gradients)

    def kernel(self) -> Tensor:
        """G G^T of this layer: (B H, B H), float64."""
        if not self.linear:
            return gram(list(self._diagonal().values()))
        return torch.stack([self._contract(one) for one in self._products]).sum(0)

    def norms(self) -> Tensor:
        """Squared length of each row: (B H,), float64."""
        if not self.linear:
            return torch.stack([squared_lengths(part) for part in self._diagonal().values()]).sum(0)
        return torch.stack([self._lengths(one) for one in self._products]).sum(0)

    def rows(self) -> dict[str, Tensor]:
        """The gradients themselves by the parameter's name: (B H, *shape), in the network's type."""
        if not self.linear:
            flat = self._diagonal()
        else:
            kinds = [kind for kind in ("weight", "bias") if kind in self.held]
            groups = zip(*(self._rows(one) for one in self._products), strict=True)
            flat = {kind: torch.cat(parts, 2) for kind, parts in zip(kinds, groups, strict=True)}
        shapes = {kind: getattr(self.module, kind).shape for kind in flat}
        return {self.held[kind]: part.reshape(-1, *shapes[kind]) for kind, part in flat.items()}

    def combined(self, weights: Tensor) -> dict[str, Tensor]:
        """The sum of the rows with these weights (B, H), flat by the parameter's name."""
        if not self.linear:
            return {self.held[kind]: weights.flatten().to(part) @ part for kind, part in self._diagonal().items()}
        found: dict[str, list[Tensor]] = {}
        for inputs, arriving in self._products:
            mixed = (weights.to(arriving)[..., None, None] * arriving).sum(1).flatten(0, 1)
            if "weight" in self.held:
                found.setdefault(self.held["weight"], []).append((mixed.mT @ inputs.flatten(0, 1)).flatten())
            if "bias" in self.held:
                found.setdefault(self.held["bias"], []).append(mixed.sum(0))
        return {name: torch.cat(parts) for name, parts in found.items()}

    # -- linear layers --------------------------------------------------------------------------------------------------
    def _similarity(self, left: Tensor, right: Tensor) -> Tensor:
        """Products a . a' of all positions: weights count the inputs, a bias an input of 1."""
        products = left @ right.mT if "weight" in self.held else left.new_zeros(*left.shape[:-1], right.shape[-2])
        return products + 1 if "bias" in self.held else products

    def _contract(self, one: Product) -> Tensor:
        samples, heads, positions, width = one.arriving.shape
        rows = samples * heads
        if 2 * 8 * (rows * positions) ** 2 > one.inputs.element_size() * rows * one.inputs.shape[-1] * width:
            return gram([part.flatten(0, 1) for part in self._rows(one)])
        inputs = one.inputs.double().flatten(0, 1)
        arriving = one.arriving.double().reshape(rows * positions, width)
        similarity = self._similarity(inputs, inputs).reshape(samples, 1, positions, samples, 1, positions)
        shape = (samples, heads, positions, samples, heads, positions)
        return ((arriving @ arriving.mT).reshape(shape) * similarity).sum((2, 5)).reshape(rows, rows)

    def _lengths(self, one: Product) -> Tensor:
        positions, width = one.arriving.shape[2:]
        if 2 * 8 * positions**2 > one.inputs.element_size() * one.inputs.shape[-1] * width:
            return torch.stack([squared_lengths(part.flatten(0, 1)) for part in self._rows(one)]).sum(0)
        inputs, arriving = one.inputs.double(), one.arriving.double()
        similarity = self._similarity(inputs, inputs).unsqueeze(1)
        return ((arriving @ arriving.mT) * similarity).sum((-1, -2)).flatten()

    def _rows(self, one: Product) -> Iterator[Tensor]:
        """The gradients themselves, (B, H, entries) for the weights and for the bias."""
        if "weight" in self.held:
            yield (one.arriving.mT @ one.inputs.unsqueeze(1)).flatten(2)
        if "bias" in self.held:
            yield one.arriving.sum(2)

    # -- normalisation --------------------------------------------------------------------------------------------------
    def _diagonal(self) -> dict[str, Tensor]:
        """The gradients by scale and shift, (B H, entries): as small as the layer, so nothing is to be saved."""
        found: dict[str, Tensor] = {}
        for signal, gradients in zip(self._inputs, self._gradients, strict=True):
            if not gradients:
                continue
            arriving = torch.stack(list(gradients), 1)
            for kind in self.held:
                part = arriving * self._normalised(signal).unsqueeze(1) if kind == "weight" else arriving
                flat = self._per_entry(part).flatten(0, 1)
                found[kind] = found[kind] + flat if kind in found else flat
        return found

    def _normalised(self, signal: Tensor) -> Tensor:
        if isinstance(self.module, nn.GroupNorm):
            return F.group_norm(signal, self.module.num_groups, eps=self.module.eps)
        assert isinstance(self.module, nn.LayerNorm)
        return F.layer_norm(signal, self.module.normalized_shape, eps=self.module.eps)

    def _per_entry(self, part: Tensor) -> Tensor:
        """Summed over the positions that share an entry: (B, H, ...) to (B, H, entries)."""
        if isinstance(self.module, nn.GroupNorm):
            return part.flatten(3).sum(3) if part.ndim > 3 else part
        assert isinstance(self.module, nn.LayerNorm)
        entries = len(self.module.normalized_shape)
        return part.flatten(-entries).reshape(*part.shape[:2], -1, self.module.weight.numel()).sum(2)
