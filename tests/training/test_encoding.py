"""What encodes a click log, kept beside what was made of it."""

from __future__ import annotations

import pytest
from tests import clicks

from foresee.data import Synthetic, load
from foresee.errors import DataError, RunError, SettingsMismatchError
from foresee.training.encoding import FOLDER, beside, encoding_of, how_to_read, keep, read


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESEE_PREPARED", str(tmp_path / "prepared"))
    clicks.write_schema(tmp_path / "schema.toml")
    return load(clicks.write_log(tmp_path / "clicks.csv", 120), schema=tmp_path / "schema.toml")


def test_of_a_part_it_is_that_of_the_whole(log):
    part = log.split({"train": 0.5, "val": 0.5}, seed=1)["val"]
    assert encoding_of(part) is encoding_of(log) is log.preprocessing
    assert encoding_of(Synthetic()) is None
    assert encoding_of(None) is None


def test_it_is_kept_whole_and_found_beside(log, tmp_path):
    keep(log.preprocessing, tmp_path / "run")
    assert [one.name for one in (tmp_path / "run").iterdir()] == [FOLDER]  # nothing half done is left
    (tmp_path / "run" / "best.json").write_text("{}")
    for place in (tmp_path / "run", str(tmp_path / "run" / "best.json")):
        assert beside(place).fingerprint == log.preprocessing.fingerprint
    assert beside(tmp_path / "elsewhere") is beside(None) is beside("x" * 5000) is None
    keep(log.preprocessing, tmp_path / "run")  # the same again
    keep(None, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_another_one_is_not_written_over(log, tmp_path):
    other = load(clicks.write_log(tmp_path / "other.csv", 90, seed=3), schema=tmp_path / "schema.toml")
    keep(log.preprocessing, tmp_path / "run")
    with pytest.raises(SettingsMismatchError, match="another preprocessing"):
        keep(other.preprocessing, tmp_path / "run")


def test_a_damaged_one_is_said(log, tmp_path):
    keep(log.preprocessing, tmp_path)
    (tmp_path / FOLDER / "values.npy").write_bytes(b"")
    with pytest.raises(DataError, match="preprocessing"):
        read(tmp_path / FOLDER)


def test_a_place_that_cannot_be_written(log, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be made"):
        keep(log.preprocessing, tmp_path / "file")


def test_the_preprocessing_at_hand_comes_before_the_schema(log, tmp_path):
    assert how_to_read() == {}
    assert how_to_read("criteo") == {"schema": "criteo"}
    assert how_to_read(None, log.preprocessing) == {"preprocessing": log.preprocessing}
    assert how_to_read(tmp_path / "schema.toml", log.preprocessing) == {"preprocessing": log.preprocessing}
    with pytest.raises(SettingsMismatchError, match="leave the schema out"):
        how_to_read("criteo", log.preprocessing)
