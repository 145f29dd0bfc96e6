"""Hessians of single samples, met only in products."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.derivatives import product, twice_differentiable
from foresee.probes.kernel.heads import directions, selected
from foresee.probes.kernel.plan import coupled
from foresee.probes.kernel.runs import CoupledError, check, check_weights, combination, run
from foresee.probes.subject import Subject


def products_with_hessians(probe: Subject) -> Tensor:
    """The products theta . (H_x grad L_x) for each sample x of the first batch, over all trainable parameters: (samples,).

    L_x is the loss of one sample in the run of the whole batch. H_x grad L_x is the gradient of half the squared length of
    grad L_x. Where samples are not coupled, each one runs alone.
    """
    try:
        return _products(probe, alone=not coupled(probe.network))
    except CoupledError:
        return _products(probe, alone=False)


def _products(probe: Subject, *, alone: bool) -> Tensor:
    with probe.contact() as network, torch.enable_grad(), twice_differentiable():
        chosen = list(selected(network, "all").values())
        whole = run(probe, network)
        along = directions(probe, whole, "loss")
        weights = check_weights(probe, along)
        mixed = [p.new_zeros(p.numel()) for p in chosen]
        expected = combination(whole, along, weights, chosen) if alone else mixed
        found = []
        for i in range(len(along)):
            outputs = run(probe, network, slice(i, i + 1)) if alone else whole[i : i + 1]
            gradients = _gradients(probe, outputs, i, chosen)
            found.append(_product(gradients, chosen))
            for total, gradient in zip(mixed, gradients, strict=True):
                total += weights[i, 0] * gradient.detach().flatten()
        if alone:
            check(mixed, expected)
    return torch.stack(found)


def _gradients(probe: Subject, outputs: Tensor, sample: int, parameters: list[nn.Parameter]) -> list[Tensor]:
    labels = probe.told(probe.data[0], slice(sample, sample + 1))
    loss = probe.choose_loss(outputs)(outputs, labels)
    found = torch.autograd.grad(loss, parameters, create_graph=True, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


def _product(gradients: list[Tensor], parameters: list[nn.Parameter]) -> Tensor:
    length = torch.stack([gradient.square().sum() for gradient in gradients]).sum() / 2
    if not length.requires_grad:
        raise UnsupportedError("the loss is linear in every parameter: there is no Hessian")
    curved = torch.autograd.grad(length, parameters, retain_graph=True, allow_unused=True)
    pairs = [(p, h) for p, h in zip(parameters, curved, strict=True) if h is not None]
    return torch.stack([product(p.detach().flatten(), h.flatten()) for p, h in pairs]).sum()
