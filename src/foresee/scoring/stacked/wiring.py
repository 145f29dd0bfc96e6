"""Which architectures of a stack have which operation where, and where their weights lie in the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foresee.scoring.stacked.skeleton import Cell, Chain, Choice, Conv, Drawing, Either, Linear, Part, Skeleton
from foresee.scoring.stacked.transformer import Table


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer with weights, in all architectures that have it; `name` is that of the module in their networks.

    `inputs` is how many channels a filter reads. `owners` are the architectures that have it, (n,); None: all. `starts` is
    where the weights begin in the stream, (n,); they are drawn normally where `normal` is (see `Stream.normals`), truncated
    normally where there is a `deviation`; then a bias is zero. Of `tokens` each is a row of a feature map.
    """

    name: str
    inputs: int
    outputs: int
    kernel: int
    starts: Tensor
    owners: Tensor | None = None
    stride: int = 1
    dilation: int = 1
    normal: int | None = None
    deviation: float | None = None
    tokens: bool = False

    @property
    def fan(self) -> int:
        """How many numbers a filter reads."""
        return self.inputs * self.kernel**2


class Shared(NamedTuple):
    """What several edges from one node read alike: who reads it, (n,), and how many edges of each, (n,)."""

    owners: Tensor
    times: Tensor


class Read(NamedTuple):
    """Architectures that read a node, (n,), and their places among the owners of what is shared there, (n,)."""

    source: int
    owners: Tensor
    places: Tensor


class Use(NamedTuple):
    """The architectures with a way to a node, (n,): one after the other those that read a node, for each that is read."""

    owners: Tensor
    reads: tuple[Read, ...]


class Taken(NamedTuple):
    """The ways of a choice that somebody takes, with those who do, (n,); all of them one after the other, and back again."""

    ways: tuple[tuple[Choice, Chain, Tensor], ...]
    order: Tensor
    back: Tensor


class Wires:
    """Who has what in the cells that are alike in what their ways begin with.

    `shared` is by node and first part, which is nobody else's unless it is a step; `uses` by the choices of a lane.
    """

    def __init__(self, cell: Cell, who: _Who, device: torch.device) -> None:
        self.shared: dict[tuple[int, Part], Shared] = {}
        self.uses: dict[tuple[Choice, ...], Use] = {}
        starts: dict[tuple[int, Part], list[NDArray[np.int64]]] = {}
        for lane in cell.lanes:
            for choice, source in zip(lane.choices, lane.sources, strict=True):
                starts.setdefault((source, lane.way[0]), []).append(who.chose(choice))
        readers: dict[tuple[int, Part], NDArray[np.int64]] = {}
        for start, groups in starts.items():
            owners, times = np.unique(np.concatenate(groups), return_counts=True)
            if len(owners):
                readers[start] = owners
                self.shared[start] = Shared(_on(device, owners), _on(device, times))
        for lane in cell.lanes:
            reads = []
            for choice, source in zip(lane.choices, lane.sources, strict=True):
                own = who.chose(choice)
                if len(own):
                    places = np.searchsorted(readers[source, lane.way[0]], own)
                    reads.append(Read(source, _on(device, own), _on(device, places)))
            if reads:
                self.uses[lane.choices] = Use(torch.cat([read.owners for read in reads]), tuple(reads))


class _Who:
    """Who chose what, each asked once; `ops` is (architectures, choices)."""

    def __init__(self, ops: NDArray[np.str_]) -> None:
        self._ops = ops
        self._known: dict[Choice, NDArray[np.int64]] = {}

    def chose(self, choice: Choice) -> NDArray[np.int64]:
        """Those that made a choice, in order."""
        if choice not in self._known:
            self._known[choice] = np.flatnonzero(self._ops[:, choice[0]] == choice[1])
        return self._known[choice]

    def chose_any(self, choices: tuple[Choice, ...]) -> NDArray[np.int64]:
        """Those that made one of these choices, as a lane has them; without any it is everyone."""
        return np.concatenate([self.chose(one) for one in choices]) if choices else np.arange(len(self._ops))


class Wiring:
    """The stack's cells, operation by operation, on a device.

    Args:
        skeleton: what all networks have in common.
        ops: what each architecture chose, in the order of its choices.
        device: where indices are wanted.
    """

    def __init__(self, skeleton: Skeleton, ops: Sequence[Sequence[str]], device: torch.device) -> None:
        self.skeleton, self.count, self.device = skeleton, len(ops), device
        self._who = _Who(np.array([list(one) for one in ops]))
        #: of each cell; those that begin alike share one
        self.cells: dict[Cell, Wires] = {}
        alike: dict[object, Wires] = {}
        for part in skeleton.parts:
            if isinstance(part, Cell):
                key = tuple((lane.choices, lane.sources, lane.way[0]) for lane in part.lanes)
                if key not in alike:
                    alike[key] = Wires(part, self._who, device)
                self.cells[part] = alike[key]
        #: of each choice between ways of other shapes
        self.taken = {part: self._take(part) for part in skeleton.parts if isinstance(part, Either)}
        #: those that some architecture has, in the order in which networks draw them
        self.layers: dict[Drawing, Layer] = {}
        self.length = self._lay()

    def _take(self, part: Either) -> Taken:
        ways = [((part.pick, option), way) for option, way in part.ways]
        order = np.concatenate([self._who.chose(choice) for choice, _ in ways])
        if len(order) != self.count:
            raise ValueError(f"choice {part.pick}: {self.count - len(order)} of {self.count} architectures take no way")
        made = ((choice, way, self._who.chose(choice)) for choice, way in ways)
        some = tuple((choice, way, _on(self.device, own)) for choice, way, own in made if len(own))
        return Taken(some, _on(self.device, order), _on(self.device, np.argsort(order)))

    # -- where the weights lie ----------------------------------------------------------------------------------------
    def _lay(self) -> int:
        """All layers with the places of their weights; how long the stream has to be."""
        at = np.zeros(self.count, np.int64)
        owners: dict[Drawing, NDArray[np.int64]] = {}
        starts: dict[Drawing, NDArray[np.int64]] = {}
        choices = dict(self.skeleton.layers())
        for part, chosen in choices.items():
            own = self._who.chose_any(chosen)
            if len(own):
                owners[part], starts[part] = own, at[own]
                at[own] += part.drawn
        for part, own in owners.items():
            if again := self.skeleton.again(part):
                starts[part] = at[own]
                at[own] += again
        joined = _on(self.device, np.concatenate(list(starts.values())))
        places = torch.split(joined, [len(one) for one in starts.values()])
        everyone = {chosen: use.owners for wires in self.cells.values() for chosen, use in wires.uses.items()}
        everyone |= {(choice,): own for taken in self.taken.values() for choice, _, own in taken.ways}
        for part, begins in zip(starts, places, strict=True):
            users = everyone[choices[part]] if choices[part] else None
            normal = self._phase(starts[part]) if self.skeleton.normal and isinstance(part, Conv) else None
            sizes = part.inputs, part.outputs, part.kernel
            dilation = part.dilation if isinstance(part, Conv) else 1
            deviation = part.deviation if isinstance(part, Linear | Table) else None
            tokens = isinstance(part, Linear) and part.tokens
            self.layers[part] = Layer(
                part.name, *sizes, begins, users, part.stride, dilation, normal, deviation, tokens
            )
        return int(at.max())

    def _phase(self, starts: NDArray[np.int64]) -> int:
        """Where in a sixteen of the stream a layer begins, the same for all architectures; see `Stream.normals`."""
        phases = np.unique(starts % 16)
        if len(phases) > 1:
            raise ValueError("a layer whose weights begin at different places of a sixteen of normal numbers")
        return int(phases[0])


def _on(device: torch.device, numbers: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(numbers)).to(device)
