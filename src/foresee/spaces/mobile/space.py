"""The space of mobile networks."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foresee.errors import InputError, UnknownNameError
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.mobile import choices, counts, network
from foresee.spaces.mobile.architecture import Architecture, parse, runs
from foresee.spaces.mobile.designs import DESIGNS
from foresee.spaces.mobile.network import Network
from foresee.spaces.mobile.one_shot import MobileOneShot
from foresee.spaces.mobile.settings import adapted
from foresee.spaces.one_shot import Choice
from foresee.task import Task

#: the most architectures that are listed
_LISTED = 1_000_000


@spaces.register("mobile")
class Mobile(Space[Architecture]):
    """Networks of stages of inverted bottlenecks: how far they widen and see, how many there are, with or without gates.

    The text has a part for each stage: `e6k5sx3` is three layers of expansion 6 and kernel 5 with squeeze-and-excitation;
    layers that differ are joined by +. Sampling draws each decision uniformly. What is not given below is the design's.

    Args:
        design: `mnasnet`, `mnasnet_b1`, `mobilenet_v2`, `mobilenet_v3`, `mobilenet_v3_small` or `ofa` (once-for-all). The
            network it is called after is in `named`, with its published number of parameters.
        widths: channels of each stage.
        strides: of each stage's first layer, 1 or 2.
        expansions: factors to choose from.
        kernels: odd sides to choose from.
        layers: numbers of layers of a stage to choose from.
        squeeze: `no`, `yes` or `free` (decided) for all stages, or a list with one for each.
        each: whether expansion, kernel and squeeze are decided for each `stage` or for each `layer`.
        stem: channels of the first convolution.
        stem_stride: its stride; 2 in all designs, 1 is usual for small images.
        first: channels of a separable layer behind it; 0 for none.
        head: channels of the last convolution.
        features: units of a hidden layer before the classifier; 0 for none.
        activation: `relu`, `relu6`, `hard_swish` or `swish`.
    """

    name = "mobile"
    summary = (
        "stages of inverted bottlenecks with expansion, kernel, layers and gates to choose: image networks for phones"
    )
    source = "MnasNet (Tan et al., CVPR 2019); MobileNetV2 and V3; once-for-all (Cai et al., ICLR 2020)"

    def __init__(
        self,
        *,
        design: str = "mnasnet",
        widths: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        expansions: Sequence[float] | None = None,
        kernels: Sequence[int] | None = None,
        layers: Sequence[int] | None = None,
        squeeze: str | Sequence[str] | None = None,
        each: str | None = None,
        stem: int | None = None,
        stem_stride: int | None = None,
        first: int | None = None,
        head: int | None = None,
        features: int | None = None,
        activation: str | None = None,
    ) -> None:
        if design not in DESIGNS:
            raise UnknownNameError(f"design of space {self.name}", str(design), DESIGNS)
        self.design, self.widths, self.strides, self.expansions = design, widths, strides, expansions
        self.kernels, self.layers, self.squeeze, self.each = kernels, layers, squeeze, each
        self.stem, self.stem_stride, self.first, self.head = stem, stem_stride, first, head
        self.features, self.activation = features, activation
        given = {key: value for key, value in vars(self).items() if key != "design" and value is not None}
        self.form = adapted(DESIGNS[design], given, f"space {self.name}")

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each decision uniformly."""
        return self.assemble([rng.randrange(len(one.values)) for one in choices.decisions(self.form)])

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """Another value for one decision, uniformly among those that matter; layers that are new are drawn at random."""
        known, picks = choices.decisions(self.form), list(self.picks(architecture))
        places = [place for place, one in enumerate(known) if picks[place] is not None and len(one.values) > 1]
        if not places:
            raise InputError(f"space {self.name}: every choice has one option only, so nothing can be mutated")
        place = rng.choice(places)
        picks[place] = rng.choice([pick for pick in range(len(known[place].values)) if pick != picks[place]])
        return self._completed(picks, rng)

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each decision from either parent; about a layer that one of them does not have, from the other."""
        pairs = zip(self.picks(first), self.picks(second), strict=True)
        return self._completed([rng.choice([one for one in pair if one is not None] or [None]) for pair in pairs], rng)

    def _completed(self, picks: Sequence[int | None], rng: random.Random) -> Architecture:
        known = zip(picks, choices.decisions(self.form), strict=True)
        return self.assemble([rng.randrange(len(one.values)) if pick is None else pick for pick, one in known])

    def parse(self, text: str) -> Architecture:
        """Read a text; the error names the stage that is wrong."""
        return choices.check(self.form, parse(text), text)

    @property
    def size(self) -> int:
        """The product over stages of how many each can be."""
        return math.prod(choices.variant_count(self.form, stage) for stage in range(len(self.form.widths)))

    @property
    def enumerable(self) -> bool:
        """Where there are at most a million."""
        return self.size <= _LISTED

    def enumerate(self) -> Iterator[Architecture]:
        """All networks, the last stage changing fastest."""
        if not self.enumerable:
            raise InputError(f"space {self.name}: {self.size:.3g} networks are too many to list")
        stages = [list(choices.variants(self.form, stage)) for stage in range(len(self.form.widths))]
        return map(Architecture, itertools.product(*stages))

    @property
    def named(self) -> Mapping[str, Architecture]:
        """The published networks of the design, where its frame and its options are as published."""
        frame = ("widths", "strides", "stem", "first", "head", "features")
        base = DESIGNS[self.design]
        if any(getattr(self.form, name) != getattr(base, name) for name in frame):
            return {}
        found = {}
        for name, text in base.named.items():
            try:
                found[name] = self.parse(text)
            except InputError:  # not among the options that were asked for
                continue
        return found

    # -- choices --------------------------------------------------------------------------------------------------------
    @property
    def choices(self) -> tuple[Choice, ...]:
        """All decisions: see `choices`."""
        return tuple(one.choice for one in choices.decisions(self.form))

    def assemble(self, picks: Sequence[int]) -> Architecture:
        """The network of these values."""
        return choices.assembled(self.form, picks)

    def picks(self, architecture: Architecture) -> tuple[int | None, ...]:
        """The places of its values; None about layers that it does not have."""
        return choices.picks_of(self.form, architecture)

    # -- one architecture ---------------------------------------------------------------------------------------------
    def build(self, architecture: Architecture, task: Task) -> Network:
        """The network for images of any size and number of channels."""
        return network.build(architecture, task, self.form)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula."""
        return counts.count(architecture, task, self.form)

    def graph(self, architecture: Architecture) -> list[Graph]:
        """The chain of layers, equal ones together, with their channels and how much smaller than the image their map is."""
        form, stride = self.form, self.form.stem_stride
        nodes, kinds = [f"stem, {form.stem} at 1/{stride}"], [""]
        if form.first:
            nodes, kinds = [*nodes, f"e1k3, {form.first} at 1/{stride}"], [*kinds, "e1k3"]
        for stage, width, step in zip(architecture.stages, form.widths, form.strides, strict=True):
            stride *= step
            for text, layer, _ in runs(stage):
                nodes.append(f"{text}, {width} at 1/{stride}")
                kinds.append(str(layer))
        edges = tuple((place, place + 1, "") for place in range(len(nodes) - 1))
        return [Graph(tuple(nodes), edges, title="layers", kinds=tuple(kinds))]

    def one_shot(self, task: Task, **options: Any) -> MobileOneShot:
        """All sizes in the weights of the greatest; options are settings that are to be other ones, such as `widths`."""
        made = type(self)(**{**self.settings(), **options})
        return MobileOneShot(task, made.form)
