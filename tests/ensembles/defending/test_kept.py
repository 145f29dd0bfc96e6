"""What is kept of a defence: rounds by their settings and their control; other defences are refused."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from foresee.ensembles.attacks.masking import Masking
from foresee.ensembles.defended import OUTSIDER, Round
from foresee.ensembles.defending.kept import Kept
from foresee.ensembles.defending.withstood import DEFENCE
from foresee.errors import RunError, SettingsMismatchError

ASKED = {
    "networks": [{"name": "a", "weights": "1"}],
    "average": "probabilities",
    "outsider": {"name": "o", "weights": "9"},
    "data": {"samples": 5},
    "seed": 0,
}
LOOK = Masking(5, (), 0.0, 0.0, 0.2)


def _round(member: int = 0) -> Round:
    return Round("pgd", member, 0.9, 0.5, 0.7, None, None, None, 40.0, 40.0)


def _kept(folder, asked=ASKED) -> Kept:
    made = Kept(folder, asked)
    with ExitStack() as stack:
        made.hold(stack)
    return made


def test_rounds_are_known_by_their_settings(tmp_path) -> None:
    kept = _kept(tmp_path)
    kept.add(_round(), {"eps": 0.01})
    kept.look(0, 0.01, LOOK)
    again = _kept(tmp_path)
    assert again.known({"pgd": {"eps": 0.01}}) == [_round()]
    assert again.known({"pgd": {"eps": 0.02}}) == again.known({"fgsm": {}}) == []
    assert again.looked(0, 0.01) == LOOK
    assert again.looked(0, 0.02) is again.looked(1, 0.01) is None
    assert again.seconds >= kept.seconds


def test_another_control_is_not_taken_for_this_one(tmp_path) -> None:
    kept = _kept(tmp_path)
    kept.add(_round(), {})
    kept.add(_round(OUTSIDER), {})
    for outsider, known in (({"name": "p", "weights": "8"}, 1), (None, 1), (ASKED["outsider"], 2)):
        assert len(_kept(tmp_path, {**ASKED, "outsider": outsider}).known({"pgd": {}})) == known


def test_another_defence_and_another_result_are_refused(tmp_path) -> None:
    _kept(tmp_path).write()
    with pytest.raises(SettingsMismatchError, match="samples: 6 here, 5 in the run"):
        _kept(tmp_path, {**ASKED, "data": {"samples": 6}})
    (tmp_path / DEFENCE).write_text('{"asked": {}}')
    with pytest.raises(RunError, match="is no defence"):
        _kept(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "training.json").write_text("{}")
    with pytest.raises(RunError, match="holds something else"):
        _kept(tmp_path / "other")


def test_without_a_folder_nothing_is_kept() -> None:
    kept = _kept(None)
    kept.add(_round(), {})
    assert kept.known({"pgd": {}}) == [_round()]
