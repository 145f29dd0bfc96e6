"""SiGeo's Theorem 4: the optimality gap by the trace of the inverse Fisher information (Appendix C.2, Lemma 7)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import InputError, UnsupportedError
from foresee.insight.flat import Flat
from foresee.insight.theory.statement import Condition, Statement, Step
from foresee.probes.kernel import spectrum
from foresee.probes.losses import choose

#: parameters of a network whose Fisher information is made as a whole
MOST = 2000


def fisher_information(network: nn.Module, batch: Any, *, seed: int = 0) -> Tensor:
    """The empirical Fisher information, the mean of g g^T over samples: (parameters, parameters), for small networks.

    >>> fisher_information(nn.Linear(1, 1, bias=False).apply(lambda m: m.weight.data.fill_(3.0)),
    ...                    (torch.ones(1, 1), torch.tensor([0.5])))  # (f - y)^2 at f = 3: the slope is 5
    tensor([[25.]], dtype=torch.float64)
    """
    flat = Flat(network, batch, seed=seed)
    if flat.size > MOST:
        raise UnsupportedError(f"{flat.size:,} parameters: the matrix is made of at most {MOST:,}")
    labels = flat.batch.labels
    if labels is None:
        raise UnsupportedError("no labels in the batch: hand over (inputs, labels)")
    point = flat.weights.detach().requires_grad_()
    loss = choose(None, flat.outputs(point).detach(), [labels])
    rows = torch.stack([torch.autograd.grad(one, point, retain_graph=True)[0] for one in flat.losses(point, loss)])
    return rows.mT @ rows / len(rows)


def inverse_trace(information: Tensor, distances: Tensor | None = None) -> Statement:
    """The steps of the theorem for a positive definite matrix F (d, d), and displacements (k, d) from the minimum, if given.

    Lemma 7 claims Tr(F^-1) <= d^2 / Tr(F) + (d lambda_1 - d) / lambda_d. It drops a term of its own derivation on the
    way and cannot be right for small F: of F = s I the left side is d / s, the right one d whatever s < 1 is. What
    does hold is Tr(F^-1) <= d / lambda_d. The theorem hides a constant, so the bound itself is no step: it can be
    neither met nor missed.

    >>> found = inverse_trace(0.5 * torch.eye(3))
    >>> found.step("Lemma 7").holds, found.step("what holds").holds, inverse_trace(2 * torch.eye(3)).holds
    (False, True, True)
    """
    if information.ndim != 2 or information.shape[0] != information.shape[1]:
        raise InputError(f"a matrix of shape {tuple(information.shape)}: expected a square one")
    values = spectrum(information)
    d, least, largest = len(values), float(values[0]), float(values[-1])
    if not least > 0:
        raise InputError(
            f"the least eigenvalue is {least:.3g}: the theorem assumes a positive definite Fisher information (A.4); "
            "more samples than parameters are needed"
        )
    inverse, trace = float((1 / values).sum()), float(values.sum())
    steps = [
        Step(
            "Lemma 7, as printed: Tr(F^-1)", inverse, d**2 / trace + (d * largest - d) / least,
            note="false where eigenvalues are below 1, by F = s I",
        ),
        Step("what holds: Tr(F^-1) <= d / lambda_d", inverse, d / least),
        Step("and: d^2 / Tr(F) <= Tr(F^-1) (Cauchy)", d**2 / trace, inverse),
    ]  # fmt: skip
    if distances is not None:
        moved = torch.as_tensor(distances, dtype=torch.float64)
        along = float(((moved @ information.double()) * moved).sum(1).mean())
        steps.append(Step("Eq. 18: E v^T F v <= Tr(F) E|v|^2", along, trace * float(moved.square().sum(1).mean())))
    return Statement(
        "SiGeo, Theorem 4",
        f"the trace of the inverse Fisher information, d = {d}",
        tuple(steps),
        (Condition("positive definite", True, least),),
        {"lambda_1": largest, "lambda_d": least, "Tr F": trace},
        ("the theorem's own bound hides a constant: it is neither met nor missed",),
    )
