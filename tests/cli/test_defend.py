"""`foresee defend`: trained networks attacked, from folders to a page."""

from __future__ import annotations

import json

import pytest
from tests.ensembles.defending.trained import ensembled, trained

from foresee.ensembles.defending import run


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "QUERIES", 5)
    monkeypatch.setattr(run, "LOOKED_AT", 10)
    ensembled(tmp_path / "e")
    trained(tmp_path / "out", seed=7)
    return tmp_path


def test_from_folders_to_a_page(foresee, folders):
    words = ["defend", "e", "--attacks", "fgsm,pgd", "--eps", "0.1", "--set", "pgd.steps=3", "--samples", "30", "-q"]
    said = foresee(*words, "--outsider", "out", "--whole").stdout
    for word in ("defence %", "control %", "whole %", "30 samples", "images of digits/test", "gradients"):
        assert word in said
    kept = json.loads((folders / "e" / "defence" / "defence.json").read_text())
    assert kept["defence"]["attacks"][1]["settings"] == {"eps": 0.1, "steps": 3}
    assert foresee(*words, "--outsider", "out", "--whole").stdout == said
    page = (folders / "e" / "defence" / "report.html").read_text()
    foresee("report", "e/defence")
    assert (folders / "e" / "defence" / "report.html").read_text() == page
    assert "another defence" in foresee(*words[:-1], "--seed", "3", code=2).stderr


def test_single_trainings_and_several(foresee, folders):
    words = ["--attacks", "fgsm", "--samples", "10", "--no-masking", "-q"]
    said = foresee("defend", "out", *words).stdout
    assert "±" not in said.splitlines()[1]
    assert (folders / "out" / "defence" / "report.html").is_file()
    assert "over 2 attacked members" in foresee("defend", "out", "e/members/0", *words, "--out", "d").stdout


def test_mistakes_are_one_line(foresee, folders):
    def wrong(*words):
        return foresee("defend", *words, "-q", code=2).stderr

    assert "no such file or folder" in wrong("nowhere")
    assert "did you mean fgsm" in wrong("e", "--attacks", "fgms")
    assert "names none" in wrong("e", "--attacks", ",")
    assert "attack in --set" in wrong("e", "--attacks", "fgsm", "--set", "pgd.steps=3")
    assert "did you mean step" in wrong("e", "--attacks", "pgd", "--set", "pgd.stepz=3")
    assert "pixels go from 0 to 1" in wrong("e", "--attacks", "fgsm", "--eps", "8")
    assert "did you mean digits" in wrong("e", "--attacks", "fgsm", "--data", "digist")
    assert "control is one network" in wrong("e", "--attacks", "fgsm", "--outsider", "e")
    assert "choose another --out" in wrong("e", "--attacks", "fgsm", "--out", "out")


def test_stopped_it_says_how_far_it_is(foresee, folders, monkeypatch):
    from foresee.ensembles.defending import kept

    add = kept.Kept.add

    def interrupt(self, one, settings):
        add(self, one, settings)
        raise KeyboardInterrupt

    monkeypatch.setattr(kept.Kept, "add", interrupt)
    words = ["defend", "e", "--attacks", "fgsm", "--samples", "10", "--no-masking", "-q"]
    assert "the same command goes on" in foresee(*words, code=130).stderr
    assert "not finished" in foresee("report", "e/defence", code=2).stderr
    monkeypatch.setattr(kept.Kept, "add", add)
    foresee(*words)
    assert (folders / "e" / "defence" / "report.html").is_file()


def test_attacks_are_listed(foresee):
    assert "autoattack" in foresee("attacks").stdout
    assert "eps=0.01" in foresee("attacks", "pgd").stdout
    assert "cw" in [row["name"] for row in json.loads(foresee("attacks", "--json").stdout)]
