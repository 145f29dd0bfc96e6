"""A study of a few tiny networks: kept, killed, gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch

from foresee.devices import threads
from foresee.errors import InputError, SettingsMismatchError
from foresee.insight.around import Looks
from foresee.insight.studies import Curve, Study
from foresee.insight.trained import MAPS, STUDY, TRAININGS, TrainedStudy, study
from foresee.insight.variants import family
from foresee.spaces.darts.named import NAMED
from foresee.task import Task

CELL = NAMED["DARTS_V2"]
TINY = {"task": Task((1, 8, 8), 10), "size": {"channels": 2, "layers": 1}, "batch": 16, "crop": 0, "flip": False}
LOOKS = Looks(points=3, radius=0.1, samples=4, lanczos=2, lines=1)


def images(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(40, 1, 8, 8, generator=generator), torch.arange(40) % 10


def made_up(seeds=3):
    """Losses that go by width, other operations a little apart."""
    cells = tuple(family(CELL, 12, name="DARTS"))
    curves = []
    for seed in range(seeds):
        for place, cell in enumerate(cells):
            loss = 3 - cell.width / 2 + 0.01 * (cell.name[0] == "O") * place + 0.001 * seed
            curves.append(
                Curve(cell.name, 0.1, seed, (5, 10), (loss + 1, loss), (loss + 1, loss), (0.1, 0.2), 1.0, 0.3)
            )
    return TrainedStudy(Study(cells, tuple(curves)))


def test_what_a_family_has():
    cells = family(CELL, 12)
    assert len(cells) == 13
    assert len({one.architecture for one in cells}) == 13
    assert [one.name for one in cells if one.name[0] == "O"] == ["O1", "O2"]
    connected = [one for one in cells if one.name[0] == "C"]
    assert [one.width for one in connected] == sorted(one.width for one in connected)
    assert connected[0].width < cells[0].width
    assert [one.name for one in family(CELL, 1)] == ["cell", "WIDE"]
    assert "WIDE" not in [one.name for one in family(family(CELL, 1)[1].architecture, 4)]


def test_what_shape_has_to_do_with_it():
    """Other operations are left out of it, and their spread is said beside that of connections."""
    found = made_up()
    assert {one.name[0] for one in found.alike.cells} == {"D", "W", "C"}
    effects = {(one.shape, one.step): one.estimate.value for one in found.effects if one.measure == "val_loss"}
    assert effects["width", 10] == pytest.approx(-1)
    assert effects["depth", 5] > 0.5
    assert found.spread("operations").value == pytest.approx(0.005)
    assert found.spread("connections").value > 0.1
    assert TrainedStudy(found.study.among(["DARTS", "O1"])).effects == ()
    assert found.surroundings("width") == {}
    assert TrainedStudy.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.slow
def test_a_study_is_kept(tmp_path):
    """Everything is found again, and is not trained again; other data are refused."""
    asked = {"variants": 2, "epochs": 1, "seeds": 1, "looks": LOOKS, **TINY}
    found = study(CELL, images(), out=tmp_path, **asked)
    assert [one.cell for one in found.around] == ["cell", "DEEP", "WIDE"]
    assert found.surroundings("width") == {}, "of three cells nothing can be said"
    more = TrainedStudy(found.study, (*found.around, replace(found.around[0], cell="cell"), *found.around))
    assert more.surroundings("width") == {}
    written = json.loads((tmp_path / STUDY).read_text())
    assert TrainedStudy.from_json(written) == found
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / TRAININGS).glob("*/best.safetensors")}
    assert len(kept) == 3
    assert len(list((tmp_path / MAPS).iterdir())) == 3
    assert study(CELL, images(), out=tmp_path, **asked) == found
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    with pytest.raises(SettingsMismatchError):
        study(CELL, images(1), out=tmp_path, **asked)


def test_what_cannot_be_asked_for():
    with pytest.raises(InputError, match="each once"):
        study(CELL, images(), rates=(0.1, 0.1), **TINY)
    with pytest.raises(InputError, match="seeds"):
        study(CELL, images(), seeds=0, **TINY)


@pytest.mark.slow
def test_a_killed_study_goes_on_and_ends_the_same(tmp_path):
    """SIGKILL after the first trainings; what was trained stays, and the study is that of one that was not killed."""
    code = (
        "import sys; from tests.insight.test_trained import *; "
        "study(CELL, images(), out=sys.argv[1], variants=2, epochs=2, seeds=2, **TINY)"
    )
    killed = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", code, str(killed)], env={**os.environ, "OMP_NUM_THREADS": "1"})
    trained = killed / TRAININGS
    while process.poll() is None and len(list(trained.glob("*/best.safetensors"))) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (killed / STUDY).exists()
    asked = {"variants": 2, "epochs": 2, "seeds": 2, **TINY}
    with threads(1):  # as the one that was killed
        assert study(CELL, images(), out=killed, **asked) == study(CELL, images(), **asked)
