"""Maps: distances in a plane are kept, what is not is said, and the map is the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from foresee.papers.nesbs.maps import distances, laid_out


def test_points_of_a_plane_are_found_again():
    points = np.random.default_rng(0).normal(size=(7, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    found, shown = laid_out(apart)
    assert np.allclose(np.linalg.norm(found[:, None] - found[None], axis=-1), apart)
    assert shown == pytest.approx(1.0)


def test_what_a_plane_cannot_hold_is_said():
    apart = 1.0 - np.eye(5)  # corners of a simplex
    assert 0.4 < laid_out(apart)[1] < 0.6


def test_equal_answers_are_one_point():
    points, shown = laid_out(distances(np.zeros((3, 10), int)))
    assert np.allclose(points, 0)
    assert shown == 1.0
    single, _ = laid_out(distances(np.zeros((1, 10), int)))
    assert single.shape == (1, 2)
