"""The report of a training: what it says, that it holds together, and that strangers' names stay text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch
from torch import nn

from foresee.errors import RunError
from foresee.report import training
from foresee.training.evaluations import Bin, Evaluation
from foresee.training.recipe import recipe
from foresee.training.trained import Epoch, Trained

BINS = (Bin(0, 0.0, 0.0), Bin(6, 0.6, 0.5), Bin(4, 0.9, 1.0))


def trained(**changes):
    history = tuple(Epoch(n, 2.0 / n, 0.3 * n, 2.2 / n, 0.25 * n, 0.1 / n, 1.5) for n in (1, 2, 3))
    test = Evaluation(10, 0.5, 0.7, ((4, 1), (2, 3)), BINS, 0.1)
    plain = {
        "network": nn.Identity(),
        "recipe": recipe("nasi_cifar", epochs=3),
        "history": history,
        "best_epoch": 3,
        "validation": Evaluation(8, 0.7, 0.75),
        "test": test,
        "data": {"train": {"name": "digits/train", "samples": 100}},
        "classes": ("cat", "<script>alert(1)</script>"),
        "facts": {"parameters": 1234, "device": "cpu"},
    }
    return Trained(**{**plain, **changes})


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.scripts, self.open = [], 0, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.ids += [value for key, value in attrs if key == "id"]
        self.scripts += tag == "script"


def test_the_plain_values():
    info = training.tell(trained())
    assert info.headline == "70.00 % right on test data"
    assert "75.00 % right on validation data" in info.lead
    assert info.pairs[0] == ("<script>alert(1)</script>", "cat", 2, 0.4)
    assert info.matrix == ((4, 1), (2, 3))
    differing = {one.name: (one.here, one.there) for one in info.values if one.differs}
    assert differing == {"epochs": ("3", "600")}
    assert info.section.startswith("Appendix B.4")


def test_the_page():
    text = training.render(trained())
    tags = Tags(text)
    assert len(tags.ids) == len(set(tags.ids))
    assert tags.scripts == 2  # the data of the page, and its one script
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text
    for words in ("70.00 % right on test data", "Calibration", "Learning rate", "In the paper", "NASI (Shu et al."):
        assert words in text
    assert "http" not in text.replace("http://www.w3.org", "").replace("http-equiv", "")


def test_curves_hold_the_history():
    loss, accuracy, rate = training.curves(trained())
    assert loss.chart.layers[0].y == pytest.approx((2.0, 1.0, 2 / 3))
    assert accuracy.chart.layers[1].y == pytest.approx((25, 50, 75))
    assert accuracy.chart.layers[2].x == (3.0,)
    assert rate.chart.layers[0].y == pytest.approx((0.1, 0.05, 0.1 / 3))


def test_reliability_leaves_empty_bins_out():
    drawn = training.reliability(BINS, 0.1).chart
    assert drawn.layers[2].x == pytest.approx((60, 90))
    assert drawn.layers[2].y == pytest.approx((50, 100))


def test_a_regression_without_anything_kept():
    history = (Epoch(1, 0.5, None, None, None, 0.1, 1.0),)
    plain = trained(
        history=history, best_epoch=1, validation=None, test=None, recipe=replace(recipe("ctr"), name="gone")
    )
    text = training.render(plain)
    assert "nothing kept to judge it by" in text
    assert "Confusion" not in text
    assert "In the paper" not in text
    value = Evaluation(5, 0.25)
    assert "A squared error of 0.25 on validation data" in training.render(trained(test=None, validation=value))


def test_many_classes_are_told_by_pairs():
    many = tuple(tuple(int(a == b) * 5 + int(b == a + 1) for b in range(40)) for a in range(40))
    judged = Evaluation(239, 0.5, 0.8, many, BINS, 0.1)
    info = training.tell(trained(test=judged, classes=()))
    assert info.matrix == ()
    assert len(info.pairs) == training.PAIRS
    assert "0 for 1 (1, 16.7 %)" in training.render(trained(test=judged, classes=()))


def test_a_stored_training(tmp_path):
    from foresee.training.loop import train

    x = torch.randn(40, 4)
    found = train(nn.Linear(4, 2), (x, (x[:, 0] > 0).long()), epochs=1, out=tmp_path)
    assert training.render(training.opened(tmp_path)) == training.render(found)
    assert found.save_report(tmp_path / "report.html").read_text() == training.render(found)
    (tmp_path / "training.json").write_text('{"status": "running"}')
    with pytest.raises(RunError, match="not finished"):
        training.opened(tmp_path)
    (tmp_path / "training.json").write_text('{"status": "finished"}')
    with pytest.raises(RunError, match="not as a training leaves it"):
        training.opened(tmp_path)
