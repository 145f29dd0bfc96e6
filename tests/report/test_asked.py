from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from foresee.report.asked import asked, bounds, flatten, limit_text, proxy_names, read_limits, read_task
from foresee.runs.record import Record


def test_limits_of_any_shape_are_read() -> None:
    settings = {"limits": {"params": {"max": 6, "min": 1}, "macs": 5, "memory": {"max": None}, "flops": {"below": 4.0}}}
    assert read_limits(settings) == {
        "params": {"min": 1.0, "max": 6.0},
        "macs": {"max": 5.0},
        "flops": {"below": 4.0},
    }
    assert read_limits({}) == {}
    assert read_limits({"limits": "none"}) == {}
    assert read_limits({"limits": {"params": {"max": float("nan")}}}) == {}


def test_limits_in_words() -> None:
    assert limit_text("macs", {"min": 1e6, "below": 5e7}) == "macs ≥ 1 M, macs < 50 M"


def test_the_tightest_bound_counts_and_flops_bound_macs() -> None:
    limits = {"macs": {"max": 1e8, "min": 2.0}, "flops": {"max": 1e8, "above": 6.0}}
    assert bounds("macs", limits) == (3.0, 5e7)
    assert bounds("params", limits) == (None, None)


def test_flatten_names_nested_settings_and_leaves_out_empty_tables() -> None:
    plain = {"a": {"b": {"c": [1, 2]}}, "empty": {}, "text": "x", "none": None, "odd": {1}}
    assert flatten(plain) == (("a.b.c", "[1, 2]"), ("text", "x"), ("none", "null"), ("odd", '"{1}"'))


def test_the_task_is_found_wherever_it_is(make_record: Callable[..., Record]) -> None:
    record = make_record(1)
    assert read_task(record) == ((3, 32, 32), 10)
    assert read_task(replace(record, settings={"task": {"inputs": [1, 8, 8], "outputs": 2}})) == ((1, 8, 8), 2)
    assert read_task(replace(record, settings={"inputs": [4]}, environment={})) == ((4,), None)
    assert read_task(replace(record, settings={}, environment={})) == ((), None)


def test_what_was_asked_leaves_out_what_is_not_known(make_record: Callable[..., Record]) -> None:
    record = make_record(1)
    lines = dict(asked(record, read_limits(record.settings)))
    assert lines["Space"] == "paper_cell"
    assert lines["Limits"] == "params ≤ 600 k"
    assert lines["Task"] == "3 × 32 × 32 → 10 outputs"
    assert asked(Record("search", "running", 0.0, {}, {}), {}) == (("Limits", "none"),)


def test_what_is_followed_is_said_where_it_is_more_than_one_thing(
    make_record: Callable[..., Record], follow: Callable[..., Record]
) -> None:
    record = make_record(3, failures=0.0)
    assert "Follows" not in dict(asked(follow(record, "dextr"), {}))
    assert dict(asked(follow(record, "dextr", "params"), {}))["Follows"] == "dextr (higher), params (lower)"


def test_proxies_come_in_the_order_asked_for(make_record: Callable[..., Record]) -> None:
    record = make_record(5, proxies=("zico", "dextr"))
    assert proxy_names(record) == ("zico", "dextr")
    assert proxy_names(replace(record, settings={"proxies": "naswot"})) == ("naswot", "zico", "dextr")
