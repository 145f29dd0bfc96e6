"""The run of a stack of networks: the parts of their skeleton, every operation once, for all architectures that have it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial, reduce

import torch
from torch import Tensor

from foresee.scoring.stacked.layers import Samples, convolved, filled, halved, joined, pooled, shifted, tiled
from foresee.scoring.stacked.skeleton import (
    Cell,
    Chain,
    Concat,
    Conv,
    Either,
    First,
    Fixed,
    Linear,
    Norm,
    Part,
    Step,
    Sum,
)
from foresee.scoring.stacked.weights import Stream
from foresee.scoring.stacked.wiring import Layer, Read, Wires, Wiring


class Watch:
    """Hears of everything that the modules of the networks would have been called with; by itself it notes nothing.

    Maps are (n, channels, entries, height, width); `owners` are the n architectures, None for all of the stack; `times` is
    how many modules of each do the same.
    """

    #: whether gradients by the weights are wanted, and by all other parameters too
    differentiates = False
    every_parameter = False

    def relu(self, owners: Tensor | None, inputs: Tensor, outputs: Tensor, times: Tensor | None = None) -> None:
        """A ReLU."""

    def layer(self, layer: Layer, inputs: Tensor, weights: Tensor, outputs: Tensor) -> None:
        """A convolution, or the classifier, whose positions are 1x1."""

    def parameter(self, name: str, owners: Tensor | None, values: Tensor) -> None:
        """Any other parameter, (n, ...); only where gradients by every parameter are wanted."""

    def other(self, owners: Tensor | None, outputs: Tensor, times: Tensor | None = None) -> None:
        """Any other module: norms, pools, identities."""


#: what a part without weights makes of a map; the others are written out below
_PLAIN: Mapping[Step, Callable[[Tensor], Tensor]] = {
    Step.POOL: pooled,
    Step.POOL_HALVING: partial(pooled, stride=2),
    Step.HALVE: halved,
    Step.TILES: tiled,
    Step.JOIN: joined,
}
#: strides of those that depend on what the entries are
_GREATEST = {Step.GREATEST: 1, Step.GREATEST_HALVING: 2}


class Network:
    """All networks of a stack.

    Args:
        wiring: the architectures.
        stream: their weights.
        dtype: the numbers it computes in.
        entries: what the third axis of the maps holds.
        watch: told of every call.
    """

    def __init__(
        self, wiring: Wiring, stream: Stream, dtype: torch.dtype, entries: Samples, watch: Watch | None = None
    ) -> None:
        self._wiring, self._stream, self._dtype = wiring, stream, dtype
        self._entries, self._watch = entries, watch or Watch()

    def __call__(self, inputs: Tensor) -> Tensor:
        """(entries, channels, H, W), the same for all architectures, to outputs (architectures, entries, outputs)."""
        x = inputs.to(self._dtype).transpose(0, 1)[None]
        self._before: Tensor | None = None
        return self._through(self._wiring.skeleton.parts, None, x)[..., 0, 0].transpose(1, 2)

    # -- parts --------------------------------------------------------------------------------------------------------
    def _through(self, parts: Chain, owners: Tensor | None, x: Tensor) -> Tensor:
        """What these architectures (None: all) make of a map."""
        for part in parts:
            x = self._part(part, owners, x)
        return x

    def _part(self, part: Part, owners: Tensor | None, x: Tensor) -> Tensor:
        match part:
            case Step():
                return self._step(part, owners, x)
            case Conv():
                layer = self._wiring.layers[part]
                weights = self._weights(layer)
                out = convolved(x, weights, layer.kernel, layer.stride, layer.dilation)
                self._watch.layer(layer, x, weights, out)
                return out
            case Norm():
                return self._normed(part.name, owners, x)
            case Cell():
                last = x if self._before is None else self._before, x
                self._before = x
                return self._cell(part, last[-len(part.inputs) :])
            case Sum():
                # The shortcut first, as in the networks: looks hear of layers in this order.
                shortcut = self._through(part.shortcut, owners, x)
                return shortcut + self._through(part.main, owners, x)
            case Concat():
                return torch.cat([self._through(way, owners, x) for way in part.ways], 1)
            case First():
                return x[:, : part.channels]
            case Fixed():
                return self._fixed(part, owners, x)
            case Either():
                return self._either(part, x)
            case Linear():
                return self._linear(self._wiring.layers[part], x)

    def _step(self, step: Step, owners: Tensor | None, x: Tensor, times: Tensor | None = None) -> Tensor:
        """A part without weights; `times` is how many modules of each architecture do the same."""
        if step is Step.SHIFT:  # no module
            return shifted(x)
        if step is Step.BEFORE:
            self._before = x
            return x
        if step is Step.RELU:
            out = self._entries.relu(x)
            self._watch.relu(owners, x, out, times)
            return out
        if step is Step.AVERAGE:
            out = x.mean((3, 4), keepdim=True)
            self._watch.other(owners, out)  # pooled, and flattened
        elif step in _GREATEST:
            out = self._entries.greatest(x, _GREATEST[step])
        else:
            out = _PLAIN[step](x) if step in _PLAIN else x
        heard = out.expand(self._wiring.count, -1, -1, -1, -1) if owners is None else out  # before the first layer: one
        self._watch.other(owners, heard, times)
        return out

    def _fixed(self, part: Fixed, owners: Tensor | None, x: Tensor) -> Tensor:
        states: list[Tensor] = []
        begun: dict[tuple[int, Part], Tensor] = {}
        state = x
        for source, node in enumerate(part.nodes):
            states.append(state)
            for step, count in part.starts[source].items():
                times = torch.full((len(state),), count, device=state.device)
                begun[source, step] = self._step(step, owners, state, times)
            ways = [(source, way) for source, target, way in part.ways if target == node]
            terms = [
                self._through(way[1:], owners, begun[source, way[0]])
                if isinstance(way[0], Step)
                else self._through(way, owners, states[source])
                for source, way in ways
            ]
            state = reduce(operator.add, terms)
        return state

    def _either(self, part: Either, x: Tensor) -> Tensor:
        """All of a kind together, way by way: maps are brought into that order at once, and back at once."""
        taken = self._wiring.taken[part]
        if len(x) > 1:
            mine = torch.split(x.index_select(0, taken.order), [len(owners) for _, _, owners in taken.ways])
        else:  # one for all, before the first layer
            mine = (x,) * len(taken.ways)
        made = [self._through(way, owners, own) for (_, way, owners), own in zip(taken.ways, mine, strict=True)]
        most = max(one.shape[1] for one in made)
        return torch.cat([filled(one, most) for one in made]).index_select(0, taken.back)

    def _cell(self, cell: Cell, last: tuple[Tensor, ...]) -> Tensor:
        """What it gives; `last` are the maps that it reads."""
        wires = self._wiring.cells[cell]
        states = [self._through(way, None, x) for way, x in zip(cell.inputs, last, strict=True)]
        size = [-(-side // cell.stride) for side in last[-1].shape[3:]]
        shape = self._wiring.count, cell.outputs, last[-1].shape[2], *size
        ready: dict[tuple[int, Part], Tensor] = {}
        for node in cell.nodes:
            total = last[-1].new_zeros(shape)
            for lane in cell.lanes:
                if lane.target != node or lane.choices not in wires.uses:
                    continue
                first, (owners, reads) = lane.way[0], wires.uses[lane.choices]
                made = [self._begun(first, read, wires, states, ready) for read in reads]
                way = lane.way[1:] if isinstance(first, Step) else lane.way
                x = made[0] if len(made) == 1 else torch.cat(made)
                total = total.index_add_(0, owners, self._through(way, owners, x))
            states.append(total)
        return torch.cat([states[node] for node in cell.joined], 1) if cell.joined else states[-1]

    def _begun(
        self, first: Part, read: Read, wires: Wires, states: list[Tensor], ready: dict[tuple[int, Part], Tensor]
    ) -> Tensor:
        """What those who read a node go on with: where they begin with a step, it was made once for all who do."""
        start = read.source, first
        if isinstance(first, Step) and start not in ready:
            readers, times = wires.shared[start]
            ready[start] = self._step(first, readers, states[read.source].index_select(0, readers), times)
        if start in ready and first is not Step.IDENTITY:
            return ready[start].index_select(0, read.places)
        return states[read.source].index_select(0, read.owners)

    # -- layers -------------------------------------------------------------------------------------------------------
    def _linear(self, layer: Layer, x: Tensor) -> Tensor:
        weights = self._weights(layer)
        starts = layer.starts + layer.outputs * layer.fan
        biases = self._stream.biases(starts, layer.outputs, layer.fan).to(self._dtype)
        if self._watch.every_parameter:
            self._watch.parameter(f"{layer.name}.bias", layer.owners, biases.requires_grad_())
        out = torch.matmul(weights, x.flatten(2)) + biases[:, :, None] * self._entries.constant(x)
        out = out[..., None, None]  # as a map of one position, like what any other layer gives
        self._watch.layer(layer, x, weights, out)
        return out

    def _weights(self, layer: Layer) -> Tensor:
        if layer.normal is None:
            weights = self._stream.weights(layer.starts, layer.outputs, layer.fan)
        else:  # what each number that is read gives keeps the variance of gradients
            deviation = math.sqrt(2) / math.sqrt(layer.outputs * layer.kernel**2)
            weights = self._stream.normals(layer.starts, layer.outputs, layer.fan, layer.normal, deviation)
        weights = weights.to(self._dtype)
        return weights.requires_grad_() if self._watch.differentiates else weights

    def _normed(self, name: str, owners: Tensor | None, x: Tensor) -> Tensor:
        scales: tuple[Tensor, ...] = ()
        if self._watch.every_parameter:
            shape = x.shape[:2]
            scales = x.new_ones(shape, requires_grad=True), x.new_zeros(shape, requires_grad=True)
            for kind, values in zip(("weight", "bias"), scales, strict=True):
                self._watch.parameter(f"{name}.{kind}", owners, values)
        out = self._entries.norm(x, *scales)
        self._watch.other(owners, out)
        return out
