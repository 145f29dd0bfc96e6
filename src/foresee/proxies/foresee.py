"""The default score: how many weights of a network can learn something of their own."""

from __future__ import annotations

from torch import Tensor

from foresee.errors import InputError
from foresee.probes.exchanges import Exchanges
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy

#: the forms there are, the default last
FORMS = (2, 3)


@proxy(
    "foresee",
    needs=Needs(batch=16, backward=True, looks=("batch.exchanges",)),
    paper="this project; docs/default-score.md",
    cost="1 forward + backward run of 16 samples, and two products of channels per layer",
    variants={"layers": {"layers": True}, "2": {"form": 2}},
)
def foresee(
    probe: Probe, *, channels: int = 256, positions: int = 16, columns: int = 8, form: int = 3, layers: bool = False
) -> Tensor:
    r"""How many weights can learn something of their own, layer by layer, and how steadily; no labels.

    $$
    \frac{\sum_\ell \sqrt{w_\ell r(A_\ell) r(G_\ell)}}{\sqrt[6]{1 + F^2}}, \quad
    r(X) = \frac{1}{C} \frac{\left( \sum_i \lambda_i \right)^2}{\sum_i \lambda_i^2}, \quad
    F^2 = \frac{1}{N} \sum_f \sum_w \left( w \frac{\partial f}{\partial w} \right)^2
    $$

    Formula: sum over layers of sqrt(w r(A) r(G)), over the sixth root of 1 + F^2. A layer is a convolution or linear layer,
    once per call, and w the number of its weights. A is what it reads (its input), G what it is told (the gradient by its
    output of a random projection of the network's outputs), each a matrix of C channels x positions of one sample. r(X), in
    [0, 1], is the share of its channels that are independent: the participation ratio of the eigenvalues of their correlation
    matrix, over C. F is how far an output moves when every weight w of the layers is off by chance, per relative error: F^2
    is the mean over outputs f of the sum over weights of (w df/dw)^2, from the same random projection.

    Reasons: the Fisher matrix of a layer is close to the Kronecker product of the second moments of A and G, and the
    participation ratio of such a product is the product of both: w r(A) r(G) is the number of directions in which the weights
    can learn from a sample. A sample has no more independent channels than positions, so a wide layer on a small map gains
    little by its width. F is the size of that matrix, with weights measured by their own size: a network whose outputs jump
    at a touch of its weights can only be trained in small steps. docs/default-score.md has the reasoning, the ablation and
    where it falls short.

    r is the mean over groups of as few samples as have `positions` positions: single ones, unless maps are small or samples
    are vectors. Settings: `positions`; `channels` is the most channels of a layer that are compared, evenly spaced, which
    bounds the cost. Parts: `reads` and `told` are the sums of sqrt(w) r with r(A) and r(G) alone, `steady` is 1 over the
    sixth root. With `layers` (the variant `foresee:layers`) also `layer NAME` for each layer: its sqrt(w r(A) r(G)), over all
    its calls.

    The variant `foresee:2` (`form` 2) is the default score before this one: sum over layers of n sqrt(s(A) s(G)), over 1 +
    log(1 + F), with n the channels of a filter's group times the side of the kernel, and s the sphericity, the geometric over
    the arithmetic mean of the eigenvalues, within groups of samples with `columns` positions per channel.

    Needs 16 samples (fewer will do), no labels. BatchNorm: batch statistics. Sums in float64.
    Draws: `projection.<shape>`.

    >>> import torch
    >>> from torch import nn
    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.Flatten(), nn.Linear(8 * 16, 10))
    >>> found = score(net, torch.randn(8, 3, 8, 8), "foresee")
    >>> found.ok, sorted(found.parts)
    (True, ['reads', 'steady', 'told'])
    """
    if channels < 2 or columns < 1 or positions < 2:
        raise InputError(
            f"channels {channels}, positions {positions}, columns {columns}: at least 2 channels, 2 positions and 1 column "
            "are needed"
        )
    if form not in FORMS:
        raise InputError(f"form {form}: the default score has the forms {' and '.join(map(str, FORMS))}")
    seen = probe.batch.see(Exchanges(channels, columns, positions, form))
    r_A, r_G, F = seen.reads, seen.told, seen.change
    if form == 2:
        n, steady = seen.directions, 1 / (1 + F.log1p())
    else:
        n, steady = seen.weights.sqrt(), (1 + F**2) ** (-1 / 6)
    probe.note(reads=n @ r_A, told=n @ r_G, steady=steady)
    if layers:
        for name, part in zip(seen.names, (n * (r_A * r_G).sqrt()).tolist(), strict=True):
            key = f"layer {name or 'network'}"
            probe.note(**{key: probe.notes.get(key, 0.0) + part})
    return n @ (r_A * r_G).sqrt() * steady
