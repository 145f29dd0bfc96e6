"""What members predict: answers, disagreement, places on a map, and the strip of wrong samples."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.report.made_up_ensemble import made_up_predictions

from foresee.errors import InputError
from foresee.report import predictions
from foresee.report.predictions import Predictions, differing, map_chart, placed, strip


@pytest.fixture
def found() -> Predictions:
    return Predictions.of(*made_up_predictions())


def test_counts_are_those_of_a_slow_loop(found: Predictions) -> None:
    slow = {}
    for sample in range(300):
        many = sum(int(found.answers[member, sample] == found.labels[sample]) for member in range(3))
        samples, right = slow.get(many, (0, 0))
        slow[many] = samples + 1, right + int(found.together[sample] == found.labels[sample])
    assert [one[0] for one in found.counts] == [3, 2, 1, 0]
    assert {many: (samples, right) for many, samples, right in found.counts if samples} == slow


def test_an_ensemble_of_outputs_averages_logarithms() -> None:
    said = torch.tensor([[[0.98, 0.02]], [[0.3, 0.7]], [[0.3, 0.7]]])
    assert Predictions.of(said, torch.tensor([0])).together.item() == 0
    assert Predictions.of(said, torch.tensor([0]), "outputs").together.item() == int(said.log().mean(0).argmax())


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="labels of"):
        Predictions.of(torch.rand(2, 3, 4), torch.zeros(5, dtype=torch.int64))


def test_places_keep_what_two_axes_can_keep() -> None:
    answers = torch.randint(4, (3, 50), generator=torch.Generator().manual_seed(1))
    matrix = differing(answers)
    places = placed(matrix)  # three points lie in a plane: nothing is lost
    apart = ((places[:, None] - places[None]) ** 2).sum(-1)
    np.testing.assert_allclose(apart, matrix, atol=1e-12)
    np.testing.assert_allclose(placed(matrix), placed(matrix))


def test_equal_members_lie_on_each_other() -> None:
    assert np.abs(placed(np.zeros((4, 4)))).max() == 0


def test_the_strip_has_every_error(found: Predictions) -> None:
    made = strip(found, ["a", "b", "c"])
    assert [row["name"] for row in made["rows"]] == ["a", "b", "c", "ensemble"]
    assert [row["errors"] for row in made["rows"]] == [*(~found.right).sum(1).tolist(), int((~found.all_right).sum())]
    drawn = [sum(int(part.split("h")[1]) for part in row["path"].split("M") if part) for row in made["rows"]]
    assert drawn == [row["errors"] for row in made["rows"]]


def test_a_long_strip_is_thinned(found: Predictions, monkeypatch) -> None:
    monkeypatch.setattr(predictions, "STRIP", 50)
    made = strip(found, ["a", "b", "c"])
    assert made["shown"] <= 50 < made["some"]


def test_where_all_are_right_nothing_is_drawn() -> None:
    sure = torch.eye(3)[None].repeat(2, 1, 1)
    made = strip(Predictions.of(sure, torch.arange(3)), ["a", "b"])
    assert made["shown"] == 0
    assert not any(row["path"] for row in made["rows"])


def test_the_map_has_a_dot_for_each() -> None:
    groups = [("ensemble", np.zeros((1, 2)), ["e:ensemble"]), ("members", np.ones((2, 2)), ["m:0", "m:1"])]
    chart = map_chart(groups).chart
    assert [len(layer.x) for layer in chart.layers] == [1, 2]
