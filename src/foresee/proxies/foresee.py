"""The default score: in how many independent directions the layers of a network can learn."""

from __future__ import annotations

from torch import Tensor

from foresee.errors import InputError
from foresee.probes.exchanges import Exchanges
from foresee.probes.probe import Probe
from foresee.proxies.base import Needs, proxy

#: the forms there are, the default first
FORMS = (2, 3)


@proxy(
    "foresee",
    needs=Needs(batch=16, backward=True, looks=("batch.exchanges",)),
    paper="this project; docs/default-score.md",
    cost="1 forward + backward run of 16 samples, and two determinants per layer",
    variants={"layers": {"layers": True}, "2": {"form": 2}, "3": {"form": 3}},
)
def foresee(
    probe: Probe, *, channels: int = 256, positions: int = 16, columns: int = 8, form: int = 2, layers: bool = False
) -> Tensor:
    r"""In how many independent directions the layers can learn, and how steadily; no labels.

    $$
    \frac{\sum_\ell n_\ell \sqrt{s(A_\ell) s(G_\ell)}}{1 + \log (1 + F)}, \quad
    s(X) = \frac{\left( \prod_i \lambda_i \right)^{1/C}}{\frac{1}{C} \sum_i \lambda_i}, \quad
    F^2 = \frac{1}{N} \sum_f \sum_w \left( w \frac{\partial f}{\partial w} \right)^2
    $$

    Formula: sum over layers of n sqrt(s(A) s(G)), over 1 + log(1 + F). A layer is a convolution or linear layer, once per
    call. A is what it reads (its input), G what it is told (the gradient by its output of a random projection of the
    network's outputs), each a matrix of channels x positions. s(X), in [0, 1], is the sphericity of the correlation matrix of
    the channels: the geometric over the arithmetic mean of its eigenvalues, 1 where channels are independent and 0 where one
    is a combination of others. n is the number of directions that a filter reads: the channels of its group, times the square
    root of the positions of its kernel. F is how far an output moves when every weight w of the layers is off by chance, per
    relative error: F^2 is the mean over outputs f of the sum over weights of (w df/dw)^2, from the same random projection.

    Reasons: the Fisher matrix of a layer is close to the Kronecker product of the second moments of A and G, so a layer
    learns as evenly as these are round; F is the size of that matrix, with weights measured by their own size: a network
    whose outputs jump at a touch of its weights can only be trained in small steps. An error grows by a factor from layer to
    layer, so it is measured by its logarithm. docs/default-score.md has the reasoning, the ablation and where it falls short.

    Positions are those of as few samples as give `columns` of them per channel, and s is the mean over such groups of
    samples: what a layer has to tell apart is within a sample, but the geometric mean of C eigenvalues from N positions is
    too small by about C / 2N, 6 % at 8 positions a channel, so a layer with few positions takes several samples together.

    Settings: `columns`; `channels` is the most channels of a layer that are compared, evenly spaced, which bounds the cost
    of a determinant. Parts: `reads` and `told` are the sums with s(A) and s(G) alone, `steady` is 1 / (1 + log(1 + F)).
    With `layers` (the variant `foresee:layers`) also `layer NAME` for each layer: its n sqrt(s(A) s(G)), over all its calls.

    The variant `foresee:3` (`form` 3) is a candidate for the next default: sum over layers of sqrt(w r(A) r(G)), over the
    sixth root of 1 + F^2, with w the number of a layer's weights and r the share of its channels that are independent within
    one sample, the participation ratio of the eigenvalues over C; groups of samples have at least `positions` positions. It
    is far ahead on NAS-Bench-Macro and a little on cells, and hardly sees width on small or smooth maps, which is what
    counts in mobile networks for ImageNet (docs/third-form.md). `foresee:2` is the form described above, whatever the
    default will be.

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
