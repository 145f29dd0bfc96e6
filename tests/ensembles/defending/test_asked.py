"""Attacks that are asked for: names, settings and ε, checked before anything is done."""

from __future__ import annotations

import pytest

from foresee.ensembles.defending.asked import asked_attacks
from foresee.errors import InputError, UnknownNameError


def test_eps_goes_to_those_that_have_one_and_their_own_wins() -> None:
    found = asked_attacks({"pgd": {"eps": 0.1}, "fgsm": {}, "cw": {}}, eps=0.02)
    assert found == {"pgd": {"eps": 0.1}, "fgsm": {"eps": 0.02}, "cw": {}}


def test_mistakes_are_said() -> None:
    with pytest.raises(UnknownNameError, match="fgsm"):
        asked_attacks(["fgms"])
    with pytest.raises(UnknownNameError, match="steps"):
        asked_attacks({"pgd": {"stepz": 3}})
    with pytest.raises(InputError, match="at most 1"):
        asked_attacks(["fgsm"], eps=8)
    with pytest.raises(InputError, match="no attacks"):
        asked_attacks([])
