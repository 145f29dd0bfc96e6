"""The Gaussian process on ranks, against scikit-learn, scipy and slow versions of the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct
from tests.properties import examples

from foresee.benchmarks.rank_model import (
    LEAN,
    LEAST_NOISE,
    SPREAD_OF_LEAN,
    Likeness,
    RankModel,
    Scale,
    normal_scores,
    view_of_proxies,
)
from foresee.statistics import spearman

NUMBERS = st.lists(st.integers(-1000, 1000).map(lambda n: n / 8), min_size=2, max_size=30)


# -- ranks and scales ---------------------------------------------------------------------------------------------------
@given(NUMBERS)
def test_normal_scores_are_quantiles_of_mean_ranks(values):
    def rank(one):
        return sum(other < one for other in values) + (values.count(one) + 1) / 2

    expected = [norm.ppf((rank(one) - 0.5) / len(values)) for one in values]
    np.testing.assert_allclose(normal_scores(values), expected, atol=1e-12)


def test_failures_are_last_and_what_is_not_known_says_nothing():
    scores = normal_scores([3.0, np.nan, 1.0, -np.inf, np.inf])
    assert scores[3] == scores[4] == scores.min()
    assert scores[0] == scores.max()
    assert scores[1] == 0
    np.testing.assert_array_equal(scores[[0, 2, 3, 4]], normal_scores([3.0, 1.0, -np.inf, np.inf]))
    np.testing.assert_array_equal(normal_scores([np.nan, np.nan]), [0.0, 0.0])


@given(NUMBERS, NUMBERS)
def test_a_scale_increases_and_has_an_inverse(values, asked):
    scale = Scale(np.array(values))
    asked = np.unique(asked)
    scores = scale.score(asked)
    assert (np.diff(scores) > 0).all()
    np.testing.assert_allclose(scale.value(scores), asked, rtol=1e-9, atol=1e-6)


@given(NUMBERS)
def test_a_scale_goes_through_what_was_observed(values):
    scale = Scale(np.array(values))
    np.testing.assert_allclose(scale.score(np.array(values)), normal_scores(values), atol=1e-12)
    np.testing.assert_allclose(scale.value(normal_scores(values)), values, atol=1e-9)


def test_beyond_its_ends_a_scale_is_as_steep_as_near_them():
    # steep below, flat above, as accuracies are: what comes after 94 must not be as far as what comes before 10
    scale = Scale(np.array([10.0, 50.0, 80.0, 90.0, 92.0, 93.0, 93.5, 93.8, 93.9, 94.0]))
    above = scale.value(scale.score(np.array([94.0])) + 1)[0] - 94.0
    below = 10.0 - scale.value(scale.score(np.array([10.0])) - 1)[0]
    assert 0 < above < 1
    assert below > 20


# -- views --------------------------------------------------------------------------------------------------------------
def test_proxies_that_tell_nothing_are_left_out_and_two_architectures_are_about_root_two_apart():
    rng = np.random.default_rng(0)
    merits = {
        "one": rng.normal(size=400),
        "same": np.ones(400),
        "two": rng.exponential(size=400),
        "none": [np.nan] * 400,
    }
    view = view_of_proxies(merits)
    assert view.shape == (400, 2)
    distances = Likeness.between([view], np.arange(400)).distances[0]
    assert distances.mean() == pytest.approx(2, rel=0.02)


# -- the process --------------------------------------------------------------------------------------------------------
def views(rng, count, sizes):
    return [rng.normal(size=(count, size)) / np.sqrt(size) for size in sizes]


def fitted(likeness, scores, theta):
    """A model with given parameters, made the slow way."""
    linear, smooth, _ = likeness.covariances(theta)
    covariance = linear.sum(0) + smooth.sum(0) + (np.exp(theta[-1]) + LEAST_NOISE) * np.eye(len(scores))
    factor = np.linalg.cholesky(covariance)
    return RankModel(theta, factor, np.linalg.solve(covariance, scores)), covariance


def test_predictions_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    [view] = views(rng, 40, [3])
    seen, scores = np.arange(15), rng.normal(size=15)
    theta = np.log([0.5, 0.8, 0.7, 0.1])
    likeness = Likeness.between([view], seen)
    model, _ = fitted(likeness.part(seen, seen), scores, theta)
    kernel = ConstantKernel(0.5) * DotProduct(sigma_0=1e-9) + ConstantKernel(0.8) * RBF(0.7)
    reference = GaussianProcessRegressor(kernel, alpha=0.1 + LEAST_NOISE, optimizer=None).fit(view[seen], scores)
    mean, deviation = model.predict(likeness)
    expected, latent = reference.predict(view, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    np.testing.assert_allclose(deviation, np.sqrt(latent**2 + 0.1 + LEAST_NOISE), atol=1e-6)


@pytest.mark.parametrize(("sizes", "leaning"), [([4], False), ([4, 9], False), ([4, 9], True)])
def test_the_fit_is_the_most_probable_one(sizes, leaning):
    rng = np.random.default_rng(2)
    seen, count = np.arange(25), len(sizes)
    made = views(rng, 25, sizes)
    scores = normal_scores(made[0] @ rng.normal(size=sizes[0]) + np.sin(3 * made[0][:, 0]) + 0.3 * rng.normal(size=25))
    leans = normal_scores(scores + rng.normal(size=25)) if leaning else np.zeros(25)
    likeness = Likeness.between(made, seen)
    first = np.log((1 - LEAN**2 if leaning else 1) / (2 * count + 1))

    def surprise(asked):
        theta, lean = asked[:-1], asked[-1]
        covariance = fitted(likeness, scores, theta)[1]
        start = np.repeat([first, 0.0, first], [2 * count, count, 1])
        spread = np.repeat([2.0, 1.0, 2.0], [2 * count, count, 1])
        prior = norm.logpdf(theta, start, spread).sum() + leaning * norm.logpdf(lean, LEAN, SPREAD_OF_LEAN)
        return -multivariate_normal(lean * leans, covariance).logpdf(scores) - prior

    model = RankModel.fit(likeness, scores, leans if leaning else None)
    found = np.append(model.theta, model.lean)
    least = surprise(found)
    for _ in range(200):
        assert surprise(found + 0.05 * rng.normal(size=len(found))) > least - 1e-4
        assert surprise(found + rng.normal(size=len(found))) > least - 1e-4


def test_a_model_leans_on_a_score_and_is_corrected_by_what_it_sees():
    rng = np.random.default_rng(3)
    [view] = views(rng, 60, [2])
    likeness, leans = Likeness.between([view], np.arange(60)), normal_scores(rng.normal(size=60))
    right, wrong = (RankModel.fit(likeness, sign * leans, leans) for sign in (1, -1))
    assert right.lean > LEAN
    assert wrong.lean < -0.5
    assert spearman(right.predict(likeness, leans)[0], leans) > 0.99
    few = likeness.part(np.arange(60), np.arange(10))
    model = RankModel.fit(likeness.part(np.arange(10), np.arange(10)), normal_scores(rng.normal(size=10)), leans[:10])
    mean, known = model.predict(few, leans)[0], model.predict(few)[0]
    np.testing.assert_allclose(mean - known, model.lean * leans)


@examples(10)
@given(st.integers(0, 1000))
def test_a_part_of_the_likeness_is_the_likeness_of_the_part(seed):
    rng = np.random.default_rng(seed)
    made, seen = views(rng, 12, [2, 5]), rng.permutation(12)[:7]
    whole = Likeness.between(made, seen)
    rows, kept = rng.permutation(12)[:4], np.array([0, 3, 5])
    part = whole.part(rows, kept)
    for place, view in enumerate(made):
        np.testing.assert_allclose(part.products[place], view[rows] @ view[seen[kept]].T, atol=1e-12)
        apart = view[rows][:, None] - view[seen[kept]][None]
        np.testing.assert_allclose(part.distances[place], (apart**2).sum(-1), atol=1e-12)
        np.testing.assert_allclose(part.norms[place], (view[rows] ** 2).sum(-1), atol=1e-12)


def test_equal_architectures_with_different_values_can_be_fitted():
    view = np.zeros((12, 2))
    view[6:] = 1.0
    model = RankModel.fit(Likeness.between([view], np.arange(12)), normal_scores(np.arange(12.0)))
    mean, deviation = model.predict(Likeness.between([view], np.arange(12)))
    assert np.isfinite(mean).all()
    assert (deviation > 0).all()
    assert mean[0] == pytest.approx(mean[5])
    assert mean[0] < mean[6]
