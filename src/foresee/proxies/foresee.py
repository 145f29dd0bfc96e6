"""The default score: in how many directions the layers of a network can learn, at all resolutions."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.errors import InputError
from foresee.probes.exchanges import Exchanges
from foresee.probes.probe import Probe
from foresee.probes.resolutions import behind, joined, resolutions, spread, sums
from foresee.proxies.base import Needs, proxy

#: where there is nothing, it is nothing's share
LEAST = torch.finfo(torch.float64).tiny
#: the forms there are, the default last
FORMS = (2, 3, 4)


@proxy(
    "foresee",
    needs=Needs(batch=16, backward=True, looks=("batch.exchanges",)),
    paper="this project; docs/default-score.md",
    cost="1 forward + backward run of 16 samples, and two determinants per layer",
    variants={
        "layers": {"layers": True},
        "2": {"form": 2},
        "3": {"form": 3},
        "4": {"form": 4},
        "whole": {"form": 3, "each": False},
    },
)
def foresee(
    probe: Probe, *, channels: int = 256, columns: int = 8, form: int = 4, each: bool = True, layers: bool = False
) -> Tensor:
    r"""In how many directions the layers can learn evenly and steadily, spread over resolutions; no labels.

    $$
    \frac{1}{R} \left( \sum_{r=1}^{R} \sqrt{ \sum_{\ell \in r} d_\ell } \right)^2, \quad
    d_\ell = \sqrt{ \frac{w_\ell \sqrt{p_\ell} s(A_\ell) s(G_\ell)}{1 + k_\ell f_\ell^2} }, \quad
    s(X) = \frac{\left( \prod_i \lambda_i \right)^{1/C}}{\frac{1}{C} \sum_i \lambda_i}, \quad
    f_\ell^2 = \frac{1}{N} \sum_o \sum_{v \in \ell} \left( v \frac{\partial o}{\partial v} \right)^2
    $$

    Formula: (sum over resolutions of the root of D)^2 / R, D = sum over the layers of that resolution of
    sqrt(w sqrt(p) s(A) s(G) / (1 + k f^2)), R the number of resolutions. A layer is a convolution or linear layer, once per
    call; w is the number of its weights and p of the positions that it makes, so w sqrt(p) is the geometric mean of its
    weights and its MACs. A is what it reads (its input), G what it is told (the gradient by its output of a random projection
    of the network's outputs), each a matrix of channels x positions. s(X), in [0, 1], is the sphericity of the correlation
    matrix of the channels: the geometric over the arithmetic mean of its eigenvalues, 1 where channels are independent and 0
    where one is a combination of others. f is how far an output moves when every weight v of the layer is off by chance, per
    relative error: f^2 is the mean over outputs o of the sum over weights of (v do/dv)^2, from the same random projection. k
    is the number of layers of its resolution from this one on, on the way to the outputs.

    Reasons: the Fisher matrix of a layer is close to the Kronecker product of the second moments of A and G, so of w
    directions w s(A) s(G) can be learned evenly, and each does more where there are more positions, of which neighbours are
    nearly copies. What a layer makes is read through k layers: if each is off as this one, outputs of size 1 have the size
    sqrt(1 + k f^2), so 1 / (1 + k f^2) is the share that is not error. Roots, because a layer twice as wide has four times as
    many weights. A network is a chain of resolutions, and each works on what the others leave: the score is the sum of all D,
    times how evenly it lies on the resolutions. docs/default-score.md has the reasoning, the ablation and where it falls
    short.

    Positions are those of as few samples as give `columns` of them per channel, and s is the mean over such groups of
    samples: what a layer has to tell apart is within a sample, but the geometric mean of C eigenvalues from N positions is
    too small by about C / 2N, 6 % at 8 positions a channel, so a layer with few positions takes several samples together.
    Layers are of one resolution where the maps that they make are, up to less than a factor of two in their positions;
    vectors are with the coarsest maps.

    Settings: `columns`; `channels` is the most channels of a layer that are compared, evenly spaced, which bounds the cost
    of a determinant. Parts: `reads` and `told` are sums over layers of sqrt(w sqrt(p)) s(A) and s(G), `steady` is the share
    of the score that f leaves, in [0, 1]. With `layers` (the variant `foresee:layers`) also `layer NAME` for each layer, over
    all its calls: its part of the score.

    The forms before are kept as they were. `foresee:3` (`form` 3) counts weights alone, takes all n layers of the resolution
    in place of k, and joins resolutions without dividing by R. `foresee:whole` (`form` 3, `each` off) has the steadiness of
    the network instead: the sum of the roots of D without f, squared, over (1 + F^2)^(1/6), F^2 the sum of all f^2.
    `foresee:2` is the sum over layers of n sqrt(s(A) s(G)), over 1 + log(1 + F), where n is the channels of a layer's group
    times the root of the positions of its kernel. `foresee:4` is the form described above, whatever the default will be.

    Needs 16 samples (fewer will do), no labels. BatchNorm: batch statistics. Determinants in float64.
    Draws: `projection.<shape>`.

    >>> import torch
    >>> from torch import nn
    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.Flatten(), nn.Linear(8 * 16, 10))
    >>> found = score(net, torch.randn(8, 3, 8, 8), "foresee")
    >>> found.ok, sorted(found.parts)
    (True, ['reads', 'steady', 'told'])
    """
    if channels < 2 or columns < 1:
        raise InputError(f"channels {channels}, columns {columns}: at least 2 channels and 1 column are needed")
    if form not in FORMS:
        raise InputError(f"form {form}: the default score has the forms {', '.join(map(str, FORMS))}")
    seen = probe.batch.see(Exchanges(channels, columns))
    even = (seen.reads * seen.told).sqrt()
    if form == 2:
        size, steady = seen.directions, 1 / (1 + seen.change.log1p())
        value, parts = size @ even * steady, size * even * steady
    else:
        at = resolutions(seen.positions)
        size, over = (seen.weights.sqrt(), joined) if form == 3 else (seen.work.sqrt(), spread)
        values = size * even
        if not each:
            worth = values * (1 + seen.change**2) ** (-1 / 6)
        else:
            many = torch.bincount(at)[at] if form == 3 else behind(seen.later, at, seen.changes > 0)
            worth = values / (1 + many * seen.changes**2).sqrt()
        value = over(worth, at)
        parts = shares(worth, at) * (value / joined(worth, at).clamp(min=LEAST))
        steady = value / over(values, at).clamp(min=LEAST)
    probe.note(reads=size @ seen.reads, told=size @ seen.told, steady=steady)
    if layers:
        for name, part in zip(seen.names, parts.tolist(), strict=True):
            key = f"layer {name or 'network'}"
            probe.note(**{key: probe.notes.get(key, 0.0) + part})
    return value


def shares(values: Tensor, at: Tensor) -> Tensor:
    """The parts of layers in `joined`, which is their sum: (..., layers), (layers,) to (..., layers).

    >>> shares(torch.tensor([4.0, 5.0, 16.0]), torch.tensor([0, 0, 1])).round(decimals=2)
    tensor([ 9.3300, 11.6700, 28.0000])
    """
    roots = sums(values, at).sqrt()
    weight = torch.where(roots > 0, 1 / roots, 0.0) * roots.sum(-1, keepdim=True)
    return values * weight[..., at]
