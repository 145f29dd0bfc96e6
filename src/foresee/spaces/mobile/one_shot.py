"""The one-shot network of mobile networks: every layer at its greatest size, of which each architecture uses a part.

As in once-for-all (Cai et al., ICLR 2020), without its transformations of kernels: a smaller expansion uses the first
channels, a smaller kernel the middle of the greatest, a shorter stage its first layers. Under mixture weights see `sliced`;
what a layer adds counts with the weight of all depths that have it.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from foresee.spaces.bottlenecks import Shape
from foresee.spaces.counting import on_meta
from foresee.spaces.mobile.architecture import Architecture
from foresee.spaces.mobile.choices import assembled, check, decisions, picks_of
from foresee.spaces.mobile.designs import Design
from foresee.spaces.mobile.network import Network, Place, activation, build, gate
from foresee.spaces.mobile.sliced import SlicedBottleneck, Use, on_device, part
from foresee.spaces.one_shot import StagedOneShot, check_vectors, one_hot, share, tensors
from foresee.spaces.sliced import Sizes
from foresee.spaces.weighing import Weights
from foresee.task import Task


class SlicedNetwork(Network):
    """The network at its greatest size; layers that are not reached are left out of the flow."""

    def flow(self, x: Tensor) -> Iterator[Tensor]:
        """As in the stand-alone network: outputs of the layers that are used."""
        yield (x := self.stem(x))
        yield (x := self.first(x))
        for layer in self.layers:
            assert isinstance(layer, SlicedBottleneck)
            if (use := layer.use(x)) is not None:
                x = layer(x, use)
                yield x
        yield self.last(x)


class MobileOneShot(StagedOneShot[Architecture]):
    """All sizes of all layers in the weights of the greatest.

    Args:
        task: images.
        design: the frame and what there is to choose from.
    """

    def __init__(self, task: Task, design: Design) -> None:
        super().__init__([one.choice for one in decisions(design)])
        self.task, self.design = task, design
        self.values = {one.name: one.values for one in decisions(design)}
        depths = (max(design.layers),) * len(design.widths)
        self.network = SlicedNetwork(task, design, depths, self._layer)

    def _layer(self, place: Place) -> SlicedBottleneck:
        hidden = max(map(place.hidden, self.design.expansions))
        squeezed = 0 if self.design.squeeze[place.stage] == "no" else place.squeezed(hidden, self.design)
        shape = Shape(place.inputs, place.outputs, hidden, max(self.design.kernels), place.stride, squeezed)
        uses = _Uses(self, place)
        return SlicedBottleneck(shape, activation(self.design, place.stage), gate(self.design), uses)

    # -- what is evaluated --------------------------------------------------------------------------------------------
    def check(self, weights: Weights) -> None:
        """One vector for each choice."""
        check_vectors(weights)
        super().check(weights)

    def use(self, place: Place, x: Tensor) -> Use | None:
        """How much of a layer the present weights use; None where no depth reaches it."""
        reaching = [weight for depth, weight in self._present(place, "layers", x) if depth > place.number]
        if not reaching:
            return None
        expansions = [(place.hidden(value), value, weight) for value, weight in self._present(place, "expansion", x)]
        hidden = [(size, weight) for size, value, weight in expansions if value != 1]
        plain = next((weight for _, value, weight in expansions if value == 1), None)
        kernels = [(int(kernel), weight) for kernel, weight in self._present(place, "kernel", x)]
        squeezed = [(place.squeezed(size, self.design), weight) for size, _, weight in expansions]
        reached = sum(reaching[1:], reaching[0]) if place.number else None
        return Use(hidden, plain, kernels, squeezed, self._gates(place, x), reached)

    def _gates(self, place: Place, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        said = self.design.squeeze[place.stage]
        if said != "free":
            return (on_device(1.0, x), None) if said == "yes" else (None, None)
        known = dict(self._present(place, "squeeze", x))
        return known.get(True), known.get(False)

    def _present(self, place: Place, what: str, x: Tensor) -> Sizes:
        """Values to compute with their weights; where there is none, the first with its zero."""
        name = _name(self.design, place, what)
        values, weights = self.values[name], self.live(name)
        pairs = [(value, weight.to(x)) for value, weight in zip(values, weights, strict=True) if weight is not None]
        return pairs or [(values[0], self.weight(name)[0].to(x))]

    # -- weights and architectures ------------------------------------------------------------------------------------
    def path(self, architecture: Architecture) -> dict[str, Tensor]:
        """One-hot weights; zeros for layers that are not there."""
        check(self.design, architecture, str(architecture))
        picks = zip(self.choices, picks_of(self.design, architecture), strict=True)
        return {
            choice.name: one_hot(pick or 0, len(choice.options)) * (0.0 if pick is None else 1.0)
            for choice, pick in picks
        }

    def derive(self, weights: Weights) -> Architecture:
        """The value of greatest weight for each decision."""
        return assembled(self.design, [int(weights[choice.name].detach().argmax()) for choice in self.choices])

    def inherit(self, architecture: Architecture) -> nn.Module:
        """The stand-alone network; its parameters are parts of this network's, as views."""
        check(self.design, architecture, str(architecture))
        alone = on_meta(lambda: build(architecture, self.task, self.design))
        mine = tensors(self.network)
        sources = {name: part(mine[name], tensor.shape) for name, tensor in tensors(alone).items()}
        return share(alone, sources).train(self.training)


class _Uses:
    """What a layer asks its one-shot network; a copy of the network asks the copy."""

    def __init__(self, owner: MobileOneShot, place: Place) -> None:
        self.owner, self.place = owner, place

    def __call__(self, x: Tensor) -> Use | None:
        return self.owner.use(self.place, x)


def _name(design: Design, place: Place, what: str) -> str:
    """The decision about a layer."""
    number = [] if design.each == "stage" or what == "layers" else [place.number + 1]
    return ".".join(map(str, [place.stage + 1, *number, what]))
