"""How delta drives an ensemble apart: SVGD-RD particles on two Gaussians, drawn and saved (Figure 5.2 of the thesis)."""

import json
from pathlib import Path

import torch
from matplotlib.figure import Figure

from foresee.ensembles import svgd_rd

DELTAS = (-1.0, -0.75, -0.5, 0.0, 0.5, 1.0)
CENTRES = torch.tensor([[-1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
VARIANCES = torch.tensor([0.25, 0.5], dtype=torch.float64)


def log_density(points: torch.Tensor) -> torch.Tensor:
    """Of the mixture, up to a constant: (n, 2) to (n,)."""
    return torch.logsumexp(-((points[:, None] - CENTRES) ** 2 / VARIANCES).sum(-1) / 2, -1)


def slope(points: torch.Tensor) -> torch.Tensor:
    """Its gradient, by torch: SVGD-RD asks for nothing else."""
    points = points.detach().requires_grad_()
    return torch.autograd.grad(log_density(points).sum(), points)[0]


def main() -> None:
    start = torch.randn(15, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = {}
    for delta in DELTAS:
        ends = svgd_rd(
            slope, start, delta=delta
        )  # 1000 steps at a rate of 0.1 and a momentum of 0.9, as the thesis has
        apart, high = float(torch.pdist(ends).mean()), float(log_density(ends).mean())
        found[delta] = {"particles": ends.tolist(), "mean distance": apart, "mean log density": high}
        print(f"delta {delta:5.2f}: mean distance {apart:.3f}, mean log density {high:.3f}")
    Path("two_gaussians.json").write_text(json.dumps(found, indent=1) + "\n")
    picture(found).savefig("two_gaussians.svg", metadata={"Date": None})
    print("picture two_gaussians.svg, numbers two_gaussians.json")


def picture(found: dict) -> Figure:
    """One panel for each delta: the density as contours, particles as dots."""
    made = Figure(figsize=(9, 6.4), layout="constrained")
    x, y = (torch.linspace(low, low + 5, 81, dtype=torch.float64) for low in (-3.0, -2.0))
    heights = log_density(torch.cartesian_prod(y, x).flip(1)).exp().reshape(81, 81)
    for axes, (delta, one) in zip(made.subplots(2, 3, sharex=True, sharey=True).flat, found.items(), strict=True):
        axes.contour(x, y, heights, levels=8, colors="#9aa5b1", linewidths=0.8)
        axes.plot(*zip(*one["particles"], strict=True), "o", color="#c2530a", markersize=6, alpha=0.85)
        axes.set_title(f"δ = {delta:g}: mean distance {one['mean distance']:.2f}", fontsize=11)
        axes.set_aspect("equal")
    made.suptitle("SVGD-RD, 15 particles on a mixture of two Gaussians: more δ, more diverse", fontsize=13)
    return made


if __name__ == "__main__":
    main()
