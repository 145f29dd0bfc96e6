"""The second and first terms of SiGeo as its two public codes compute them; neither is the paper's formula."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresee.probes.derivatives import product
from foresee.probes.steps import Trail


def cv_fisher_rao_term(trail: Trail) -> Tensor:
    """Image code: 2 log( sum over layers of |theta . sum_i g_i| + 1e-5 ), over weights of convolutions and linear layers."""
    sums = [product(trail.theta[name].flatten(), trail.rows(name).sum(0)).abs() for name in trail.reached_layers]
    return 2 * (torch.stack(sums).sum() + 1e-5).log()


def ctr_steadiness_term(trail: Trail, network: nn.Module) -> Tensor:
    """Click-through code: sum over groups of log( mean |g_j| / std g_j ), 1/(k-1) in std, j the first entry that varies."""
    terms = []
    for key, names in _groups(trail, network).items():
        rows = _rows(trail, names)
        deviations = rows.std(0)
        varying = deviations.nonzero()
        if not len(varying):
            raise FloatingPointError(f"no gradient of {key.splitlines()[0]} varies over the batches")
        first = int(varying[0])
        terms.append((rows[:, first].abs().mean() / deviations[first]).log())
    return torch.stack(terms).sum()


def ctr_fisher_rao_term(trail: Trail, network: nn.Module) -> Tensor:
    """Click-through code: log( | sum over groups of theta . sum_i g_i | + 1e-10 ), theta of the last member of a group."""
    sums = [
        product(trail.theta[names[-1]].flatten(), _rows(trail, names).sum(0))
        for names in _groups(trail, network).values()
    ]
    return (torch.stack(sums).sum().abs() + 1e-10).log()


def _groups(trail: Trail, network: nn.Module) -> dict[str, list[str]]:
    """Parameters of leaf modules, those with the same printed module and the same size together."""
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    reached = set(trail.reached)
    groups: dict[str, list[str]] = {}
    for module in network.modules():
        if next(module.children(), None) is not None:
            continue
        for parameter in module.parameters():
            name = names[id(parameter)]
            if name in reached:
                groups.setdefault(f"{module!r} {parameter.numel()}", []).append(name)
    if not groups:
        raise FloatingPointError("no parameter of a leaf module has a gradient in every batch")
    return groups


def _rows(trail: Trail, names: list[str]) -> Tensor:
    return torch.cat([trail.rows(name) for name in names])
