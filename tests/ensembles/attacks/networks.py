"""Networks whose distance to the next class is known, and networks that hide it."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def linear(classes: int = 4, samples: int = 12, seed: int = 0) -> tuple[nn.Sequential, Tensor, Tensor]:
    """A linear classifier of grey 1 x 4 x 4 images (far from 0 and 1), and the labels that it gives them."""
    drawn = torch.Generator().manual_seed(seed)
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, classes))
    network[1].weight.data = torch.randn(classes, 16, generator=drawn)
    network[1].bias.data = torch.randn(classes, generator=drawn) / 4
    images = 0.35 + 0.3 * torch.rand(samples, 1, 4, 4, generator=drawn)
    return network, images, network(images).argmax(1)


def exact(network: nn.Sequential, images: Tensor, labels: Tensor, dual: int) -> Tensor:
    """The distance of each image to the nearest other class: min_t (z_y - z_t) / ||w_y - w_t||, `dual` 1 of L∞, 2 of L2."""
    logits, weight = network(images).double(), network[1].weight.double()
    away = []
    for row, label in zip(logits, labels.tolist(), strict=True):
        gaps = [(row[label] - row[t]) / (weight[label] - weight[t]).norm(dual) for t in range(len(row)) if t != label]
        away.append(min(gaps))
    return torch.stack(away).detach()


class Rounded(nn.Module):
    """Outputs in steps: no gradient gets through, the classes are nearly those of the network inside."""

    def __init__(self, network: nn.Module, steps: float = 64.0) -> None:
        super().__init__()
        self.network, self.steps = network, steps

    def forward(self, images: Tensor) -> Tensor:
        return (self.network(images) * self.steps).round() / self.steps


class Saturated(nn.Module):
    """Outputs so large that the cross entropy is exactly zero, and its gradient with it."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        return self.network(images) * 1e5
