from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from foresee.errors import InputError
from foresee.report.compare import compare, put_together
from foresee.report.curves import rank_correlation
from foresee.runs.record import Record

Make = Callable[..., Record]


def test_runs_with_one_yardstick_share_their_axes(make_record: Make) -> None:
    records = {
        "a": make_record(40),
        "b": make_record(40, seed=2, searcher="random"),
        "c": make_record(40, limit=400_000),
    }
    info = put_together(records)
    [group] = info.groups
    assert [m.name for m in group.members] == ["a", "b", "c"]
    best = max(records, key=lambda name: records[name].scored[0].merit or 0.0)
    assert group.best is not None
    assert group.best.name == best
    text = compare(records)
    assert text.count('class="chart"') == 4
    assert "front of all runs" in text
    assert "do not share a yardstick" not in text


@pytest.mark.parametrize(
    "other",
    [
        {"proxies": ("synflow",)},
        {"data": "synthetic"},
        {"proxy_settings": {"dextr": {"size": 3}}},
        {"direction": "lower"},
        {"batch_size": 2},
    ],
)
def test_values_without_a_common_scale_are_kept_apart(make_record: Make, other: dict[str, object]) -> None:
    assert len(put_together({"a": make_record(20), "b": make_record(20, **other)}).groups) == 2


def test_runs_without_a_common_scale_have_their_own_axes(make_record: Make) -> None:
    text = compare({"a": make_record(20), "b": make_record(20, proxies=("synflow",))})
    assert "do not share a yardstick" in text
    assert text.count('class="chart"') == 8


def test_settings_of_other_proxies_do_not_part_runs(make_record: Make) -> None:
    records = {"a": make_record(10), "b": make_record(10, proxy_settings={"zico": {"size": 3}})}
    assert len(put_together(records).groups) == 1


def test_runs_that_follow_different_objectives_are_said_to(make_record: Make, follow: Make) -> None:
    plain = make_record(30)
    records = {"a": follow(plain, "dextr"), "b": follow(plain, "dextr", "params"), "c": make_record(30, seed=2)}
    info = put_together(records)
    assert {follows: [m.name for m in members] for follows, members in info.pursuits.items()} == {
        "dextr (higher)": ["a", "c"],
        "dextr (higher), params (lower)": ["b"],
    }
    assert len(info.groups) == 1  # the values of dextr have one scale, whatever else was followed
    text = compare(records)
    assert "a, c follow dextr (higher); b follows dextr (higher), params (lower)" in text
    assert "do not share a yardstick" not in text
    assert " ± 0.12" in text


def test_runs_that_follow_the_same_are_not_said_to_differ(make_record: Make, follow: Make) -> None:
    both = {name: follow(make_record(20, seed=seed), "dextr", "params") for seed, name in enumerate("ab")}
    assert put_together(both).pursuits == {}
    assert "follow the same objectives" not in compare(both)
    # one objective each: that the yardsticks differ is said once
    apart = compare({"a": make_record(20), "b": make_record(20, proxies=("synflow",))})
    assert "follow the same objectives" not in apart


def test_a_cost_has_one_scale_whatever_looked_at_the_networks(make_record: Make, follow: Make) -> None:
    records = {
        "a": follow(make_record(20), "params", "dextr"),
        "b": follow(make_record(20, data="x"), "params", "dextr"),
    }
    [group] = put_together(records).groups
    assert group.label == "params"
    other = follow(make_record(20, inputs=[3, 8, 8]), "params", "dextr")
    assert len(put_together({"a": records["a"], "b": other}).groups) == 2
    first = put_together({"a": records["a"], "b": follow(make_record(20), "dextr", "params")})
    assert [one.label for one in first.groups] == ["params", "dextr on digits"]
    assert len(first.pursuits) == 2


def test_differences_are_named_and_marked(make_record: Make) -> None:
    info = put_together({"a": make_record(10), "b": make_record(10, seed=2), "c": make_record(10, limit=None)})
    found = {d.key: (d.values, d.changed) for d in info.settings}
    assert found == {
        "limits.params.max": (("600000", "600000", None), (False, False, True)),
        "seed": (("1", "2", "1"), (False, True, False)),
    }
    assert info.environment == ()
    text = compare({"a": make_record(10), "b": make_record(10, seed=2)})
    assert "<mark>2</mark>" in text
    assert "<mark>1</mark>" not in text


def test_ranks_of_the_best_in_the_other_runs(make_record: Make) -> None:
    first = make_record(60, failures=0.0)
    # The same architectures, ranked the other way round by another proxy.
    second = replace(
        make_record(60, failures=0.0),
        candidates=tuple(replace(c, merit=-(c.merit or 0.0), scores={}) for c in first.candidates),
        settings={**first.settings, "proxies": ["other"]},
    )
    info = put_together({"a": first, "b": second})
    assert info.standings[0][0] == info.standings[1][1] == 1
    slow = [c.identity for c in second.scored]
    assert first.best is not None
    assert info.standings[0][1] == slow.index(first.best.identity) + 1
    [agreement] = info.agreements
    assert agreement.shared == len({c.identity for c in first.candidates})
    assert agreement.correlation is not None
    assert agreement.correlation < -0.5
    assert "rank correlation" in compare({"a": first, "b": second})


def test_other_spaces_have_no_common_ranks(make_record: Make) -> None:
    info = put_together({"a": make_record(20), "b": make_record(20, space="elsewhere")})
    assert info.standings == ((1, None), (None, 1))
    assert info.agreements[0].shared == 0
    assert rank_correlation([], []) is None


def test_runs_without_scores_can_be_compared(make_record: Make) -> None:
    empty = Record("search", "running", 0.0, {}, {})
    assert "No scored candidate" in compare({"a": make_record(20), "b": empty})
    assert "None of these runs" in compare({"a": empty, "b": empty})
    mixed = compare({"a": make_record(20), "b": make_record(20, failures=1.0)})
    assert "No architecture has a score" in mixed


def test_names_and_settings_are_escaped(
    make_record: Make, follow: Make, poison: Callable[[Record, str], Record], hostile: str
) -> None:
    text = compare({hostile: make_record(10), f"{hostile}2": make_record(10, data=hostile)})
    assert "<script>document" not in text
    assert "<img" not in text
    several = poison(follow(make_record(10), "dextr", "params"), hostile)
    text = compare({"a": several, "b": make_record(10)})
    assert "do not follow the same objectives" in text
    assert "<script>document" not in text
    assert "<img" not in text


def test_one_run_is_no_comparison(make_record: Make) -> None:
    with pytest.raises(InputError, match="at least two"):
        compare({"a": make_record(5)})


def test_more_runs_than_colours(make_record: Make) -> None:
    text = compare({f"run{i}": make_record(6, seed=i) for i in range(10)})
    assert "var(--series-7)" in text
    assert "series-8" not in text
