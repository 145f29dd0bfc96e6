"""The nearest point beyond the boundary: projections onto the boundary as it looks from here."""

from __future__ import annotations

import torch
from torch import Tensor

from foresee.ensembles.attacks.apgd import each_target
from foresee.ensembles.attacks.base import Norm, attack
from foresee.ensembles.attacks.margins import of_class
from foresee.ensembles.attacks.victim import Victim, spread
from foresee.errors import InputError

FAB = 'Croce and Hein, "Minimally distorted adversarial examples with a fast adaptive boundary attack", ICML 2020'
#: how far beyond the boundary a step goes; how far back after a success; the largest pull towards the image
BEYOND, BACK, PULL = 1.05, 0.9, 0.1


@attack(
    "fab_t", norm="linf", paper=f"{FAB}, Algorithm 1", cost="`targets` · `steps` gradients and as many queries at most"
)
def fab_t(
    victim: Victim, *, eps: float | None = 0.01, steps: int = 100, targets: int = 9, norm: Norm = "linf"
) -> Tensor:
    """Fast adaptive boundary attack with targets t: `g(x) = z_t(x) - z_y(x)`, taken as linear at the current x.

    Let P(u) be the point of the box [0, 1] nearest to u on the plane `g(x) + ⟨∇g(x), u' - x⟩ = 0` (`onto_plane`). A step is

        x ← (1 - α)(x + 1.05 (P(x) - x)) + α (x₀ + 1.05 (P(x₀) - x₀)),   α = min(d / (d + d₀), 0.1)

    with `d = ‖P(x) - x‖` and `d₀ = ‖P(x₀) - x₀‖`, and where the class at x is another one, it is kept if it is the
    nearest to x₀ so far, and `x ← x₀ + 0.9 (x - x₀)`. The walk begins at the image, so nothing is random. The targets are
    the likeliest classes at the image.

    Args:
        victim: network, images, labels; only samples that are right.
        eps: images further away do not count; None: all do, and all targets are tried for the nearest.
        steps: for each target.
        targets: how many, at most all other classes.
        norm: "linf" or "l2".

    >>> from torch import nn
    >>> from foresee.ensembles.attacks import attacks
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(2, 2, bias=False))
    >>> _ = network[1].weight.data.copy_(torch.tensor([[9.0, 0.0], [0.0, 9.0]]))
    >>> found = attacks["fab_t"](network, torch.tensor([[[[0.6, 0.5]]]]), torch.tensor([0]), eps=None, steps=20)
    >>> round(float(found.linf), 2)  # half of the difference between the two pixels
    0.05
    """
    if norm not in ("linf", "l2"):
        raise InputError(f"attack fab_t: norm {norm!r}, expected 'linf' or 'l2'")
    nearest = torch.full((len(victim),), torch.inf, device=victim.images.device)
    found = victim.images.clone()
    places = {row: place for place, row in enumerate(victim.rows.tolist())}

    def search(part: Victim, goals: Tensor) -> tuple[Tensor, Tensor]:
        images, away = approach(part, goals, steps, norm)
        if eps is not None:
            return images, away <= eps
        mine = torch.tensor([places[row] for row in part.rows.tolist()], device=images.device)
        closer = away < nearest[mine]
        found[mine[closer]], nearest[mine[closer]] = images[closer], away[closer]
        return images, torch.zeros_like(closer)  # nobody is done before the last target

    within = each_target(victim, targets, search)
    return found if eps is None else within


def approach(victim: Victim, goals: Tensor, steps: int, norm: Norm) -> tuple[Tensor, Tensor]:
    """Algorithm 1 with one target for each sample: the nearest images of another class, and how far away; infinity: none."""
    clean, images = victim.images, victim.images
    best, nearest = clean.clone(), torch.full((len(victim),), torch.inf, device=clean.device)
    for _ in range(steps):
        slope, ahead, _ = victim.gradient(images, lambda z: of_class(z, goals) - of_class(z, victim.labels))
        offset = ahead.to(clean.dtype) - (slope * images).flatten(1).sum(1)
        here, there = (onto_plane(one, slope, offset, norm) - one for one in (images, clean))
        near, far = length(here, norm), length(there, norm)
        pull = spread((near / (near + far).clamp(min=1e-12)).clamp(max=PULL), images)
        images = ((1 - pull) * (images + BEYOND * here) + pull * (clean + BEYOND * there)).clamp(0, 1)
        away = length(images - clean, norm)
        fooled = victim.fooled(victim.logits(images))
        closer = fooled & (away < nearest)
        best, nearest = torch.where(spread(closer, best), images, best), torch.where(closer, away, nearest)
        images = torch.where(spread(fooled, images), clean + BACK * (images - clean), images)
    return best, nearest


def length(change: Tensor, norm: Norm) -> Tensor:
    """The norm of each sample's change, (n,)."""
    flat = change.flatten(1)
    return flat.abs().amax(1) if norm == "linf" else flat.norm(dim=1)


def onto_plane(points: Tensor, slope: Tensor, offset: Tensor, norm: Norm) -> Tensor:
    """The points of the box [0, 1] nearest to `points` with `⟨slope, u⟩ + offset = 0`.

    Each coordinate i moves in the direction that helps, by `min(s v_i, r_i)`: r_i is the room that the box leaves, v_i = 1
    for the largest change and `|slope_i|` for the Euclidean length. What is gained, `Σ |slope_i| min(s v_i, r_i)`, grows with
    s along pieces of lines that bend at `r_i / v_i`; sorted by these, the s that gains enough is found exactly. Where the
    plane does not meet the box, the corner that comes nearest to it.

    Args:
        points: (n, ...).
        slope: (n, ...).
        offset: (n,).
        norm: which nearness.

    >>> onto_plane(torch.tensor([[0.5, 0.9]]), torch.tensor([[1.0, 1.0]]), torch.tensor([-1.8]), "linf")
    tensor([[0.8000, 1.0000]])
    """
    flat, w = points.flatten(1).double(), slope.flatten(1).double()
    gap = (w * flat).sum(1) + offset.double()
    ways = -w.sign() * gap.sign()[:, None]
    room = torch.where(ways > 0, 1 - flat, flat) * (ways != 0)
    gain, missing = w.abs(), gap.abs()
    speed = torch.ones_like(w) if norm == "linf" else gain
    bends, order = torch.where(gain > 0, room / speed.clamp(min=1e-300), 0.0).sort(1)
    rate, most = (gain * speed).gather(1, order), (gain * room).gather(1, order)
    # before bend k the first k coordinates have given all they had, the others grow with s
    given = most.cumsum(1) - most
    growing = rate.flip(1).cumsum(1).flip(1)
    enough = given + growing * bends >= missing[:, None]
    first = torch.where(enough.any(1), enough.int().argmax(1), bends.shape[1] - 1)[:, None]
    s = ((missing[:, None] - given.gather(1, first)) / growing.gather(1, first).clamp(min=1e-300)).clamp(min=0)
    s = torch.where(enough.any(1, keepdim=True), s, torch.inf)
    moved = flat + ways * torch.minimum(torch.where(gain > 0, s * speed, 0.0), room)
    return moved.clamp(0, 1).to(points.dtype).view_as(points)
