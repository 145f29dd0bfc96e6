"""Small networks of every kind that proxies meet, with a batch for each: what `ProxySuite` looks at."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.errors import UnknownNameError
from foresee.seeds import generator, random_states_kept

KINDS: tuple[str, ...] = ("convolutional", "mlp", "transformer", "click-through")
OUTPUTS = 3


def convolutional() -> nn.Module:
    """Images 3x8x8 to 3 classes: convolutions, BatchNorm, ReLU, global pooling."""
    layers: list[nn.Module] = []
    for inputs, outputs, stride in ((3, 9, 1), (9, 10, 2)):
        layers += [nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(10, OUTPUTS))


def mlp() -> nn.Module:
    """Vectors of 6 numbers to 3 classes: linear layers and ReLU, no normalisation."""
    return nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, OUTPUTS))


class Transformer(nn.Module):
    """Images 3x8x8 to 3 classes: patches, attention, GELU, LayerNorm."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 12, 2, stride=2)
        layer = nn.TransformerEncoderLayer(12, 2, 24, dropout=0.1, activation=nn.GELU(), batch_first=True)
        self.blocks = nn.Sequential(layer, nn.LayerNorm(12))
        self.head = nn.Linear(12, OUTPUTS)

    def forward(self, x: Tensor) -> Tensor:
        """(B, 3, 8, 8) to logits (B, 3)."""
        logits: Tensor = self.head(self.blocks(self.patches(x).flatten(2).mT).mean(1))
        return logits


class ClickThrough(nn.Module):
    """4 numbers and 2 categories to one logit: embeddings, and an MLP on all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, 3) for size in (5, 7))
        self.deep = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """(B, 4) numbers and (B, 2) categories to logits (B, 1)."""
        embedded = [table(column) for table, column in zip(self.tables, sparse.unbind(1), strict=True)]
        logits: Tensor = self.deep(torch.cat([dense, *embedded], dim=1))
        return logits


class Overwriting(nn.Module):
    """Any network behind an activation that works in place, as many do: it writes into what it is given, or into copies."""

    def __init__(self, inner: nn.Module, *, copies: bool = False) -> None:
        super().__init__()
        self.first, self.inner, self.copies = nn.ReLU(inplace=True), inner, copies

    def forward(self, *parts: Tensor) -> Tensor:
        """Inputs of the inner network to its outputs; what is below 0 in floating inputs is 0 afterwards."""
        given = [part.clone() for part in parts] if self.copies else parts
        outputs: Tensor = self.inner(*(self.first(part) if part.is_floating_point() else part for part in given))
        return outputs


def network(kind: str, seed: int = 0) -> nn.Module:
    """One of the `KINDS`, in float64, with weights from the seed.

    >>> network("mlp")[0]
    Linear(in_features=6, out_features=12, bias=True)
    """
    makers = {"convolutional": convolutional, "mlp": mlp, "transformer": Transformer, "click-through": ClickThrough}
    if kind not in makers:
        raise UnknownNameError("kind of network", kind, KINDS)
    with random_states_kept(seed):
        made: nn.Module = makers[kind]()
    return made.double()


def batch(kind: str, count: int, seed: int = 0) -> Batch:
    """`count` samples for such a network, with labels that all classes have."""
    draws = generator(seed, "batch", kind)
    if kind == "click-through":
        dense = torch.randn(count, 4, generator=draws, dtype=torch.float64)
        sparse = torch.stack([torch.randint(size, (count,), generator=draws) for size in (5, 7)], dim=1)
        return Batch((dense, sparse), (torch.arange(count) % 2).double())
    shape = (6,) if kind == "mlp" else (3, 8, 8)
    return Batch(torch.randn(count, *shape, generator=draws, dtype=torch.float64), torch.arange(count) % OUTPUTS)
