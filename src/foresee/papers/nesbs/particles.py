"""Figure 5.2 of the thesis: SVGD-RD on a mixture of two Gaussians, the more diverse the larger delta."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from foresee.ensembles import svgd_rd
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Heights, Scatter
from foresee.papers.trained import seeds
from foresee.papers.workshop import Workshop
from foresee.seeds import generator
from foresee.statistics import mean_of_few

#: the mixture of the caption: where the two halves lie, and their variances along each axis
CENTRES = torch.tensor([[-1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
VARIANCES = torch.tensor([0.25, 0.5], dtype=torch.float64)
#: the caption's n, L and rate; the momentum of 5.3.4. Which delta are drawn cannot be read: these go through its range
SETTINGS = {"deltas": (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0), "steps": 1000, "lr": 0.1, "momentum": 0.9}
PARTICLES = 15
#: places of the map behind the dots, along each axis
PLACES = 41


def log_density(points: Tensor) -> Tensor:
    """Log p of the mixture, (n, 2) to (n,).

    >>> bool(log_density(CENTRES)[0] == log_density(CENTRES)[1])
    True
    """
    squares = ((points[:, None] - CENTRES) ** 2 / VARIANCES).sum(-1)
    constant = math.log(2 * len(CENTRES) * math.pi * float(VARIANCES.prod().sqrt()))
    return torch.logsumexp(-squares / 2, -1) - constant


def slope(points: Tensor) -> Tensor:
    """Its gradient, (n, 2): towards each centre as far as that is responsible for the point."""
    away = CENTRES - points[:, None]
    shares = torch.softmax(-(away**2 / VARIANCES).sum(-1) / 2, -1)
    return (shares[..., None] * away / VARIANCES).sum(1)


def begin(count: int, seed: int) -> Tensor:
    """Where particles begin: normal draws, which are the same for every delta."""
    return torch.randn(count, 2, generator=generator(seed, "particles"), dtype=torch.float64)


def spread(points: Tensor) -> float:
    """The mean distance of two particles."""
    return float(torch.pdist(points).mean()) if len(points) > 1 else 0.0


@reproduction(
    "thesis-figure-5.2",
    judged=False,
    settings=SETTINGS,
    caption="The impact of delta in SVGD-RD: particles on a mixture of two Gaussians",
)
def figure_5_2(workshop: Workshop) -> Iterator[Found]:
    """Particles of SVGD-RD (Algorithm 5.3) on the mixture of the caption: n = 15, L = 1000, rate 0.1, momentum 0.9.

    The kernel's bandwidth is the median rule, the beginning a normal draw. For each delta the mean distance of two
    particles and the mean log density where they end, over --repeats beginnings; the first is drawn. At delta = -1 nothing
    drives particles apart; below they attract each other and do not come to rest. Needs no data:
    --sample 15 says how many particles.
    """
    own = workshop.own(SETTINGS)
    count = workshop.sample or PARTICLES
    map_ = heights()
    for delta in own["deltas"]:
        how = {key: own[key] for key in ("steps", "lr", "momentum")}
        ends = [svgd_rd(slope, begin(count, seed), delta=float(delta), **how) for seed in seeds(workshop)]
        row = f"delta = {delta:g}"
        yield Cell(row, "mean distance", mean_of_few([spread(one) for one in ends]), f"{count} particles")
        yield Cell(row, "mean log density", mean_of_few([float(log_density(one).mean()) for one in ends]))
        x, y = ends[0].T.tolist()
        yield Scatter(f"delta{delta:+g}", row, "x1", "x2", tuple(x), tuple(y), heights=map_)


def heights() -> Heights:
    """The density as a map."""
    x, y = (torch.linspace(low, low + 4, PLACES, dtype=torch.float64) for low in (-2.5, -1.5))
    z = log_density(torch.cartesian_prod(y, x).flip(1)).exp().reshape(PLACES, PLACES)
    return Heights(tuple(x.tolist()), tuple(y.tolist()), tuple(map(tuple, z.tolist())))
