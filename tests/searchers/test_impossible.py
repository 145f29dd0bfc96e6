"""One impossible candidate never blocks a run: it is passed over, or a failed candidate with its reason."""

from __future__ import annotations

import pytest
from tests.searchers.impossible import FAULTS, Impossible
from tests.searchers.test_search import essence

from foresee.runs import read
from foresee.searchers import SearchSettings, run_search


def go(space, out=None, **changes):
    settings = {
        "space": "impossible", "space_settings": space.settings(), "proxies": ["naswot", "params"],
        "searcher_settings": {"population": 4, "sample": 2}, "evaluations": 10, "data": "synthetic",
        "inputs": [3, 8, 8], "outputs": 4, "batch_size": 4, "seed": 2,
    }  # fmt: skip
    kept = {key: changes.pop(key) for key in ("engine", "workers", "resume", "observers") if key in changes}
    return run_search(SearchSettings.from_json({**settings, **changes}), out=out, space=space, **kept)


CASES = [
    pytest.param(limits, objectives, id="-".join([*limits, *objectives]) or "plain")
    for limits, objectives in (({}, ()), ({"params": {"max": 40}}, ()), ({"memory": {"max": 10**9}}, ("latency",)))
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("limits", "objectives"), CASES)
def test_whatever_is_impossible_the_run_ends(fault, limits, objectives):
    run = go(Impossible(fault=fault), limits=limits, objectives=list(objectives))
    assert (run.status, len(run.record.candidates)) == ("finished", 10)
    for row in run.record.candidates:
        faulty = int(row.architecture) % 3 == 0 and fault not in ("sample", "mutate")  # these can be come by otherwise
        assert row.status == ("failed" if faulty else "scored"), row
        assert (row.reason != "") == (row.status == "failed")
    assert run.best.build() is not None


@pytest.mark.parametrize(("fault", "reason"), [
    ("counts", "params cannot be found (StrangeError"),
    ("nan", "params cannot be found (ValueError: cannot convert float NaN"),
    ("negative", "params cannot be found (InputError: params -5: expected a finite number of at least 0)"),
    ("build", "MemoryError"),
    ("exit", "SystemExit: 3"),
    ("parse", "RuntimeError: cannot be read"),
])  # fmt: skip
def test_the_reason_is_kept(fault, reason):
    run = go(Impossible(fault=fault), searcher="random", searcher_settings={})
    failed = [row for row in run.record.candidates if row.status == "failed"]
    assert failed
    assert all(row.reason.startswith(reason) for row in failed), failed[0].reason
    assert all(row.merit is None and not row.scores for row in failed)


@pytest.mark.parametrize(
    ("fault", "when", "engine"),
    [
        ("counts", "asked", "processes"),
        ("counts", "failed", "serial"),
        ("build", "failed", "serial"),
        ("text", "scored", "serial"),
    ],
)
def test_resumed_it_meets_the_same_and_goes_on(tmp_path, fault, when, engine):
    whole = go(Impossible(fault=fault))

    def interrupt(event):
        if event.kind == when and event.done >= 3:
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            go(Impossible(fault=fault), tmp_path / "r", resume=True, observers=[interrupt])
        assert read(tmp_path / "r").status == "interrupted"
    run = go(Impossible(fault=fault), tmp_path / "r", resume=True, engine=engine, workers=1)
    assert essence(run.record) == essence(whole.record)


def test_draws_that_were_passed_over_are_told():
    run = go(Impossible(fault="sample"))
    [finished] = [event for event in run.record.events if event.kind == "finished"]
    assert finished.details["passed_over"] > 0
