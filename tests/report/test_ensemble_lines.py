"""The lines to type lead back to the ensemble."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from tests.report.made_up_ensemble import made_up_ensemble

from foresee.report.ensemble_lines import ensemble_line, lines


def test_only_what_is_not_as_usual_is_said() -> None:
    run = made_up_ensemble(delta=0.5, posterior="best-response", supernet={"partial": 4}, inputs=(3, 8, 8), prior=0.1)
    words = shlex.split(ensemble_line(run, "runs/e"))
    assert words[:3] == ["foresee", "ensemble", "nasbench201"]
    said = dict(zip(words[3::2], words[4::2], strict=True))
    assert said["--size"] == "3"
    assert said["--delta"] == "0.5"
    assert said["--input"] == "3x8x8"
    assert said["--posterior"] == "best_response"
    assert said["--data"] == "digits"
    assert {word for word in words if "=" in word} == {"supernet.partial=4", "ensemble.prior=0.1"}
    assert "--iterations" not in words


def test_data_without_a_name_has_to_be_said_again() -> None:
    run = made_up_ensemble()
    other = replace(run, data={"train": {"name": "pictures/train", "samples": 3}})
    assert "--data DATA" in ensemble_line(other, "runs/e")


def test_a_folder_can_be_attacked_and_handed_on() -> None:
    run = made_up_ensemble()
    assert [label for label, _ in lines(run)] == ["Find it again"]
    kept = dict(lines(replace(run, folder=Path("/somewhere/my runs/e"))))
    assert kept["Attack it"] == "foresee defend '/somewhere/my runs/e'"
    assert kept["Hand it on"].startswith("foresee export '/somewhere/my runs/e'")
