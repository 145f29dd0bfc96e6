"""The operators of NASRec as modules.

Dense things are (B, width), sparse things (B, tokens, 16). What a block reads comes as a list of parts that are joined on
the feature axis (dense) or on the token axis (sparse). A linear layer over joined parts exists in three forms that compute
the same: `Joined` holds one matrix (stand-alone networks), `Split` one matrix per part (networks whose weights lie in
a one-shot network: there the columns of the parts are not neighbours), `Wide` one matrix of which the columns of missing
parts are not touched (the one-shot network itself).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor, nn

#: embedding dimension, fixed by the space
EMBEDDING = 16
#: tokens that the dense output becomes where a block interacts
INTERACT_TOKENS = 8
HEADS = 8

Parts = Sequence[Tensor]
#: parts of a one-shot network: None where an input is not selected
MaybeParts = Sequence[Tensor | None]
#: (sizes of the parts, outputs, bias) to a layer that is called with the parts
Joint = Callable[[Sequence[int], int, bool], nn.Module]


def linear(inputs: int, outputs: int, *, bias: bool = False) -> nn.Linear:
    """A linear layer with the space's initialisation: Xavier-uniform weights, zero bias."""
    return xavier(nn.Linear(inputs, outputs, bias=bias))


def xavier(layer: nn.Linear) -> nn.Linear:
    """Initialise in place, and return; what has no numbers (a network that is to inherit) is left as it is."""
    if layer.weight.is_meta:
        return layer
    nn.init.xavier_uniform_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


# -- linear layers over parts -----------------------------------------------------------------------------------------
class Joined(nn.Module):
    """One linear layer over the concatenation."""

    def __init__(self, sizes: Sequence[int], outputs: int, bias: bool = False) -> None:
        super().__init__()
        self.linear = linear(sum(sizes), outputs, bias=bias)

    def forward(self, parts: Parts) -> Tensor:
        """Parts of (..., size) to (..., outputs)."""
        out: Tensor = self.linear(torch.cat(list(parts), -1))
        return out


class Split(nn.Module):
    """A linear layer per part, added up; initialised like one layer over all of them."""

    #: what looks at layers takes its pieces for one
    one_layer = True

    def __init__(self, sizes: Sequence[int], outputs: int, bias: bool = False) -> None:
        super().__init__()
        pieces = [nn.Linear(size, outputs, bias=False) for size in sizes]
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        bound = math.sqrt(6.0 / (sum(sizes) + outputs))
        for piece in pieces:
            nn.init.uniform_(piece.weight, -bound, bound)
        self.pieces = nn.ModuleList(pieces)

    def forward(self, parts: Parts) -> Tensor:
        """Parts of (..., size) to (..., outputs)."""
        out: Tensor = sum(piece(part) for piece, part in zip(self.pieces, parts, strict=True))
        return out if self.bias is None else out + self.bias


class Wide(nn.Linear):
    """A linear layer over the concatenation of parts of which some may be missing; at least one is there.

    `spans` holds the columns of each part.
    """

    def __init__(self, sizes: Sequence[int], outputs: int, bias: bool = False) -> None:
        super().__init__(sum(sizes), outputs, bias=bias)
        xavier(self)
        ends = list(accumulate(sizes))
        self.sizes = list(sizes)
        self.spans = tuple(slice(end - size, end) for size, end in zip(sizes, ends, strict=True))

    def forward(self, parts: MaybeParts) -> Tensor:  # type: ignore[override]
        """Parts of (..., size) to (..., outputs)."""
        return self._over(parts, self.weight, self.bias)

    def rows(self, parts: MaybeParts, wanted: Sequence[bool]) -> list[Tensor | None]:
        """The outputs in pieces as large as the parts, those that are wanted: a square layer."""
        biases = [None] * len(wanted) if self.bias is None else torch.split(self.bias, self.sizes)
        pieces = zip(torch.split(self.weight, self.sizes), biases, wanted, strict=True)
        return [self._over(parts, weight, bias) if there else None for weight, bias, there in pieces]

    def _over(self, parts: MaybeParts, weight: Tensor, bias: Tensor | None) -> Tensor:
        # Split at once: the gradients of single slices would each be as large as the whole, and added up.
        columns = torch.split(weight, self.sizes, 1)
        terms = [F.linear(part, own) for part, own in zip(parts, columns, strict=True) if part is not None]
        out = functools.reduce(torch.add, terms)
        return out if bias is None else out + bias


def turn(parts: MaybeParts) -> list[Tensor | None]:
    """(B, tokens, 16) to (B, 16, tokens), so that a linear layer works on the token axis."""
    return [None if part is None else part.transpose(1, 2) for part in parts]


# -- operations that make the dense output ----------------------------------------------------------------------------
class Linear2d(nn.Module):
    """Linear, layer norm, ReLU."""

    def __init__(self, dense: Sequence[int], width: int, joint: Joint) -> None:
        super().__init__()
        self.linear = joint(dense, width, False)
        self.norm = nn.LayerNorm(width)
        self.act = nn.ReLU()

    def forward(self, dense: MaybeParts) -> Tensor:
        """Dense parts to (B, width)."""
        out: Tensor = self.act(self.norm(self.linear(dense)))
        return out


def dot_tokens(width: int) -> int:
    """How many tokens the dot product makes of its sparse inputs: about as many pairs as the output is wide.

    >>> dot_tokens(1024), pairs(dot_tokens(1024))
    (45, 1035)
    """
    return round(math.sqrt(2 * width))


def pairs(tokens: int) -> int:
    """Pairs among `tokens` sparse tokens and the dense one."""
    return (tokens + 1) * tokens // 2


class Dot(nn.Module):
    """Inner products of all pairs of tokens, the dense input being one of them.

    Pairs are the strictly lower triangle of the Gram matrix, row by row with the dense token first: those of fewer tokens
    are a prefix of those of more. With `skip`, a layer between equal sizes is left out (in a one-shot network it stays).
    """

    def __init__(
        self, dense: Sequence[int], sparse: Sequence[int], width: int, joint: Joint, *, skip: bool = True
    ) -> None:
        super().__init__()
        tokens = dot_tokens(width)
        keep = not (skip and sum(sparse) == tokens)
        self.dense = joint(dense, EMBEDDING, False)
        self.dense_norm = nn.LayerNorm(EMBEDDING)
        self.sparse = joint(sparse, tokens, False) if keep else None
        self.sparse_norm = nn.LayerNorm(tokens) if keep else None
        keep = not (skip and pairs(tokens) == width)
        self.linear: nn.Module = linear(pairs(tokens), width) if keep else nn.Identity()
        self.norm = nn.LayerNorm(width)

    def forward(self, dense: MaybeParts, sparse: MaybeParts) -> Tensor:
        """Dense and sparse parts to (B, width)."""
        query: Tensor = self.dense_norm(self.dense(dense))
        if self.sparse is None or self.sparse_norm is None:
            tokens = torch.cat([part for part in sparse if part is not None], 1)
        else:
            tokens = self.sparse_norm(self.sparse(turn(sparse))).transpose(1, 2)
        tokens = torch.cat([query.unsqueeze(1), tokens], 1)
        gram = tokens @ tokens.transpose(1, 2).contiguous()  # of a view, oneDNN takes six times as long
        row, column = torch.tril_indices(gram.shape[1], gram.shape[1], -1, device=gram.device)
        below = gram.flatten(1).index_select(1, row * gram.shape[1] + column)
        out: Tensor = self.norm(self.linear(below))
        return out


def pad(x: Tensor, width: int) -> Tensor:
    """Zeros after the last feature, up to `width`."""
    return F.pad(x, (0, width - x.shape[-1]))


class Sum(nn.Module):
    """Left plus right, the narrower one padded with zeros; linear (left out between equal widths), layer norm."""

    def __init__(self, left: int, right: int, width: int) -> None:
        super().__init__()
        self.inner = max(left, right)
        self.linear: nn.Module = linear(self.inner, width) if self.inner != width else nn.Identity()
        self.norm = nn.LayerNorm(width)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """(B, left) and (B, right) to (B, width)."""
        out: Tensor = self.norm(self.linear(pad(left, self.inner) + pad(right, self.inner)))
        return out


class Gate(nn.Module):
    """sigmoid(linear(left)) times right, the narrower one padded with zeros; linear (left out between equal widths), norm."""

    def __init__(self, left: int, right: int, width: int) -> None:
        super().__init__()
        self.inner = max(left, right)
        self.gate = linear(self.inner, self.inner, bias=True)
        self.act = nn.Sigmoid()
        self.linear: nn.Module = linear(self.inner, width, bias=True) if self.inner != width else nn.Identity()
        self.norm = nn.LayerNorm(width)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """(B, left) and (B, right) to (B, width)."""
        gated = self.act(self.gate(pad(left, self.inner))) * pad(right, self.inner)
        out: Tensor = self.norm(self.linear(gated))
        return out


# -- operations that make the sparse output ---------------------------------------------------------------------------
class Linear3d(nn.Module):
    """Linear over the token axis, layer norm, ReLU."""

    def __init__(self, sparse: Sequence[int], tokens: int, joint: Joint) -> None:
        super().__init__()
        self.linear = joint(sparse, tokens, False)
        self.norm = nn.LayerNorm(tokens)
        self.act = nn.ReLU()

    def forward(self, sparse: MaybeParts) -> Tensor:
        """Sparse parts to (B, tokens, 16)."""
        out: Tensor = self.act(self.norm(self.linear(turn(sparse))))
        return out.transpose(1, 2)


class Attention(nn.Module):
    """Self-attention of 8 heads of dimension 2, of plain layers, so that it can be differentiated twice."""

    def __init__(self) -> None:
        super().__init__()
        self.project = linear(EMBEDDING, 3 * EMBEDDING, bias=True)
        self.softmax = nn.Softmax(-1)
        self.out = linear(EMBEDDING, EMBEDDING, bias=True)

    def forward(self, x: Tensor) -> Tensor:
        """(B, tokens, 16) to the same shape."""
        batch, tokens, _ = x.shape
        heads = self.project(x).view(batch, tokens, 3, HEADS, EMBEDDING // HEADS).permute(2, 0, 3, 1, 4)
        query, key, value = heads.unbind(0)
        shares = self.softmax(query @ key.transpose(-2, -1) * (EMBEDDING // HEADS) ** -0.5)
        out: Tensor = self.out((shares @ value).transpose(1, 2).reshape(batch, tokens, EMBEDDING))
        return out


class Transformer(nn.Module):
    """Linear over the token axis and layer norm; attention and two linear layers, each with a residual link and norm."""

    def __init__(self, sparse: Sequence[int], tokens: int, joint: Joint) -> None:
        super().__init__()
        self.linear = joint(sparse, tokens, False)
        self.norm = nn.LayerNorm(tokens)
        self.attention = Attention()
        self.attention_norm = nn.LayerNorm(EMBEDDING)
        self.feed = nn.Sequential(
            linear(EMBEDDING, EMBEDDING, bias=True), nn.ReLU(), linear(EMBEDDING, EMBEDDING, bias=True)
        )
        self.feed_norm = nn.LayerNorm(EMBEDDING)
        for norm in (self.attention_norm, self.feed_norm):
            nn.init.constant_(norm.weight, 0.17)  # small tokens, so that the head starts calm

    def forward(self, sparse: MaybeParts, mask: Tensor | None = None) -> Tensor:
        """Sparse parts to (B, tokens, 16); a mask (tokens, 1) is put on the tokens before attention."""
        x: Tensor = self.norm(self.linear(turn(sparse))).transpose(1, 2)
        if mask is not None:
            x = x * mask
        x = self.attention_norm(x + self.attention(x))
        out: Tensor = self.feed_norm(x + self.feed(x))
        return out


# -- what joins the two outputs ---------------------------------------------------------------------------------------
class Interact(nn.Module):
    """The dense output as eight tokens: linear and layer norm, both left out where it has the right width already.

    In a one-shot network (`skip=False`) they stay, for its narrower networks have them.
    """

    def __init__(self, width: int, *, skip: bool = True) -> None:
        super().__init__()
        wanted = INTERACT_TOKENS * EMBEDDING
        keep = not (skip and width == wanted)
        self.project: nn.Module = nn.Sequential(linear(width, wanted), nn.LayerNorm(wanted)) if keep else nn.Identity()

    def forward(self, dense: Tensor) -> Tensor:
        """(B, width) to (B, 8, 16)."""
        out: Tensor = self.project(dense).unflatten(-1, (INTERACT_TOKENS, EMBEDDING))
        return out


class FactorisationMachine(nn.Module):
    """(sum of tokens)^2 - sum of squared tokens; linear (left out where the dense output is 16 wide), layer norm.

    In a one-shot network (`skip=False`) it stays.
    """

    def __init__(self, width: int, *, skip: bool = True) -> None:
        super().__init__()
        keep = not (skip and width == EMBEDDING)
        self.linear: nn.Module = linear(EMBEDDING, width) if keep else nn.Identity()
        self.norm = nn.LayerNorm(width)

    def forward(self, sparse: Parts) -> Tensor:
        """Sparse parts to (B, width)."""
        tokens = torch.cat(list(sparse), 1)
        out: Tensor = self.norm(self.linear(tokens.sum(1).square() - tokens.square().sum(1)))
        return out
