from __future__ import annotations

import numpy as np
import pytest
from tests.stacking import CELLS, CPU, GENOTYPES, GROUNDS, MACRO, MICRO

from foresee.scoring.stacked.sizes import Sizes
from foresee.scoring.stacked.skeleton import Cell, Step
from foresee.scoring.stacked.skeletons import skeleton_of
from foresee.scoring.stacked.wiring import Wiring


@pytest.mark.parametrize("name", GROUNDS)
def test_who_has_what_where(name):
    ground = GROUNDS[name]
    architectures = ground.cells()
    wiring, _ = ground.stack(architectures)
    for cell, wires in wiring.cells.items():
        for lane in cell.lanes:
            takes = []
            for (pick, option), source in zip(lane.choices, lane.sources, strict=True):
                own = [place for place, one in enumerate(ground.chosen(architectures)) if one[pick] == option]
                takes += [(source, own)] if own else []
            assert (lane.choices in wires.uses) == bool(takes)
            owners, reads = wires.uses.get(lane.choices, ((), ()))
            assert [(read.source, read.owners.tolist()) for read in reads] == takes
            assert [place for read in reads for place in read.owners.tolist()] == list(owners)
            for source, own, places in reads:
                assert wires.shared[source, lane.way[0]].owners[places].tolist() == own.tolist()


def test_what_several_edges_read_alike_is_there_once():
    wiring, _ = CELLS.stack(CELLS.cells(0))
    assert len(set(wiring.cells.values())) == 1
    owners, times = next(iter(wiring.cells.values())).shared[0, Step.IDENTITY]
    assert dict(zip(owners.tolist(), times.tolist(), strict=True)) == {2: 1, 4: 3}


def test_a_skip_that_reduces_reads_the_relu_of_the_convolutions():
    wiring, _ = MICRO.stack(MICRO.cells(0)[-1:])
    halving, keeping = (wiring.cells[part] for part in [p for p in MICRO.skeleton.parts if isinstance(p, Cell)][:2])
    assert len(set(wiring.cells.values())) == 2
    assert halving.shared[0, Step.RELU].times.tolist() == [3]
    assert keeping.shared[0, Step.RELU].times.tolist() == [2]
    assert (0, Step.IDENTITY) not in halving.shared


def test_a_way_that_begins_with_a_layer_shares_its_beginning_with_nobody():
    architectures = MACRO.cells()
    wiring, _ = MACRO.stack(architectures)
    for cell, wires in wiring.cells.items():
        (edge,) = cell.edges
        for option, way in edge.ways:
            own = [place for place, one in enumerate(architectures) if one.ops[edge.pick] == option]
            assert wires.shared[0, way[0]].owners.tolist() == own
            assert wires.shared[0, way[0]].times.tolist() == [1] * len(own)


def test_a_layer_is_one_whichever_node_it_reads_and_its_weights_lie_where_its_edge_stands():
    architectures = GENOTYPES.cells()
    wiring, _ = GENOTYPES.stack(architectures)
    assert len(wiring.cells) == 4
    assert len(set(wiring.cells.values())) == 2  # normal ones, and those that reduce
    normal = next(iter(wiring.cells))
    layers = {layer.name: [] for layer in wiring.layers.values()}
    for layer in wiring.layers.values():
        layers[layer.name].append(layer)
    for number in range(8):  # an edge's first layer, for each operation
        owners = [own for layer in layers[f"cells.0.edges.{number}.1"] for own in layer.owners.tolist()]
        assert sorted(owners) == [
            place for place, one in enumerate(architectures) if "conv" in one.normal.edges[number][0]
        ]
    read = {lane.target: lane.sources for lane in normal.lanes}
    assert read == {node: tuple(range(node)) for node in (2, 3, 4, 5)}
    (stem,) = layers["stem.0.0"]  # which is made when all cells are
    last = max(int(one.starts.max()) for name in layers if name.startswith("cells") for one in layers[name])
    assert int(stem.starts.max()) > last


def test_an_input_that_is_read_twice_alike_is_looked_at_once():
    wiring, _ = GENOTYPES.stack([GENOTYPES.cells(0)[2]])
    wires = next(iter(wiring.cells.values()))
    found = {start: shared.times.tolist() for start, shared in wires.shared.items() if isinstance(start[1], Step)}
    assert found == {
        (0, Step.RELU): [2],
        (1, Step.IDENTITY): [2],
        (2, Step.RELU): [1],
        (2, Step.GREATEST): [1],
        (4, Step.POOL): [1],
        (4, Step.RELU): [1],
    }


@pytest.mark.parametrize("name", GROUNDS)
def test_the_longest_network_draws_as_much_as_sizes_say(name):
    ground, wide = GROUNDS[name], {"nor_conv_3x3", "e6k5", "sep_conv_5x5"}
    some = ground.cells(0)
    longest, _ = ground.stack(
        [one for one, ops in zip(some, ground.chosen(some), strict=True) if {op.split(" of ")[0] for op in ops} <= wide]
        or some
    )
    sizes = Sizes(ground.skeleton)
    assert longest.length == sizes.longest or name == "jigsaw"
    assert longest.length <= sizes.longest


def test_layers_that_begin_at_different_places_of_a_sixteen_are_no_stack():
    ground = MICRO
    space = type(ground.space)(channels=5)
    with pytest.raises(Exception, match="multiples of 4"):
        skeleton_of(space, ground.task)
    wiring = Wiring(ground.skeleton, [one.ops for one in ground.cells()], CPU)
    with pytest.raises(ValueError, match="sixteen"):
        wiring._phase(np.array([16, 17]))
