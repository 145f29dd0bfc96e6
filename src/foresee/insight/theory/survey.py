"""All statements at once: those that can be measured on any network, and those of the networks the papers speak of.

survey(network, (inputs, labels))          # Theorem 7.1, NASI's Proposition 1, Dextr's Lemma 1, on the network itself
on_own_networks()                          # the others, on small networks of the papers' own kind, in seconds
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import ForeseeError
from foresee.handed import as_batches
from foresee.insight.theory.achievable import achievable
from foresee.insight.theory.connections import connections
from foresee.insight.theory.data_agnostic import data_agnostic
from foresee.insight.theory.feature_bounds import feature_bounds
from foresee.insight.theory.fisher import inverse_trace
from foresee.insight.theory.generalisation import generalisation
from foresee.insight.theory.papers_networks import tangent_network
from foresee.insight.theory.statement import Statement
from foresee.insight.theory.stochastic import stochastic
from foresee.insight.theory.training_bound import training_bound
from foresee.insight.theory.transfer import transfer
from foresee.insight.theory.unit_maps import unit_maps
from foresee.insight.theory.wide_and_deep import wide_and_deep

#: samples of a batch that are looked at: every one of them is differentiated by itself
SAMPLES = 4


@dataclass(frozen=True)
class Survey:
    """The statements measured on a network, and for each that was not, by name, the reason."""

    statements: tuple[Statement, ...]
    reasons: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"statements": [one.to_json() for one in self.statements], "reasons": dict(self.reasons)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Survey:
        """What `to_json` gave."""
        return cls(tuple(map(Statement.from_json, plain["statements"])), dict(plain["reasons"]))

    def __str__(self) -> str:
        left_out = [f"{name}: not measured, {reason}" for name, reason in self.reasons.items()]
        return "\n\n".join([*map(str, self.statements), *left_out])


def survey(network: nn.Module, batch: Any, *, samples: int = SAMPLES, steps: int = 10, seed: int = 0) -> Survey:
    """What can be measured on any network with labels, on the first `samples` of a batch; what cannot comes with its reason.

    >>> torch.manual_seed(0) and None
    >>> net = nn.Sequential(nn.Flatten(), nn.Linear(12, 6), nn.ReLU(), nn.Linear(6, 3))
    >>> found = survey(net, (torch.randn(8, 3, 2, 2), torch.arange(8) % 3))
    >>> [(one.name, one.steps[0].holds) for one in found.statements]
    [('Thesis, Theorem 7.1', True), ('NASI, Proposition 1', True), ('Dextr, Lemma 1', True)]
    """
    whole = as_batches(batch, seed=seed)[0]
    few = whole.first(min(samples, len(whole)))
    wanted: dict[str, Callable[[], Statement]] = {
        "Thesis, Theorem 7.1": lambda: connections(network, few, seed=seed),
        "NASI, Proposition 1": lambda: training_bound(network, few, steps=steps, seed=seed),
        "Dextr, Lemma 1": lambda: unit_maps(network, few, seed=seed),
    }
    found, reasons = [], {}
    for name, measure in wanted.items():
        try:
            found.append(measure())
        except (ForeseeError, RuntimeError, FloatingPointError) as why:
            reasons[name] = (str(why).strip() or type(why).__name__).splitlines()[0]
    return Survey(tuple(found), reasons)


def on_own_networks(seed: int = 0) -> tuple[Statement, ...]:
    """Every statement on small networks of the kind it is about: in Jacot's scaling, linear, of two layers.

    >>> {one.name: [step.name for step in one.failing] for one in on_own_networks()}["Thesis, Theorem 7.4"]
    []
    """
    generator = torch.Generator().manual_seed(seed)

    def unit(samples: int, numbers: int) -> Tensor:
        drawn = torch.randn(samples, numbers, generator=generator, dtype=torch.float64)
        return nn.functional.normalize(drawn, dim=1)

    x, z = unit(24, 8), unit(8, 8)
    y = (x[:, 0] > 0).double()
    network, two = tangent_network(8, width=128, seed=seed), tangent_network(8, width=128, outputs=2, seed=seed)
    linear = nn.Linear(8, 1, bias=False).double()
    nn.init.zeros_(linear.weight)
    best = torch.linalg.lstsq(x, y[:, None]).solution.flatten()
    rows = (x @ best - y)[:, None] * x
    return (
        connections(two, (x[:4], y[:4].long())),
        generalisation(network, (x[:8], y[:8]), (x[8:], y[8:])),
        transfer(network, x[:8], z, layers=3),
        wide_and_deep(seed=seed),
        training_bound(two, (x[:6], y[:6].long())),
        data_agnostic(network, x[:8], z, layers=3),
        stochastic(linear, (x, y), best, rates=[0.5 / (1 + step) ** 0.5 for step in range(15)], repeats=5),
        achievable(linear, (x, y), best, rate=0.5),
        inverse_trace(rows.mT @ rows / len(rows), unit(4, 8)),
        unit_maps(network, x[:1]),
        feature_bounds(x[:5], 2 * y[:5] - 1, width=600, time=2.0),
    )
