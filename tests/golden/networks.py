"""The three small networks that the golden values are of: convolutions, a NAS-Bench-201 cell, a transformer.

Which modules there are, in which order they are called and what some of them are called is part of the values: several public
codes hook every module, containers too, and NASWOT's goes by type names. So a block is a container here wherever it is one
there. All networks take images of 3x32x32 and have 10 outputs; `stages(x)` are the maps that AZ-NAS compares, `pre_gap(x)`
is what Zen reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

#: the cell of the golden network, node by node: (operation, the earlier node that it reads)
CELL = "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|"


class Convolutions(nn.Sequential):
    """Three blocks of convolution, batch norm and ReLU; the second halves the side."""

    def __init__(self) -> None:
        def block(channels_in: int, channels: int, stride: int) -> nn.Sequential:
            convolution = nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False)
            return nn.Sequential(convolution, nn.BatchNorm2d(channels), nn.ReLU())

        blocks = block(3, 8, 1), block(8, 16, 2), block(16, 16, 1)
        super().__init__(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))

    def stages(self, x: Tensor) -> list[Tensor]:
        return list(running(list(self)[:3], x))

    def pre_gap(self, x: Tensor) -> Tensor:
        return self.stages(x)[-1]


def running(modules: Iterable[nn.Module], x: Tensor) -> Iterator[Tensor]:
    """What each of the modules makes of what the one before it made."""
    for module in modules:
        x = module(x)
        yield x


# -- NAS-Bench-201 -----------------------------------------------------------------------------------------------------


class ReLUConvNorm(nn.Sequential):
    """A ReLU, a convolution and a batch norm, in a container of their own; NASWOT's code counts it by its name."""

    def __init__(self, channels_in: int, channels: int, kernel: int, stride: int = 1) -> None:
        convolution = nn.Conv2d(channels_in, channels, kernel, stride, padding=kernel // 2, bias=False)
        super().__init__(nn.Sequential(nn.ReLU(), convolution, nn.BatchNorm2d(channels)))


class Nothing(nn.Module):
    """The operation `none`: zeros that still depend on their input."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 0.0


def operation(name: str, channels: int) -> nn.Module:
    match name:
        case "nor_conv_3x3" | "nor_conv_1x1":
            return ReLUConvNorm(channels, channels, int(name[-1]))
        case "avg_pool_3x3":
            return nn.AvgPool2d(3, 1, 1, count_include_pad=False)
        case "skip_connect":
            return nn.Identity()
        case "none":
            return Nothing()
    raise ValueError(name)


class Cell(nn.Module):
    """Every node is the sum of operations on earlier nodes; the last one goes out."""

    def __init__(self, text: str, channels: int) -> None:
        super().__init__()
        self.nodes = [[edge.split("~") for edge in node.strip("|").split("|")] for node in text.split("+")]
        self.edges = nn.ModuleList(operation(name, channels) for node in self.nodes for name, _ in node)

    def forward(self, x: Tensor) -> Tensor:
        values, edges = [x], iter(self.edges)
        for node in self.nodes:
            values.append(sum(next(edges)(values[int(source)]) for _, source in node))
        return values[-1]


class Halving(nn.Module):
    """Half the side, twice the channels: two convolutions, beside a pooled shortcut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = ReLUConvNorm(channels, 2 * channels, 3, stride=2)
        self.second = ReLUConvNorm(2 * channels, 2 * channels, 3)
        self.shortcut = nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(channels, 2 * channels, 1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        return self.shortcut(x) + self.second(self.first(x))


class CellNetwork(nn.Module):
    """A stem, then a cell at each of three sizes with a halving block between."""

    def __init__(self, text: str = CELL, channels: int = 8) -> None:
        super().__init__()
        c = channels
        self.stem = nn.Sequential(nn.Conv2d(3, c, 3, padding=1, bias=False), nn.BatchNorm2d(c))
        self.body = nn.ModuleList([Cell(text, c), Halving(c), Cell(text, 2 * c), Halving(2 * c), Cell(text, 4 * c)])
        self.last = nn.Sequential(nn.BatchNorm2d(4 * c), nn.ReLU())
        self.pool, self.flatten, self.head = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, 10)

    def stages(self, x: Tensor) -> list[Tensor]:
        x = self.stem(x)
        return [x, *running(self.body, x)]

    def pre_gap(self, x: Tensor) -> Tensor:
        return self.last(self.stages(x)[-1])

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.flatten(self.pool(self.pre_gap(x))))


# -- the transformer ---------------------------------------------------------------------------------------------------


class Attention(nn.Module):
    """Self-attention of several heads; queries, keys and values from one linear layer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        queries, keys, values = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
        )
        told = torch.softmax(queries @ keys.mT * self.scale, dim=-1) @ values
        return self.proj(told.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention, then two linear layers on every token, each added to what came in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width), Attention(width, heads)
        self.norm2, self.fc1 = nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.act, self.fc2 = nn.GELU(), nn.Linear(2 * width, width)

    def halves(self, x: Tensor) -> tuple[Tensor, Tensor]:
        half = x + self.attn(self.norm1(x))
        return half, half + self.fc2(self.act(self.fc1(self.norm2(half))))

    def forward(self, x: Tensor) -> Tensor:
        return self.halves(x)[-1]


class Transformer(nn.Module):
    """A vision transformer: patches of 8x8, 48 numbers a token, three blocks of three heads; a class token is read out."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, 17, width))
        self.patches = nn.Conv2d(3, width, 8, stride=8)
        self.blocks = nn.ModuleList(Block(width, 3) for _ in range(3))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def tokens(self, x: Tensor) -> Tensor:
        patches = self.patches(x).flatten(2).mT
        return torch.cat([self.token.expand(len(x), -1, -1), patches], dim=1) + self.places

    def stages(self, x: Tensor) -> list[Tensor]:
        x, seen = self.tokens(x), []
        for block in self.blocks:
            seen += block.halves(x)
            x = seen[-1]
        return seen

    def forward(self, x: Tensor) -> Tensor:
        *_, last = running(self.blocks, self.tokens(x))
        return self.head(self.norm(last)[:, 0])


NETWORKS: dict[str, type[nn.Module]] = {
    "tiny_cnn": Convolutions,
    "nb201_cell_net": CellNetwork,
    "tiny_vit": Transformer,
}
