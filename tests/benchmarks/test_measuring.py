"""A table as what a search may ask."""

from __future__ import annotations

import pytest
from tests.benchmarks.small import LOOK, small_table

import foresee as fs
from foresee.benchmarks.measuring import Measuring
from foresee.spaces import get


def test_values_by_text_and_by_identity():
    table, space = small_table(), get("nasbench201")
    asked = Measuring(table, "test_acc", space)
    values = table.values("test_acc")
    assert asked(table.architectures) == values.tolist()
    assert asked.best == values.max()
    # a skip written with another zero edge computes the same: the value of the text in the table is its value too
    held = {space.canonical(space.parse(text)): text for text in reversed(table.architectures)}
    others = [
        str(one) for one in space.enumerate() if space.canonical(one) in held and str(one) not in table.architectures
    ]
    assert others
    assert asked(others[:5]) == [values[table.find(held[space.canonical(space.parse(text))])] for text in others[:5]]
    known = {space.canonical(space.parse(text)) for text in table.architectures}
    unknown = next(str(one) for one in space.enumerate() if space.canonical(one) not in known)
    assert asked([unknown]) == [None]


def test_less_loss_is_better_and_fingerprints_differ():
    table, space = small_table(), get("nasbench201")
    loss, accuracy = Measuring(table, "test_loss", space), Measuring(table, "test_acc", space)
    assert loss(table.architectures) == [-value for value in table.values("test_loss")]
    assert loss.shown(loss.best) == table.values("test_loss").min()
    assert loss.fingerprint != Measuring(table, "val_acc", space).fingerprint
    assert accuracy.fingerprint == Measuring(small_table(), "test_acc", space).fingerprint


def test_a_search_follows_what_was_measured(tmp_path):
    table, space = small_table(), get("nasbench201")
    asked = {**LOOK, "proxies": ["params"], "objectives": ["measured"], "searcher": "random", "evaluations": 400}
    run = fs.search("nasbench201", **asked, measured=Measuring(table, "test_acc", space), out=tmp_path / "a")
    best = run.record.best
    assert best is not None
    assert best.objectives == {"measured": table.values("test_acc")[table.find(best.architecture)]}
    identities = {space.canonical(space.parse(text)) for text in table.architectures}
    assert len(run.record.scored) == len(run.record.candidates) == len(identities)  # the table, and nothing else
    assert best.merit == max(row.merit for row in run.record.scored) <= table.values("test_acc").max()
    with pytest.raises(fs.ForeseeError, match=r"measured: .* here, .* in the run"):
        fs.search("nasbench201", **asked, measured=Measuring(table, "val_acc", space), out=tmp_path / "a", resume=True)
