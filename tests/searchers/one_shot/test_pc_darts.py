"""PC-DARTS: partial channels, weighed edges, and logits that wait."""

from __future__ import annotations

import pytest
import torch
from tests.searchers.one_shot.rivals import done, searcher

from foresee.errors import InputError
from foresee.searchers.base import searchers
from foresee.spaces.base import spaces


def test_the_logits_wait_for_the_weights():
    one = searcher("pc_darts", said={"epochs": 2, "batches": 1})
    first, second = done(one)
    assert set(first) == {"loss", "logits", "architecture"}
    assert all(value == 0 for values in first["logits"].values() for value in values)
    assert any(value != 0 for values in second["logits"].values() for value in values)
    assert "validation" in second
    with pytest.raises(InputError, match="the logits learn after it, in none of 5 epochs"):
        searcher("pc_darts", said={"epochs": 5, "warmup": 15})


def test_a_part_of_the_channels_passes_and_edges_of_darts_are_weighed():
    one = searcher("pc_darts", "darts", said={"one_shot": {"channels": 4, "layers": 3}})
    assert one.network.form.partial == 2
    assert "normal.3.inputs" in one.logits
    done(one, 2)
    assert bool((one.logits["normal.3.inputs"] != 0).any())
    # an edge is kept by its weight times that of its operation
    with torch.no_grad():
        one.logits["normal.5.inputs"].copy_(torch.tensor([0.0, 9.0, 0.0, 0.0, 9.0]))
    kept = one.network.derive(one.fixed()).normal
    assert {source for _, source in dict(kept.nodes)[5]} == {1, 4}
    assert searcher("pc_darts").network.partial == 2


def test_the_published_share_is_a_quarter():
    assert searchers["pc_darts"].partial == 4
    with pytest.raises(InputError, match=r"partial 3 must divide|partial 3: expected a divisor"):
        searcher("pc_darts", said={"partial": 3})
    assert searchers["pc_darts"].fits(spaces["transnas_micro"]) == "has no partial channels"
