"""Several scores of one network: still a dictionary, and a table."""

from __future__ import annotations

import pickle

import pytest
import torch
from torch import nn

from foresee import scores
from foresee.scoring import Scores


@pytest.fixture(scope="module")
def found():
    return scores(nn.Linear(4, 3), torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), ["params", "snip"])


def test_it_is_the_dictionary_it_was(found):
    assert isinstance(found, Scores)
    assert isinstance(found, dict)
    assert found == dict(found)
    assert list(found) == ["params", "snip"]
    assert pickle.loads(pickle.dumps(found)) == found


def test_it_prints_as_a_table_with_reasons(found):
    head, first, second = str(found).splitlines()
    assert head.split() == ["proxy", "score", "better", "time"]
    assert first.split()[:2] == ["params", "15"]
    assert "unsupported" in second
    assert second.endswith(found["snip"].reason)
    made = found._repr_html_()
    assert "unsupported" in made
    assert "<table" in made


def test_a_frame(found):
    pytest.importorskip("pandas")
    made = found.to_frame()
    assert list(made.index) == ["params", "snip"]
    assert made.loc["params", "score"] == 15
    assert made.loc["snip", "status"] == "unsupported"
    assert made["score"].isna().tolist() == [False, True]
