"""Local search: all neighbours, the best of them next, and another place from a hilltop."""

from __future__ import annotations

from tests.searchers.driving import convolutions, drive, made

from foresee.testing import SearcherSuite


class TestLocalSearch(SearcherSuite):
    searcher = "local_search"
    settings = {"initial": 2}


def differing(one, other):
    return sum(a != b for a, b in zip(one.ops, other.ops, strict=True))


def test_it_climbs_by_the_best_neighbour():
    searcher = made("local_search", 100)
    proposals, results = drive(searcher)
    by_id = {result.id: result for result in results}
    here = results[0]
    for proposal in proposals[1:]:
        if proposal.parent is None:  # a hilltop: begins elsewhere
            here = by_id[proposal.id]
            continue
        parent = by_id[proposal.parent]
        assert differing(proposal.architecture, parent.architecture) == 1
        if parent.id != here.id:  # moved on: uphill, to the best that is known around
            assert parent.merit > here.merit
            known = [r for r in results[: proposal.id] if differing(r.architecture, here.architecture) == 1]
            assert parent.merit == max(r.merit for r in known)
            here = parent


def test_all_neighbours_are_looked_at_before_it_moves():
    searcher = made("local_search", 40)
    proposals, _ = drive(searcher, merit=lambda one: 0.0)  # a plain: each place is a hilltop
    space = searcher.space
    start = proposals[0].architecture
    around = {str(one) for one in space.enumerate() if differing(one, start) == 1}
    classes = {space.canonical(space.parse(text)) for text in around} - {space.canonical(start)}
    first = [p for p in proposals if p.parent == 0]
    assert {p.identity for p in first} == classes
    assert searcher.climbs > 1


def test_neighbours_are_asked_for_together_and_then_waited_for():
    searcher = made("local_search", 60, settings={"initial": 3})
    assert [searcher.told_before(one) for one in range(5)] == [0, 0, 0, 3, 4]
    drive(searcher, evaluations=3)
    many = len(searcher.state()["open"])
    assert many > 10
    assert searcher.told_before(3 + many - 1) == 0
    assert searcher.told_before(3 + many) == 3 + many


def test_at_most_so_many_neighbours():
    searcher = made("local_search", 60, settings={"neighbours": 5})
    proposals, _ = drive(searcher, merit=lambda one: 0.0)
    children = [sum(p.parent == parent for p in proposals) for parent in {p.parent for p in proposals} - {None}]
    assert max(children) == 5


def test_it_finds_the_top_of_a_hill():
    _, results = drive(made("local_search", 150))
    assert max(result.merit for result in results) == 6.0 == max(map(convolutions, made("random").space.enumerate()))
