"""Latency: measured once for each identity, or summed from a table of blocks."""

from __future__ import annotations

import pytest
from torch import nn

from foresee.budgets import Clock, LatencyTable
from foresee.errors import InputError
from foresee.spaces import get, own
from foresee.task import Task

TASK = Task((3, 8, 8), 4)


def net(pick):
    width = pick("width", [4, 8, 16])
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.Flatten(), nn.Linear(width * 64, 4)
    )


def test_latency_is_measured_once_per_identity():
    notes = []
    clock = Clock(note=lambda identity, seconds: notes.append(identity))
    space = get("nasbench201", channels=2, cells=1)
    first = space.named["ResNet"]
    made = [clock(space, first, TASK) for _ in range(2)]
    assert made[0] == made[1] > 0
    assert len(notes) == 1


def test_a_table_sums_its_blocks_and_names_what_it_lacks(tmp_path):
    space = own(net)
    known = [space.parse('{"width":4}'), space.parse('{"width":8}')]
    table = LatencyTable.measure(space, TASK, known)
    table.save(tmp_path / "t.json")
    back = LatencyTable.load(tmp_path / "t.json")
    assert back == table
    clock = Clock(table=back)
    small, large = (clock(space, one, TASK) for one in known)
    calls = [key for key in table.blocks if "x8x8" in key and "Conv2d(3, 4" in key]
    assert len(calls) == 1
    assert small > 0
    assert large > 0
    with pytest.raises(InputError, match="was not measured"):
        clock(space, space.parse('{"width":16}'), TASK)


def test_a_bad_table_is_refused(tmp_path):
    path = tmp_path / "t.json"
    for text in ("", "{}", '{"kind": "other"}', '{"kind": "foresee latency table", "blocks": {"a": 1}}'):
        path.write_text(text)
        with pytest.raises(InputError, match="not a latency table"):
            LatencyTable.load(path)
    with pytest.raises(InputError, match="No such file"):
        LatencyTable.load(tmp_path / "absent.json")
