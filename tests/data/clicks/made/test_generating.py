from __future__ import annotations

import gzip

import numpy as np
import pytest

from foresee.data.clicks.made.generating import KINDS, PIECE, generated, lines
from foresee.data.clicks.made.published import FORMS
from foresee.errors import InputError, UnknownNameError

WIDTHS = {"csv": 15, "criteo": 40, "avazu": 24, "kdd2012": 12}


def test_the_same_seed_makes_the_same_file_and_a_longer_one_begins_with_it(tmp_path):
    generated(tmp_path / "a", 300)
    generated(tmp_path / "b", 300)
    generated(tmp_path / "other", 300, seed=1)
    generated(tmp_path / "long", PIECE + 10)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "other").read_bytes()
    assert (tmp_path / "long").read_bytes().startswith((tmp_path / "a").read_bytes())
    assert len((tmp_path / "long").read_text().splitlines()) == PIECE + 11


def test_a_packed_file_is_the_same_log(tmp_path):
    generated(tmp_path / "a.csv", 200)
    generated(tmp_path / "a.csv.gz", 200)
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (tmp_path / "a.csv").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.csv.gz"]


@pytest.mark.parametrize("form", FORMS)
def test_malformed_rows_are_where_they_are_said_to_be(form, tmp_path):
    made = generated(tmp_path / "log", 800, form=form, malformed=0.05)
    assert len(made.named) == made.malformed > 10
    there = (tmp_path / "log").read_text().splitlines()
    how = FORMS[form]
    wrong = dict(made.named)
    assert set(wrong.values()) <= set(KINDS)
    for number, line in enumerate(there, 1):
        if number == 1 and how.header is not None:
            continue
        fields = line.split(how.delimiter)
        sound = len(fields) == WIDTHS[form] and fields[how.label] in ("0", "1") and "oops" not in fields
        assert sound == (number not in wrong), line


def test_the_best_is_that_of_the_truth_itself(tmp_path):
    """The numbers against the obvious way: all chances at once, and scikit-learn."""
    metrics = pytest.importorskip("sklearn.metrics")
    made = generated(tmp_path / "a.csv", 4000, seed=5)
    world = FORMS["csv"].world(5)
    rng = np.random.default_rng(_seed(5))
    ranks, counts = world.draw(rng, PIECE)
    chance = world.probability(ranks, counts)[:4000]
    labels = [int(line[0]) for line in (tmp_path / "a.csv").read_text().splitlines()[1:]]
    assert made.log_loss == pytest.approx(metrics.log_loss(labels, chance), rel=1e-9)
    assert made.auc == pytest.approx(metrics.roc_auc_score(labels, chance), abs=2e-4)
    assert made.rate == pytest.approx(chance.mean(), abs=0.03)


def _seed(seed):
    from foresee.seeds import derive

    return derive(seed, "rows", 0)


@pytest.mark.slow
def test_a_logistic_regression_clearly_loses_to_trees(tmp_path):
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    made = generated(tmp_path / "a.csv", 60_000)
    table = pandas.read_csv(made.path)
    y = table.pop("click").to_numpy()
    numbers, words = list(table.columns[:6]), list(table.columns[6:])
    table[numbers] = np.log1p(table[numbers].fillna(0))
    table[words] = table[words].fillna("").astype(str)
    encoder = make_column_transformer((OneHotEncoder(min_frequency=4, handle_unknown="infrequent_if_exist"), words),
                                      remainder="passthrough")  # fmt: skip
    linear = make_pipeline(encoder, LogisticRegression(C=0.1, max_iter=200)).fit(table[:48_000], y[:48_000])
    codes = table.assign(**{name: table[name].astype("category").cat.codes.clip(upper=250) for name in words})
    trees = HistGradientBoostingClassifier(max_iter=150).fit(codes[:48_000], y[:48_000])
    single = roc_auc_score(y[48_000:], linear.predict_proba(table[48_000:])[:, 1])
    together = roc_auc_score(y[48_000:], trees.predict_proba(codes[48_000:])[:, 1])
    assert single + 0.015 < together < made.auc


def test_lines_are_those_of_the_file(tmp_path):
    generated(tmp_path / "a", 50, form="criteo")
    assert lines(50, form="criteo") == (tmp_path / "a").read_text().splitlines()


def test_what_cannot_be_made(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean criteo"):
        generated(tmp_path / "a", 10, form="critteo")
    with pytest.raises(InputError, match="rows 0"):
        generated(tmp_path / "a", 0)
    with pytest.raises(InputError, match="malformed 2"):
        generated(tmp_path / "a", 10, malformed=2)
    assert not list(tmp_path.iterdir())
