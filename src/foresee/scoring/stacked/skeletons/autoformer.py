"""AutoFormer: patches as tokens, layers of attention and of a hidden layer, the mean over patches, a linear head.

Each half of a layer is one choice between as many ways as it has pairs of width and heads, or of width and hidden layer;
`192:3` are three heads of a network of width 192. A network that is less deep than others has nothing there. So architectures
that have a half in common go through it together, with the numbers that its tokens have; from half to half these are filled
up to the widest, as maps are in the size space.
"""

from __future__ import annotations

from torch import Tensor

from foresee.errors import InputError, UnsupportedError
from foresee.scoring.stacked.skeleton import Chain, Either, First, Linear, Part, Skeleton, Step, Sum
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
    try:
        channels, height, width = grid(task, space.form)
    except InputError as error:  # nor would one by itself be built
        raise UnsupportedError(str(error)) from error
    index = relative_index(height, width, space.reach)
    embeds, heads = ([int(size) for size in sizes] for sizes in (space.embed, space.heads))
    chosen: list[list[tuple[str, Chain]]] = [
        [(_choice(one), _start(one, channels, index, space.patch)) for one in embeds]
    ]
    for layer in range(_deepest(space)):
        name, nothing = f"layers.{layer}", [(_choice(one), _read(one)) for one in embeds]
        attend = (
            (_choice(one, many), _read(one, _attention(name, one, many, index, space.form)))
            for one in embeds
            for many in heads
        )
        widen = (
            (_choice(one, size), _read(one, _hidden(name, one, size))) for one in embeds for size in _sizes(space, one)
        )
        chosen += [[*attend, *nothing], [*widen, *nothing]]
    chosen.append([(_choice(one), _read(one, _end(one, task.outputs))) for one in embeds])
    image = channels, height * space.patch, width * space.patch
    found = Skeleton(image, tuple(Either(pick, tuple(ways)) for pick, ways in enumerate(chosen)))
    for part, _ in found.layers():
        if not isinstance(part, Patches) and part.numbers < _FEWEST:
            raise UnsupportedError(
                f"{space.name} with {part.numbers} numbers in {part.name} is not stacked: {_FEWEST} are"
            )
    return found


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


def _sizes(space: AutoFormer, embed: int) -> list[int]:
    """The hidden layers there are; ratios that are nearly the same make the same one."""
    return sorted({int(embed * ratio) for ratio in space.mlp})


def _start(embed: int, channels: int, index: Tensor, patch: int) -> Chain:
    first, places = Learnt("cls", 1, embed, _DEVIATION), Learnt("positions", index.shape[1], embed, _DEVIATION)
    return Patches("patches", channels, embed, patch), Tokens(first, places)


def _attention(name: str, embed: int, heads: int, index: Tensor, form: Form) -> Chain:
    inside, wide = f"{name}.attention", heads * form.head_dim
    return _added(
        LayerNorm(f"{name}.norm1"),
        _linear(f"{inside}.qkv", embed, 3 * wide),
        Attention(heads, form.head_dim, _tables(f"{inside}.keys", form), _tables(f"{inside}.values", form), index),
        _linear(f"{inside}.projection", wide, embed),
    )


def _hidden(name: str, embed: int, size: int) -> Chain:
    first, second = _linear(f"{name}.fc1", embed, size), _linear(f"{name}.fc2", size, embed)
    return _added(LayerNorm(f"{name}.norm2"), first, Step.GELU, second)


def _end(embed: int, outputs: int) -> Chain:
    return LayerNorm("norm"), Step.MEAN, Linear("head", embed, outputs, deviation=_DEVIATION)


def _read(embed: int, way: Chain = ()) -> Chain:
    return First(embed), *way


def _added(*parts: Part) -> Chain:
    """To what it reads."""
    return (Sum(parts, ()),)


def _linear(name: str, inputs: int, outputs: int) -> Linear:
    return Linear(name, inputs, outputs, tokens=True, deviation=_DEVIATION)


def _tables(name: str, form: Form) -> tuple[Table, Table]:
    rows = 2 * form.reach + 2
    vertical, horizontal = (f"{name}.{way}" for way in ("vertical", "horizontal"))
    return Table(vertical, rows, form.head_dim, _DEVIATION), Table(horizontal, rows, form.head_dim, _DEVIATION)
