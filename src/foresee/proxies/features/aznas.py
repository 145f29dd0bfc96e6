"""The four scores of AZ-NAS: expressivity, progressivity, trainability, complexity."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.probe import Probe
from foresee.probes.stages import stages_of
from foresee.proxies.base import Needs, proxy

_PAPER = "Lee and Ham, AZ-NAS: Assembling Zero-Cost Proxies for Network Architecture Search, CVPR 2024"
_NEEDS = Needs(data=False, batch=64, held=4.0)
_GIVEN = {"given": {"gaussian": False, "initialise": "default"}}


@proxy("az_expressivity", needs=_NEEDS, paper=_PAPER, cost="1 forward run", variants=_GIVEN, initialise="he")
def az_expressivity(probe: Probe, *, gaussian: bool = True) -> Tensor:
    r"""Sum over stages of the entropy of the principal components of the features; no labels.

    $$
    \sum_\ell E_\ell, \quad E_\ell = -\sum_i p_i \log (p_i + 10^{-8}), \quad
    p_i = \frac{\lambda_i(\Sigma_\ell)}{\sum_j \lambda_j(\Sigma_\ell)}
    $$

    Formula: sum over stages of -sum_i p_i log(p_i + 1e-8), p the eigenvalues of the covariance of the channels over all
    samples and positions, divided by their sum. Isotropic features have the most entropy, the log of the number of
    channels.

    Settings: `gaussian` draws the inputs from N(0, 1), as many as the batch has and of its shape; where some inputs are whole
    numbers (categories), the batch stays as it is. The weights are drawn by `he` (`initialise` says otherwise; the paper
    leaves transformers their own). Variant `given` looks at the batch with the network's own weights.

    Stages are what the network's method `stages` returns, or the outputs of its blocks: see `foresee.probes.stages`. The
    channels of maps are the second axis, those of tokens and vectors the last.

    Needs no data but the shape. BatchNorm: batch statistics. Features in the network's own type, spectra in float64.
    Draws: `input.<i>`, `weights.<name>`.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3), nn.ReLU())
    >>> score(net, torch.zeros(4, 3, 8, 8), "az_expressivity").ok
    True
    """
    return entropies(probe, gaussian).sum()


@proxy("az_progressivity", needs=_NEEDS, paper=_PAPER, cost="1 forward run", variants=_GIVEN, initialise="he")
def az_progressivity(probe: Probe, *, gaussian: bool = True) -> Tensor:
    r"""The least increase of expressivity from one stage to the next; no labels.

    $$
    \min_\ell (E_{\ell + 1} - E_\ell)
    $$

    Formula: min over stages of E_(i+1) - E_i, E the entropy of `az_expressivity` per stage. The paper leaves it out for
    transformers, whose stages have the same width.

    Settings, variant, stages, needs and draws: as for `az_expressivity`, with which it shares its run. At least two stages.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3), nn.ReLU())
    >>> score(net, torch.zeros(4, 3, 8, 8), "az_progressivity").ok
    True
    """
    found = entropies(probe, gaussian)
    if len(found) < 2:
        raise UnsupportedError("the network has a single stage: nothing to compare it with")
    return found.diff().min()


@proxy(
    "az_trainability",
    needs=Needs(data=False, backward=True, batch=64, held=8.0),
    paper=_PAPER,
    cost="1 forward + backward run",
    variants={**_GIVEN, "vit": {"initialise": "default", "skip_identities": True}},
    initialise="he",
)
def az_trainability(probe: Probe, *, gaussian: bool = True, skip_identities: bool = False) -> Tensor:
    r"""How near each stage is to keeping the size of gradients that go back through it; no labels.

    $$
    \frac{1}{L} \sum_{\ell = 1}^{L} \left( 2 - s_\ell - \frac{1}{s_\ell + 10^{-6}} \right), \quad
    s_\ell = \sigma_{\max}(A_\ell)
    $$

    Formula: mean over stages of 2 - s - 1/(s + 1e-6), at most 0, where s = 1. s is the greatest singular value of A =
    mean over samples and positions of g_in g_out^T, for random signs g_out at the output of a stage and what comes back
    of them at the stage before, g_in. Where a stage has fewer positions, the positions that become one are channels of
    g_in.

    Settings: `skip_identities` leaves out stages whose output is their input; otherwise such a network has the status
    `nan` (the public code's rule for transformers, and for others). `gaussian`, weights and variant `given` as for
    `az_expressivity`; variant `vit` is the paper's rule for transformers: their own weights, and identities left out.

    Stages as for `az_expressivity`; at least two, each of which reads the one before. Needs no data but the shape.
    BatchNorm: batch statistics. Gradients in the network's own type, the rest in float64. Draws: `signs.<i>`,
    `input.<i>`, `weights.<name>`.

    >>> from foresee import score
    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3), nn.ReLU())
    >>> score(net, torch.zeros(4, 3, 8, 8), "az_trainability").status
    'unsupported'
    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 8, 2, stride=2), nn.ReLU())
    >>> score(net, torch.zeros(4, 3, 8, 8), "az_trainability").ok
    True
    """
    matrices: list[Tensor] = []
    with probe.contact() as network, torch.enable_grad():
        stages = stages_of(network, _inputs(probe, gaussian))
        if len(stages) < 2:
            raise UnsupportedError("the network has a single stage: nothing to send gradients back to")
        # Started from the last, so that the draws have the numbers of the stages whatever is left out.
        for index in range(len(stages) - 1, 0, -1):
            before, after = stages[index - 1], stages[index]
            if before.shape == after.shape and torch.equal(before, after):
                if skip_identities:
                    continue
                raise FloatingPointError(f"stage {index} is the identity: its output is its input")
            signs = probe.draws.draw(f"signs.{index}", lambda source, shape=after.shape: _signs(shape, source))  # type: ignore[misc]
            g_out = signs.to(after.device, after.dtype)
            if not after.requires_grad:
                raise UnsupportedError(f"stage {index} does not depend on the stage before in a differentiable way")
            (g_in,) = torch.autograd.grad(after, before, g_out, retain_graph=True, allow_unused=True)
            if g_in is None:
                raise UnsupportedError(f"stage {index} does not depend on the stage before")
            matrices.append(transfer(folded(g_in, g_out), _channels_last(g_out)))
    if not matrices:
        raise UnsupportedError("every stage is an identity")
    if not all(bool(one.isfinite().all()) for one in matrices):
        raise FloatingPointError("the gradients that come back are not finite")
    s = torch.stack([torch.linalg.matrix_norm(one, ord=2) for one in matrices])
    return evenness(s).mean()


@proxy(
    "az_complexity",
    needs=Needs(data=False, batch=1, held=0),
    paper=_PAPER,
    cost="a forward run of shapes alone (meta device)",
)
def az_complexity(probe: Probe) -> Tensor:
    r"""Floating-point operations of one sample at inference: two per multiply-accumulate; the more the better here.

    $$
    2 \mathrm{MACs}
    $$

    Formula: FLOPs. The paper searches under a limit, and prefers the network that uses it. Needs no data but the shape.

    >>> from foresee import score
    >>> score(nn.Linear(3, 2), torch.zeros(1, 3), "az_complexity").value
    12.0
    """
    return torch.tensor(2.0 * probe.macs, dtype=torch.float64)


# -- formulas -----------------------------------------------------------------------------------------------------------
def entropy(features: Tensor) -> Tensor:
    """Entropy of the principal components of rows: (..., positions, channels) to (...), in float64."""
    rows = features.double()
    rows = rows - rows.mean(-2, keepdim=True)
    covariance = rows.mT @ rows / rows.shape[-2]
    finite = covariance.isfinite().all(-1).all(-1)
    s = torch.linalg.eigvalsh(torch.where(finite[..., None, None], covariance, 0.0)).clamp(min=0)
    p = s / s.sum(-1, keepdim=True)  # NaN where nothing varies
    found: Tensor = -(p * (p + 1e-8).log()).sum(-1)
    return found


def transfer(g_in: Tensor, g_out: Tensor) -> Tensor:
    """Mean over positions of g_in g_out^T: (..., positions, a) and (..., positions, b) to (..., a, b), in float64."""
    return g_in.double().mT @ g_out.double() / g_in.shape[-2]


def evenness(s: Tensor) -> Tensor:
    """2 - s - 1/(s + 1e-6): about 0 where s = 1, less for any other size. (...) to (...)."""
    return 2 - s - 1 / (s + 1e-6)


def folded(g_in: Tensor, g_out: Tensor) -> Tensor:
    """g_in as rows at the positions of g_out: positions of g_in that fall together become channels."""
    if g_in.shape[2:] == g_out.shape[2:] or g_in.ndim != 4:
        if g_in.ndim != g_out.ndim or (g_in.ndim != 4 and g_in.shape[:-1] != g_out.shape[:-1]):
            raise UnsupportedError(
                f"stages of shapes {tuple(g_in.shape)} and {tuple(g_out.shape)} have no common positions"
            )
        return _channels_last(g_in)
    sizes = zip(g_in.shape[2:], g_out.shape[2:], strict=True)
    strides = {before // after if before % after == 0 else 0 for before, after in sizes}
    if len(strides) != 1 or 0 in strides:
        raise UnsupportedError(
            f"a stage turns maps of {tuple(g_in.shape[2:])} into {tuple(g_out.shape[2:])}: expected a whole stride"
        )
    return _channels_last(nn.functional.pixel_unshuffle(g_in, strides.pop()))


def _channels_last(tensor: Tensor) -> Tensor:
    """(samples, channels, positions...) or (samples, tokens, numbers) as rows: (all positions, channels)."""
    rows = tensor.movedim(1, -1) if tensor.ndim >= 4 else tensor
    return rows.reshape(-1, rows.shape[-1])


# -- looks --------------------------------------------------------------------------------------------------------------
def entropies(probe: Probe, gaussian: bool) -> Tensor:
    """The entropy of each stage, (stages,); one run serves all who ask."""

    def compute() -> Tensor:
        with probe.contact() as network, torch.no_grad():
            found = [entropy(_channels_last(stage)) for stage in stages_of(network, _inputs(probe, gaussian))]
        return torch.stack(found)

    found = probe.remember(("az entropies", gaussian), compute)
    if not bool(found.isfinite().all()):
        raise FloatingPointError(
            "the features of a stage are constant or not finite: they have no principal components"
        )
    return found


def _inputs(probe: Probe, gaussian: bool) -> tuple[Tensor, ...]:
    """The batch, or Gaussian inputs of its shape where all inputs are floating numbers."""
    parts = probe.batch.inputs
    if gaussian and all(part.is_floating_point() for part in parts):
        parts = tuple(probe.draws.normal(f"input.{index}", *part.shape) for index, part in enumerate(parts))
    return probe.moved(parts)


def _signs(shape: torch.Size, source: torch.Generator) -> Tensor:
    return torch.randint(2, shape, generator=source) * 2 - 1
