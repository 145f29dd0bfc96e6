"""The vision transformer: patches, layers of attention with relative positions, mean over patches, linear head.

The q, k and v rows of a layer's first projection are interleaved (q of row 0, k of row 0, v of row 0, q of row 1, ...): with
that layout a layer with fewer heads uses the first rows of one with more, and every weight of a smaller network is the
upper left corner of the larger one's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from foresee.errors import InputError
from foresee.spaces.autoformer.architecture import Architecture
from foresee.spaces.blocks import image_shape
from foresee.task import Task


@dataclass(frozen=True)
class Form:
    """What all networks of a space have in common.

    Args:
        patch: side of a patch in pixels.
        head_dim: width of one head.
        reach: greatest distance, in patches, that relative positions tell apart.
        drop_path: drop probability of the last layer; it rises linearly from 0.
    """

    patch: int = 16
    head_dim: int = 64
    reach: int = 14
    drop_path: float = 0.0


def grid(task: Task, form: Form) -> tuple[int, int, int]:
    """Input channels, and patches along height and width."""
    channels, height, width = image_shape(task, "autoformer")
    if height % form.patch or width % form.patch:
        raise InputError(
            f"image of {height}x{width} pixels: not a multiple of the patch size {form.patch}; resize it, or set `patch`"
        )
    return channels, height // form.patch, width // form.patch


def relative_index(rows: int, columns: int, reach: int) -> Tensor:
    """Which entry of the vertical and of the horizontal table belongs to each pair of tokens: (2, N + 1, N + 1).

    Entry 0 is for pairs with the class token, which is the first; distances are clipped to `reach`.
    """
    where = torch.arange(rows * columns)
    index = []
    for place in (where.div(columns, rounding_mode="floor"), where % columns):
        distance = (place[None, :] - place[:, None]).clamp(-reach, reach) + reach + 1
        index.append(F.pad(distance, (1, 0, 1, 0)))
    return torch.stack(index)


class DropPath(nn.Module):
    """In training, drops a branch for single samples with `probability` and scales up the others."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) to the same shape."""
        if not self.training or not self.probability:
            return x
        kept = torch.rand(len(x), *[1] * (x.ndim - 1), device=x.device) >= self.probability
        return x * kept.to(x.dtype) / (1.0 - self.probability)


class RelativePosition(nn.Module):
    """A learnt vector for each pair of tokens: one by their vertical plus one by their horizontal distance."""

    def __init__(self, reach: int, width: int) -> None:
        super().__init__()
        self.vertical = nn.Parameter(torch.empty(2 * reach + 2, width))
        self.horizontal = nn.Parameter(torch.empty(2 * reach + 2, width))
        nn.init.trunc_normal_(self.vertical, std=0.02)
        nn.init.trunc_normal_(self.horizontal, std=0.02)

    def forward(self, index: Tensor) -> Tensor:
        """(2, L, L) entries to (L, L, width)."""
        return F.embedding(index[0], self.vertical) + F.embedding(index[1], self.horizontal)


class Attention(nn.Module):
    """Attention of heads of fixed width, with relative positions on keys and values."""

    linear: ClassVar[type[nn.Linear]] = nn.Linear

    def __init__(self, embed: int, heads: int, form: Form) -> None:
        super().__init__()
        self.head_dim = form.head_dim
        self.qkv = self.linear(embed, 3 * heads * form.head_dim)
        self.keys = RelativePosition(form.reach, form.head_dim)
        self.values = RelativePosition(form.reach, form.head_dim)
        self.softmax = nn.Softmax(-1)
        self.projection = self.linear(heads * form.head_dim, embed)

    def attend(self, qkv: Tensor, index: Tensor) -> Tensor:
        """Interleaved queries, keys and values (B, L, 3 x heads x head_dim) to what each head gathers, joined."""
        b, n, _ = qkv.shape
        q, k, v = qkv.reshape(b, n, -1, self.head_dim, 3).permute(4, 0, 2, 1, 3)
        likeness = q @ k.transpose(-2, -1) + torch.einsum("bhnd,nmd->bhnm", q, self.keys(index))
        attention = self.softmax(likeness * self.head_dim**-0.5)
        gathered = attention @ v + torch.einsum("bhnm,nmd->bhnd", attention, self.values(index))
        joined: Tensor = gathered.transpose(1, 2).flatten(2)
        return joined

    def forward(self, x: Tensor, index: Tensor) -> Tensor:
        """Tokens (B, L, embed) to the same shape."""
        out: Tensor = self.projection(self.attend(self.qkv(x), index))
        return out


class Layer(nn.Module):
    """Attention, then a hidden layer at each token; both read normalised tokens and are added to what they read."""

    attention_kind: ClassVar[type[Attention]] = Attention
    linear: ClassVar[type[nn.Linear]] = nn.Linear
    norm: ClassVar[type[nn.LayerNorm]] = nn.LayerNorm

    def __init__(self, embed: int, heads: int, hidden: int, form: Form, drop_path: float) -> None:
        super().__init__()
        self.norm1 = self.norm(embed)
        self.attention = self.attention_kind(embed, heads, form)
        self.norm2 = self.norm(embed)
        self.fc1 = self.linear(embed, hidden)
        self.activation = nn.GELU()
        self.fc2 = self.linear(hidden, embed)
        self.drop: nn.Module | None = DropPath(drop_path) if drop_path else None

    def add(self, x: Tensor, branch: Tensor) -> Tensor:
        """The residual sum."""
        return x + (branch if self.drop is None else self.drop(branch))

    def halves(self, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens after the attention and after the hidden layer."""
        middle = self.add(x, self.attention(self.norm1(x), index))
        return middle, self.add(middle, self.fc2(self.activation(self.fc1(self.norm2(middle)))))

    def forward(self, x: Tensor, index: Tensor) -> Tensor:
        """Tokens (B, L, embed) to the same shape."""
        return self.halves(x, index)[1]


class Network(nn.Module):
    """The whole network; `layers` in order."""

    layer: ClassVar[type[Layer]] = Layer
    convolution: ClassVar[type[nn.Conv2d]] = nn.Conv2d
    last_norm: ClassVar[type[nn.LayerNorm]] = nn.LayerNorm
    classifier: ClassVar[type[nn.Linear]] = nn.Linear
    index: Tensor

    def __init__(self, architecture: Architecture, task: Task, form: Form) -> None:
        super().__init__()
        channels, self.rows, self.columns = grid(task, form)
        embed, depth = architecture.embed, architecture.depth
        self.patches = self.convolution(channels, embed, form.patch, stride=form.patch)
        self.cls = nn.Parameter(torch.empty(1, 1, embed))
        self.positions = nn.Parameter(torch.empty(1, self.rows * self.columns + 1, embed))
        self.layers = nn.ModuleList(
            self.layer(embed, heads, hidden, form, form.drop_path * number / max(1, depth - 1))
            for number, (heads, hidden) in enumerate(zip(architecture.heads, architecture.hidden, strict=True))
        )
        self.norm = self.last_norm(embed)
        self.head = self.classifier(embed, task.outputs)
        self.register_buffer("index", relative_index(self.rows, self.columns, form.reach), persistent=False)
        for parameter in (self.cls, self.positions):
            nn.init.trunc_normal_(parameter, std=0.02)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)

    def tokens(self, x: Tensor) -> Tensor:
        """Images (B, channels, H, W) to tokens with their positions (B, N + 1, embed); the class token is first."""
        x = self.patches(x).flatten(2).transpose(1, 2)
        return torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.positions

    def stages(self, x: Tensor) -> list[Tensor]:
        """Tokens after each attention and after each hidden layer: two entries (B, N + 1, embed) a layer."""
        x, maps = self.tokens(x), []
        for layer in self.layers:
            middle, x = layer.halves(x, self.index)  # type: ignore[operator]
            maps += [middle, x]
        return maps

    def pre_gap(self, x: Tensor) -> Tensor:
        """The patches' tokens before their mean is taken, as a map (B, embed, rows, columns)."""
        return self.as_map(self.last(x))

    def as_map(self, tokens: Tensor) -> Tensor:
        """Tokens of the patches (B, N, any width) to (B, width, rows, columns)."""
        b, _, width = tokens.shape
        return tokens.transpose(1, 2).reshape(b, width, self.rows, self.columns)

    def last(self, x: Tensor) -> Tensor:
        """The patches' tokens after the last norm, (B, N, embed)."""
        x = self.tokens(x)
        for layer in self.layers:
            x = layer(x, self.index)
        out: Tensor = self.norm(x)[:, 1:]
        return out

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs)."""
        logits: Tensor = self.head(self.last(x).mean(1))
        return logits
