"""Rankings: who votes, how the votes are joined, and how a ranking is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.errors import UnknownNameError
from foresee.proxies.base import Score
from foresee.scoring.ranking import ranked


def _scores(**columns: list[float | None]):
    """Networks a, b, c, ... with a score of each proxy; None is a failure."""
    count = len(next(iter(columns.values())))
    return {
        "abcdefgh"[place]: {
            proxy: Score(proxy, column[place]) if column[place] is not None else Score(proxy, None, "failed", "no good")
            for proxy, column in columns.items()
        }
        for place in range(count)
    }


def test_size_is_a_baseline_and_no_vote():
    found = ranked(_scores(params=[9.0, 5.0, 1.0], zico=[1.0, 2.0, 3.0], macs=[9.0, 5.0, 1.0], flops=[9.0, 5.0, 1.0]))
    assert found.order == ("c", "b", "a")
    assert (found.votes, found.baselines) == (("zico",), ("params", "macs", "flops"))
    assert found.joined == "ordered by zico; params, macs and flops are baselines and have no vote"
    assert found.ranks["a"]["params"] == 1  # still shown
    head = str(found).splitlines()[0]
    assert head.index("zico") < head.index("params (baseline)") < head.index("macs (baseline)")


@pytest.mark.parametrize(("by", "words"), [("mean_rank", "the mean"), ("log_rank", "the sum of the logarithms")])
def test_several_votes_say_how_they_are_joined(by, words):
    found = ranked(_scores(zico=[3.0, 2.0, 1.0], snip=[3.0, 1.0, 2.0], params=[1.0, 2.0, 3.0]), by)
    assert found.joined == f"ordered by {words} of the ranks by zico and snip; params is a baseline and has no vote"
    assert found.joined in str(found)
    assert found.joined in found._repr_html_()
    assert found.best == "a"
    assert found.mean_ranks == {"a": 1.0, "b": 2.5, "c": 2.5}


def test_where_only_baselines_are_asked_for_they_vote():
    found = ranked(_scores(params=[1.0, 2.0], macs=[1.0, 2.0]))
    assert (found.votes, found.baselines, found.best) == (("params", "macs"), (), "b")
    assert found.joined == "ordered by the mean of the ranks by params and macs"
    assert "baseline" not in str(found)


def test_a_baseline_that_fails_moves_nobody():
    found = ranked(_scores(zico=[2.0, 1.0], params=[None, 5.0]))
    assert found.order == ("a", "b")
    assert found.problems == ["params: no score of 1 of 2: no good"]
    assert "what failed" not in found.joined


def test_what_failed_comes_last_and_is_said_with_its_reason():
    found = ranked(_scores(zico=[None, 1.0, 2.0]))
    assert found.order == ("c", "b", "a")
    assert found.joined == "ordered by zico; what failed comes last"
    assert str(found).splitlines()[-1] == "zico: no score of 1 of 3: no good"


@examples(30)
@given(st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))), min_size=1, max_size=8))
def test_a_ranking_is_a_sequence_of_rows_by_index_and_name(rows):
    found = ranked(_scores(zico=[float(a) for a, _ in rows], snip=[None if b is None else float(b) for _, b in rows]))
    assert len(found) == len(rows)
    assert [row.place for row in found] == list(range(1, len(rows) + 1))
    assert [name for name, _, _ in found] == list(found.order)
    assert [found[index] for index in range(len(found))] == list(found)
    assert found[-1] == list(found)[-1]
    for name, place, scores in found:
        assert found[name] == (name, place, scores)
        assert scores == found.scores[name]


def test_what_is_not_there_is_said():
    found = ranked(_scores(zico=[1.0, 2.0]))
    with pytest.raises(UnknownNameError, match="unknown network 'z': there are a, b"):
        found["z"]
    with pytest.raises(IndexError):
        found[2]


def test_a_frame_has_votes_first_and_baselines_last():
    pytest.importorskip("pandas")
    made = ranked(_scores(params=[1.0, 2.0], zico=[4.0, 3.0], snip=[4.0, None])).to_frame()
    assert list(made.columns) == ["place", "zico", "snip", "mean_rank", "params"]
    assert list(made.index) == ["a", "b"]
    assert made["snip"].isna().tolist() == [False, True]


def test_the_repr_is_short():
    assert repr(ranked(_scores(zico=[1.0, 2.0]))) == "<Ranking of 2 networks: b is the best, ordered by zico>"
