"""A defence with what belongs to it: as text, as JSON, from a folder."""

from __future__ import annotations

import json

import pytest
from tests.report.made_up_ensemble import made_up_defence

from foresee.ensembles.defended import OUTSIDER, WHOLE
from foresee.ensembles.defending.withstood import DEFENCE, opened
from foresee.errors import RunError


def test_the_text_says_all_that_matters() -> None:
    said = str(made_up_defence())
    for words in ("attack", "± ", "control", "whole", "some were seen", "no sign of masked gradients"):
        assert words in said
    assert "gradients may be masked: member 0" in str(made_up_defence(masked=True))
    assert "fgsm" in made_up_defence()._repr_html_()


def test_names_of_those_attacked() -> None:
    found = made_up_defence()
    assert (found.name(1), found.name(OUTSIDER), found.name(WHOLE)) == ("member 1", "out", "the ensemble")


def test_a_folder_gives_it_again(tmp_path) -> None:
    found = made_up_defence()
    with pytest.raises(RunError, match="no defence here"):
        opened(tmp_path)
    plain = json.loads(json.dumps({"status": "finished", **found.to_json()}))
    (tmp_path / DEFENCE).write_text(json.dumps(plain))
    assert opened(tmp_path).to_json() == found.to_json()
    for broken in ({**plain, "defence": {}}, {**plain, "masking": [{}]}, {**plain, "asked": None, "notes": 3}):
        (tmp_path / DEFENCE).write_text(json.dumps(broken))
        with pytest.raises(RunError, match="wrong or missing"):
            opened(tmp_path)
