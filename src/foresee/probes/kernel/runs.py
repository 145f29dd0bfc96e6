"""Runs of a network over the first batch, and gradients of its outputs along given directions."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge

from foresee.errors import UnsupportedError
from foresee.probes.outputs import check_rows
from foresee.probes.splitting import out_of_memory
from foresee.probes.subject import Subject
from foresee.seeds import generator


class CoupledError(Exception):
    """Samples that were taken for independent are not, or not in the way that was expected."""


def run(probe: Subject, network: nn.Module, part: slice = slice(None)) -> Tensor:
    """Outputs of these samples of the first batch, with their graph."""
    if probe.create_graph:
        raise UnsupportedError("kernels and gradients per sample come without a graph: they cannot be differentiated")
    moved = probe.moved(tensor[part] for tensor in probe.data[0].parts)
    outputs = probe.answer(network, moved)
    if not outputs.requires_grad:
        raise UnsupportedError("the outputs do not depend on the weights in a differentiable way")
    check_rows(outputs, len(moved[0]))
    return outputs


def gradients(outputs: Tensor, parameters: Sequence[Tensor], seeds: Tensor) -> list[Tensor | None]:
    """Gradients of `seeds[k] . outputs` by each parameter: (k, *shape), None where there is no influence.

    `outputs` are (samples, width), `seeds` (k, samples, width). The graph is kept.
    """
    if len(seeds) > 1:
        try:
            return list(gradients_at(outputs, parameters, seeds, is_grads_batched=True))
        except RuntimeError as error:
            if out_of_memory(error):
                raise
    # One by one: nothing is gained by batching one, and an operation may have no batching rule.
    found = [gradients_at(outputs, parameters, seed) for seed in seeds]
    return [None if row[0] is None else torch.stack(row) for row in zip(*found, strict=True)]


def combination(outputs: Tensor, along: Tensor, weights: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """The sum of all rows with these weights (samples, heads), in one backward run; flat, by parameter.

    `along` are the directions, (samples, heads, width).
    """
    # Sample by sample: the directions of all outputs are shared by the samples, and a product with all would copy them.
    seed = torch.stack([weight @ own for weight, own in zip(weights.to(along), along, strict=True)])
    found = gradients_at(outputs.reshape(len(outputs), -1), parameters, seed)
    return [p.new_zeros(p.numel()) if g is None else g.flatten() for p, g in zip(parameters, found, strict=True)]


def gradients_at(
    outputs: Tensor, places: Sequence[Tensor] | Sequence[GradientEdge], seeds: Tensor, **how: bool
) -> tuple[Tensor | None, ...]:
    """Gradients of `seeds . outputs` by tensors or at edges of the graph, which stays; None where there is no influence."""
    found: tuple[Tensor | None, ...] = torch.autograd.grad(
        outputs, places, seeds, retain_graph=True, allow_unused=True, **how
    )
    return found


def check_weights(probe: Subject, along: Tensor) -> Tensor:
    """Weights without a meaning, (samples, heads).

    The combination of the rows with them, computed with and without the assumption that samples do not depend on each
    other, tells whether that is true.
    """
    source = generator(probe.seed, "kernel.check")
    return torch.randn(*along.shape[:2], generator=source, dtype=torch.float64).to(along)


def check(found: Sequence[Tensor], expected: Sequence[Tensor]) -> None:
    """Raise unless two gradients are the same up to rounding."""
    pairs = list(zip(found, expected, strict=True))
    gap = sum(float((a - b).norm().double().square()) for a, b in pairs)
    size = sum(float(b.norm().double().square()) for _, b in pairs)
    if not gap <= torch.finfo(expected[0].dtype).eps * size:
        raise CoupledError
