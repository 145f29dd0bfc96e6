"""Logistic regression against scikit-learn's."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from tests.recommenders.planted import TASK, planted

from foresee.recommenders import make


def test_the_best_weights_are_those_of_sklearn() -> None:
    batch = planted(400).batch(400)
    dense, sparse = batch.inputs
    hot = np.concatenate([np.eye(size)[sparse[:, at]] for at, size in enumerate(TASK.vocabularies)], 1)
    table = np.concatenate([dense.numpy(), hot], 1)
    theirs = LogisticRegression(C=1e6, solver="newton-cholesky").fit(table, batch.labels.numpy().ravel())
    network = make("logistic", TASK).double()
    optimiser = torch.optim.LBFGS(network.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        logits = network(dense.double(), sparse)
        found = torch.nn.functional.binary_cross_entropy_with_logits(logits, batch.labels.double())
        found.backward()
        return found

    optimiser.step(loss)
    ours = network(dense.double(), sparse).sigmoid().detach().numpy().ravel()
    assert np.allclose(ours, theirs.predict_proba(table)[:, 1], atol=2e-3)
