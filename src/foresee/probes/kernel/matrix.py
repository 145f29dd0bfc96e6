"""The neural tangent kernel of a probe's first batch, and the lengths of its gradients.

    kernel = ntk(probe, outputs="label", parameters="conv_linear")        # Theta = G G^T
    gradients = sample_gradients(probe)                                   # g of each sample's loss, by parameter
    lengths = sample_norms(probe, outputs="all", parameters="all")        # |g|^2 of each sample and output
    estimates = trace_estimates(probe, probes=16)                         # each one an estimate of the trace

Gradients are those of one sample's output in the run of the whole batch: where BatchNorm couples samples, through the
statistics of all of them, as in the papers' code. They are computed in the network's own type; products are in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from foresee.errors import InputError
from foresee.probes.kernel.contraction import by_layers
from foresee.probes.kernel.heads import MEMORY, Answer, Question, directions, selected
from foresee.probes.kernel.plan import Plan, plan
from foresee.probes.kernel.rows import by_rows
from foresee.probes.kernel.runs import CoupledError, combination, run
from foresee.probes.splitting import out_of_memory
from foresee.probes.subject import Subject


@dataclass(frozen=True, eq=False)
class Kernel:
    """The matrix, (rows, rows) in float64, rows ordered by sample and head; the type of its gradients; how it was made."""

    matrix: Tensor
    dtype: torch.dtype
    plan: Plan


def ntk(
    probe: Subject,
    *,
    outputs: str = "sum",
    parameters: str = "all",
    method: str = "exact",
    memory: float = MEMORY,
    buckets: int = 4096,
) -> Kernel:
    """The neural tangent kernel Theta = G G^T of the first batch, G the gradients of the outputs by the parameters.

    Args:
        probe: the network and its batch.
        outputs: "sum" of the outputs, the "label"'s own, "all", or the "loss": see `OUTPUTS`. B samples and n outputs give
            B rows, or B n for "all".
        parameters: "all", "named_weight" or "conv_linear": see `PARAMETERS`.
        method: "exact" takes the way with fewer bytes: "layers" (contraction layer by layer; samples must not be coupled)
            or "rows" (gradients one by one, parameters in groups that fit). "stochastic" keeps a random projection of each
            gradient to `buckets` numbers (signed sums): eigenvalues within a factor of about 1 +- 2 sqrt(rows / buckets).
        memory: bytes to stay under, where that can be chosen.
        buckets: length of the projections of "stochastic".

    Cost: with samples coupled by BatchNorm, B H backward runs of the whole batch per group of parameters (H heads per
    sample); otherwise what H backward runs cost. Products O((B H)^2 P). Memory: `predicted_bytes`.

    >>> from foresee.probes import Probe
    >>> net, inputs = torch.nn.Linear(2, 1), torch.tensor([[1.0, 2.0], [3.0, 0.0]])
    >>> ntk(Probe(net, inputs)).matrix  # x . x' + 1 for the bias
    tensor([[ 6.,  4.],
            [ 4., 10.]], dtype=torch.float64)
    """
    if buckets < 1:
        raise InputError(f"buckets {buckets}: at least 1 is needed")
    question = Question(outputs, parameters, method, memory, "matrix", buckets if method == "stochastic" else 0)

    def compute() -> Kernel:
        matrix, made = _answer(probe, question)
        return Kernel(matrix, probe.dtype, made)

    return probe.remember(question, compute)


def sample_norms(
    probe: Subject, *, outputs: str = "all", parameters: str = "all", method: str = "exact", memory: float = MEMORY
) -> Tensor:
    """Squared length of the gradient of each sample and head: (samples, heads), float64. Their sum is the kernel's trace.

    No gradient is kept. Arguments and cost are those of `ntk`, without the products.

    >>> from foresee.probes import Probe
    >>> net, inputs = torch.nn.Linear(2, 3), torch.tensor([[1.0, 2.0], [3.0, 0.0]])
    >>> sample_norms(Probe(net, inputs))
    tensor([[ 6.,  6.,  6.],
            [10., 10., 10.]], dtype=torch.float64)
    """
    question = Question(outputs, parameters, method, memory, "lengths")
    lengths: Tensor = probe.remember(question, lambda: _answer(probe, question)[0].reshape(len(probe.data[0]), -1))
    return lengths


def sample_gradients(
    probe: Subject, *, outputs: str = "loss", parameters: str = "all", method: str = "exact", memory: float = MEMORY
) -> dict[str, Tensor]:
    """Gradients of each sample of the first batch by name: (samples, ...), or (samples, outputs, ...) for outputs "all".

    Parameters without influence are left out. In the network's own type, without a graph. Holds as many numbers as samples
    (times outputs) times parameters, and is remembered with the probe; while it is made, what the chosen way takes is there
    too. Arguments and cost are those of `ntk`, without the products.

    >>> from foresee.probes import Probe
    >>> net, inputs = torch.nn.Linear(2, 3), torch.tensor([[1.0, 2.0], [3.0, 0.0]])
    >>> sample_gradients(Probe(net, inputs), outputs="sum")["weight"][:, 0]
    tensor([[1., 2.],
            [3., 0.]])
    """
    question = Question(outputs, parameters, method, memory, "rows")

    def compute() -> dict[str, Tensor]:
        found: dict[str, Tensor] = _answer(probe, question)[0]
        if outputs != "all":
            return found
        return {name: rows.reshape(len(probe.data[0]), -1, *rows.shape[1:]) for name, rows in found.items()}

    return probe.remember(question, compute)


def trace_estimates(probe: Subject, *, outputs: str = "all", parameters: str = "all", probes: int = 16) -> Tensor:
    """Hutchinson's estimates of the trace of the kernel, (probes,) in float64: each |sum of rows with random signs|^2.

    Their mean has no bias; its variance is at most 2 |Theta|_F^2 / probes, so the relative deviation is at most
    sqrt(2 / probes). Cost: one forward and `probes` backward runs of the batch, whatever the number of outputs.

    >>> from foresee.probes import Probe
    >>> net, inputs = torch.nn.Linear(2, 3, bias=False), torch.tensor([[1.0, 2.0], [-2.0, 1.0]])
    >>> trace_estimates(Probe(net, inputs), probes=2)  # orthogonal rows: no deviation
    tensor([30., 30.], dtype=torch.float64)
    """
    question = Question(outputs, parameters, "stochastic")
    if probes < 1:
        raise InputError(f"probes {probes}: at least 1 is needed")
    with probe.contact() as network, torch.enable_grad():
        chosen = list(selected(network, question.parameters).values())
        made = run(probe, network)
        along = directions(probe, made, question.outputs)
        signs = probe.draws.integers("kernel.signs", 2, probes, *along.shape[:2]) * 2 - 1
        sums = (combination(made, along, one, chosen) for one in signs)
        return torch.stack([torch.stack([part.double().square().sum() for part in one]).sum() for one in sums])


def predicted_bytes(
    probe: Subject,
    *,
    outputs: str = "all",
    parameters: str = "all",
    method: str = "exact",
    memory: float = MEMORY,
    buckets: int = 4096,
    matrix: bool = True,
) -> int:
    """Bytes that `ntk` (or with `matrix=False`, `sample_norms`) will take at most, beside the network itself.

    Costs one run of two samples. Counted are tensors: a process can hold more, by what its allocator keeps for later.

    >>> from foresee.probes import Probe
    >>> predicted_bytes(Probe(torch.nn.Linear(2, 3), torch.zeros(4, 2))) > 0
    True
    """
    used = buckets if method == "stochastic" else 0
    answer: Answer = "matrix" if matrix else "lengths"
    return plan(probe, Question(outputs, parameters, method, memory, answer, used)).bytes


def _answer(probe: Subject, question: Question) -> tuple[Any, Plan]:
    """By the planned way; where it turns out not to apply to this network, by the next more general one."""
    made = plan(probe, question)
    if made.way == "layers":
        try:
            return by_layers(probe, question, made), made
        except (CoupledError, RuntimeError, ValueError, LookupError) as error:
            if out_of_memory(error):
                raise
        question = replace(question, method="rows")
        made = plan(probe, question)
    try:
        return by_rows(probe, question, made), made
    except CoupledError:
        made = plan(probe, question, alone=False)
        return by_rows(probe, question, made), made
