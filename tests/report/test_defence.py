"""The page of a defence: the table with spreads, every round, signs of masked gradients."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.report.made_up_ensemble import made_up_defence

from foresee.errors import InputError
from foresee.report.defence import DEFENCE, beside, render, shields, tell, write


def test_the_plain_values() -> None:
    found = made_up_defence()
    info = tell(found)
    assert info.headline == "Together 41.0 % right where cw leaves the attacked network 21.0 %"
    assert "knows more than the attacked network under fgsm, pgd and cw" in info.lead
    assert "leaves 40.0 %" in info.lead
    assert "no sign of masked gradients" in info.lead
    assert "Mind that some were seen" in info.lead
    assert len(info.rounds) == 15
    assert {row.who for row in info.rounds} == {"member 0", "member 1", "member 2", "out", "the ensemble"}


def test_the_table_is_that_of_the_defence() -> None:
    found = made_up_defence()
    for row, one in zip(shields(found.defence), found.defence.attacks, strict=True):
        assert (row.attacked, row.defended) == (one.attacked, one.defended)
        assert row.gained == pytest.approx(0.2)
        assert row.control == 0.85


def test_an_ensemble_that_does_not_help_is_said() -> None:
    found = made_up_defence()
    worse = tuple(
        replace(one, rounds=tuple(replace(each, defended=0.01) for each in one.rounds)) for one in found.defence.attacks
    )
    assert (
        "It does not under fgsm, pgd and cw" in tell(replace(found, defence=replace(found.defence, attacks=worse))).lead
    )


def test_a_single_network_defends_nothing() -> None:
    info = tell(made_up_defence(members=1))
    assert info.single
    assert "still right under cw" in info.headline
    page = render(made_up_defence(members=1))
    assert "Defence %" not in page


def test_signs_are_on_the_page() -> None:
    page = render(made_up_defence(masked=True))
    assert "suspicious" in page
    assert "There are signs of masked gradients" in page
    assert "suspicious</mark>" not in render(made_up_defence())


def test_the_page_is_whole_and_obeys_nobody(hostile: str, tmp_path) -> None:
    page = render(made_up_defence())
    for words in ("How it withstands", "Every round", "Can these attacks be trusted?", "Outsider %", "All known %"):
        assert words in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script>document.title" not in render(made_up_defence(hostile))
    assert write(made_up_defence(), tmp_path).read_text() == page
    with pytest.raises(InputError, match="no folder"):
        write(made_up_defence())


def test_the_defence_beside_an_ensemble(tmp_path) -> None:
    assert beside(tmp_path) is None
    (tmp_path / "defence").mkdir()
    place = tmp_path / "defence" / DEFENCE
    place.write_text(json.dumps({"status": "running"}))
    assert beside(tmp_path) is None
    place.write_text(json.dumps({"status": "finished", **made_up_defence().to_json()}))
    found = beside(tmp_path)
    assert found is not None
    assert found.to_json() == made_up_defence().to_json()
