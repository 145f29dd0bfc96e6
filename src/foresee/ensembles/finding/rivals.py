"""Ensembles of one given cell: deep ensembles, MC DropPath, snapshots.

`deep:DARTS_V2` names the cell: one that the space knows by name, `RobNet_free` or `RobNet_large`, or an architecture's text.
"""

from __future__ import annotations

from typing import Any

from foresee.ensembles.dropping import drops
from foresee.ensembles.finding.members import numbered
from foresee.ensembles.finding.samplers import Chosen, Sampler, samplers
from foresee.ensembles.finding.workshop import Common
from foresee.errors import InputError, UnknownNameError
from foresee.spaces.candidate import Candidate
from foresee.spaces.darts.network import reductions
from foresee.spaces.darts.space import DARTS
from foresee.spaces.robnet import Architecture, RobNet

#: by space, the cell that is taken where none is named
CELLS = {"darts": "DARTS_V2", "nasbench201": "ResNet"}


def cell_of(common: Common, name: str = "") -> Candidate:
    """The cell of this name, to be trained as members of the space are."""
    space = common.space
    wanted = name or CELLS.get(space.name) or next(iter(space.named), "")
    known = {one.lower().replace("-", "_"): one for one in space.named}
    key = wanted.lower().replace("-", "_")
    if key in known:
        return common.candidate(space.named[known[key]])
    if isinstance(space, DARTS) and key in ("robnet_free", "robnet_large"):
        return Candidate(*robnet(space, key), common.parts.task)
    if not wanted:
        raise InputError(f"sampler deep: no cell of {space.name} is known by name; say which: deep:ARCHITECTURE")
    try:
        return common.candidate(space.parse(wanted))
    except InputError as error:
        robnets = ("RobNet_free", "RobNet_large") if isinstance(space, DARTS) else ()
        raise UnknownNameError(f"cell of {space.name}", wanted, (*space.named, *robnets)) from error


def robnet(space: DARTS, name: str) -> tuple[RobNet, Architecture]:
    """A RobNet of the members' width and depth.

    RobNet-free has a cell for each of 20 layers. Of fewer layers, the reduction cells are its reduction cells, and the others
    are spaced evenly among those that stand between the same reductions.
    """
    made = RobNet(channels=space.channels, layers=space.layers, network=space.network)
    if name == "robnet_large":
        return made, made.named["RobNet_large"]
    published = RobNet().named["RobNet_free"]
    return made, Architecture(tuple(published.cells[place] for place in places(space.layers, len(published.cells))))


def places(layers: int, of: int) -> list[int]:
    """Which of `of` layers stand for each of `layers`.

    >>> places(8, 20)
    [0, 3, 6, 8, 10, 13, 15, 17]
    >>> places(20, 20) == list(range(20))
    True
    """
    ends, sources = [0, *reductions(layers), layers], [0, *reductions(of), of]
    found = []
    for part in range(3):
        count, wide = ends[part + 1] - ends[part], sources[part + 1] - sources[part]
        found += [sources[part] + step * wide // count for step in range(count)]
    return found


class OneCell(Sampler):
    """Base of those that search nothing."""

    takes = "a cell"

    def choose(self, common: Common) -> Chosen:
        """One cell, as often as there are members."""
        return Chosen(tuple(numbered([cell_of(common, self.of)] * self.settings.size)))


@samplers.register("deep")
class DeepEnsemble(OneCell):
    """One cell trained from several seeds (Lakshminarayanan et al., 2017)."""

    summary = "deep ensemble: one given cell, trained from as many seeds as there are members"


@samplers.register("snapshot")
class Snapshot(OneCell):
    """One training of as many cycles as there are members: at the end of each the rate rises again (Huang et al., 2017).

    Each cycle is the whole recipe, so that the training budget is that of as many members; a member is its cycle's best
    epoch, as every member is, and the next cycle begins there.
    """

    summary = "snapshot ensemble: one given cell, one training of as many cycles of the rate as there are members"
    in_a_row = True


@samplers.register("droppath")
class MCDropPath(OneCell):
    """One cell trained once; members are the same network that drops different paths (thesis, 5.4.3)."""

    summary = "MC DropPath: one given cell, trained once, predicting with paths dropped"
    drops_paths = True

    def choose(self, common: Common) -> Chosen:
        """One member, to be copied when it is trained."""
        cell = cell_of(common, self.of)
        if not drops(cell.build(0)):
            raise InputError(
                f"sampler droppath: networks of {cell.space.name} have no paths to drop; those of darts have"
            )
        return Chosen(tuple(numbered([cell])))

    def trains(self) -> int:
        """One."""
        return 1


def known_cells(space: Any) -> list[str]:
    """Cells that can stand behind the colon.

    >>> from foresee.spaces.find import get
    >>> "RobNet_free" in known_cells(get("darts"))
    True
    """
    return [*space.named, *(("RobNet_free", "RobNet_large") if isinstance(space, DARTS) else ())]
