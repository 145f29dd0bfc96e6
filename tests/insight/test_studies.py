"""What a study says of its curves, on curves made up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresee.errors import InputError, UnknownNameError
from foresee.insight.studies import Curve, Study, correlation
from foresee.insight.variants import variants_of
from foresee.spaces.darts.named import NAMED
from foresee.statistics import spearman

CELLS = tuple(variants_of(NAMED["DARTS_V2"], 9))


def made_up(slope=-1.0, seeds=3, rate=0.1):
    """Losses that go by width, the final accuracy by the place alone."""
    curves = []
    for seed in range(seeds):
        for place, cell in enumerate(CELLS):
            loss = 2.0 + slope * cell.width / 10 + 0.001 * seed
            ends = {"test_loss": 1.0, "test_accuracy": 0.5 + 0.01 * (place % 2)}
            curves.append(
                Curve(cell.name, rate, seed, (10, 20), (loss + 1, loss), (loss + 1, loss), (0.1, 0.2), **ends)
            )
    return Study(CELLS, tuple(curves), {"epochs": 2})


def test_shape_and_loss():
    study = made_up()
    found = study.agreement("width")
    assert found.value == pytest.approx(-1)
    assert found.high < 0
    depths = spearman([float(one.depth) for one in CELLS], [-one.width for one in CELLS])
    assert study.agreement("depth").value == pytest.approx(depths)
    assert study.gap().value > 0
    assert made_up(1.0).gap().value < 0
    assert study.gap(step=10).n == 3
    assert study.values("loss", step=10).shape == (3, 9)
    assert abs(study.foretold().value) < 0.6
    assert study.ends("width").value == pytest.approx(spearman([one.width for one in CELLS], [i % 2 for i in range(9)]))


def test_a_training_that_diverged_is_the_worst():
    study = made_up()
    broken = Curve(CELLS[0].name, 0.1, 0, (10,), (9.0,), (9.0,), (0.1,), reason="the loss is nan")
    study = Study(CELLS, (broken, *study.curves[1:]))
    assert math.isinf(study.values()[0, 0])
    assert study.agreement("width").value == pytest.approx(-1)
    assert study.tests()[0, 0] == -math.inf
    assert math.isinf(study.gap().value) or math.isnan(study.gap().value)
    assert study.values(step=10)[0, 0] == 9


def test_a_study_is_printed_as_a_table():
    text = str(made_up()).splitlines()
    assert len(text) == 1 + len(CELLS) + 1
    assert text[0].split() == ["cell", "width", "depth", "loss,", "rate", "0.1", "test", "%,", "rate", "0.1"]
    assert "width -1.000" in text[-1]


def test_json_and_what_is_not_there():
    study = made_up()
    assert Study.from_json(study.to_json()) == study
    for wrong, message in (({"step": 3}, "step 3"), ({"rate": 9.0}, "rate 9")):
        with pytest.raises(InputError, match=message):
            study.values(**wrong)
    with pytest.raises(UnknownNameError):
        study.values("colour")


def test_correlation_is_spearmans():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=12), rng.normal(size=(2, 12))
    found = correlation(first, second, 300)
    assert found.value == pytest.approx(np.mean([spearman(first, one) for one in second]))
    assert found.low < found.value < found.high


def test_a_handful_in_perfect_order_has_no_interval():
    four, five = (correlation(np.arange(n), np.arange(n), 100) for n in (4.0, 5.0))
    assert (four.value, four.n) == (1, 4)
    assert np.isnan(four.low)
    assert five.low == 1
