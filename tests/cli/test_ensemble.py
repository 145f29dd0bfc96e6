"""`foresee ensemble`: from a name and data to a page; mistakes are one line; stopped, it goes on."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from tests.ensembles.finding.tiny import images

from foresee.ensembles.finding import EnsembleRun

QUICK = ["--size", "2", "--channels", "2", "--cells", "1", "--epochs", "1", "--batch", "32", "--iterations", "2"]
QUICK += ["--supernet-epochs", "1", "--set", "ensemble.posterior_epochs=1", "--set", "ensemble.supernet_batch=32", "-q"]


@pytest.fixture
def some(tmp_path):
    found = images(90)
    batch = found.read(torch.arange(90))
    pixels = (255 * batch.inputs).round().numpy().astype(np.uint8)
    np.savez(tmp_path / "some.npz", x=pixels, y=batch.labels.numpy())
    return "some.npz"


def test_from_images_to_a_page(foresee, some, tmp_path):
    said = foresee("ensemble", "nasbench201", "--sampler", "mc", "--data", some, *QUICK, "--out", "e").stdout
    assert "ensemble" in said
    assert "budget: 2 networks of 2 epochs" in said
    assert (tmp_path / "e" / "report.html").is_file()
    run = EnsembleRun.load("e")
    assert run.settings.sampler == "mc"
    before = (tmp_path / "e" / "ensemble.safetensors").read_bytes()
    again = foresee("ensemble", "nasbench201", "--sampler", "mc", "--data", some, *QUICK, "--out", "e").stdout
    assert again == said
    assert (tmp_path / "e" / "ensemble.safetensors").read_bytes() == before
    page = (tmp_path / "e" / "report.html").read_text()
    (tmp_path / "e" / "report.html").unlink()
    foresee("report", "e")
    assert (tmp_path / "e" / "report.html").read_text() == page
    assert "another ensemble" in foresee("ensemble", "nasbench201", "--data", some, *QUICK, "--out", "e", code=2).stderr
    foresee("export", "e", "--format", "safetensors")
    assert json.loads((tmp_path / "e" / "exported" / "model.json").read_text())["programs_take"] == "pixels from 0 to 1"


@pytest.mark.slow
def test_rivals_have_a_page_too(foresee, some, tmp_path):
    words = [
        "ensemble",
        "nasbench201",
        "--sampler",
        "uniform",
        "--against",
        "deep",
        "--data",
        some,
        *QUICK,
        "--out",
        "c",
    ]
    said = foresee(*words).stdout
    assert "minus uniform's" in said
    assert (tmp_path / "c" / "seed-0" / "deep" / "report.html").is_file()
    page = (tmp_path / "c" / "report.html").read_text()
    foresee("report", "c")
    assert (tmp_path / "c" / "report.html").read_text() == page
    assert "name one of them: c/seed-0/deep" in foresee("defend", "c", code=2).stderr


def test_mistakes_are_one_line_and_leave_nothing(foresee, some, tmp_path):
    def wrong(*words, data=some):
        return foresee("ensemble", *words, *(["--data", data] if data else []), "--out", "e", code=2).stderr

    assert "foresee spaces" in wrong()
    assert "--data" in wrong("nasbench201", data=None)
    assert "did you mean nasbench201" in wrong("nasbenhc201")
    assert "did you mean digits" in wrong("nasbench201", data="digist")
    assert "did you mean svgd_rd" in wrong("nasbench201", "--sampler", "svgdrd")
    assert "did you mean fast" in wrong("nasbench201", "--recipe", "fst")
    assert "did you mean dextr" in wrong("nasbench201", "--posterior", "dexter")
    assert "did you mean ResNet" in wrong("nasbench201", "--sampler", "deep:ResNot")
    assert "did you mean lr" in wrong("nasbench201", "--set", "recipe.lrr=1")
    assert "option of its own, --size" in wrong("nasbench201", "--set", "ensemble.size=1")
    assert "name in --set" in wrong("nasbench201", "--set", "recipes.lr=1")
    assert "have no layers" in wrong("nasbench201", "--layers", "8")
    assert "no one-shot network" in wrong("mlp")
    assert "name each sampler once" in wrong("nasbench201", "--against", "svgd_rd")
    assert "did you mean fast" in wrong("nasbench201", "--against", "uniform", "--recipe", "fst")
    assert "unknown sampler 'mxc'" in wrong("nasbench201", "--against", "mxc")
    assert "shape" in wrong("nasbench201", "--input", "3xx")
    assert not (tmp_path / "e").exists()


def test_stopped_it_says_how_to_go_on(foresee, some, tmp_path, monkeypatch):
    from foresee.ensembles.finding import making

    measured = making.Making.measured
    monkeypatch.setattr(making.Making, "measured", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    words = ["ensemble", "nasbench201", "--sampler", "uniform", "--data", some, *QUICK, "--out", "e"]
    assert "the same command goes on" in foresee(*words, code=130).stderr
    assert "not finished" in foresee("report", "e", code=2).stderr
    assert "not finished" in foresee("defend", "e", "--data", some, code=2).stderr
    monkeypatch.setattr(making.Making, "measured", measured)
    foresee(*words)
    assert (tmp_path / "e" / "report.html").is_file()


def test_samplers_are_listed(foresee):
    said = foresee("samplers").stdout
    assert "svgd-rd" in said
    assert "supernet, posterior" in said
    assert "delta" in foresee("samplers", "svgd-rd").stdout
    assert "uniform" in [row["name"] for row in json.loads(foresee("samplers", "--json").stdout)]
    assert "did you mean" in foresee("samplers", "svgdrd", code=2).stderr
