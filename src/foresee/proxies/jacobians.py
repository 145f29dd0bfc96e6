"""Proxies that read the input Jacobian: how alike the network's local linear maps are at different samples."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy

#: keeps logarithms and inverses of vanishing correlations finite, in both papers
_TINY = 1e-5


@proxy(
    "jacov",
    needs=Needs(backward=True, batch=64, looks=("batch.jacobian",)),
    paper="Mellor et al., Neural Architecture Search without Training (first version), 2020, "
    "as in Abdelfattah et al., Zero-Cost Proxies for Lightweight NAS, ICLR 2021",
    cost="1 forward + backward run, and one spectrum of (samples x samples)",
)
def jacov(probe: Probe) -> Tensor:
    r"""Minus the sum of log v + 1/v over the eigenvalues of the correlations between samples' input gradients; no labels.

    $$
    -\sum_i \left( \log (v_i + k) + \frac{1}{v_i + k} \right), \quad k = 10^{-5}
    $$

    Formula: -sum_i ( log(v_i + k) + 1/(v_i + k) ), k = 1e-5, v the eigenvalues of the (samples, samples) Pearson correlation
    matrix of the rows of J, and row i of J is the gradient of the sum of all outputs by sample i. Its maximum, minus the
    number of samples, is at uncorrelated rows.

    Needs a batch of at least 2; labels are never read. A sample whose gradient is constant has no correlation (status `nan`).
    BatchNorm: batch statistics, so the gradient of the sum couples the samples. Gradients in the network's own type, the
    correlations and a symmetric solver in float64.

    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    >>> score(net, torch.randn(4, 6), "jacov").ok
    True
    """
    if len(probe.batch) < 2:
        raise UnsupportedError("a batch of one sample has no correlations: at least 2 are needed")
    return spread_of_spectrum(correlations(_rows(probe)))


@proxy(
    "epe_nas",
    needs=Needs(labels=True, backward=True, batch=256, looks=("batch.jacobian", "batch.outputs")),
    paper="Lopes et al., EPE-NAS: Efficient Performance Estimation Without Training for Neural Architecture Search, "
    "ICANN 2021",
    cost="1 forward + backward run",
)
def epe_nas(probe: Probe, *, many_classes: bool | None = None) -> Tensor:
    r"""How the input gradients of samples of the same class correlate.

    $$
    \sum_c \vert s_c \vert, \quad s_c = \sum_{i, j} \log ( \vert C_{c, ij} \vert + 10^{-5} )
    $$

    Formula: sum over classes of |s_c|, s_c = the sum of log(|C_c| + 1e-5) over the entries of C_c, the Pearson correlation
    matrix of the rows of J of class c; row i of J is the gradient of the sum of all outputs by sample i. With more than 100
    outputs s_c is divided by the number of its samples, and the value is the sum over all pairs of classes of |s_c - s_c'|,
    each pair in both orders, divided by the number of classes; classes with a single sample, which have no correlation, are
    left out of it (in the first form they add log(1 + 1e-5)). Classes without a sample never count.

    Settings: `many_classes` chooses the second form (True) or the first (False); None: by the number of outputs.

    Needs labels, one class per sample; of them only which samples share a class. A sample whose gradient is constant has no
    correlation (status `nan`). BatchNorm: batch statistics. Gradients in the network's own type, the rest in float64.

    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    >>> score(net, (torch.randn(4, 6), torch.tensor([0, 1, 1, 0])), "epe_nas").ok
    True
    """
    classes = _classes(probe)
    rows = _rows(probe)
    if many_classes is None:
        outputs = probe.batch.outputs
        many_classes = outputs.ndim > 1 and outputs.shape[1] > 100
    groups = [rows[classes == label] for label in sorted(set(classes.tolist()))]
    if max(map(len, groups)) == 1:
        raise UnsupportedError("no two samples of the batch share a class: there are no correlations within classes")
    if not many_classes:
        return torch.stack([log_correlations(correlations(group)) for group in groups]).abs().sum()
    several = [group for group in groups if len(group) > 1]
    return differences(torch.stack([log_correlations(correlations(group)) / len(group) for group in several]))


def correlations(rows: Tensor) -> Tensor:
    """Pearson correlations between rows: (..., B, n) to (..., B, B), in float64; a constant row is an arithmetic error."""
    rows = rows.double()
    means = rows.mean(-1, keepdim=True)
    centred = rows - means
    lengths = centred.norm(dim=-1, keepdim=True)
    # What is left of a constant row after centring is rounding.
    if bool((lengths <= 1e-14 * means.abs() * rows.shape[-1] ** 0.5).any()):
        raise FloatingPointError(
            "the gradient by a sample is the same number for all of its inputs: it has no correlation"
        )
    if not bool(lengths.isfinite().all()):
        raise FloatingPointError("the gradients by the inputs hold NaN or infinite values")
    unit: Tensor = centred / lengths
    return unit @ unit.mT


def spread_of_spectrum(correlations: Tensor) -> Tensor:
    """Minus the sum of log(v + k) + 1/(v + k) over the eigenvalues: (..., B, B) to (...)."""
    values: Tensor = torch.linalg.eigvalsh(correlations) + _TINY
    return -(values.log() + 1 / values).sum(-1)


def log_correlations(correlations: Tensor) -> Tensor:
    """Sum over entries of log(|c| + k): (..., B, B) to (...)."""
    return (correlations.abs() + _TINY).log().sum((-2, -1))


def differences(values: Tensor) -> Tensor:
    """Sum over pairs of |x - y|, each in both orders, over the number of values: (..., n) to (...)."""
    return (values[..., :, None] - values[..., None, :]).abs().sum((-2, -1)) / values.shape[-1]


def _rows(probe: Probe) -> Tensor:
    rows = probe.batch.jacobian.flatten(1)
    if rows.shape[1] < 2:
        raise UnsupportedError("inputs of a single number: their gradients have no correlation")
    return rows


def _classes(probe: Probe) -> Tensor:
    """The class of each sample, (samples,)."""
    labels = probe.told(probe.data[0])
    if labels.numel() != len(labels) or (labels.is_floating_point() and bool((labels != labels.round()).any())):
        raise UnsupportedError(f"labels of shape {tuple(labels.shape)}: one class per sample is needed")
    return labels.flatten()
