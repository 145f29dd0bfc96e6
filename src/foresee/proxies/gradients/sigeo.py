"""SiGeo: steadiness of gradients, the Fisher-Rao norm and the current loss, for networks with or without warm-up."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.errors import InputError, UnsupportedError
from foresee.probes.derivatives import product
from foresee.probes.probe import Probe
from foresee.probes.steps import Trail, frozen, stepped
from foresee.proxies.base import Needs, proxy
from foresee.proxies.gradients.sigeo_released import ctr_fisher_rao_term, ctr_steadiness_term, cv_fisher_rao_term
from foresee.proxies.gradients.zico import steadiness

_PAPER = "Zheng et al., SiGeo: Sub-One-Shot NAS via Information Theory and Geometry of Loss Landscape, 2023"
_NEEDS = Needs(labels=True, backward=True, batches=4, batch=64, looks=("batches.gradients", "batches.loss"))
_COST = "1 forward + backward run per batch"
_FORMS = ("paper", "released_cv", "released_ctr")


@proxy(
    "sigeo",
    needs=_NEEDS,
    paper=_PAPER,
    equation="Eq. 7, Appendix E",
    cost=_COST,
    variants={
        "vision": {"lambda2": 50.0, "lambda3": 1.0},
        "ctr": {"lambda3": 1.0},
        "literal": {"every_module": True},
        "sgd": {"optimizer": "sgd", "lr": 0.1},
        "released_cv": {"form": "released_cv", "optimizer": "sgd", "lr": 1.0},
        "released_ctr": {
            "form": "released_ctr",
            "optimizer": "adagrad",
            "lr": 0.04,
            "clip": 5.0,
            "lambda3": 1.0,
        },
    },
)
def sigeo(
    probe: Probe,
    *,
    lambda1: float = 1.0,
    lambda2: float = 1.0,
    lambda3: float = 0.0,
    every_module: bool = False,
    neuron_wise: bool = False,
    optimizer: str = "none",
    lr: float = 0.1,
    clip: float | None = None,
    form: str = "paper",
) -> Tensor:
    r"""Steadiness of the gradients (as ZiCo) plus the log of the Fisher-Rao norm minus the current loss, weighted.

    $$
    \lambda_1 \sum_\ell \log \left\Vert \frac{\mu_\ell}{\sigma_\ell} \right\Vert_1 +
    \lambda_2 \log \left( \frac{1}{k} \sum_{i = 1}^{k} (\theta \cdot g_i)^2 \right) - \lambda_3 L_k
    $$

    Formula: lambda1 sum over layers of log || mu / sigma ||_1 + lambda2 log( (1/k) sum_i (theta.g_i)^2 ) - lambda3 L_k, with
    mu = mean_i |g_i| and sigma = std_i(g_i) (1/k) over the k batches, for the weights of convolutions and linear layers; g_i
    is the gradient of the loss of batch i, theta.g_i goes over all trainable parameters, and L_k is the loss of the last
    batch. On a network with BatchNorm theta.g is 0 for every layer that BatchNorm follows: the parts of `fisher_rao` say
    which parameters carry it.

    Settings: `lambda1`, `lambda2`, `lambda3` are 1, 1, 0 without warm-up; after one the paper takes 1, 50, 1 for images
    (`vision`) and 1, 1, 1 for click-through networks (`ctr`). `every_module` gives the first term one log for each module
    that has trainable parameters, biases and norms among them, over all of these parameters. `neuron_wise` takes one log
    of all entries for the first term. `optimizer` ("none", "sgd", "adagrad") with `lr` changes the weights after each
    batch, theta being those after the last; `clip` cuts each gradient to that norm before. This happens on the side: the
    network's own weights stay. `form` is the formula.

    Variants: `vision` and `ctr` have the weights for networks that were warmed up. `literal` is Definition 1 as it
    stands, with its M modules "containing trainable parameters" (`every_module`); without it the first term takes the
    layers that ZiCo and the public code for images take. `sgd` steps by Eq. 4. `released_cv` and `released_ctr` are the
    two public codes: the first has 2 log( sum over layers of |theta.sum_i g_i| + 1e-5 ) as its second term; the second
    reads one entry per layer, takes layers with the same description for one, and has log( |theta.sum_i g_i| + 1e-10 ).
    The warm-up and the weight penalties of these codes are not part of them here.

    Which reading the printed correlations are of cannot be told from them: the two order networks nearly alike (Spearman
    0.98 between them on 54 cells of NAS-Bench-201), `literal` a little better there (0.60 against 0.56 with the accuracy,
    four batches of 16; the difference is 0.04, from 0.005 to 0.09, and Table 2 prints 0.78 for batches of 64). The public
    code for images, which has 0.62 on the same cells, takes the layers.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. Gradients in the
    network's own type, the rest in float64.

    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 3))
    >>> found = score(net, (torch.randn(8, 3, 2, 2), torch.arange(8) % 3), "sigeo")
    >>> found.ok, sorted(found.parts)
    (True, ['fisher_rao', 'steadiness'])
    """
    if form not in _FORMS:
        raise InputError(f"form {form!r} of sigeo: expected one of {', '.join(_FORMS)}")
    trail = frozen(probe, 4) if optimizer == "none" else stepped(probe, 4, optimizer=optimizer, lr=lr, clip=clip)
    terms: dict[str, tuple[float, Tensor]] = {}
    # A term of weight 0 is not even computed: where it is infinite it would turn the value into NaN.
    if lambda1:
        by_entry = form == "released_ctr"
        first = (
            ctr_steadiness_term(trail, probe.network) if by_entry else steadiness_term(trail, neuron_wise, every_module)
        )
        terms["steadiness"] = lambda1, first
    if lambda2:
        terms["fisher_rao"] = lambda2, _fisher_rao_term(trail, probe, form)
    if lambda3:
        terms["loss"] = -lambda3, trail.losses[-1].double()
    if not terms:
        raise InputError("sigeo with all lambdas 0: at least one must differ")
    probe.note(**{name: term for name, (_, term) in terms.items()})
    return torch.stack([weight * term for weight, term in terms.values()]).sum()


@proxy("fisher_rao", needs=_NEEDS, paper=_PAPER, equation="Eq. 7, second term, Appendix E", cost=_COST)
def fisher_rao(probe: Probe) -> Tensor:
    r"""Fisher-Rao norm: mean over batches of the squared product of all parameters with their gradient.

    $$
    \frac{1}{k} \sum_{i = 1}^{k} (\theta \cdot g_i)^2
    $$

    Formula: (1/k) sum over k batches of (theta.g_i)^2, over all trainable parameters. The products of a layer that BatchNorm
    follows vanish. The parts of the score say which kinds of layers carry it (`share.Linear`, `share.BatchNorm2d`, ...): the
    sizes of their parameters' products |theta_m.g_m|, summed over the batches, as shares of the sum over all. `carriers`
    gives the same by parameter.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. Gradients in the
    network's own type, the rest in float64.

    >>> from foresee import score
    >>> net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 3))
    >>> list(score(net, (torch.randn(8, 3, 2, 2), torch.arange(8) % 3), "fisher_rao").parts)
    ['share.Linear']
    """
    trail = frozen(probe, 4)
    kinds: dict[str, float] = {}
    modules = dict(probe.network.named_modules())
    for name, share in carriers(trail).items():
        kind = f"share.{type(modules[name.rpartition('.')[0]]).__name__}"
        kinds[kind] = kinds.get(kind, 0.0) + share
    probe.note(**kinds)
    return fisher_rao_norm(trail)


@proxy("mean_abs_gradient", needs=_NEEDS, paper=_PAPER, equation="Eq. 7, mu; Theorem 2", cost=_COST)
def mean_abs_gradient(probe: Probe) -> Tensor:
    r"""Sum over all parameters of the mean over batches of the absolute gradient of the loss.

    $$
    \Vert \mu \Vert_1, \quad \mu = \frac{1}{k} \sum_{i = 1}^{k} \vert g_i \vert
    $$

    Formula: || mu ||_1, mu = (1/k) sum over k batches of |g_i|, over all trainable parameters that have a gradient.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. Gradients in the
    network's own type, the sum in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(8, 2), torch.arange(8) % 3), "mean_abs_gradient").ok
    True
    """
    trail = frozen(probe, 4)
    return torch.stack([trail.rows(name).abs().mean(0).sum() for name in _reached(trail)]).sum()


@proxy("gradient_spread", direction="lower", needs=_NEEDS, paper=_PAPER, equation="Eq. 7, sigma; Theorem 1", cost=_COST)
def gradient_spread(probe: Probe) -> Tensor:
    r"""Sum over all parameters of the standard deviation over batches of the gradient of the loss; less is better.

    $$
    \Vert \sigma \Vert_1, \quad \sigma^2 = \frac{1}{k} \sum_{i = 1}^{k} (g_i - \bar{g})^2
    $$

    Formula: || sigma ||_1, sigma = std over k batches of g_i, with 1/k, over all trainable parameters that have a gradient.
    By Theorem 1 less of it lets the training loss fall further; it grows with the number of parameters too.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. Gradients in the
    network's own type, the sum in float64.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(8, 2), torch.arange(8) % 3), "gradient_spread").ok
    True
    """
    trail = frozen(probe, 4)
    return torch.stack([trail.rows(name).std(0, correction=0).sum() for name in _reached(trail)]).sum()


@proxy("current_loss", direction="lower", needs=_NEEDS, paper=_PAPER, equation="Eq. 7, third term", cost=_COST)
def current_loss(probe: Probe) -> Tensor:
    r"""The loss of the last batch, before any training on these batches; less is better.

    $$
    L(\theta; D_k)
    $$

    Formula: L(theta; D_k), the loss of the last of k batches. It tells something after a warm-up only.

    Needs labels and 4 batches; of fewer than 4 the first is split into 4. BatchNorm: batch statistics. In the network's
    own type.

    >>> from foresee import score
    >>> score(torch.nn.Linear(2, 3), (torch.randn(8, 2), torch.arange(8) % 3), "current_loss").ok
    True
    """
    return probe.at_least(4)[-1].loss


def steadiness_term(trail: Trail, neuron_wise: bool = False, every_module: bool = False) -> Tensor:
    """Sum over layers of log || mu / sigma ||_1 (ZiCo), or the log of the norm over the entries of all layers.

    With `every_module` over modules in place of layers, each with all of its own trainable parameters.
    """
    modules = _modules(trail) if every_module else [[name] for name in trail.reached_layers]
    ratios = torch.stack([torch.stack([steadiness(trail.rows(name)) for name in names]).sum() for names in modules])
    if not bool(ratios.any()):
        raise FloatingPointError("the gradients of all batches are the same: their deviation is 0 everywhere")
    return ratios.sum().log() if neuron_wise else torch.where(ratios == 0, 0.0, ratios.log()).sum()


def fisher_rao_norm(trail: Trail) -> Tensor:
    """(1/k) sum_i (theta.g_i)^2."""
    return torch.stack(list(parameter_products(trail).values())).sum(0).square().mean()


def parameter_products(trail: Trail) -> dict[str, Tensor]:
    """The product of each parameter with its gradient, by batch: (batches,)."""
    return {name: product(trail.theta[name].flatten(), trail.rows(name)) for name in _reached(trail)}


def carriers(trail: Trail) -> dict[str, float]:
    """Which parameters carry the Fisher-Rao norm: |theta_m.g_m| summed over the batches, as shares of all, greatest first."""
    sizes = {name: float(products.abs().sum()) for name, products in parameter_products(trail).items()}
    total = sum(sizes.values())
    return {name: sizes[name] / total if total else 0.0 for name in sorted(sizes, key=lambda name: -sizes[name])}


def _fisher_rao_term(trail: Trail, probe: Probe, form: str) -> Tensor:
    if form == "released_cv":
        return cv_fisher_rao_term(trail)
    if form == "released_ctr":
        return ctr_fisher_rao_term(trail, probe.network)
    norm = fisher_rao_norm(trail)
    if float(norm) == 0:
        raise FloatingPointError("the parameters' product with their gradient is 0 in every batch: its log is infinite")
    return norm.log()


def _modules(trail: Trail) -> list[list[str]]:
    """The parameters that have a gradient, those of one module together."""
    found: dict[str, list[str]] = {}
    for name in _reached(trail):
        found.setdefault(name.rpartition(".")[0], []).append(name)
    return list(found.values())


def _reached(trail: Trail) -> list[str]:
    if not trail.reached:
        raise UnsupportedError("no parameter has a gradient in every batch")
    return trail.reached
