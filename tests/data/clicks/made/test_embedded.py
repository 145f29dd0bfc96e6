from __future__ import annotations

import torch

from foresee.data import load
from foresee.data.clicks.made.embedded import ROWS


def test_three_splits_of_one_world_always_the_same():
    found = {split: load("planted_clicks", split=split) for split in ROWS}
    assert {split: len(one) for split, one in found.items()} == ROWS
    assert load("planted_clicks").splits == tuple(ROWS)
    assert len({one.fingerprint for one in found.values()}) == 3
    assert all(one.task == found["train"].task for one in found.values())
    assert found["val"].statistics == found["train"].statistics
    first, again = (load("planted_clicks").batch(64, seed=1) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first.parts, again.parts, strict=True))
    assert first.labels.shape == (64, 1)
    assert 0.15 < float(found["test"].batch(2000).labels.mean()) < 0.25
