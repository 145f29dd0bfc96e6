"""The second and first terms of SiGeo as its two public codes compute them; neither is the paper's formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.derivatives import product
from foresee.probes.last import last_layer
from foresee.probes.pieces import together
from foresee.probes.steps import Trail
from foresee.proxies.gradients.zico import sum_of


def cv_fisher_rao_term(trail: Trail, network: nn.Module) -> Tensor:
    """Image code: 2 log( sum over layers of |theta . sum_i g_i| + 1e-5 ), over weights of convolutions and linear layers."""
    products = {name: product(trail.theta[name].flatten(), trail.rows(name).sum(0)) for name in trail.reached_layers}
    sums = [sum_of([products[name] for name in names]).abs() for names in together(network, products)]
    return 2 * (torch.stack(sums).sum() + 1e-5).log()


def ctr_steadiness_term(trail: Trail, network: nn.Module, *, last: bool = False) -> Tensor:
    """Click-through code: sum over groups of log( mean |g_j| / std g_j ), 1/(k-1) in std, j the first entry that varies."""
    terms = []
    for key, group in groups(trail, network, last).items():
        deviations = group.rows.std(0)
        varying = deviations.nonzero()
        if not len(varying):
            raise FloatingPointError(f"no gradient of {key.splitlines()[0]} varies over the batches")
        first = int(varying[0])
        terms.append((group.rows[:, first].abs().mean() / deviations[first]).log())
    return torch.stack(terms).sum()


def ctr_fisher_rao_term(trail: Trail, network: nn.Module, *, last: bool = False) -> Tensor:
    """Click-through code: log( | sum over groups of theta . sum_i g_i | + 1e-10 ), theta of the last member of a group."""
    sums = [product(group.theta, group.rows.sum(0)) for group in groups(trail, network, last).values()]
    return (torch.stack(sums).sum().abs() + 1e-10).log()


@dataclass(frozen=True)
class Group:
    """What the click-through code takes for one tensor: gradients (rows, numbers) in float64, and theta (numbers,)."""

    rows: Tensor
    theta: Tensor


def groups(trail: Trail, network: nn.Module, last: bool = False) -> dict[str, Group]:
    """Parameters of leaf modules, those with the same printed module and the same size together.

    Where only the `last` layer learns there are two: its weight, whole also where it lies in pieces, and its bias.
    """
    reached = set(trail.reached)
    if last:
        return _pieces(trail, [name for name in last_layer(network) if name in reached])
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    found: dict[str, list[str]] = {}
    for module in network.modules():
        if next(module.children(), None) is not None:
            continue
        for parameter in module.parameters():
            name = names[id(parameter)]
            if name in reached:
                found.setdefault(f"{module!r} {parameter.numel()}", []).append(name)
    if not found:
        raise FloatingPointError("no parameter of a leaf module has a gradient in every batch")
    return {
        key: Group(torch.cat([trail.rows(name) for name in names]), trail.theta[names[-1]].flatten())
        for key, names in found.items()
    }


def _pieces(trail: Trail, names: Sequence[str]) -> dict[str, Group]:
    """The matrices of the last layer side by side, as its weight, and its vectors, as its bias."""
    if not names:
        raise UnsupportedError("no parameter of the last layer has a gradient in every batch")
    found = {}
    matrices = [name for name in names if trail.theta[name].ndim > 1]
    for key, own in (("the last weight", matrices), ("the last bias", [n for n in names if n not in matrices])):
        if own:
            side = [torch.cat([one[name] for name in own], -1).flatten() for one in (*trail.gradients, trail.theta)]
            found[key] = Group(torch.stack(side[:-1]).double(), side[-1])
    return found
