from __future__ import annotations

from foresee.scoring.stacked.skeleton import Cell, Conv, Linear, Sum
from foresee.scoring.stacked.skeletons import skeleton_of
from foresee.spaces.nasbench201.space import NASBench201
from foresee.task import Task


def test_stages_of_cells_with_reductions_between_them():
    found = skeleton_of(NASBench201(channels=16, cells=2), Task(inputs=(3, 32, 32), outputs=10))
    kinds = [type(part) for part in found.parts]
    assert [kind for kind in kinds if kind in (Cell, Sum)] == [Cell, Cell, Sum, Cell, Cell, Sum, Cell, Cell]
    assert [part.outputs for part in found.parts if isinstance(part, Cell | Conv | Linear)] == [16] * 3 + [32] * 2 + [
        *(64, 64, 10)
    ]
    assert (found.image, found.pieces, found.normal) == ((3, 32, 32), 1, False)
