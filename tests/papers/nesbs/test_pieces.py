"""Chapter 5 in pieces: all of it is in one of them, and a piece leaves what pages are made of."""

from __future__ import annotations

import pytest
from tests.papers.nesbs.tiny import SMALL, images

import foresee.papers.nesbs.pieces as pieces
from foresee.ensembles.finding.samplers import sampler_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.errors import UnknownNameError
from foresee.papers.base import load_all
from foresee.papers.nesbs.defence import ROWS
from foresee.papers.nesbs.ensembles import TOGETHER
from foresee.papers.nesbs.members import COMPARED
from foresee.papers.nesbs.pieces import ATTACK, PIECES, main, work


def test_all_of_the_chapter_is_in_a_piece():
    named = [what for one in PIECES.values() for what in one]
    assert len(named) == len(set(named)), "nothing is done twice"
    pages = {name for name in load_all() if name.startswith(("thesis-table-5", "thesis-figure-5"))}
    attacked = {one.removeprefix(ATTACK) for one in named if one.startswith(ATTACK)}
    assert attacked == set(ROWS.values())
    assert pages - {"thesis-figure-5.2", "thesis-table-5.4"} == {one for one in named if one.startswith("thesis")}
    samplers = {one for one in named if not one.startswith("thesis") and " " not in one}
    assert samplers >= {*TOGETHER.values(), *COMPARED.values(), *ROWS.values()}
    for sampler in samplers:
        assert sampler_of(EnsembleSettings("darts", sampler=sampler)).trains()


def test_a_piece_keeps_what_it_makes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pieces, "PIECES", {"cells": ("deep:DARTS_V2", "attack deep:DARTS_V2")})
    said = [f"{key}={value}" for key, value in SMALL.items()]
    where = ["--data", images(tmp_path), "--work", str(tmp_path / "work")]
    main(["cells", *where, "--seed", "2", *said, "samples=4", 'attacks=["fgsm"]'])
    control, one, other = sorted((tmp_path / "work" / "results").iterdir())
    assert control.name.startswith("control-deep-DARTS_V2-fgsm-seed-2-")
    assert one.name.startswith("defence-deep-DARTS_V2-fgsm-seed-2-")
    assert other.name.startswith("ensemble-deep-DARTS_V2-seed-2-")
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("cells seed 2: deep:DARTS_V2 ")
    assert printed[1].startswith("cells seed 2: attack deep:DARTS_V2 ")


def test_things_of_a_seed_one_by_one_and_nothing_twice(tmp_path):
    where = {"data": images(tmp_path), "cache": tmp_path / "scores.sqlite"}
    said = {**SMALL, "work": str(tmp_path / "work")}
    for what in ("supernet", "posterior", "member 0 mc", "member 1 mc", "outsider", "naswot posterior"):
        work(what, said, **where)
    folder = next((tmp_path / "work").glob("darts-fitted-*"))
    pool = {one.name: one.stat().st_mtime_ns for one in (folder / "pool").iterdir()}
    assert len(pool) == 3
    assert (folder / "posterior.json").is_file()
    free = next((tmp_path / "work").glob("darts-naswot-*"))
    assert not (free / "supernet").exists()
    work("mc", said, **where)
    assert {one.name: one.stat().st_mtime_ns for one in (folder / "pool").iterdir()} == pool, "the members were there"
    work("curve urs", {**said, "trials": 1, "draws": 1, "sizes": [2]}, **where)
    names = {one.name.partition("-seed")[0] for one in (tmp_path / "work" / "results").iterdir()}
    assert names == {"ensemble-mc", "search-urs"}


def test_a_setting_that_no_table_has_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean epochs"):
        work("small", {"epoch": 3})
    with pytest.raises(SystemExit):
        main(["unheard", "--data", "digits", "--work", "x"])
