"""SiGeo's Table 4: the procedure, on networks and data that are small enough for a test."""

from __future__ import annotations

import numpy as np
import pytest

from foresee.papers import Workshop, reproduce
from foresee.papers.numbers import published
from foresee.papers.sigeo.resnet import PROXIES, WARM, searched
from foresee.scoring import Job, Scorer, ScoringSettings

QUICK = {"evaluations": 2, "population": 2, "initial": 1, "epochs": 0, "warmup": "1%"}


def shop(**changes):
    return Workshop(**{"batch_size": 2, "table_settings": QUICK, "space_settings": {}, **changes})


def test_every_row_of_the_paper_has_its_proxy():
    assert [row.key for row in published("sigeo-table-4").rows] == list(PROXIES)


def test_the_procedure(tmp_path):
    workshop = shop(rows=["random", "flops"], cache=tmp_path / "scores.sqlite")
    page = reproduce("sigeo-table-4", workshop)
    cells = {(line.row, line.column): line for line in page.lines}
    assert "not trained" in cells["FLOPs", "cifar10"].reason
    assert cells["FLOPs", "cifar10"].paper == 93.1
    assert "not asked for" in cells["SiGeo", "cifar10"].reason
    for row in ("random", "flops"):
        assert 0 < cells[row, "params (million)"].ours.value <= 1
        assert cells[row, "MACs (million)"].ours.value > 0
    assert "nothing computed" not in page.verdict
    assert all(line.agrees is None for line in page.lines)
    again = reproduce("sigeo-table-4", shop(rows=["flops"], cache=tmp_path / "scores.sqlite", observers=[]))
    assert next(line.ours for line in again.lines if (line.row, line.column) == ("flops", "score")) == (
        cells["flops", "score"].ours
    )


def test_zico_is_followed_with_four_batches():
    (row, *_) = searched(shop(), "zico", QUICK, seed=0).record.candidates
    scorer = Scorer("resnet", ScoringSettings(proxies=("sigeo",), inputs=(3, 32, 32), outputs=10, batch_size=2))
    (cold,) = scorer(Job((row.architecture,), ("sigeo",), seed=0))
    assert row.merit == pytest.approx(cold.scores[0].parts["steadiness"])


def test_candidates_are_warmed_up_by_themselves():
    found = searched(shop(), WARM, QUICK, seed=0)
    rows = found.record.candidates
    assert len(rows) == 2
    assert found.record.settings["warmup_by"] == "network"
    settings = {"proxies": ("sigeo:vision",), "inputs": (3, 32, 32), "outputs": 10, "batch_size": 2}
    scorer = Scorer("resnet", ScoringSettings(**settings))
    for row in rows:
        (cold,) = scorer(Job((row.architecture,), ("sigeo:vision",), seed=0))
        assert row.merit is not None
        assert row.merit != pytest.approx(cold.scores[0].value), "training is in between"


def test_what_was_found_is_trained(tmp_path):
    rng = np.random.default_rng(0)
    labels = {f"y_{part}": np.arange(count) % 10 for part, count in (("train", 80), ("test", 20))}
    images = {f"x_{key[2:]}": rng.integers(0, 255, (len(one), 32, 32, 3), np.uint8) for key, one in labels.items()}
    np.savez(tmp_path / "small.npz", **images, **labels)
    settings = QUICK | {"evaluations": 1, "epochs": 1}
    page = reproduce(
        "sigeo-table-4", shop(rows=["flops"], table_settings=settings, data=str(tmp_path / "small.npz"), repeats=2)
    )
    line = next(line for line in page.lines if (line.row, line.column) == ("FLOPs", "cifar10"))
    assert line.ours.n == 2
    assert (20 * line.ours.value / 100 * 2) == pytest.approx(round(20 * line.ours.value / 100 * 2))
    assert line.reason == "1 epochs of fast, 20 images to test on"
