"""`foresee judge`, `foresee recommenders`, and recommenders trained by name."""

from __future__ import annotations

import json

from tests.benchmarks.judging.logs import csv, npz

from foresee.training.loading import load

QUICK = ["--folds", "2", "--seeds", "1", "--epochs", "1", "-q"]


def test_from_files_to_a_page(foresee, tmp_path, monkeypatch):
    monkeypatch.setenv("FORESEE_CACHE", str(tmp_path / "cache"))
    log, schema = csv(tmp_path)
    said = foresee(
        "judge", "logistic", "deepfm", "--data", str(log), "--schema", str(schema), *QUICK, "--out", "j"
    ).stdout
    assert "AUC" in said
    assert "beside logistic" in said
    assert (tmp_path / "j" / "report.html").is_file()
    plain = json.loads((tmp_path / "j" / "judging.json").read_text())
    assert plain["asked"]["recipe"]["name"] == "ctr_small"
    assert plain["asked"]["data"]["schema"]["label"] == "clicked"
    again = foresee("judge", "logistic", "deepfm", "--data", str(log), "--schema", str(schema), *QUICK, "--out", "j")
    assert "4 of 4" in again.stderr
    assert again.stdout == said


def test_mistakes_are_one_line(foresee, tmp_path):
    path = str(npz(tmp_path))
    assert "--data" in foresee("judge", "logistic", code=2).stderr
    assert "did you mean" in foresee("judge", "logistik", "--data", path, code=2).stderr
    assert "schema" in foresee("judge", "logistic", "--data", path, "--schema", "criteo", code=2).stderr


def test_recommenders_are_listed(foresee):
    said = foresee("recommenders").stdout
    assert "deepfm" in said
    assert "dropout" in foresee("recommenders", "deepfm").stdout
    assert "trees" in [row["name"] for row in json.loads(foresee("recommenders", "--json").stdout)]


def test_one_is_trained_by_name(foresee, tmp_path):
    path = str(npz(tmp_path))
    words = ["--data", path, "--recipe", "ctr_small", "--epochs", "1", "--set", "space.deep=[8]", "-q", "--out", "t"]
    said = foresee("train", "deepfm", *words).stdout
    assert "AUC" in said
    found = load(tmp_path / "t")
    assert type(found.network).__name__ == "DeepFM"
    assert found.network.deep[0][0].out_features == 8
    assert "Calibration" in (tmp_path / "t" / "report.html").read_text()
    assert "fitted whole" in foresee("train", "trees", "--data", path, "--out", "u", "-q", code=2).stderr
