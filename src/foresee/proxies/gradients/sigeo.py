"""SiGeo: steadiness of gradients, the Fisher-Rao norm and the current loss, for networks with or without warm-up."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from foresee.errors import InputError
from foresee.probes.across import across
from foresee.probes.last import last_layer
from foresee.probes.pieces import together
from foresee.probes.probe import Probe
from foresee.probes.steps import Trail, frozen, stepped
from foresee.proxies.base import proxy
from foresee.proxies.gradients.sigeo_released import ctr_fisher_rao_term, ctr_steadiness_term, cv_fisher_rao_term
from foresee.proxies.gradients.sigeo_statistics import COST, NEEDS, PAPER, fisher_rao_norm, reached
from foresee.proxies.gradients.zico import steadiness

_FORMS = ("paper", "released_cv", "released_ctr")
#: which parameters learn
TRAINABLE = ("all", "last")


@proxy(
    "sigeo",
    needs=NEEDS,
    paper=PAPER,
    equation="Eq. 7, Appendix E",
    cost=COST,
    variants={
        "vision": {"lambda2": 50.0, "lambda3": 1.0},
        "ctr": {"lambda3": 1.0},
        "literal": {"every_module": True},
        "sgd": {"optimizer": "sgd", "lr": 0.1},
        "released_cv": {"form": "released_cv", "optimizer": "sgd", "lr": 1.0},
        "released_ctr": {
            "form": "released_ctr",
            "trainable": "last",
            "optimizer": "adagrad",
            "lr": 0.04,
            "eps": 0.01,
            "rising": 50,
            "clip": 5.0,
            "lambda3": 1.0,
        },
        "released_ctr_whole": {
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
    eps: float = 1e-10,
    rising: int = 0,
    trainable: str = "all",
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
    batch. A layer that lies in pieces, as in networks that inherit their weights, is one. On a network with BatchNorm
    theta.g is 0 for every layer that BatchNorm follows: the parts of `fisher_rao` say which parameters carry it.

    Settings: `lambda1`, `lambda2`, `lambda3` are 1, 1, 0 without warm-up; after one the paper takes 1, 50, 1 for images
    (`vision`) and 1, 1, 1 for click-through networks (`ctr`). `every_module` gives the first term one log for each module
    that has trainable parameters, biases and norms among them, over all of these parameters. `neuron_wise` takes one log
    of all entries for the first term. `optimizer` ("none", "sgd", "adagrad") with `lr` changes the weights after each
    batch, theta being those after the last; `clip` cuts each gradient to that norm before, `eps` is Adagrad's, and over
    `rising` steps the rate goes from 1e-8 up to `lr`, staying at its beginning for two. This happens on the side: the
    network's own weights stay. `trainable` is "all" or "last": with "last" all but the last layer (what the network calls
    its head, or its last layer with parameters) is taken for frozen, in every term. `form` is the formula.

    Variants: `vision` and `ctr` have the weights for networks that were warmed up. `literal` is Definition 1 as it
    stands, with its M modules "containing trainable parameters" (`every_module`); without it the first term takes the
    layers that ZiCo and the public code for images take. `sgd` steps by Eq. 4. `released_cv` and `released_ctr` are the
    two public codes: the first has 2 log( sum over layers of |theta.sum_i g_i| + 1e-5 ) as its second term. The weight
    penalties of these codes, which their scripts set to 0, are not part of them here.

    `released_ctr` is what the released scripts for click logs compute. They freeze embeddings and blocks before scoring
    (finetune_whole_supernet 0), so that of all parameters two enter the score, weight and bias of the final layer to the
    logit. Of each the first term reads one entry, the first whose deviation over the batches (1/(k-1)) is not 0: it is
    log( mean |g_j| / std g_j ) of one weight plus that of the bias. The second is log( |theta.sum_i g_i| + 1e-10 ).
    Between the four batches Adagrad (eps 0.01) steps with gradients cut to 5, at rates of 1e-8, 1e-8, 0.0008 and 0.0016:
    the beginning of a rise to 0.04 in 50 steps that never takes place; theta is that after the fourth step. The scripts
    minimise -lambda1 first - lambda2 second + lambda3 loss with lambda 1, 1, 0 (Criteo, Small; for Full the last is left
    undefined), 1, 1, 1 (Avazu, Small), 0, 1, 1 (Avazu, Full), 1, 1, 1 (KDD, Small) and 1, 0, 0 (KDD, Full); here it is
    1, 1, 1, and more is better. `released_ctr_whole` is the same function of a network of which nothing is frozen, at a
    rate of 0.04: one entry per layer, layers with the same description being taken for one.

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
    if trainable not in TRAINABLE:
        raise InputError(f"trainable {trainable!r} of sigeo: expected one of {', '.join(TRAINABLE)}")
    only = list(last_layer(probe.network)) if trainable == "last" else None
    if optimizer == "none":
        trail = frozen(probe, 4) if only is None else frozen(probe, 4).only(only)
    else:
        how: dict[str, Any] = {"lr": lr, "clip": clip, "eps": eps, "rising": rising, "only": only}
        trail = stepped(probe, 4, optimizer=optimizer, **how)
    terms: dict[str, tuple[float, Tensor]] = {}
    # A term of weight 0 is not even computed: where it is infinite it would turn the value into NaN.
    if lambda1:
        if form == "released_ctr":
            first = ctr_steadiness_term(trail, probe.network, last=only is not None)
        else:
            first = steadiness_term(trail, probe.network, neuron_wise, every_module)
        terms["steadiness"] = lambda1, first
    if lambda2:
        terms["fisher_rao"] = lambda2, _fisher_rao_term(trail, probe, form, last=only is not None)
    if lambda3:
        terms["loss"] = -lambda3, trail.losses[-1].double()
    if not terms:
        raise InputError("sigeo with all lambdas 0: at least one must differ")
    probe.note(**{name: term for name, (_, term) in terms.items()})
    return torch.stack([weight * term for weight, term in terms.values()]).sum()


def steadiness_term(trail: Trail, network: nn.Module, neuron_wise: bool = False, every_module: bool = False) -> Tensor:
    """Sum over layers of log || mu / sigma ||_1 (ZiCo), or the log of the norm over the entries of all layers.

    With `every_module` over modules in place of layers, each with all of its own trainable parameters. A layer that lies in
    pieces is one.
    """
    modules = _modules(trail, network) if every_module else together(network, trail.reached_layers)
    terms = across(trail.gradients, steadiness, [name for names in modules for name in names])
    ratios = torch.stack([torch.stack([terms[name] for name in names]).sum() for names in modules])
    if not bool(ratios.any()):
        raise FloatingPointError("the gradients of all batches are the same: their deviation is 0 everywhere")
    return ratios.sum().log() if neuron_wise else torch.where(ratios == 0, 0.0, ratios.log()).sum()


def _fisher_rao_term(trail: Trail, probe: Probe, form: str, *, last: bool) -> Tensor:
    if form == "released_cv":
        return cv_fisher_rao_term(trail, probe.network)
    if form == "released_ctr":
        return ctr_fisher_rao_term(trail, probe.network, last=last)
    norm = fisher_rao_norm(trail)
    if float(norm) == 0:
        raise FloatingPointError("the parameters' product with their gradient is 0 in every batch: its log is infinite")
    return norm.log()


def _modules(trail: Trail, network: nn.Module) -> list[list[str]]:
    """The parameters that have a gradient, those of one module together."""
    found: dict[str, list[str]] = {}
    for names in together(network, reached(trail)):
        found.setdefault(names[0].rpartition(".")[0], []).extend(names)
    return list(found.values())
