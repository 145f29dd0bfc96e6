"""The three AutoFormer spaces: one width and one depth for the network, a ratio and a number of heads for each layer."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.spaces.autoformer import counts, named
from foresee.spaces.autoformer.architecture import Architecture, parse
from foresee.spaces.autoformer.network import Form, Network, grid
from foresee.spaces.autoformer.one_shot import AutoFormerOneShot
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.one_shot import Choice
from foresee.task import Task

IMAGENET = Task((3, 224, 224), 1000)
MUTATIONS = ("single", "published")
#: chances of the published mutation: depth and width, and the ratio and heads of each layer
_WHOLE, _EACH = 0.4, 0.2


class AutoFormer(Space[Architecture]):
    """What the three spaces share; they differ in the sizes to choose from.

    Sampling draws the depth, the width, and each layer's ratio and heads uniformly, which is the published way. Any
    sizes can be read, built and counted; `contains` tells whether they are among the choices.

    Args:
        embed: widths to choose from.
        mlp: ratios of hidden layer to width to choose from.
        heads: numbers of heads to choose from.
        depth: numbers of layers to choose from.
        patch: side of a patch in pixels.
        head_dim: width of one head.
        reach: greatest distance, in patches, that relative positions tell apart.
        drop_path: drop probability of the last layer in training, rising linearly from 0; published: 0.1.
        mutation: `single` changes one choice. `published` draws depth and width again with chance 0.4 each, the ratio
            and heads of each layer with chance 0.2 each; it may change nothing.
    """

    source = "AutoFormer (Chen et al., ICCV 2021); searched by TF-TAS and AZ-NAS"
    #: the sizes of the published space
    published: ClassVar[Mapping[str, tuple[float, ...]]]
    #: width of the published supernet
    supernet_width: ClassVar[int]
    _named: ClassVar[Mapping[str, Architecture]]

    def __init__(
        self,
        *,
        embed: Sequence[int] | None = None,
        mlp: Sequence[float] | None = None,
        heads: Sequence[int] | None = None,
        depth: Sequence[int] | None = None,
        patch: int = 16,
        head_dim: int = 64,
        reach: int = 14,
        drop_path: float = 0.0,
        mutation: str = "single",
    ) -> None:
        for key, value in (("patch", patch), ("head_dim", head_dim), ("reach", reach)):
            whole(key, value, of=f"space {self.name}")
        if not isinstance(drop_path, int | float) or not 0 <= drop_path < 1:
            raise InputError(f"space {self.name}: drop_path {drop_path!r}, expected a probability below 1")
        if mutation not in MUTATIONS:
            raise UnknownNameError(f"mutation of space {self.name}", str(mutation), MUTATIONS)
        self.patch, self.head_dim, self.reach, self.drop_path = patch, head_dim, reach, drop_path
        self.form, self.mutation = Form(patch, head_dim, reach, drop_path), mutation
        self.embed, self.mlp = self._checked("embed", embed), self._checked("mlp", mlp)
        self.heads, self.depth = self._checked("heads", heads), self._checked("depth", depth)
        self.options = {"embed": self.embed, "mlp": self.mlp, "heads": self.heads, "depth": self.depth}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Sizes that are not given are the published ones."""
        return {**super().defaults(), **cls.published}

    def _checked(self, key: str, values: Sequence[float] | None) -> tuple[float, ...]:
        """A setting's sizes, ascending; None stands for the published ones."""
        if values is None:
            return self.published[key]
        kinds = (int, float) if key == "mlp" else (int,)
        if (
            not isinstance(values, Sequence)
            or not values
            or not all(isinstance(value, kinds) and value > 0 for value in values)
            or len(set(values)) < len(values)
        ):
            wanted = "numbers above 0" if key == "mlp" else "whole numbers of at least 1"
            raise InputError(f"space {self.name}: {key} {values!r}, expected a list of different {wanted}")
        return tuple(sorted(float(value) if key == "mlp" else value for value in values))

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Depth, width, and the ratio and heads of each layer uniformly."""
        depth = int(rng.choice(self.options["depth"]))
        return Architecture(int(rng.choice(self.options["embed"])), *self._layers(depth, rng))

    def _layers(self, count: int, rng: random.Random) -> tuple[tuple[float, ...], tuple[int, ...]]:
        """Ratios and heads of new layers."""
        mlp = rng.choices(self.options["mlp"], k=count)
        return tuple(mlp), tuple(map(int, rng.choices(self.options["heads"], k=count)))

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """One choice changed, uniformly among all of them; or the published way. New layers are drawn at random."""
        if self.mutation == "published":
            return self._mutate_published(architecture, rng)
        sizes = {"embed": (architecture.embed,), "depth": (architecture.depth,)}
        layers = {"mlp": architecture.mlp, "heads": architecture.heads}
        places = [
            (key, place)
            for key, values in {**sizes, **layers}.items()
            for place, value in enumerate(values)
            if any(option != value for option in self.options[key])
        ]
        if not places:
            raise InputError(f"space {self.name}: every choice has one option only, so nothing can be mutated")
        key, place = rng.choice(places)
        present: float = {**sizes, **layers}[key][place]
        value = rng.choice([option for option in self.options[key] if option != present])
        mlp, heads = list(architecture.mlp), list(architecture.heads)
        if key == "embed":
            return Architecture(int(value), architecture.mlp, architecture.heads)
        if key == "depth":
            return self._resized(architecture, int(value), rng)
        if key == "mlp":
            mlp[place] = value
        else:
            heads[place] = int(value)
        return Architecture(architecture.embed, tuple(mlp), tuple(heads))

    def _resized(self, architecture: Architecture, depth: int, rng: random.Random) -> Architecture:
        """The first layers, and new ones at the end where they do not suffice."""
        mlp, heads = self._layers(max(0, depth - architecture.depth), rng)
        return Architecture(
            architecture.embed, (*architecture.mlp, *mlp)[:depth], (*architecture.heads, *heads)[:depth]
        )

    def _mutate_published(self, architecture: Architecture, rng: random.Random) -> Architecture:
        if rng.random() < _WHOLE:
            architecture = self._resized(architecture, int(rng.choice(self.options["depth"])), rng)
        mlp = [rng.choice(self.options["mlp"]) if rng.random() < _EACH else ratio for ratio in architecture.mlp]
        heads = [rng.choice(self.options["heads"]) if rng.random() < _EACH else n for n in architecture.heads]
        embed = rng.choice(self.options["embed"]) if rng.random() < _WHOLE else architecture.embed
        return Architecture(int(embed), tuple(mlp), tuple(map(int, heads)))

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each number from either parent, as published for parents of equal depth.

        Of parents that differ in depth the child has the depth of one of them; where only one has a layer, it is that one's.
        """
        embed, depth = rng.choice((first.embed, second.embed)), rng.choice((first.depth, second.depth))
        mlp, heads = [], []
        for layer in range(depth):
            parents = [parent for parent in (first, second) if layer < parent.depth]
            mlp.append(rng.choice(parents).mlp[layer])
            heads.append(rng.choice(parents).heads[layer])
        return Architecture(embed, tuple(mlp), tuple(heads))

    def parse(self, text: str) -> Architecture:
        """Read the tuple (depth, ratios, heads, width)."""
        return parse(text)

    def contains(self, architecture: Architecture) -> bool:
        """Whether every size is among the choices."""
        return (
            architecture.embed in self.options["embed"]
            and architecture.depth in self.options["depth"]
            and set(architecture.mlp) <= set(self.options["mlp"])
            and set(architecture.heads) <= set(self.options["heads"])
        )

    @property
    def size(self) -> int:
        """Widths times the sum over depths d of (ratios x heads)^d."""
        layer = len(self.options["mlp"]) * len(self.options["heads"])
        networks: int = sum(layer ** int(depth) for depth in self.options["depth"])
        return len(self.options["embed"]) * networks

    @property
    def named(self) -> Mapping[str, Architecture]:
        """Published architectures, where the space offers their width. `AutoFormer_T` has ratios the space does not."""
        return {name: one for name, one in self._named.items() if one.embed in self.options["embed"]}

    # -- choices ------------------------------------------------------------------------------------------------------
    @property
    def choices(self) -> tuple[Choice, ...]:
        """Width and depth, and the ratio and heads of each layer up to the greatest depth."""
        layers = [f"{layer}.{key}" for layer in range(int(max(self.depth))) for key in ("mlp", "heads")]
        names = ["embed", "depth", *layers]
        return tuple(Choice(name, tuple(map(str, self.options[name.rpartition(".")[2]]))) for name in names)

    def assemble(self, picks: Sequence[int]) -> Architecture:
        """The network of these sizes; layers beyond the depth are left out."""
        embed, depth, *layers = picks
        pairs = list(zip(layers[::2], layers[1::2], strict=True))[: int(self.depth[depth])]
        mlp, heads = [self.mlp[ratio] for ratio, _ in pairs], [int(self.heads[many]) for _, many in pairs]
        return Architecture(int(self.embed[embed]), tuple(mlp), tuple(heads))

    def picks(self, architecture: Architecture) -> tuple[int | None, ...]:
        """The places of its sizes; None for layers beyond its depth."""
        layers: list[int | None] = []
        for ratio, many in zip(architecture.mlp, architecture.heads, strict=True):
            layers += [self.mlp.index(ratio), self.heads.index(many)]
        beyond = [None] * (2 * (int(max(self.depth)) - architecture.depth))
        return self.embed.index(architecture.embed), self.depth.index(architecture.depth), *layers, *beyond

    # -- one architecture ---------------------------------------------------------------------------------------------
    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images whose sides are multiples of the patch size."""
        return Network(architecture, task, self.form)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        return counts.count(architecture, task, self.form)

    def benchmark_complexity(self, architecture: Architecture, task: Task = IMAGENET) -> int:
        """The estimate of multiply-accumulates of the public code; `counts` has the exact number."""
        return counts.complexity(architecture, task, self.form)

    def graph(self, architecture: Architecture) -> list[Graph]:
        """The layers in a row."""
        layers = [
            f"{heads} heads, mlp {hidden}"
            for heads, hidden in zip(architecture.heads, architecture.hidden, strict=True)
        ]
        nodes = ("patches", *layers, "mean")
        edges = tuple((place, place + 1, "") for place in range(len(nodes) - 1))
        return [Graph(nodes, edges, title=f"{architecture.depth} layers of width {architecture.embed}")]

    def one_shot(self, task: Task, **options: Any) -> AutoFormerOneShot:
        """The weight-slicing supernet; `embed` sets its width (published: 256, 448, 640; else the greatest to choose)."""
        grid(task, self.form)
        most = int(max(self.options["embed"]))
        embed = self.supernet_width if self.options["embed"] == self.published["embed"] else most
        return AutoFormerOneShot(self.options, task, self.form, **{"embed": embed, **options})


@spaces.register("autoformer_tiny")
class AutoFormerTiny(AutoFormer):
    """Vision transformers of 5 to 11 million parameters."""

    name = "autoformer_tiny"
    summary = "vision transformers of 12 to 14 layers, width 192 to 240: 10^9 image networks"
    published: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "embed": (192, 216, 240),
        "mlp": (3.5, 4.0),
        "heads": (3, 4),
        "depth": (12, 13, 14),
    }
    supernet_width = 256
    _named = named.TINY


@spaces.register("autoformer_small")
class AutoFormerSmall(AutoFormer):
    """Vision transformers of 13 to 35 million parameters."""

    name = "autoformer_small"
    summary = "vision transformers of 12 to 14 layers, width 320 to 448: 10^14 image networks"
    published: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "embed": (320, 384, 448),
        "mlp": (3.0, 3.5, 4.0),
        "heads": (5, 6, 7),
        "depth": (12, 13, 14),
    }
    supernet_width = 448
    _named = named.SMALL


@spaces.register("autoformer_base")
class AutoFormerBase(AutoFormer):
    """Vision transformers of 42 to 77 million parameters.

    The published supernet chooses among 9 and 10 heads, the published list for subnets has 8 too: `heads=(8, 9, 10)`.
    """

    name = "autoformer_base"
    summary = "vision transformers of 14 to 16 layers, width 528 to 624: 10^13 image networks"
    published: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "embed": (528, 576, 624),
        "mlp": (3.0, 3.5, 4.0),
        "heads": (9, 10),
        "depth": (14, 15, 16),
    }
    supernet_width = 640
    _named = named.BASE
