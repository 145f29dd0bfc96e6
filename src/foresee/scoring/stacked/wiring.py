"""Which architectures of a stack have which operation where, and where their weights lie in the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foresee.scoring.stacked.sizes import normals
from foresee.scoring.stacked.skeleton import Cell, Conv, Linear, Part, Skeleton


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer with weights, in all architectures that have it; `name` is that of the module in their networks.

    `inputs` is how many channels a filter reads. `owners` are the architectures that have it, (n,); None: all. `starts` is
    where the weights begin in the stream, (n,); they are drawn normally where `normal` is (see `Stream.normals`).
    """

    name: str
    inputs: int
    outputs: int
    kernel: int
    starts: Tensor
    owners: Tensor | None = None
    stride: int = 1
    normal: int | None = None

    @property
    def fan(self) -> int:
        """How many numbers a filter reads."""
        return self.inputs * self.kernel**2


class Shared(NamedTuple):
    """What several edges from one node read alike: who reads it, (n,), and how many edges of each, (n,)."""

    owners: Tensor
    times: Tensor


class Use(NamedTuple):
    """The architectures with an operation on an edge, (n,), and their places among the owners of what is shared, (n,)."""

    owners: Tensor
    places: Tensor


class Wires:
    """Who has what in the cells that are alike in what their ways begin with.

    `shared` is by node and first part, which is nobody else's unless it is a step; `uses` by choice (pick, option).
    """

    def __init__(self, cell: Cell, ops: NDArray[np.str_], device: torch.device) -> None:
        self.shared: dict[tuple[int, Part], Shared] = {}
        self.uses: dict[tuple[int, str], Use] = {}
        starts: dict[tuple[int, Part], list[tuple[int, str]]] = {}
        for edge in cell.edges:
            for option, way in edge.ways:
                starts.setdefault((edge.source, way[0]), []).append((edge.pick, option))
        for start, choices in starts.items():
            has = np.stack([ops[:, pick] == option for pick, option in choices], 1)
            owners = np.flatnonzero(has.any(1))
            if not len(owners):
                continue
            self.shared[start] = Shared(_on(device, owners), _on(device, has[owners].sum(1)))
            for choice, own in zip(choices, map(np.flatnonzero, has.T), strict=True):
                if len(own):
                    self.uses[choice] = Use(_on(device, own), _on(device, np.searchsorted(owners, own)))


class Wiring:
    """The stack's cells, operation by operation, on a device.

    Args:
        skeleton: what all networks have in common.
        ops: what each architecture chose, in the order of its choices.
        device: where indices are wanted.
    """

    def __init__(self, skeleton: Skeleton, ops: Sequence[Sequence[str]], device: torch.device) -> None:
        self.skeleton, self.count, self.device = skeleton, len(ops), device
        self._ops = np.array([list(one) for one in ops])
        #: of each cell; those that begin alike share one
        self.cells: dict[Cell, Wires] = {}
        alike: dict[object, Wires] = {}
        for part in skeleton.parts:
            if isinstance(part, Cell):
                key = tuple(
                    (edge.source, edge.pick, *((option, way[0]) for option, way in edge.ways)) for edge in part.edges
                )
                if key not in alike:
                    alike[key] = Wires(part, self._ops, device)
                self.cells[part] = alike[key]
        #: those that some architecture has, in the order in which networks draw them
        self.layers: dict[Conv | Linear, Layer] = {}
        self.length = self._lay()

    # -- where the weights lie ----------------------------------------------------------------------------------------
    def _lay(self) -> int:
        """All layers with the places of their weights; how long the stream has to be."""
        at = np.zeros(self.count, np.int64)
        owners: dict[Conv | Linear, NDArray[np.int64]] = {}
        starts: dict[Conv | Linear, NDArray[np.int64]] = {}
        choices = dict(self.skeleton.layers())
        for part, choice in choices.items():
            has = np.ones(self.count, bool) if choice is None else self._ops[:, choice[0]] == choice[1]
            own = np.flatnonzero(has)
            if len(own):
                owners[part], starts[part] = own, at[own]
                at[own] += part.drawn
        if self.skeleton.normal:
            for part, own in owners.items():
                if isinstance(part, Conv):
                    starts[part] = at[own]
                    at[own] += normals(part.numbers)
        joined = _on(self.device, np.concatenate(list(starts.values())))
        places = torch.split(joined, [len(one) for one in starts.values()])
        everyone = {choice: use.owners for wires in self.cells.values() for choice, use in wires.uses.items()}
        for part, begins in zip(starts, places, strict=True):
            choice = choices[part]
            users = None if choice is None else everyone[choice]
            normal = self._phase(starts[part]) if self.skeleton.normal and isinstance(part, Conv) else None
            sizes = part.inputs, part.outputs, part.kernel
            self.layers[part] = Layer(part.name, *sizes, begins, users, part.stride, normal)
        return int(at.max())

    def _phase(self, starts: NDArray[np.int64]) -> int:
        """Where in a sixteen of the stream a layer begins, the same for all architectures; see `Stream.normals`."""
        phases = np.unique(starts % 16)
        if len(phases) > 1:
            raise ValueError("a layer whose weights begin at different places of a sixteen of normal numbers")
        return int(phases[0])


def _on(device: torch.device, numbers: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(numbers)).to(device)
