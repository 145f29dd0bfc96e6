"""Trees: fitted whole, with categories capped as it is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recommenders.planted import TASK, planted

from foresee.errors import RunError
from foresee.recommenders.trees import Trees, coded, frequent
from foresee.statistics import auc
from foresee.task import Task


def arrays(rows: int, seed: int) -> tuple[np.ndarray, ...]:
    batch = planted(rows, seed).batch(rows)
    return (*(part.numpy() for part in batch.inputs), batch.labels.numpy().ravel())


def test_a_planted_interaction_is_learnt() -> None:
    model = Trees(TASK, rounds=30).fit(*arrays(1000, 0), validation=arrays(300, 1))
    dense, sparse, labels = arrays(500, 2)
    assert auc(model.probabilities(dense, sparse), labels) > 0.85


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 4))
def test_the_most_frequent_keep_their_names(values: list[int], most: int) -> None:
    kept = frequent(np.array(values), most)
    assert len(kept) == min(most, len(set(values)))
    least = min(values.count(one) for one in kept)
    assert all(values.count(one) <= least for one in set(values) - set(kept.tolist()))
    codes = coded(np.array([*values, 99]), kept)
    assert codes[-1] == len(kept)
    assert all((code == len(kept)) == (one not in kept) for code, one in zip(codes, values, strict=False))


def test_a_category_of_many_values_is_capped_and_unknown_ones_are_the_rest() -> None:
    draws = np.random.default_rng(0)
    sparse = draws.integers(0, 2000, (600, 1))
    task = Task((1,), 1, vocabularies=(5000,))
    model = Trees(task, rounds=2).fit(np.zeros((600, 1)), sparse, draws.integers(0, 2, 600))
    assert np.isfinite(model.probabilities(np.zeros((2, 1)), np.array([[4999], [3000]]))).all()


def test_nothing_fitted_nothing_said() -> None:
    with pytest.raises(RunError, match="fit first"):
        Trees(TASK).probabilities(np.zeros((1, 2)), np.zeros((1, 3)))
