"""Counts of AutoFormer networks: exact ones, and the complexity that the public code reports."""

from __future__ import annotations

from functools import lru_cache

from foresee.spaces import counting
from foresee.spaces.autoformer.architecture import Architecture
from foresee.spaces.autoformer.network import Form, grid
from foresee.spaces.counting import Counts
from foresee.task import Task


@lru_cache(maxsize=4096)
def _ends(embed: int, task: Task, form: Form) -> Counts:
    """All but the layers."""
    channels, rows, columns = grid(task, form)
    patches = counting.conv2d(channels, embed, form.patch, (rows, columns), bias=True)
    learnt = Counts(embed * (2 + rows * columns), 0)  # class token and absolute positions
    return patches + learnt + counting.norm(embed) + counting.linear(embed, task.outputs)


@lru_cache(maxsize=4096)
def _layer(embed: int, heads: int, hidden: int, tokens: int, form: Form) -> Counts:
    wide = heads * form.head_dim
    # each of the two products of attention has a twin for the relative positions
    products = counting.matmul(tokens, form.head_dim, tokens, times=4 * heads)
    tables = Counts(4 * (2 * form.reach + 2) * form.head_dim, 0)
    return counting.total(
        [
            counting.repeat(counting.norm(embed), 2),
            counting.linear(embed, 3 * wide, positions=tokens),
            products,
            tables,
            counting.linear(wide, embed, positions=tokens),
            counting.linear(embed, hidden, positions=tokens),
            counting.linear(hidden, embed, positions=tokens),
        ]
    )


def count(architecture: Architecture, task: Task, form: Form) -> Counts:
    """Parameters and MACs."""
    _, rows, columns = grid(task, form)
    tokens, embed = rows * columns + 1, architecture.embed
    return counting.total(
        [
            _ends(embed, task, form),
            *(
                _layer(embed, heads, hidden, tokens, form)
                for heads, hidden in zip(architecture.heads, architecture.hidden, strict=True)
            ),
        ]
    )


def complexity(architecture: Architecture, task: Task, form: Form) -> int:
    """The public code's estimate of multiply-accumulates, which papers quote as FLOPs.

    It counts norms and the class token twice in the length, charges relative positions by their reach, and applies the
    head to every token.
    """
    channels, rows, columns = grid(task, form)
    patches, embed = rows * columns, architecture.embed
    length = patches + 2  # one too many
    total = patches * embed * channels * form.patch**2 + embed + (patches + 1) * embed / 2
    for heads, hidden in zip(architecture.heads, architecture.hidden, strict=True):
        wide = heads * form.head_dim
        total += 2 * length * embed  # two norms
        total += length * embed * 3 * wide + 2 * length**2 * wide + length * wide * embed
        total += 2 * form.reach * length**2 + length**2 / 2 + length * wide / 2  # relative positions
        total += 2 * length * embed * hidden
    return round(total + (patches + 1) * embed * task.outputs)
