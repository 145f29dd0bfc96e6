"""HNAS: the metrics that one bound on the generalisation error has in common, and the scores it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from foresee.errors import InputError, UnknownNameError
from foresee.probes.derivatives import product
from foresee.probes.kernel import MEMORY, ntk, sample_norms, trace_estimates
from foresee.probes.kernel.hessians import products_with_hessians
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, get, proxy
from foresee.proxies.kernels.nasi import loss_gradients, squared_length
from foresee.proxies.kernels.ntk import kernel_bytes, lengths_bytes

_PAPER = (
    "Shu, Understanding and Improving Neural Architecture Search, thesis, National University of Singapore 2022, "
    "chapter 7 (Unifying and Boosting Gradient-Based Training-Free Neural Architecture Search)"
)
_GRADIENT = Needs(labels=True, backward=True, batch=64, looks=("batch.gradients",))
_KERNEL = Needs(labels=True, backward=True, batch=64, each="sample", held=kernel_bytes)
_KERNEL_COST = "samples backward runs of the batch with BatchNorm, 1 without; shared with `ntk_cond:hnas`"

#: name -> whether the score has the trade-off, whether it has kappa (Table 7.5)
SCENARIOS = {
    "realizable": (False, False),
    "realizable_trade_off": (True, False),
    "realizable_kappa": (False, True),
    "non_realizable": (True, True),
}


@proxy("m_grad", needs=_GRADIENT, paper=_PAPER, equation="Eq. 7.2", cost="1 forward + backward run")
def m_grad(probe: Probe) -> Tensor:
    r"""Norm of the gradient of the mean loss: M_Grad.

    $$
    \left\Vert \frac{1}{m} \sum_x \nabla L_x \right\Vert_2
    $$

    Formula: || (1/m) sum over the batch of grad L_x ||_2 by all trainable parameters: the norm of the whole gradient, where
    `grad_norm` sums the norms of the layers.

    Needs labels. BatchNorm: batch statistics. Gradients in the network's own type, the norm in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), "m_grad").ok
    True
    """
    return squared_length(gradient.flatten() for gradient in loss_gradients(probe).values()).sqrt()


@proxy("m_snip", needs=_GRADIENT, paper=_PAPER, equation="Eq. 7.3, first", cost="1 forward + backward run")
def m_snip(probe: Probe) -> Tensor:
    r"""Absolute product of the parameters with the gradient of the mean loss: M_SNIP.

    $$
    \left\vert \frac{1}{m} \sum_x \theta \cdot \nabla L_x \right\vert
    $$

    Formula: | (1/m) sum over the batch of theta . grad L_x | over all trainable parameters: one product, where `snip` sums
    absolute values. Parts that BatchNorm makes independent of their scale cancel to 0.

    Needs labels. BatchNorm: batch statistics. Gradients in the network's own type, the product in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), "m_snip").ok
    True
    """
    theta = dict(probe.network.named_parameters())
    terms = [product(theta[name].detach().flatten(), g.flatten()) for name, g in loss_gradients(probe).items()]
    return torch.stack(terms).sum().abs()


@proxy(
    "m_grasp",
    needs=replace(_KERNEL, held=8.0),
    paper=_PAPER,
    equation="Eq. 7.3, second",
    cost="samples double backward runs of the batch with BatchNorm, of one sample without",
)
def m_grasp(probe: Probe) -> Tensor:
    r"""Absolute mean product of the parameters with each sample's Hessian times its gradient: M_GraSP.

    $$
    \left\vert \frac{1}{m} \sum_x \theta \cdot (H_x \nabla L_x) \right\vert
    $$

    Formula: | (1/m) sum over the batch of theta . (H_x grad L_x) | over all trainable parameters, H_x the Hessian of the loss
    of sample x alone: products sample by sample, where `grasp` takes those of the mean loss, with a sign.

    Needs labels, and layers that can be differentiated twice. BatchNorm: batch statistics, which a sample's loss is
    differentiated through. Derivatives in the network's own type, the products in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(4, 2), torch.tensor([0, 1, 2, 0])), "m_grasp").ok
    True
    """
    return products_with_hessians(probe).mean().abs()


def _trace_bytes(probe: Probe, settings: Mapping[str, Any]) -> float:
    lengths = settings["outputs"] == "all" or settings["method"] == "stochastic"
    return (lengths_bytes if lengths else kernel_bytes)(probe, settings)


@proxy("m_trace", needs=replace(_KERNEL, held=_trace_bytes), paper=_PAPER, equation="Eq. 7.4", cost=_KERNEL_COST)
def m_trace(
    probe: Probe,
    *,
    outputs: str = "label",
    parameters: str = "conv_linear",
    method: str = "exact",
    memory: float = MEMORY,
) -> Tensor:
    r"""Root of the mean squared norm of the samples' gradients: M_Trace.

    $$
    \sqrt{ \frac{1}{m} \Vert \Theta \Vert_{\mathrm{tr}} }
    $$

    Formula: sqrt( ||Theta||_tr / m ), Theta the neural tangent kernel of the m samples. The thesis has one output; its code
    takes that of the sample's own class, by the weights and biases of convolutions and linear layers, and so does this.

    Settings: `outputs` ("label", "sum", "all") and `parameters` ("conv_linear", "named_weight", "all") choose the kernel;
    `method` and `memory` as in `ntk_cond`.

    Needs labels, unless `outputs` says otherwise. BatchNorm: batch statistics; a sample's gradient goes through the
    statistics of the whole batch. Gradients in the network's own type, products in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.tensor([[2.0, 2.0]]), torch.tensor([1])), "m_trace").value  # root of 4 + 4 + 1
    3.0
    """
    if method == "stochastic":
        trace = trace_estimates(probe, outputs=outputs, parameters=parameters).mean()
    elif outputs == "all":
        trace = sample_norms(probe, outputs=outputs, parameters=parameters, method=method, memory=memory).sum()
    else:  # one row per sample: the kernel that kappa needs as well
        kernel = ntk(probe, outputs=outputs, parameters=parameters, method=method, memory=memory)
        trace = kernel.matrix.trace()
    return (trace / len(probe.data[0])).sqrt()


@proxy("m_knas", needs=_KERNEL, paper=_PAPER, equation="Eq. D.11", cost=_KERNEL_COST)
def m_knas(
    probe: Probe,
    *,
    outputs: str = "label",
    parameters: str = "conv_linear",
    method: str = "exact",
    memory: float = MEMORY,
) -> Tensor:
    r"""Root of the absolute mean of the neural tangent kernel: M_KNAS.

    $$
    \sqrt{ \left\vert \frac{1}{m^2} \sum_{i, j} \nabla f(x_i) \cdot \nabla f(x_j) \right\vert }
    $$

    Formula: sqrt( | (1/m^2) sum over i, j of grad f(x_i) . grad f(x_j) | ): never more than `m_trace`. The outputs and
    parameters are those of `m_trace`. The number that KNAS' code computes is `knas`.

    Settings, needs and BatchNorm as for `m_trace`.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.tensor([[2.0, 2.0]]), torch.tensor([1])), "m_knas").value  # root of 4 + 4 + 1
    3.0
    """
    kernel = ntk(probe, outputs=outputs, parameters=parameters, method=method, memory=memory)
    return kernel.matrix.mean().abs().sqrt()


# -- scores of a metric and a condition number ----------------------------------------------------------------------------
def hnas_score(
    metric: Tensor | float,
    kappa: Tensor | float = 1.0,
    mu: Tensor | float = 0.0,
    nu: Tensor | float = 0.0,
    *,
    scenario: str = "non_realizable",
    power: float = 2.0,
    epsilon: float = 0.0,
) -> Tensor:
    """The bound on the generalisation error as a score, lower is better; in float64; everything broadcasts over leading axes.

        realizable              1 / M                                   (Corollary 7.1)
        realizable_trade_off    1 / M + mu F(M^2 - nu)
        realizable_kappa        kappa / M                               (Theorem 7.2)
        non_realizable          kappa / M + mu F(M^2 - nu)              (Corollary 7.2, Eq. 7.7)

    F(x) = |x|^power, with power = 2 t, t = 1 in the thesis; its released code has power 1 and adds `epsilon` = 1e-6 to M.
    M and kappa may come from different widths, batches and initialisations.

    >>> hnas_score(2.0, 10.0, mu=0.5, nu=1.0), hnas_score(torch.tensor([2.0, 4.0]), scenario="realizable")
    (tensor(9.5000, dtype=torch.float64), tensor([0.5000, 0.2500], dtype=torch.float64))
    """
    if scenario not in SCENARIOS:
        raise UnknownNameError("scenario", scenario, SCENARIOS)
    trade_off, conditioned = SCENARIOS[scenario]
    metric = torch.as_tensor(metric, dtype=torch.float64)
    gap = (kappa if conditioned else 1.0) / (metric + epsilon)
    return gap + mu * (metric**2 - nu).abs() ** power if trade_off else gap


def bound_constants(samples: int, learning_rate: float, *, c: float = 1.0, t: float = 1.0) -> tuple[float, float]:
    """The mu and nu for which Eq. 7.7 is the bound of Eq. 7.6, (m/2) (1 - eta M^2 / (m c))^(2t) + kappa / M.

    mu = (m/2) (eta / (m c))^(2t) and nu = m c / eta, to be used with power = 2 t.

    >>> mu, nu = bound_constants(4, 0.5)
    >>> float(hnas_score(2.0, 6.0, mu, nu)), 4 / 2 * (1 - 0.5 * 2.0**2 / 4) ** 2 + 6 / 2
    (3.5, 3.5)
    """
    if samples < 1 or not learning_rate > 0 or not c > 0:
        raise InputError(f"samples {samples}, learning rate {learning_rate}, c {c}: all must be positive")
    nu = samples * c / learning_rate
    return samples / 2 * nu ** (-2 * t), nu


def _both_bytes(probe: Probe, settings: Mapping[str, Any]) -> float:
    """One after the other: the more of what the metric and kappa take."""
    return max(get(name).predicted_bytes(probe) for name in (settings["metric"], "ntk_cond:hnas"))


@proxy(
    "hnas",
    direction="lower",
    needs=replace(_KERNEL, held=_both_bytes),
    paper=_PAPER,
    equation="Eq. 7.7",
    cost="that of the metric and of `ntk_cond:hnas`; one kernel where the metric is m_trace or m_knas",
    variants={"released": {"power": 1.0, "epsilon": 1e-6}},
)
def hnas(
    probe: Probe,
    *,
    metric: str = "m_trace",
    scenario: str = "non_realizable",
    mu: float = 0.0,
    nu: float = 0.0,
    power: float = 2.0,
    epsilon: float = 0.0,
    kappa: float | None = None,
    metric_batch: int | None = None,
    kappa_batch: int | None = None,
    metric_initialise: str = "default",
    kappa_initialise: str = "default",
) -> Tensor:
    r"""Bound on the generalisation error from a metric M and the condition number kappa of the kernel.

    $$
    \frac{\kappa}{M} + \mu (M^2 - \nu)^2
    $$

    Formula: kappa / M + mu (M^2 - nu)^2 (Eq. 7.7 with t = 1); other scenarios leave out kappa or the trade-off, see
    `hnas_score`. Variant `released` is the form of the public code, kappa / (M + 1e-6) + mu |M^2 - nu|.

    Settings: `metric`, the name of a proxy (m_grad, m_snip, m_grasp, m_trace, m_knas; any other whose values are positive);
    `scenario`; `mu` and `nu`, 0 by default, to be chosen on validation results; `power` 2 t and `epsilon`. M and kappa come
    from the same network, batch and weights, unless told otherwise: `metric_batch` and `kappa_batch` take the first so many
    samples, `metric_initialise` and `kappa_initialise` draw weights for one of them, and `kappa` hands over a number, of a
    narrower network for instance.

    Needs labels. BatchNorm: batch statistics. The status is that of kappa where it has none (`rank_deficient`).

    >>> from foresee import score
    >>> _ = torch.manual_seed(0)
    >>> batch = torch.randn(4, 5), torch.tensor([0, 1, 2, 0])
    >>> found = score(torch.nn.Linear(5, 3), batch, "hnas")
    >>> f"{found.value * found.parts['metric'] / found.parts['kappa']:.6f}"
    '1.000000'
    """
    if scenario not in SCENARIOS:
        raise UnknownNameError("scenario", scenario, SCENARIOS)
    value = get(metric, {"initialise": metric_initialise})(_first(probe, metric_batch)).double()
    if float(value) <= 0:
        raise FloatingPointError(f"the metric {metric} is {float(value):g}: the bound needs a positive one")
    if not SCENARIOS[scenario][1]:
        condition = torch.ones_like(value)
    elif kappa is None:
        condition = get("ntk_cond:hnas", {"initialise": kappa_initialise})(_first(probe, kappa_batch))
    else:
        condition = value.new_tensor(kappa)
    probe.note(metric=value, kappa=condition)
    return hnas_score(value, condition, mu, nu, scenario=scenario, power=power, epsilon=epsilon)


def _first(probe: Probe, samples: int | None) -> Probe:
    """A probe of the first so many samples of the first batch; None: this one."""
    return probe if samples is None else probe.first(samples)
