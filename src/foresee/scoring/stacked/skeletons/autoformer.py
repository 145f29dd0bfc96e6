"""AutoFormer: patches as tokens, layers of attention and of a hidden layer at each token, the mean over patches, a linear head.

Each half of a layer is one choice between as many ways as it has pairs of width and heads, or of width and hidden layer;
`192:3` are three heads of a network of width 192. A network that is less deep than others has nothing there. So architectures
that have a half in common go through it together, with the numbers that its tokens have; from half to half these are filled up
to the widest, as maps are in the size space.
"""

from __future__ import annotations

from collections.abc import Iterable

from foresee.errors import UnsupportedError
from foresee.scoring.stacked.skeleton import Chain, Either, First, Linear, Skeleton, Step, Sum
from foresee.scoring.stacked.transformer import Attention, LayerNorm, Learnt, Patches, Table, Tokens
from foresee.spaces.autoformer.architecture import Architecture
from foresee.spaces.autoformer.network import Form, grid, relative_index
from foresee.spaces.autoformer.space import AutoFormer
from foresee.task import Task

#: of all numbers that are drawn but those of the patches
_DEVIATION = 0.02
#: torch makes normal numbers of sixteen others at a time, and fewer in another way
_FEWEST = 16


def skeleton(space: AutoFormer, task: Task) -> Skeleton:
    """The networks of any widths, heads, hidden layers and depths."""
    if space.drop_path:
        raise UnsupportedError(f"{space.name} with drop_path {space.drop_path} is not stacked: 0 is")
    channels, height, width = grid(task, space.form)
    embeds, heads = [int(embed) for embed in space.embed], [int(many) for many in space.heads]
    if min(embeds) < _FEWEST or min(embeds) * task.outputs < _FEWEST:
        raise UnsupportedError(f"{space.name} of width {min(embeds)} is not stacked: {_FEWEST} and more are")
    index = relative_index(height, width, space.reach)
    image = channels, height * space.patch, width * space.patch

    def attention(name: str, embed: int, many: int) -> Chain:
        wide = many * space.head_dim
        keys, values = (_tables(f"{name}.attention.{kind}", space.form) for kind in ("keys", "values"))
        return _branch(
            LayerNorm(f"{name}.norm1"),
            _linear(f"{name}.attention.qkv", embed, 3 * wide),
            Attention(many, space.head_dim, keys, values, index),
            _linear(f"{name}.attention.projection", wide, embed),
        )

    def hidden(name: str, embed: int, size: int) -> Chain:
        return _branch(
            LayerNorm(f"{name}.norm2"),
            _linear(f"{name}.fc1", embed, size),
            Step.GELU,
            _linear(f"{name}.fc2", size, embed),
        )

    def start(embed: int) -> Chain:
        learnt = (
            Learnt(name, many, embed, _DEVIATION) for name, many in (("cls", 1), ("positions", height * width + 1))
        )
        return Patches("patches", channels, embed, space.patch), Tokens(*learnt)

    def end(embed: int) -> Chain:
        return LayerNorm("norm"), Step.MEAN, Linear("head", embed, task.outputs, deviation=_DEVIATION)

    parts = [Either(0, tuple((_choice(embed), start(embed)) for embed in embeds))]
    for layer in range(_deepest(space)):
        name, nothing = f"layers.{layer}", [(_choice(embed), _read(embed)) for embed in embeds]
        both: Iterable[list[tuple[str, Chain]]] = (
            [(_choice(embed, many), _read(embed, attention(name, embed, many))) for embed in embeds for many in heads],
            [
                (_choice(embed, one), _read(embed, hidden(name, embed, one)))
                for embed in embeds
                for one in _hidden(space, embed)
            ],
        )
        parts += [Either(len(parts) + half, (*ways, *nothing)) for half, ways in enumerate(both)]
    parts.append(Either(len(parts), tuple((_choice(embed), _read(embed, end(embed))) for embed in embeds)))
    return Skeleton(image, tuple(parts))


def choices(space: AutoFormer, architecture: Architecture) -> tuple[str, ...]:
    """Its width, heads and hidden layer of each layer, nothing beyond its depth, and the width again."""
    if not space.contains(architecture):
        raise UnsupportedError(f"sizes that {space.name} does not choose from: stacks have the space's own")
    embed = architecture.embed
    pairs = zip(architecture.heads, architecture.hidden, strict=True)
    layers = [_choice(embed, size) for pair in pairs for size in pair]
    beyond = [_choice(embed)] * (2 * (_deepest(space) - architecture.depth))
    return _choice(embed), *layers, *beyond, _choice(embed)


def _choice(*sizes: int) -> str:
    return ":".join(map(str, sizes))


def _deepest(space: AutoFormer) -> int:
    return int(max(space.depth))


def _hidden(space: AutoFormer, embed: int) -> list[int]:
    """The hidden layers there are; ratios that are nearly the same make the same one."""
    return sorted({int(embed * ratio) for ratio in space.mlp})


def _read(embed: int, way: Chain = ()) -> Chain:
    return First(embed), *way


def _branch(*parts: LayerNorm | Linear | Attention | Step) -> Chain:
    """What is added to what it reads."""
    return (Sum(parts, ()),)


def _linear(name: str, inputs: int, outputs: int) -> Linear:
    return Linear(name, inputs, outputs, tokens=True, deviation=_DEVIATION)


def _tables(name: str, form: Form) -> tuple[Table, Table]:
    rows, columns = (
        Table(f"{name}.{way}", 2 * form.reach + 2, form.head_dim, _DEVIATION) for way in ("vertical", "horizontal")
    )
    return rows, columns
