"""Numbers of the neural tangent kernel: its trace norm and its condition number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from foresee.probes.kernel import (
    MEMORY,
    Kernel,
    condition_number,
    ntk,
    predicted_bytes,
    sample_norms,
    spectrum,
    trace_estimates,
)
from foresee.probes.memory import stored_by
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, RankDeficientError, proxy

#: which kernel: TE-NAS' and HNAS' own, and the one of all outputs and parameters
TENAS = {"outputs": "sum", "parameters": "named_weight"}
HNAS = {"outputs": "label", "parameters": "conv_linear"}
FULL = {"outputs": "all", "parameters": "all"}
#: a process holds more than its tensors, by what its allocator keeps for later
_KEPT = 1.5


def kernel_bytes(probe: Probe, settings: Mapping[str, Any], *, matrix: bool = True) -> float:
    """What the kernel of these settings takes, or without `matrix` the lengths of its rows; random signs are one run."""
    if settings["method"] == "stochastic" and not matrix:
        return 2.0 * stored_by(probe, len(probe.data[0]))
    known = ("outputs", "parameters", "method", "memory", "buckets")
    return _KEPT * predicted_bytes(probe, matrix=matrix, **{key: settings[key] for key in known if key in settings})


def lengths_bytes(probe: Probe, settings: Mapping[str, Any]) -> float:
    """What the lengths of the rows of the kernel take."""
    return kernel_bytes(probe, settings, matrix=False)


@proxy(
    "ntk_trace",
    needs=Needs(backward=True, batch=64, each="output", held=lengths_bytes),
    paper="Shu et al., NASI: Label- and Data-agnostic Neural Architecture Search at Initialization, ICLR 2022",
    equation="Eq. 9 (with the normalisation of Proposition 1 by setting)",
    cost="samples x outputs backward runs of the batch with BatchNorm, outputs backward runs without",
)
def ntk_trace(
    probe: Probe,
    *,
    outputs: str = "all",
    parameters: str = "all",
    normalise: bool = False,
    method: str = "exact",
    probes: int = 16,
    memory: float = MEMORY,
) -> Tensor:
    r"""Trace norm of the neural tangent kernel: the squared norms of the gradients of all outputs, summed.

    $$
    \Vert \Theta \Vert_{\mathrm{tr}} = \sum_x \Vert \nabla f(x) \Vert_F^2
    $$

    Formula: ||Theta||_tr = sum over samples x of ||grad f(x)||_F^2, f all n outputs, the gradient by all trainable parameters
    (Eq. 9): a sum over the batch, not a mean. Exactly the trace of Theta = G G^T, which is never formed.

    Settings: `normalise` divides by samples times outputs, the mean eigenvalue of Proposition 1. `outputs` "sum" or "label"
    and `parameters` "named_weight" or "conv_linear" take other kernels. `method` "exact" (or its ways "layers", "rows") is
    exact within `memory` bytes; "stochastic" averages Hutchinson's estimate over `probes` random sign vectors, one backward
    run each, relative deviation at most sqrt(2 / probes), the estimate's own given as part `deviation`.

    Needs no labels. BatchNorm: batch statistics; a sample's gradient goes through the statistics of the whole batch. Cost
    with BatchNorm O(samples outputs) backward runs of the batch, without O(outputs). Gradients in the network's own type,
    sums in float64.

    >>> import torch
    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), torch.tensor([[1.0, 2.0]]), "ntk_trace").value  # 3 (1 + 4 + 1)
    18.0
    """
    samples = len(probe.data[0])
    if method == "stochastic":
        estimates = trace_estimates(probe, outputs=outputs, parameters=parameters, probes=probes)
        trace = estimates.mean()
        if probes > 1:
            probe.note(deviation=estimates.std() / probes**0.5)
        rows = samples * (len(probe.batch.outputs[0].flatten()) if outputs == "all" else 1)
    else:
        norms = sample_norms(probe, outputs=outputs, parameters=parameters, method=method, memory=memory)
        trace, rows = trace_norm(norms), norms.numel()
    return trace / rows if normalise else trace


def trace_norm(norms: Tensor) -> Tensor:
    """Sum of squared norms: (..., samples, heads) to (...)."""
    return norms.double().sum((-1, -2))


@proxy(
    "ntk_cond",
    direction="lower",
    needs=Needs(backward=True, batch=64, each="sample", held=kernel_bytes),
    paper="Chen et al., Neural Architecture Search on ImageNet in Four GPU Hours (TE-NAS), ICLR 2021; kappa of HNAS: "
    "Shu, thesis, chapter 7",
    equation="lambda_max / lambda_min",
    cost="samples backward runs of the batch with BatchNorm, 1 without; `full`: times the outputs",
    variants={"tenas": TENAS, "hnas": HNAS, "full": FULL},
)
def ntk_cond(
    probe: Probe,
    *,
    outputs: str = "sum",
    parameters: str = "named_weight",
    method: str = "exact",
    buckets: int = 4096,
    memory: float = MEMORY,
) -> Tensor:
    r"""Condition number of the neural tangent kernel: how unevenly the network learns its samples at first.

    $$
    \frac{\lambda_{\max}(\Theta)}{\lambda_{\min}(\Theta)}, \quad \Theta = G G^\top
    $$

    Formula: lambda_max(Theta) / lambda_min(Theta), Theta = G G^T, the rows of G gradients of outputs by parameters.

    Variants: `tenas` (the default) differentiates the sum of a sample's outputs by every parameter with "weight" in its name,
    normalisation included; `hnas` the output of the sample's own class (labels needed) by the weights and biases of
    convolutions and linear layers; `full` every output by every trainable parameter: as many rows as samples times outputs.

    Settings: `outputs` and `parameters` as in the variants. `method` "exact" (or its ways "layers", "rows") within `memory`
    bytes; "stochastic" projects each gradient to `buckets` random signed sums first: good to a factor of about
    1 +- 4 sqrt(rows / buckets), in less memory, not in less time.

    A least eigenvalue that is not positive, or no more than rounding, is the status `rank_deficient`; the reference code
    gives a negative or huge number there.

    BatchNorm: batch statistics; a sample's gradient goes through the statistics of the whole batch, one backward run of the
    batch per row. Without BatchNorm all rows of one output come from one backward run. Gradients in the network's own type,
    products and eigenvalues in float64.

    >>> import torch
    >>> from foresee import score
    >>> net = torch.nn.Linear(2, 1, bias=False)
    >>> f"{score(net, torch.tensor([[1.0, 0.0], [0.0, 2.0]]), 'ntk_cond').value:g}"
    '4'
    >>> score(net, torch.tensor([[1.0, 0.0], [2.0, 0.0]]), "ntk_cond").status
    'rank_deficient'
    """
    kernel = ntk(probe, outputs=outputs, parameters=parameters, method=method, memory=memory, buckets=buckets)
    return condition_of(kernel, probe)


def condition_of(kernel: Kernel, probe: Probe) -> Tensor:
    """The condition number, its parts noted; the reason as an exception where there is none."""
    eigenvalues = spectrum(kernel.matrix)
    condition = condition_number(eigenvalues, kernel.dtype)
    least, greatest = float(eigenvalues[0]), float(eigenvalues[-1])
    if bool(condition.isnan()):
        raise FloatingPointError("the kernel has NaN or infinite entries")
    if bool(condition.isinf()):
        size = len(kernel.matrix)
        raise RankDeficientError(
            f"the least eigenvalue of the {size}x{size} kernel, {least:.3g}, is at the level of rounding "
            f"(the greatest is {greatest:.3g}): samples with the same gradients, or fewer parameters than rows"
        )
    probe.note(lambda_max=greatest, lambda_min=least)
    return condition
