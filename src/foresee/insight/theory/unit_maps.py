"""Dextr's Lemma 1: the largest singular value of a layer's feature maps is at least 1 (Appendix A.1.3)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from foresee.errors import UnsupportedError
from foresee.insight.theory.statement import Condition, Statement, Step
from foresee.probes.probe import Probe


def unit_maps(network: nn.Module, batch: Any, *, initialise: str = "default", seed: int = 0) -> Statement:
    """The largest singular value of every layer's maps, (channels, positions) of the first sample, and its largest entry.

    The exact step: no entry is larger than the largest singular value. The lemma then assumes an entry of at least 1
    in size, so it says nothing of a layer without one (maps after an operation `none`, averages, small logits); those
    may still reach 1.

    >>> net = nn.Sequential(nn.Flatten(), nn.Linear(4, 3, bias=False))
    >>> _ = net[1].weight.data.fill_(0.01)
    >>> found = unit_maps(net, torch.ones(1, 1, 2, 2))
    >>> found.step("sigma_max >= largest entry").holds, found.constants["share of layers that reach 1"]
    (True, 0.5)
    """
    with Probe(network, batch, seed=seed).initialised(initialise) as probe:
        maps = [feature.map.double() for feature in probe.sample.see("features")]
    if not maps:
        raise UnsupportedError("the network has no layers whose outputs can be seen")
    largest = torch.stack([torch.linalg.matrix_norm(one, ord=2) for one in maps])
    entries = torch.stack([one.abs().max() for one in maps])
    with_one = entries >= 1
    reached = largest >= 1
    share = float(reached.double().mean())
    there = entries > 0
    steps = (
        Step(
            "sigma_max >= largest entry, their ratio in the worst layer",
            float((largest[there] / entries[there]).min()) if bool(there.any()) else 1.0, 1.0, ">=",
        ),
        Step(
            "layers with an entry of at least 1 that reach sigma_max >= 1", float((reached & with_one).sum()),
            float(with_one.sum()), "=",
        ),
        Step("Lemma 1: share of layers with sigma_max >= 1", share, 1.0, ">=",
             note="the lemma is of layers with an entry of at least 1 in size"),
    )  # fmt: skip
    return Statement(
        "Dextr, Lemma 1",
        f"the largest singular values of the feature maps of {len(maps)} layers",
        steps,
        (
            Condition(
                "every layer has an entry of at least 1 in size", bool(with_one.all()), float(with_one.double().mean())
            ),
        ),
        {"share of layers that reach 1": share, "least sigma_max": float(largest.min()), "layers": float(len(maps))},
    )
