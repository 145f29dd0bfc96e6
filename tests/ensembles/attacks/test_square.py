"""Random squares."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.attacks.golden.network import EPS, arrays, trained
from tests.ensembles.attacks.networks import Rounded, linear

from foresee.ensembles.attacks import attacks, square
from foresee.errors import UnsupportedError


def test_as_much_is_left_as_by_other_codes_where_squares_lie_as_theirs(monkeypatch):
    """Theirs never lie on the last row and column: with all places allowed, as in the paper, less is left."""
    whole = attacks["square"](*trained(), eps=EPS, queries=500).accuracy
    monkeypatch.setattr(square, "place_of", lambda drawn, size, side: (drawn * max(size - side, 1)).long())
    found = attacks["square"](*trained(), eps=EPS, queries=500).accuracy
    for other in ("art_square", "torchattacks_square"):
        accuracies = 1 - arrays()[other].mean(1)
        assert accuracies.min() - 3 / 60 <= found <= accuracies.max() + 3 / 60, other
    assert whole < found


def test_it_needs_no_gradient():
    network, images, labels = linear(samples=30)
    hidden = Rounded(network)
    blind = attacks["pgd"](hidden, images, labels, eps=0.1, steps=5)
    seeing = attacks["square"](hidden, images, labels, eps=0.1, queries=200)
    assert seeing.accuracy < 0.5 < blind.accuracy
    assert int(seeing.gradients.sum()) == 0


def test_more_queries_never_leave_more():
    found = [attacks["square"](*trained(), eps=EPS, queries=n).accuracy for n in (1, 20, 200)]
    assert found == sorted(found, reverse=True)


def test_it_stops_where_it_has_succeeded():
    found = attacks["square"](*trained(), eps=0.3, queries=300)
    turned = found.success & found.right
    assert int(found.queries[turned].min()) < 50
    assert bool((found.queries[~found.success] == 300).all())


def test_inputs_that_are_no_images():
    network, images, labels = linear()
    with pytest.raises(UnsupportedError, match="height, width"):
        attacks["square"](network, images.flatten(1), labels)


def test_squares_lie_everywhere():
    places = square.place_of(torch.linspace(0, 0.9999, 100), 8, 3)
    assert places.unique().tolist() == list(range(6))
