"""The stand-alone network of a NASRec architecture, and its counts by formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from foresee.errors import InputError
from foresee.spaces import counting
from foresee.spaces.counting import Counts
from foresee.spaces.nasrec.architecture import BINARY_OPS, Architecture, Block, Live, liveness
from foresee.spaces.nasrec.first_order import FirstOrder
from foresee.spaces.nasrec.layers import (
    EMBEDDING,
    INTERACT_TOKENS,
    Dot,
    FactorisationMachine,
    Gate,
    Interact,
    Joined,
    Joint,
    Linear2d,
    Linear3d,
    Sum,
    Transformer,
    dot_tokens,
    pairs,
)
from foresee.task import Task


def click_log(task: Task, space: str) -> tuple[int, int]:
    """Numbers of dense and sparse features; a precise error for any other task."""
    if not task.vocabularies:
        raise InputError(
            f"space {space} takes click logs: the task has no vocabularies; give the number of values of each sparse "
            f"feature, such as Task((13,), 1, vocabularies=(100, 50))"
        )
    return task.inputs[0], len(task.vocabularies)


class Embeddings(nn.Module):
    """A table per sparse feature."""

    def __init__(self, vocabularies: Sequence[int]) -> None:
        super().__init__()
        # tables may have millions of rows: drawn once, not a first time by the layer itself
        empty = (torch.empty(rows, EMBEDDING) for rows in vocabularies)
        tables: list[nn.Embedding] = [
            nn.Embedding.from_pretrained(rows, freeze=False)  # type: ignore[no-untyped-call]
            for rows in empty
        ]
        for table in tables:
            if table.weight.is_meta:  # of a network that is to inherit
                continue
            nn.init.xavier_normal_(table.weight)
        self.tables = nn.ModuleList(tables)

    def forward(self, indices: Tensor) -> Tensor:
        """(B, features) whole numbers to (B, features, 16)."""
        return torch.stack([table(indices[:, column]) for column, table in enumerate(self.tables)], 1)


class BlockNetwork(nn.Module):
    """A block: `dense` and `sparse` operations, `interact` and `fm` where switched on. What is not `live` is not computed."""

    def __init__(
        self, block: Block, live: Live, dense: Sequence[int], sparse: Sequence[Sequence[int]], joint: Joint
    ) -> None:
        super().__init__()
        self.block, self.live = block, live
        dense_sizes = [dense[read] for read in block.dense_reads]
        sparse_sizes = [size for read in block.sparse_inputs for size in sparse[read]]
        self.dense = _dense_op(block, dense_sizes, sparse_sizes, joint)
        make = Linear3d if block.sparse == "linear3d" else Transformer
        self.sparse = make(sparse_sizes, block.sparse_width, joint)
        self.interact = Interact(block.dense_width) if block.interact else None
        self.fm = FactorisationMachine(block.dense_width) if block.fm else None

    def forward(
        self, dense: Sequence[Tensor | None], sparse: Sequence[Sequence[Tensor]]
    ) -> tuple[Tensor | None, list[Tensor]]:
        """All dense inputs and all sparse inputs (in parts) to the two outputs; None and [] where dead."""
        block, live = self.block, self.live
        tokens = [part for read in block.sparse_inputs for part in sparse[read]]
        dense_out: Tensor | None = None
        if live.dense:
            parts = [dense[read] for read in block.dense_reads]
            if block.dense in BINARY_OPS:
                dense_out = self.dense(*parts)
            else:
                dense_out = self.dense(parts, tokens) if block.dense == "dot" else self.dense(parts)
        sparse_out: list[Tensor] = [self.sparse(tokens)] if live.sparse else []
        if live.interact and self.interact is not None:
            sparse_out.append(self.interact(dense_out))
        if live.fm and self.fm is not None:
            dense_out = dense_out + self.fm(sparse_out)
        return dense_out, sparse_out


def _dense_op(block: Block, dense: Sequence[int], sparse: Sequence[int], joint: Joint) -> nn.Module:
    if block.dense in BINARY_OPS:
        left, right = dense
        return (Gate if block.dense == "gate" else Sum)(left, right, block.dense_width)
    if block.dense == "dot":
        return Dot(dense, sparse, block.dense_width, joint)
    return Linear2d(dense, block.dense_width, joint)


def sizes(architecture: Architecture, dense: int, sparse: int) -> tuple[list[int], list[tuple[int, ...]]]:
    """Width of every dense input, and the tokens of every sparse input by its parts, the raw ones first."""
    dense_sizes: list[int] = [dense]
    sparse_sizes: list[tuple[int, ...]] = [(sparse,)]
    for block in architecture.blocks:
        dense_sizes.append(block.dense_width)
        sparse_sizes.append((block.sparse_width, INTERACT_TOKENS) if block.interact else (block.sparse_width,))
    return dense_sizes, sparse_sizes


class Network(nn.Module):
    """Embeddings, blocks, and a linear head on the last block's outputs.

    Blocks, or halves of blocks, that cannot reach the head hold their parameters (the published counts include them) but
    are not computed. `joint` says how linear layers over several inputs hold their weights. With `first_order` a logistic
    regression is added to the logit, and the head begins at 0: at first the whole is that regression.
    """

    def __init__(
        self, architecture: Architecture, task: Task, joint: Joint = Joined, *, first_order: bool = False
    ) -> None:
        super().__init__()
        dense, sparse = sizes(architecture, *click_log(task, "nasrec"))
        live, self.reads_embeddings = liveness(architecture)
        self.embeddings = Embeddings(task.vocabularies)
        self.blocks = nn.ModuleList(
            BlockNetwork(block, alive, dense, sparse, joint)
            for block, alive in zip(architecture.blocks, live, strict=True)
        )
        head = [dense[-1], *(EMBEDDING * tokens for tokens in sparse[-1])]
        self.head = joint(head, task.outputs, True)
        self.first_order = FirstOrder(task) if first_order else None
        if first_order:
            for one in self.head.parameters():
                nn.init.zeros_(one)

    def _states(self, dense: Tensor, sparse: Tensor) -> tuple[list[Tensor | None], list[list[Tensor]]]:
        dense_states: list[Tensor | None] = [dense]
        sparse_states: list[list[Tensor]] = [[self.embeddings(sparse)] if self.reads_embeddings else []]
        for block in self.blocks:
            dense_out, sparse_out = block(dense_states, sparse_states)
            dense_states.append(dense_out)
            sparse_states.append(sparse_out)
        return dense_states, sparse_states

    def stages(self, dense: Tensor, sparse: Tensor) -> list[Tensor]:
        """The raw features and each block's outputs, as far as computed, flattened to (B, features)."""
        flat = [
            [*([] if dense_state is None else [dense_state]), *(part.flatten(1) for part in sparse_state)]
            for dense_state, sparse_state in zip(*self._states(dense, sparse), strict=True)
        ]
        return [torch.cat(parts, 1) for parts in flat if parts]

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """Dense features (B, n) and indices of sparse features (B, m) to logits (B, outputs)."""
        dense_states, sparse_states = self._states(dense, sparse)
        logits: Tensor = self.head([dense_states[-1], *(part.flatten(1) for part in sparse_states[-1])])
        return logits if self.first_order is None else logits + self.first_order(dense, sparse)


# -- counts -----------------------------------------------------------------------------------------------------------
def embedding_params(task: Task) -> int:
    """Numbers in all embedding tables."""
    return EMBEDDING * sum(task.vocabularies)


def first_order_counts(task: Task) -> Counts:
    """A weight for each number and each value, and one more."""
    return counting.linear(task.inputs[0], 1) + Counts(sum(task.vocabularies), 0)


def counts(architecture: Architecture, task: Task) -> Counts:
    """Parameters of everything but the embeddings, and MACs of what is computed."""
    dense, sparse = sizes(architecture, *click_log(task, "nasrec"))
    params = macs = 0
    for block, live in zip(architecture.blocks, liveness(architecture)[0], strict=True):
        parts = _block_counts(
            block,
            [dense[read] for read in block.dense_reads],
            sum(sum(sparse[read]) for read in block.sparse_inputs),
        )
        params += sum(part.params for part in parts.values())
        macs += sum(part.macs for name, part in parts.items() if getattr(live, name))
    head = counting.linear(dense[-1] + EMBEDDING * sum(sparse[-1]), task.outputs)
    return Counts(params, macs) + head


def _block_counts(block: Block, dense: Sequence[int], tokens: int) -> Mapping[str, Counts]:
    """Counts of the parts of a block that reads `dense` widths and `tokens` tokens."""
    width, made = block.dense_width, block.sparse_width
    linear, norm = counting.linear, counting.norm
    sparse = linear(tokens, made, bias=False, positions=EMBEDDING) + norm(made)
    if block.sparse == "transformer":
        sparse += linear(EMBEDDING, 3 * EMBEDDING, positions=made) + linear(EMBEDDING, EMBEDDING, positions=made)
        sparse += counting.matmul(made, EMBEDDING, made, times=2)  # scores and their use: 8 heads of 2 are 16
        sparse += counting.repeat(linear(EMBEDDING, EMBEDDING, positions=made), 2) + counting.repeat(norm(EMBEDDING), 2)
    parts = {"dense": _dense_counts(block, dense, tokens) + norm(width), "sparse": sparse}
    if block.interact and width != (wanted := INTERACT_TOKENS * EMBEDDING):
        parts["interact"] = linear(width, wanted, bias=False) + norm(wanted)
    if block.fm:
        parts["fm"] = norm(width) + (linear(EMBEDDING, width, bias=False) if width != EMBEDDING else counting.NOTHING)
    return parts


def _dense_counts(block: Block, dense: Sequence[int], tokens: int) -> Counts:
    width, linear = block.dense_width, counting.linear
    if block.dense == "linear2d":
        return linear(sum(dense), width, bias=False)
    if block.dense == "dot":
        made = dot_tokens(width)
        total = linear(sum(dense), EMBEDDING, bias=False) + counting.norm(EMBEDDING)
        total += counting.matmul(made + 1, EMBEDDING, made + 1)
        if tokens != made:
            total += linear(tokens, made, bias=False, positions=EMBEDDING) + counting.norm(made)
        return total if pairs(made) == width else total + linear(pairs(made), width, bias=False)
    inner = max(dense)
    gating = block.dense == "gate"
    total = linear(inner, inner) if gating else counting.NOTHING
    return total if inner == width else total + linear(inner, width, bias=gating)
