"""Chapter 5 in pieces: what its pages are made of, by several processes at once, on a machine with little more than torch.

    python -m foresee.papers.nesbs.pieces PIECE --seed 0 --data cifar10.npz --work DIR --device cuda channels=16 epochs=20 ...

One process for each piece and seed, all started together: what one needs and another makes is waited for, nothing is made
twice, and one that was killed goes on. Smaller ones go by the words of what is made: "supernet", "posterior", "member 0 mc"
(the first network of that ensemble), "outsider", "mc" (the whole of it), "attack mc", "curve urs" (a row of Figure 5.3), a
page; behind "best_response", "nasbench201" or a proxy's name where it is not the usual space or posterior. Afterwards
`foresee paper NAME --data ... --device cuda --repeats 3 --set table.work=DIR --set table.channels=16 ...` puts each page
together from `DIR/results`, on any machine: with the same settings, for others are other work.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from foresee.errors import ForeseeError, UnknownNameError
from foresee.papers.base import load_all
from foresee.papers.nesbs.defence import ATTACKED, ATTACKS, defended, outsider
from foresee.papers.nesbs.rows import ENSEMBLES, asked
from foresee.papers.nesbs.search import BY_BUDGET, over_budgets
from foresee.papers.nesbs.shared import DEPTH, Study
from foresee.papers.pages import reproduce
from foresee.papers.trained import seeds
from foresee.papers.workshop import Workshop

ATTACK, CURVE = "attack ", "curve "
#: what a piece does, in order, in the words of `make`
PIECES: Mapping[str, tuple[str, ...]] = {
    "nesbs": ("mc", "svgd_rd", "uniform", "attack mc", "attack svgd_rd", "naswot svgd_rd"),
    "pool": ("nes_rs", "attack nes_rs", "thesis-table-5.6"),
    "cells": ("deep:DARTS_V2", "deep:ENAS", "attack deep:DARTS_V2", "attack deep:ENAS", "droppath:ENAS"),
    "robust": ("deep:RobNet_free", "attack deep:RobNet_free"),
    "figures": ("thesis-figure-5.3", "thesis-figure-5.6", "thesis-figure-5.7"),
    "responses": ("thesis-figure-5.5", "thesis-table-5.7"),
    "small": ("thesis-table-5.1",),
    "rest": ("droppath:DARTS_V2", "thesis-table-5.2", "thesis-table-5.5", "thesis-figure-5.4"),
}


def work(
    piece: str,
    settings: Mapping[str, Any],
    *,
    told: Callable[[str, float], object] = lambda what, seconds: None,
    **workshop: Any,
) -> None:
    """Make a piece.

    Args:
        piece: of `PIECES`, or the words of one thing.
        settings: of the chapter's tables; each takes those that it has.
        told: hears of each thing that is done, and how many seconds it took.
        workshop: of `Workshop`: data, seed, device.
    """
    known = load_all()
    there = {**ENSEMBLES, **ATTACKED}
    for what in (what for one in PIECES.values() for what in one if what in known):
        there |= known[what].settings
    for key in settings:
        if key not in there:
            raise UnknownNameError("setting of chapter 5", key, sorted(there))
    for what in PIECES.get(piece, (piece,)):
        began = time.monotonic()
        usual = known[what].settings if what in known else BY_BUDGET if what.startswith(CURVE) else ATTACKED
        shop = Workshop(table_settings={key: one for key, one in settings.items() if key in usual}, **workshop)
        if what in known:
            reproduce(what, shop)
        elif what.startswith(CURVE):
            own = shop.own(BY_BUDGET)
            for size in own["sizes"]:
                over_budgets(shop, own, what.removeprefix(CURVE), int(size))
        else:
            for seed in seeds(shop):
                make(what.split(), shop, shop.own(ATTACKED), seed)
        told(what, time.monotonic() - began)


def make(words: Sequence[str], workshop: Workshop, own: Mapping[str, Any], seed: int) -> None:
    """One thing of a seed that pages are made of, as the words at the head of this file say."""
    how: dict[str, str] = {}
    *before, what = words
    if before and before[0] not in ("member", "attack"):
        how = {"space" if before[0] in DEPTH else "posterior": before.pop(0)}
    study = Study(workshop, own, seed, **how)
    if what == "supernet":
        study.ready(replace(study.settings, sampler="uniform"))
    elif what == "posterior":
        study.ready(replace(study.settings, sampler="mc"))
    elif what == "outsider":
        study.train(outsider(study, own["outsider"]))
    elif before[:1] == ["member"]:
        study.train(study.networks(what, **asked(own, what))[int(before[1])])
    elif before == ["attack"]:
        for name in own["attacks"]:
            defended(study, own, what, ATTACKS[name])
    else:
        study.ensemble(what, **asked(own, what))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    read = argparse.ArgumentParser(prog="python -m foresee.papers.nesbs.pieces", description=__doc__)
    read.add_argument("piece", help=f"{', '.join(PIECES)}; or the words of one thing")
    for name in ("--data", "--work"):
        read.add_argument(name, required=True)
    read.add_argument("--seed", type=int, default=0)
    read.add_argument("--device", default="cpu")
    read.add_argument("settings", nargs="*", metavar="key=value", help="of the chapter's tables")
    said = read.parse_intermixed_args(arguments)
    settings = {"work": said.work, **dict(map(_read, said.settings))}

    def told(what: str, seconds: float) -> None:
        print(f"{said.piece} seed {said.seed}: {what} {seconds:.1f} s", flush=True)

    where = {"data": said.data, "seed": said.seed, "device": said.device, "cache": Path(said.work) / "scores.sqlite"}
    try:
        work(said.piece, settings, told=told, **where)
    except ForeseeError as error:
        read.error(str(error))


def _read(text: str) -> tuple[str, Any]:
    """`key=value`, the value as JSON where it is such.

    >>> _read("epochs=20"), _read("recipe=fast"), _read("sizes=[3, 5]")
    (('epochs', 20), ('recipe', 'fast'), ('sizes', [3, 5]))
    """
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


if __name__ == "__main__":
    main()
