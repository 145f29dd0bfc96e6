"""Theorem 7.3 of the thesis: a metric on other data bounds the generalisation error as well (Appendix D.1.4)."""

from __future__ import annotations

import math
from typing import Any

from torch import nn

from foresee.checks import whole
from foresee.insight.flat import Flat
from foresee.insight.theory.data_agnostic import data_agnostic
from foresee.insight.theory.statement import Condition, Statement, Step
from foresee.probes.kernel import condition_number, spectrum


def transfer(network: nn.Module, batch: Any, other: Any, *, layers: int, seed: int = 0) -> Statement:
    """M_Trace on the data and on other data: how far they are apart, and what that does to the bound kappa / M.

    As in `data_agnostic`, `layers` is L of a network in Jacot's scaling. The exact step is the root's (D.40); what
    follows from Lemma D.9 is measured with the factor L that its own proof (NASI's Proposition 2) has, and without
    it, as printed.

    >>> import torch
    >>> from foresee.insight.theory.papers_networks import tangent_network
    >>> torch.manual_seed(0) and None
    >>> x, z = (torch.nn.functional.normalize(torch.randn(6, 8), dim=1) for _ in range(2))
    >>> found = transfer(tangent_network(8, width=128), x, z, layers=3)
    >>> found.step("D.40").holds, found.step("D.41").holds
    (True, True)
    """
    whole("layers", layers)
    apart = data_agnostic(network, batch, other, layers=layers, seed=seed)
    kernel = Flat(network, batch, seed=seed).kernel()
    kappa = float(condition_number(spectrum(kernel)))
    outputs = len(kernel) / len(Flat(network, batch, seed=seed))
    own, others = (math.sqrt(apart.constants[name] * outputs) for name in ("first trace", "second trace"))
    least = min(own, others)
    z, n0 = apart.constants["Z"], apart.constants["n0"]
    slack = outputs * z * layers / (2 * n0 * least) if least > 0 else math.inf
    printed = outputs * z / (2 * n0 * least) if least > 0 else math.inf
    room = others - slack
    steps = [
        Step("D.40: |M - M'| <= |M^2 - M'^2| / (2 min)", abs(own - others), abs(own**2 - others**2) / (2 * least)),
        Step("D.40 with Proposition 2: |M - M'| <= Z L / (2 n0 min)", abs(own - others), slack),
        Step("D.40 as printed: |M - M'| <= Z / (2 n0 min)", abs(own - others), printed),
        Step("D.41: M' <= M + Z L / (2 n0 min)", others, own + slack),
    ]
    if room > 0:
        steps.append(Step("Theorem 7.3: kappa / M <= kappa / (M' - Z L / (2 n0 min))", kappa / own, kappa / room))
    return Statement(
        "Thesis, Theorem 7.3",
        "M_Trace on the data against M_Trace on other data",
        tuple(steps),
        (*apart.conditions, Condition("M' > Z L / (2 n0 min)", room > 0, room)),
        {"M": own, "M'": others, "kappa": kappa, "Z": z, "n0": n0, "slack": slack},
        () if room > 0 else ("the data are too far apart, or have too few numbers: the theorem says nothing here",),
    )
