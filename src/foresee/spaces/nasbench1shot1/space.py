"""NAS-Bench-1Shot1: three sets of NAS-Bench-101 cells whose choices are independent, so that weights can be shared.

>>> space = NASBench1Shot1S1()
>>> cell = space.parse("conv3x3@0+conv1x1@0,1+maxpool3x3@0,2+conv3x3@2,3+output@0,4")
>>> space.canonical(cell) == cell.hash
True
>>> matrix, ops = space.nasbench101(cell).spec()
>>> len(matrix), ops[-2:]
(7, ['conv1x1-bn-relu', 'output'])
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from foresee.errors import InputError, UnknownNameError, UnsupportedError
from foresee.spaces.base import spaces
from foresee.spaces.nasbench1shot1.one_shot import ChoiceBlocks
from foresee.spaces.nasbench1shot1.wiring import LOOSE_ENDS, Wiring
from foresee.spaces.nasbench101.cell import MAX_VERTICES, OPS, Architecture
from foresee.spaces.nasbench101.space import CellSpace, pad
from foresee.task import Task


class NASBench1Shot1(CellSpace):
    """What the three spaces share. A cell is a NAS-Bench-101 cell whose vertices each read a fixed number of others.

    `build` gives the cell's NAS-Bench-101 network: what the benchmark trained. `one_shot` gives the one-shot network, whose
    paths are networks of a form of their own (every node has the full width, the output joins all nodes): `inherit` gives
    those. The two agree in the cell only.

    Args:
        loose_ends: what becomes of nodes that the output does not need: `kept`, `trimmed` or `listed` (only the trimmed
            cells that the public code lists).
        **network: `channels`, `stacks`, `cells`, `variant` and `sampling` as in `nasbench101`.
    """

    wiring: ClassVar[Wiring]
    source = "NAS-Bench-1Shot1 (Zela, Siems & Hutter, ICLR 2020)"

    def __init__(self, *, loose_ends: str = "kept", **network: Any) -> None:
        super().__init__(**network)
        if loose_ends not in LOOSE_ENDS:
            raise UnknownNameError(f"loose_ends of space {self.name}", str(loose_ends), LOOSE_ENDS)
        self.loose_ends = loose_ends

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each cell of the set with equal chances: with loose ends, inputs and operations uniformly.

        `published` differs where loose ends are cut: inputs are drawn from the output backwards, for what is needed only,
        which is drawing with loose ends and cutting them; cells that many others are cut down to are then more likely.
        """
        if self.sampling == "uniform":
            return self.wiring.draw(self.loose_ends, rng)
        while True:
            cell = self._settled(self.wiring.completed(None, rng))
            if self._contains(cell):
                return cell

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """Another operation for one node, or other inputs for one node or the output, each choice as likely.

        Where loose ends are cut, it is a choice of a node in use, and what is newly in use is drawn; one that gives a cell
        outside the set is drawn again.
        """
        choices = self.wiring.nodes + len(self.wiring.free)
        while True:
            cell = self.wiring.completed(architecture, rng)
            ops, parents = list(cell.ops), list(cell.parents)
            choice = rng.randrange(choices)
            if choice < self.wiring.nodes:
                ops[choice] = rng.choice([op for op in OPS if op != ops[choice]])
            else:
                place = self.wiring.free[choice - self.wiring.nodes] - 1
                parents[place] = rng.choice([read for read in self.wiring.options[place] if read != parents[place]])
            changed = self._settled(Architecture(tuple(ops), tuple(parents)))
            if changed != architecture and self._contains(changed):
                return changed

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each operation and each set of inputs from either parent; drawn where neither parent uses the node."""
        family = [self.wiring.completed(parent, rng) for parent in (first, second)]
        while True:
            child = Architecture(
                tuple(rng.choice(family).ops[place] for place in range(self.wiring.nodes)),
                tuple(rng.choice(family).parents[place] for place in range(self.wiring.nodes + 1)),
            )
            child = self._settled(child)
            if self._contains(child):
                return child

    def parse(self, text: str) -> Architecture:
        """Read a cell's text, the one of NAS-Bench-101; the error says what this space does not allow."""
        cell = Architecture.parse(text)
        self.wiring.check(cell, self.loose_ends)
        return cell

    @property
    def size(self) -> int:
        """Number of cells; kept loose ends make some of them equal by identity."""
        return self.wiring.size(self.loose_ends)

    def enumerate(self) -> Iterator[Architecture]:
        """Every cell, matrix by matrix."""
        return itertools.chain.from_iterable(map(self.wiring.labelled, self.wiring.matrices(self.loose_ends)))

    def _settled(self, cell: Architecture) -> Architecture:
        return cell if self.loose_ends == "kept" else self.wiring.trimmed(cell)

    def _contains(self, cell: Architecture) -> bool:
        try:
            self.wiring.check(cell, self.loose_ends)
        except InputError:
            return False
        return True

    # -- other forms --------------------------------------------------------------------------------------------------
    def nasbench101(self, architecture: Architecture) -> Architecture:
        """The same cell with seven vertices, as NAS-Bench-101 is asked for it (`.spec()` gives matrix and operations)."""
        return pad(architecture, MAX_VERTICES)

    def from_matrix(self, matrix: str | Sequence[Any], ops: str | Sequence[Any]) -> Architecture:
        """A cell from its matrix and operations, with or without the vertex that fills it up to seven."""
        cell = Architecture.from_matrix(matrix, ops)
        if len(cell.ops) == self.wiring.nodes + 1:
            filler = len(cell.ops)
            if cell.parents[filler - 1] or filler in cell.parents[-1]:
                raise InputError(f"cell {cell}: vertex {filler} must be unconnected in space {self.name}")
            cell = Architecture(cell.ops[:-1], (*cell.parents[:-2], cell.parents[-1]))
        if self.loose_ends != "kept":  # tables name any operation for nodes that are not in use
            cell = self.wiring.trimmed(cell)
        self.wiring.check(cell, self.loose_ends)
        return cell

    def one_shot(self, task: Task, **options: Any) -> ChoiceBlocks:
        """The one-shot network; options `channels`, `cells`, `partial`, `variant` as in `ChoiceBlocks`."""
        if self.loose_ends == "listed":
            raise UnsupportedError(
                f"space {self.name} with loose_ends 'listed' has no one-shot network: choices are independent there, and the "
                "list is not; use loose_ends 'kept' or 'trimmed'"
            )
        return ChoiceBlocks(self.wiring, task, trim=self.loose_ends != "kept", **options)


@spaces.register("nasbench1shot1_s1")
class NASBench1Shot1S1(NASBench1Shot1):
    """Four nodes that read 1, 2, 2, 2 vertices; the output reads 2."""

    name = "nasbench1shot1_s1"
    summary = "NAS-Bench-101 cells of 4 choice blocks: 14,580 with loose ends, weights can be shared"
    wiring = Wiring((1, 2, 2, 2, 2))


@spaces.register("nasbench1shot1_s2")
class NASBench1Shot1S2(NASBench1Shot1):
    """Four nodes that read 1, 1, 2, 2 vertices; the output reads 3."""

    name = "nasbench1shot1_s2"
    summary = "NAS-Bench-101 cells of 4 choice blocks: 29,160 with loose ends, weights can be shared"
    wiring = Wiring((1, 1, 2, 2, 3))


@spaces.register("nasbench1shot1_s3")
class NASBench1Shot1S3(NASBench1Shot1):
    """Five nodes that read 1, 1, 1, 2, 2 vertices; the output reads 2."""

    name = "nasbench1shot1_s3"
    summary = "NAS-Bench-101 cells of 5 choice blocks: 1,312,200 with loose ends, weights can be shared"
    wiring = Wiring((1, 1, 1, 2, 2, 2))
