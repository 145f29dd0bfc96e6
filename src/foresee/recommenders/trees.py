"""Gradient-boosted trees (scikit-learn's): the honest outsider, for small logs often the one to beat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresee.errors import RunError
from foresee.recommenders.base import click_log, recommenders
from foresee.seeds import derive
from foresee.task import Task

#: values of a category that trees can tell apart: their bins are 8 bits, one of them for what is missing
MOST_VALUES = 254


@recommenders.register("trees")
class Trees:
    """Trees that are fitted whole, not trained step by step.

    Numbers go in as they are. Of each category the 254 most frequent values of the rows fitted on are kept (of equally
    frequent ones the smaller number), and all others are one value, the 255th: scikit-learn's trees have bins of 8 bits.

    Args:
        task: a click log's.
        rounds: how many trees at most.
        lr: share of each tree that is added.
        leaves: of a tree at most.
        patience: rounds without an improvement on validation rows before it stops.
        l2: penalty of a leaf's value.
        seed: of what is drawn.
    """

    summary = "gradient-boosted trees of scikit-learn, fitted whole"
    source = "Ke et al., LightGBM, NeurIPS 2017; scikit-learn's HistGradientBoostingClassifier"
    fitted = True

    def __init__(
        self,
        task: Task,
        *,
        rounds: int = 500,
        lr: float = 0.05,
        leaves: int = 15,
        patience: int = 20,
        l2: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.dense, self.sparse = click_log(task, "trees")
        self.settings: dict[str, Any] = {
            "max_iter": rounds,
            "learning_rate": lr,
            "max_leaf_nodes": leaves,
            "n_iter_no_change": patience,
            "l2_regularization": l2,
            "random_state": derive(seed, "trees") % 2**32,
        }
        self._codes: list[NDArray[np.int64]] = []
        self._model: Any = None

    def fit(
        self,
        dense: NDArray[Any],
        sparse: NDArray[Any],
        labels: NDArray[Any],
        *,
        validation: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None = None,
    ) -> Trees:
        """Fit on numbers (n, d), categories (n, s) and answers (n,); it stops by the validation rows, if there are some."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        self._codes = [frequent(sparse[:, column]) for column in range(self.sparse)]
        categorical = [False] * self.dense + [True] * self.sparse
        early = validation is not None
        self._model = HistGradientBoostingClassifier(
            **self.settings, early_stopping=early, categorical_features=categorical
        )
        judged = {}
        if validation is not None:
            judged = {"X_val": self._table(*validation[:2]), "y_val": np.asarray(validation[2]).reshape(-1)}
        self._model.fit(self._table(dense, sparse), np.asarray(labels).reshape(-1), **judged)
        return self

    def probabilities(self, dense: NDArray[Any], sparse: NDArray[Any]) -> NDArray[np.float64]:
        """The probability of yes, (n,)."""
        if self._model is None:
            raise RunError("trees: nothing was fitted yet; call fit first")
        found: NDArray[np.float64] = self._model.predict_proba(self._table(dense, sparse))[:, 1]
        return found

    def _table(self, dense: NDArray[Any], sparse: NDArray[Any]) -> NDArray[np.float64]:
        columns = [coded(sparse[:, place], kept) for place, kept in enumerate(self._codes)]
        return np.column_stack([np.asarray(dense, np.float64), *columns])


def frequent(values: NDArray[Any], most: int = MOST_VALUES) -> NDArray[np.int64]:
    """The most frequent values, in rising order.

    >>> frequent(np.array([7, 7, 3, 9, 9]), most=2)
    array([7, 9])
    """
    found, counts = np.unique(values, return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:most]
    return np.sort(found[kept]).astype(np.int64)


def coded(values: NDArray[Any], kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each value among those kept; of all others, one more than the last place.

    >>> coded(np.array([7, 3, 9]), np.array([7, 9]))
    array([0, 2, 1])
    """
    place = np.searchsorted(kept, values).clip(0, len(kept) - 1)
    return np.where(kept[place] == values, place, len(kept)).astype(np.int64)
