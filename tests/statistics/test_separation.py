"""AUC against scikit-learn and against the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from foresee.errors import InputError
from foresee.statistics import auc

scored = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=40)


@given(scored)
def test_as_in_sklearn_and_as_defined(pairs: list[tuple[int, bool]]) -> None:
    scores, answers = (np.array(one) for one in zip(*pairs, strict=True))
    yes, no = scores[answers], scores[~answers]
    if not len(yes) or not len(no):
        assert math.isnan(auc(scores, answers))
        return
    assert auc(scores, answers) == pytest.approx(roc_auc_score(answers, scores))
    slow = np.mean([(one > other) + (one == other) / 2 for one in yes for other in no])
    assert auc(scores, answers) == pytest.approx(slow)
    assert auc(-scores, answers) == pytest.approx(1 - slow)


def test_one_answer_for_each_score() -> None:
    with pytest.raises(InputError, match="2 scores for 3 answers"):
        auc([1.0, 2.0], [0, 1, 1])
