"""The run of a stack of networks: the parts of their skeleton, every operation once, for all architectures that have it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial, reduce

import torch
import torch.nn.functional as F
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
from foresee.scoring.stacked.tokens import (
    gathered,
    heads_of,
    layer_normed,
    likeness,
    looked_up,
    mean_of_patches,
    patched,
    rows,
    softmax,
    tokens_of,
)
from foresee.scoring.stacked.transformer import Attention, LayerNorm, Patches, Table, Tokens
from foresee.scoring.stacked.weights import Stream
from foresee.scoring.stacked.wiring import Layer, Read, Wires, Wiring


class Watch:
    """Hears of everything that the modules of the networks would have been called with; by itself it notes nothing.

    Maps are (n, channels, entries, height, width), of tokens (n, tokens, entries, numbers, 1) but for a layer's, whose
    channels are numbers; `owners` are the n architectures, None for all of the stack; `times` is how many modules of each do
    the same.
    """

    #: whether gradients by the weights are wanted, and by all other parameters too
    differentiates = False
    every_parameter = False

    def relu(self, owners: Tensor | None, inputs: Tensor, outputs: Tensor, times: Tensor | None = None) -> None:
        """A ReLU, or a GELU."""

    def layer(self, layer: Layer, inputs: Tensor, weights: Tensor, outputs: Tensor) -> None:
        """A convolution or a linear layer: the classifier, whose positions are 1x1, or one whose positions are tokens."""

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
            case Patches():
                return self._patched(self._wiring.layers[part], x)
            case Tokens():
                return tokens_of(x, self._table(part.first), self._table(part.places), self._entries.constant(x))
            case LayerNorm():
                return self._layer_normed(part.name, owners, x)
            case Attention():
                return self._attention(part, owners, x)

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
        if step is Step.GELU:
            out = self._entries.through(F.gelu, x)
            self._watch.relu(owners, rows(x), rows(out), times)
            return out
        if step is Step.MEAN:  # no module
            return mean_of_patches(x)
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
        out = torch.matmul(weights, x.flatten(2)).view(*weights.shape[:2], *x.shape[2:])
        if layer.deviation is None or self._watch.every_parameter:  # a bias of zeros is nothing else to anybody
            out = out + self._bias(layer) * self._entries.constant(x)[:, None, None]
        self._watch.layer(layer, x, weights, out)
        return out

    def _patched(self, layer: Layer, x: Tensor) -> Tensor:
        weights = self._weights(layer)
        out = patched(x, weights, layer.kernel) + self._bias(layer) * self._entries.constant(x)[:, None, None]
        self._watch.layer(layer, x, weights, out)
        return out

    def _bias(self, layer: Layer) -> Tensor:
        """(n, outputs, 1, 1, 1)."""
        if layer.deviation is None:
            starts = layer.starts + layer.outputs * layer.fan
            bias = self._stream.biases(starts, layer.outputs, layer.fan).to(self._dtype)
        else:
            bias = torch.zeros(len(layer.starts), layer.outputs, dtype=self._dtype, device=layer.starts.device)
        return self._parameter(f"{layer.name}.bias", layer.owners, bias)[:, :, None, None, None]

    def _weights(self, layer: Layer) -> Tensor:
        weights = self._drawn(layer)
        return weights.requires_grad_() if self._watch.differentiates else weights

    def _table(self, table: Table) -> Tensor:
        """Vectors that belong to no layer, (n, vectors, width)."""
        layer = self._wiring.layers[table]
        return self._parameter(layer.name, layer.owners, self._drawn(layer))

    def _drawn(self, layer: Layer) -> Tensor:
        if layer.deviation is not None:
            size = layer.outputs * layer.fan
            weights = self._stream.truncated(layer.starts, size, layer.deviation).view(-1, layer.outputs, layer.fan)
        elif layer.normal is None:
            weights = self._stream.weights(layer.starts, layer.outputs, layer.fan)
        else:  # what each number that is read gives keeps the variance of gradients
            deviation = math.sqrt(2) / math.sqrt(layer.outputs * layer.kernel**2)
            weights = self._stream.normals(layer.starts, layer.outputs, layer.fan, layer.normal, deviation)
        return weights.to(self._dtype)

    def _parameter(self, name: str, owners: Tensor | None, values: Tensor) -> Tensor:
        """A parameter that is no layer's weight."""
        if self._watch.every_parameter:
            self._watch.parameter(name, owners, values.requires_grad_())
        return values

    def _normed(self, name: str, owners: Tensor | None, x: Tensor) -> Tensor:
        out = self._entries.norm(x, *self._scales(name, owners, x))
        self._watch.other(owners, out)
        return out

    def _scales(self, name: str, owners: Tensor | None, x: Tensor) -> tuple[Tensor, ...]:
        """Scale and shift of a norm, (n, channels) each, where anybody wants gradients by them."""
        if not self._watch.every_parameter:
            return ()
        scale, shift = x.new_ones(x.shape[:2]), x.new_zeros(x.shape[:2])
        return self._parameter(f"{name}.weight", owners, scale), self._parameter(f"{name}.bias", owners, shift)

    # -- tokens -------------------------------------------------------------------------------------------------------
    def _layer_normed(self, name: str, owners: Tensor | None, x: Tensor) -> Tensor:
        out = layer_normed(x, self._entries)
        if scales := self._scales(name, owners, x):
            weight, bias = (one[:, :, None, None, None] for one in scales)
            out = out * weight + bias
        self._watch.other(owners, rows(out))
        return out

    def _attention(self, part: Attention, owners: Tensor | None, x: Tensor) -> Tensor:
        """In the order in which the modules are called: keys' tables, softmax, values' tables."""
        index = part.index.to(x.device)
        to_keys, to_values = (tuple(map(self._table, pair)) for pair in (part.keys, part.values))
        queries, keys, values = heads_of(x, part.width)
        self._watch.other(owners, looked_up(to_keys, index))
        alike = likeness(queries, keys, to_keys, index, self._entries)
        attention = self._entries.through(softmax, alike * part.width**-0.5)
        self._watch.other(owners, attention)
        self._watch.other(owners, looked_up(to_values, index))
        return gathered(attention, values, to_values, index, self._entries)
