"""Blocks that hold all their operations at the greatest width, and one pass through a network of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from torch import Tensor, nn

from foresee.spaces.nasrec.architecture import BINARY_OPS, Alphabet
from foresee.spaces.nasrec.layers import (
    EMBEDDING,
    Dot,
    FactorisationMachine,
    Interact,
    Linear2d,
    Linear3d,
    MaybeParts,
    Transformer,
    Wide,
)
from foresee.spaces.nasrec.network import Embeddings
from foresee.spaces.weighing import Live


class WideSum(nn.Module):
    """All inputs side by side, the left one plus the right one, linear, norm."""

    def __init__(self, dense: Sequence[int], width: int) -> None:
        super().__init__()
        self.linear = Wide(dense, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, left: MaybeParts, right: MaybeParts) -> Tensor:
        """Selected inputs of either side to (B, width)."""
        added = [b if a is None else a if b is None else a + b for a, b in zip(left, right, strict=True)]
        out: Tensor = self.norm(self.linear(added))
        return out


class WideGate(nn.Module):
    """All inputs side by side, sigmoid(linear(left)) times right, linear, norm; gates of absent inputs are not computed."""

    def __init__(self, dense: Sequence[int], width: int) -> None:
        super().__init__()
        self.gate = Wide(dense, sum(dense), bias=True)
        self.act = nn.Sigmoid()
        self.linear = Wide(dense, width, bias=True)
        self.norm = nn.LayerNorm(width)

    def forward(self, left: MaybeParts, right: MaybeParts) -> Tensor:
        """Selected inputs of either side to (B, width)."""
        gates = self.gate.rows(left, [part is not None for part in right])
        gated = [
            None if part is None or gate is None else self.act(gate) * part
            for part, gate in zip(right, gates, strict=True)
        ]
        out: Tensor = self.norm(self.linear(gated))
        return out


class WideBlock(nn.Module):
    """All operations of one block at the greatest widths."""

    def __init__(self, dense: Sequence[int], sparse: Sequence[int], alphabet: Alphabet) -> None:
        super().__init__()
        width, tokens = alphabet.dense_widths[-1], alphabet.sparse_widths[-1]
        makers: dict[str, Callable[[], nn.Module]] = {
            "linear2d": lambda: Linear2d(dense, width, Wide),
            "dot": lambda: Dot(dense, sparse, width, Wide, skip=False),
            "gate": lambda: WideGate(dense, width),
            "sum": lambda: WideSum(dense, width),
            "transformer": lambda: Transformer(sparse, tokens, Wide),
            "linear3d": lambda: Linear3d(sparse, tokens, Wide),
        }
        self.dense = nn.ModuleDict({op: makers[op]() for op in alphabet.dense_ops})
        self.sparse = nn.ModuleDict({op: makers[op]() for op in alphabet.sparse_ops})
        self.interact = Interact(width, skip=False)
        self.fm = FactorisationMachine(width, skip=False)


class WideNetwork(Protocol):
    """What a pass asks of the network it goes through."""

    options: dict[str, tuple[str, ...]]
    embeddings: Embeddings
    prefixes_dense: Tensor
    prefixes_sparse: Tensor

    def block(self, number: int) -> WideBlock:
        """Block `number`, from 1."""
        ...

    def weight(self, choice: str) -> Tensor:
        """The present weights of a choice."""
        ...

    def live(self, choice: str) -> Live:
        """The same one by one, None for options that need not be computed."""
        ...


class Pass:
    """One pass through the network: a thing is computed when it is first asked for, so what no weight leads to never is."""

    def __init__(self, net: WideNetwork, dense: Tensor, sparse: Tensor) -> None:
        self.net, self.raw_dense, self.raw_sparse = net, dense, sparse
        self.known: dict[tuple[str, int], Tensor] = {}

    def dense(self, number: int) -> Tensor:
        """Dense output of a block, (B, greatest width); of number 0 the raw features."""
        if not number:
            return self.raw_dense
        if ("dense", number) not in self.known:
            out, on = self._dense_op(number), self._on(f"{number}.fm")
            if on is not None:
                tokens = [part for part in self.sparse(number) if part is not None]
                out = out + on * self._mask(f"{number}.dense_width") * self.net.block(number).fm(tokens)
            self.known["dense", number] = out
        return self.known["dense", number]

    def sparse(self, number: int) -> list[Tensor | None]:
        """Sparse output of a block: its tokens, and those of the dense output or None; of number 0 the embeddings."""
        if not number:
            return [self._embedded()]
        if ("sparse", number) not in self.known:
            self.known["sparse", number] = self._sparse_op(number)
            on = self._on(f"{number}.interact")
            if on is not None:
                self.known["interact", number] = on * self.net.block(number).interact(self._dense_op(number))
        return [self.known["sparse", number], self.known.get(("interact", number))]

    def _embedded(self) -> Tensor:
        if ("sparse", 0) not in self.known:
            self.known["sparse", 0] = self.net.embeddings(self.raw_sparse)
        return self.known["sparse", 0]

    def _dense_op(self, number: int) -> Tensor:
        if ("dense_op", number) not in self.known:
            total: Tensor | None = None
            for op, weight in self._options(f"{number}.dense_op"):
                term = weight * self._apply(number, op)
                total = term if total is None else total + term
            mask = self._mask(f"{number}.dense_width")
            self.known["dense_op", number] = (
                mask.expand(len(self.raw_dense), -1) * 0.0 if total is None else total * mask
            )
        return self.known["dense_op", number]

    def _apply(self, number: int, op: str) -> Tensor:
        module, dense = self.net.block(number).dense[op], [f"{number}.dense.{read}" for read in range(number)]
        if op in BINARY_OPS:
            out: Tensor = module(self._side(number, "left"), self._side(number, "right"))
        elif op == "dot":
            out = module(self._gather_dense(self._each(dense)), self._gather_sparse(number))
        else:
            out = module(self._gather_dense(self._each(dense)))
        return out

    def _sparse_op(self, number: int) -> Tensor:
        mask = self._mask(f"{number}.sparse_width").unsqueeze(-1)
        parts = self._gather_sparse(number)
        total: Tensor | None = None
        for op, weight in self._options(f"{number}.sparse_op"):
            module = self.net.block(number).sparse[op]
            term = weight * (module(parts, mask) if op == "transformer" else module(parts))
            total = term if total is None else total + term
        return mask * self.raw_dense.new_zeros(len(self.raw_dense), 1, EMBEDDING) if total is None else total * mask

    # -- inputs -------------------------------------------------------------------------------------------------------
    def _gather_dense(self, weights: Sequence[Tensor | None]) -> list[Tensor | None]:
        parts = [None if weight is None else weight * self.dense(read) for read, weight in enumerate(weights)]
        return parts if any(part is not None for part in parts) else [0.0 * self.raw_dense, *parts[1:]]

    def _side(self, number: int, side: str) -> list[Tensor | None]:
        weights = self.net.live(f"{number}.{side}")
        return self._gather_dense([None if weight is None else weight.to(self.raw_dense) for weight in weights])

    def _gather_sparse(self, number: int) -> list[Tensor | None]:
        parts: list[Tensor | None] = []
        for read, weight in enumerate(self._each([f"{number}.sparse.{read}" for read in range(number)])):
            if weight is None:
                parts += [None] if not read else [None, None]
            else:
                parts += [None if part is None else weight * part for part in self.sparse(read)]
        if all(part is None for part in parts):
            parts[0] = 0.0 * self._embedded()
        return parts

    # -- weights ------------------------------------------------------------------------------------------------------
    def _on(self, choice: str) -> Tensor | None:
        """Weight of the option `on`, the last one; None where what it switches need not be computed."""
        weight = self.net.live(choice)[-1]
        return None if weight is None else weight.to(self.raw_dense)

    def _each(self, choices: Sequence[str]) -> list[Tensor | None]:
        return [self._on(choice) for choice in choices]

    def _options(self, choice: str) -> Iterator[tuple[str, Tensor]]:
        """Options to compute."""
        for option, weight in zip(self.net.options[choice], self.net.live(choice), strict=True):
            if weight is not None:
                yield option, weight.to(self.raw_dense)

    def _mask(self, choice: str) -> Tensor:
        """Weighted sum of 0/1 masks that keep the first features."""
        prefixes = self.net.prefixes_dense if choice.endswith("dense_width") else self.net.prefixes_sparse
        return self.net.weight(choice).to(prefixes) @ prefixes
