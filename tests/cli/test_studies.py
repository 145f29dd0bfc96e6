"""Options of a study, and the study on the page of an explanation."""

from __future__ import annotations

import json

import numpy as np
import pytest

from foresee.cli.studies import StudyOptions, epochs_of
from foresee.errors import InputError
from foresee.insight.trained import STUDY, TrainedStudy
from foresee.scoring.settings import ScoringSettings
from foresee.spaces import get
from foresee.spaces.darts.named import NAMED


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Forty images of 8x8 in ten classes."""
    path, rng = tmp_path_factory.mktemp("images") / "few.npz", np.random.default_rng(0)
    images = {f"x_{part}": rng.integers(0, 255, (40, 8, 8, 3), dtype=np.uint8) for part in ("train", "test")}
    np.savez(path, **images, **{f"y_{part}": np.arange(40) % 10 for part in ("train", "test")})
    return str(path)


def test_how_long():
    assert [epochs_of(text) for text in ("5ep", "12", "3 epochs", "1 epoch", None)] == [5, 12, 3, 1, 5]
    for text in ("", "ep", "0ep", "5 hours", "1e3", "-2ep"):
        with pytest.raises(InputError, match="such as 5ep"):
            epochs_of(text)


def test_a_study_is_of_one_darts_cell():
    asked = StudyOptions(variants=3)
    darts = {"what": (get("darts"), "DARTS_V2")}
    asked.check([darts])
    for others in ([darts, darts], [{"what": (get("nasbench201"), "ResNet")}], [{"what": object()}]):
        StudyOptions().check(others)
        with pytest.raises(InputError, match="one cell of the darts space"):
            asked.check(others)
    with pytest.raises(InputError, match="such as 5ep"):
        StudyOptions(train="long").check([darts])


@pytest.mark.parametrize("said", ["DARTS_V2", str(NAMED["DARTS_V2"]), NAMED["DARTS_V2"]])
def test_a_study_by_name_text_or_itself(few, tmp_path, said):
    asked = StudyOptions(variants=1, train="1ep", seeds=1, channels=2, layers=1)
    told = []
    found = asked.run((get("darts"), said), ScoringSettings(data=few), tmp_path, told.append)
    first = found.study.cells[0]
    assert first.architecture == NAMED["DARTS_V2"]
    assert first.name == ("DARTS_V2" if said == "DARTS_V2" else "cell")
    assert (tmp_path / "study" / STUDY).exists()
    assert [(one.done, one.total) for one in told] == [(1, 2), (2, 2)]


@pytest.mark.slow
def test_a_study_on_the_page(foresee, few, tmp_path):
    asked = ["--samples", "0", "--proxy", "params", "--data", few, "--seeds", "1", "--channels", "2", "--layers", "1"]
    study = ["--variants", "2", "--train", "1ep", "--rate", "0.1", "--quiet", "--out", str(tmp_path)]
    thin = ["--set", "darts.channels=2", "--set", "darts.layers=2", "--engine", "serial"]
    text = foresee("explain", "darts", "DARTS_V2", *asked, *study, *thin).stdout
    assert "WIDE" in text
    assert "Spearman with the loss" in " ".join(text.split())
    page = (tmp_path / "explain.html").read_text()
    assert 'id="study-curves"' in page
    assert "Every cell" in page
    plain = json.loads((tmp_path / "explain.json").read_text())
    assert TrainedStudy.from_json(plain["study"]).study.rates == (0.1,)
